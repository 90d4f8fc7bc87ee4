#include "surefoot/experiments/training.hpp"

#include "surefoot/algorithms/code_networks.hpp"
#include "surefoot/algorithms/lista.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/learned_setting.hpp"
#include "surefoot/experiments/looks.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/experiments/toml_text.hpp"
#include "surefoot/families/family_key.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/learning/posterior_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <memory>

namespace surefoot::experiments {

namespace fs = std::filesystem;

namespace {

// The weights of another training: of the same model as they are; ALISTA's where a model has them too.
void start_from(const learning::Posterior& other, const problems::Matrix& D, const TrainConfig& config,
                const algorithms::LearnedOperator& op, learning::Posterior& begin) {
  bounds::GaussianPair& pair = begin.gaussians;
  const auto model = other.metadata.find("model");
  const bool from_alista = model != other.metadata.end() && model->second == "alista";
  if (config.model == "alista" || !from_alista) {
    learning::require_layout(other, op.weights());
    pair.mean = other.gaussians.mean;
    pair.log_variance = other.gaussians.log_variance;
    pair.prior_log_variance = other.gaussians.prior_log_variance;
    return;
  }
  const auto K = static_cast<std::size_t>(config.steps);
  const std::span<const double> weights(other.gaussians.mean.data(),
                                        static_cast<std::size_t>(other.gaussians.mean.size()));
  require(weights.size() == 2 * K, "start: {} weights of alista for {} steps", weights.size(), K);
  if (config.model == "lista") {
    const std::vector<double> same = algorithms::lista_from_alista(D, weights.first(K), weights.subspan(K));
    pair.mean = Eigen::Map<const Eigen::VectorXd>(same.data(), static_cast<Index>(same.size()));
  } else {
    pair.mean.head(static_cast<Index>(2 * K)) = other.gaussians.mean;
  }
}

learning::Posterior begin_posterior(const TrainConfig& config, const problems::Matrix& D,
                                    const algorithms::LearnedOperator& op) {
  learning::Posterior begin = learning::initial_posterior(op, config.log_variance, config.prior_variance);
  bounds::GaussianPair& pair = begin.gaussians;
  if (!config.prior.empty()) {
    const learning::Posterior other = learning::load_posterior(config.prior);
    learning::require_layout(other, op.weights());
    pair.mean = pair.prior_mean = other.gaussians.mean;
  }
  if (config.analytic_start) {
    require(config.model == "lista", "analytic_start: is for lista, the model is {}", config.model);
    const auto K = static_cast<std::size_t>(config.steps);
    std::vector<double> threshold(K, 0.6);
    for (std::size_t k = 1; k < K; ++k) threshold[k] = 0.7 * threshold[k - 1];
    const std::vector<double> same = algorithms::lista_from_alista(D, std::vector<double>(K, 1.0), threshold);
    pair.mean = Eigen::Map<const Eigen::VectorXd>(same.data(), static_cast<Index>(same.size()));
  }
  if (!config.start.empty()) start_from(learning::load_posterior(config.start), D, config, op, begin);
  const auto block = [&](const std::string& name) {
    for (std::size_t b = 0; b < begin.layout.blocks.size(); ++b) {
      if (begin.layout.blocks[b].name == name)
        return std::pair(begin.layout.offset(b), begin.layout.blocks[b].size());
    }
    throw InputError(fmt::format("posterior: {} has no block '{}'", op.name(), name));
  };
  for (const std::string& name : config.at_prior) {
    const auto [first, count] = block(name);
    pair.mean.segment(first, count) = pair.prior_mean.segment(first, count);
  }
  for (const auto& [name, value] : config.initial) {
    const auto [first, count] = block(name);
    pair.mean.segment(first, count).setConstant(value);
  }
  return begin;
}

// Name of a stage, what it reached and how long it takes: one line per epoch.
void print_epoch(const learning::TrainProgress& now, bool decibels) {
  const double loss = decibels ? 10 * std::log10(now.loss) : now.loss;
  fmt::print("{:<12} epoch {:>3}/{}  loss {}{}  surrogate {}", now.stage->name, now.epoch + 1,
             now.stage->epochs, observed_value(loss), decibels ? " dB" : "", observed_value(now.surrogate));
  if (now.stage->surrogate.kind == learning::SurrogateKind::tolerance)
    fmt::print("  failures {}", observed_value(now.risk));
  if (now.stage->noise)
    fmt::print("  B {}  objective {}", upper_bound_value(now.regularizer), observed_value(now.objective));
  fmt::print("  {:.0f} s, {:.0f} s left\n", now.seconds, now.seconds_left);
  std::fflush(stdout);
}

// Training samples that the weights depend on, through their start and prior too.
struct SeenSamples {
  Index first = 0;
  Index last = 0;
};

std::vector<fs::path> shared_ledger(const Training& training) {
  return training.ledger.empty() ? std::vector<fs::path>{} : std::vector{training.ledger};
}

SeenSamples seen_samples(const Training& training) {
  const TrainConfig& config = training.config;
  SeenSamples seen{config.first, checked_sum("samples", config.first, config.samples) - 1};
  for (const fs::path& file : {config.start, config.prior}) {
    if (file.empty()) continue;
    const learning::Posterior posterior = learning::load_posterior(file);
    require_digest(posterior, file.string());
    const LearnedSetting other = setting_of(posterior, file.string());
    require(other.seen_first >= 0, "{}: its metadata do not say which samples it depends on", file.string());
    require_training_as_told(posterior, file, shared_ledger(training));
    seen.first = std::min(seen.first, other.seen_first);
    seen.last = std::max(seen.last, other.seen_last);
  }
  return seen;
}

// Looks that this training may have learned from: in the folder, which keeps its ledger, in the shared one,
// and by way of the weights that it begins with.
std::vector<certify::Look> looks_before(const Training& training) {
  std::vector<certify::Look> looks;
  const auto add = [&](const std::vector<certify::Look>& more) {
    looks.insert(looks.end(), more.begin(), more.end());
  };
  add(certify::read_ledger(training.folder / ledger_name));
  if (!training.ledger.empty()) {
    if (ranks().first()) certify::begin_ledger(training.ledger);
    ranks().barrier();
    add(certify::read_ledger(training.ledger));
  }
  std::error_code error;
  const fs::path replaced = training.folder / weights_name;
  for (const fs::path& file : {replaced, training.config.start, training.config.prior}) {
    if (file.empty() || !fs::exists(file, error)) continue;
    add(certify::read_ledger(ledger_beside(file)));
    add(looks_of(learning::load_posterior(file), file.string()));
  }
  return looks;
}

void describe(const Training& training, const SeenSamples& seen, learning::Posterior& posterior) {
  const TrainConfig& config = training.config;
  auto& data = posterior.metadata;
  data["model"] = config.model;
  const FamilyKey family = families::key_of(config.family);
  data["family"] = family.name;
  data["family.seed"] = fmt::format("{}", config.family_seed);
  for (const auto& [constant, value] : family.constants) data["family." + constant] = value;
  data["samples"] = fmt::format("{}", config.samples);
  data["samples.first"] = fmt::format("{}", config.first);
  data["steps"] = fmt::format("{}", config.steps);
  data["training.seed"] = fmt::format("{}", config.seed);
  data["training.config"] = training.config_name;
  data["training.config.sha256"] = training.config_sha256;
  Index epochs = 0;
  for (const learning::Stage& stage : config.stages) epochs += stage.epochs;
  data["training.epochs"] = fmt::format("{}", epochs);
  data["seen.first"] = fmt::format("{}", seen.first);
  data["seen.last"] = fmt::format("{}", seen.last);
  data["training.precision"] = config.precision == algorithms::Precision::single ? "single" : "double";
  data["training.version"] = std::string(version);
}

// What the weights were trained on, in the ledger beside them and in the shared one.
void write_down(const Training& training, const certify::Look& look) {
  if (!ranks().first()) return;
  std::vector<fs::path> ledgers = shared_ledger(training);
  ledgers.push_back(training.folder / ledger_name);
  for (const fs::path& ledger : ledgers) certify::record_training(ledger, look);
}

constexpr double numbers_by_weight = 38;

// Weights with their moments and derivatives, three copies of these in a checkpoint, and the network's own;
// in every slot the derivatives again.
void add_weights(const TrainConfig& config, const algorithms::WeightLayout& layout, MemoryNeeds& needs) {
  constexpr double numbers_by_slot = 2;
  needs.add("weights", (numbers_by_weight + numbers_by_slot * static_cast<double>(config.slots)) *
                           static_cast<double>(layout.size()));
}

// Of what grows with the steps, before any of it is made: the states and gradients of every step in each
// slot, and the weights.
void require_room_for_steps(const Training& training) {
  const TrainConfig& config = training.config;
  const auto steps = static_cast<double>(config.steps);
  const auto n = static_cast<double>(config.family.variables);
  const auto m = static_cast<double>(config.family.measurements);
  const double by_step = config.model == "lista" ? 1 + n * (n + m) : 2;
  MemoryNeeds least(training.memory_limit);
  least.add("states of all steps",
            static_cast<double>(config.slots) * algorithms::code_lanes * n * (steps + 1));
  least.add("weights", numbers_by_weight * steps * by_step);
  least.require_fit();
}

}  // namespace

Training read_training(const fs::path& config) {
  Training training;
  training.config = read_train_config(config);
  training.config_name = config.filename().string();
  training.config_sha256 = io::sha256_hex(io::read_file(config, longest_toml));
  return training;
}

learning::TrainResult run_training(const Training& training) {
  const TrainConfig& config = training.config;
  config.validate();
  io::ResultFolder folder(training.folder, [](const fs::path& name) { return name == weights_name; });
  training.checkpoint.prepare();
  MemoryNeeds needs(training.memory_limit);
  needs.add_samples(
      config.family, static_cast<double>(config.samples) * (config.flip_signs ? 2 : 1),
      algorithms::numbers_kept_by_sample(config.model, config.family.variables, config.precision));
  needs.require_fit();
  require_room_for_steps(training);
  const std::vector<certify::Look> looks = looks_before(training);
  const SeenSamples seen = seen_samples(training);

  const families::SparseCoding family(config.family_seed, config.family);
  const auto codes = std::make_shared<problems::SparseCodes>(
      family.draw(families::SampleSet::training, config.samples, config.first));
  const auto original = config.flip_signs ? std::make_shared<problems::SparseCodes>(*codes) : nullptr;
  const auto op = algorithms::make_code_network(config.model, codes,
                                                {.steps = config.steps, .precision = config.precision});
  needs.add_blocks(*op, config.steps, config.slots, config.steps + 1);
  add_weights(config, op->weights(), needs);
  needs.require_fit();
  learning::Loss loss;
  loss.kind = config.loss;
  loss.step_weights = config.step_weights;
  loss.target = [&](Index first, Index count, algorithms::Batch target) {
    codes->write_codes(first, count, target.width, target.data);
  };

  learning::TrainOptions options;
  options.seed = config.seed;
  options.steps = config.steps;
  options.delta = config.delta;
  options.stages = config.stages;
  options.slots = config.slots;
  options.tied = config.tied;
  options.rate_factor = config.rate_factor;
  options.checkpoint = training.checkpoint.file("train");
  options.resume = training.checkpoint.resume;
  options.checkpoint_seconds = training.checkpoint.seconds;
  options.identity = fmt::format("{} {} {} {} {} {} {} {}", config.family_seed, config.family.measurements,
                                 config.family.variables, config.family.density, config.family.noise,
                                 config.samples, config.first, config.flip_signs);

  learning::TrainHooks hooks;
  if (config.flip_signs) {
    hooks.before_epoch = [&](Index epoch) {
      families::flip_signs(*original, config.seed, epoch, *codes);
      op->instances_changed();
    };
  }
  hooks.stop = host().stopped;
  hooks.resumed = [&] { say_gone_on_from(options.checkpoint); };
  Progress bar("training");
  hooks.progress = [&](const learning::TrainProgress& now) {
    if (now.epoch_done) {
      if (!training.quiet) print_epoch(now, config.loss == learning::LossKind::nmse);
    } else {
      bar.update(now.seconds, now.seconds + now.seconds_left, "s");
    }
  };
  learning::TrainResult result =
      learning::train(*op, begin_posterior(config, codes->D, *op), loss, options, hooks);
  if (!result.finished) throw Interrupted();
  describe(training, seen, result.posterior);
  const LearnedSetting setting = setting_of(result.posterior, weights_name);
  carry_looks(result.posterior, looks,
              samples_range(setting, families::SampleSet::hold_out, 0, config.samples));
  const std::string weights = learning::posterior_bytes(result.posterior);
  // Before the weights are there: none are without their entry.
  write_down(training,
             certify::training_look(training_range(setting, seen.first, seen.last), io::sha256_hex(weights),
                                    learning::numbers_sha256(result.posterior)));
  folder.finish({{weights_name, weights}});
  io::remove_output(options.checkpoint);
  return result;
}

}  // namespace surefoot::experiments
