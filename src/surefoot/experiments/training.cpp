#include "surefoot/experiments/training.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/learned_bench.hpp"
#include "surefoot/experiments/learned_weights.hpp"
#include "surefoot/experiments/looks.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/experiments/toml_text.hpp"
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

// The weights of another training: of the same model as they are, others as far as this model has them.
void start_from(const learning::Posterior& other, const TrainConfig& config,
                const algorithms::LearnedOperator& op, learning::Posterior& begin) {
  bounds::GaussianPair& pair = begin.gaussians;
  if (const std::vector<double> same = converted_means(config.setting, other); !same.empty()) {
    pair.mean.head(static_cast<Index>(same.size())) =
        Eigen::Map<const Eigen::VectorXd>(same.data(), static_cast<Index>(same.size()));
    return;
  }
  learning::require_layout(other, op.weights());
  pair.mean = other.gaussians.mean;
  pair.log_variance = other.gaussians.log_variance;
  pair.prior_log_variance = other.gaussians.prior_log_variance;
}

learning::Posterior begin_posterior(const TrainConfig& config, const algorithms::LearnedOperator& op) {
  learning::Posterior begin = learning::initial_posterior(op, config.log_variance, config.prior_variance);
  bounds::GaussianPair& pair = begin.gaussians;
  if (!config.prior.empty()) {
    const learning::Posterior other = learning::load_posterior(config.prior);
    learning::require_layout(other, op.weights());
    pair.mean = pair.prior_mean = other.gaussians.mean;
  }
  if (config.analytic_start) {
    const std::vector<double> same = analytic_means(config.setting);
    pair.mean = Eigen::Map<const Eigen::VectorXd>(same.data(), static_cast<Index>(same.size()));
  }
  if (!config.start.empty()) start_from(learning::load_posterior(config.start), config, op, begin);
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

std::vector<fs::path> shared_ledger(const Training& training) {
  return training.ledger.empty() ? std::vector<fs::path>{} : std::vector{training.ledger};
}

// The setting with the training samples that the weights depend on, through their start and prior too.
void add_seen_samples(const Training& training, TrainConfig& config) {
  LearnedSetting& setting = config.setting;
  setting.seen_first = setting.first;
  setting.seen_last = checked_sum("samples", setting.first, setting.samples) - 1;
  for (const fs::path& file : {config.start, config.prior}) {
    if (file.empty()) continue;
    const learning::Posterior posterior = learning::load_posterior(file);
    require_digest(posterior, file.string());
    const LearnedSetting other = setting_of(posterior, file.string());
    require(other.seen_first >= 0, "{}: its metadata do not say which samples it depends on", file.string());
    require_training_as_told(posterior, file, shared_ledger(training));
    // Rows of other files may be the same problems: what is seen of them is no range of these.
    require((!setting.has_rows() && !other.has_rows()) || other.family().text() == setting.family().text(),
            "{}: was trained on {}, and these samples are of {}: which of these it depends on is not known",
            file.string(), other.family().text(), setting.family().text());
    setting.seen_first = std::min(setting.seen_first, other.seen_first);
    setting.seen_last = std::max(setting.seen_last, other.seen_last);
  }
}

// What a learned start sees, as the weights that it begins with see it: else they would be others, and a
// prior would depend on the problems that its bound is of.
void take_scaling(const TrainConfig& config, LearnedSetting& setting) {
  auto* start = std::get_if<FolderStart>(&setting.options);
  if (start == nullptr) return;
  for (const fs::path& file : {config.start, config.prior}) {
    if (file.empty()) continue;
    const LearnedSetting other = setting_of(learning::load_posterior(file), file.string());
    const auto* theirs = std::get_if<FolderStart>(&other.options);
    require(theirs != nullptr, "{}: holds weights of {}, not of {}", file.string(), other.model,
            setting.model);
    require(start->scaled_count == 0 || start->inputs == theirs->inputs,
            "{}: its network sees other numbers than the other weights that this training begins with",
            file.string());
    start->inputs = theirs->inputs;
    start->scaled_first = theirs->scaled_first;
    start->scaled_count = theirs->scaled_count;
    if (start->output_scale == 0) start->output_scale = theirs->output_scale;
  }
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
  const StepNumbers numbers = numbers_by_step(config.setting);
  const auto steps = static_cast<double>(config.setting.steps);
  MemoryNeeds least(training.memory_limit);
  least.add("states of all steps", static_cast<double>(config.slots) * numbers.states * (steps + 1));
  least.add("weights", numbers_by_weight * steps * numbers.weights);
  least.require_fit();
}

/// The settings of each step, for other programs.
std::string settings_csv(const algorithms::StepSchedule& schedule, const learning::Posterior& posterior) {
  const Eigen::VectorXd& mean = posterior.gaussians.mean;
  const problems::Table values = schedule.settings_at({mean.data(), static_cast<std::size_t>(mean.size())});
  std::string text = "k";
  for (const algorithms::WeightBlock& block : posterior.layout.blocks) text += "," + block.name;
  for (Index k = 0; k < values.rows(); ++k) {
    text += fmt::format("\n{}", k + 1);
    for (Index s = 0; s < values.cols(); ++s) text += fmt::format(",{}", values(k, s));
  }
  return text + "\n";
}

}  // namespace

Training read_training(const fs::path& config) {
  Training training;
  training.config = read_train_config(config);
  training.config_name = config.filename().string();
  training.config_sha256 = io::sha256_hex(io::read_file(config, longest_toml));
  return training;
}

static void describe(const Training& training, learning::Posterior& posterior) {
  TrainConfig config = training.config;
  add_seen_samples(training, config);
  describe_weights(posterior, config.fields(), config.setting.family());
  auto& data = posterior.metadata;
  for (const auto& [place, text] : config.written) data[place] = text;
  data["training.config"] = training.config_name;
  data["training.config.sha256"] = training.config_sha256;
  Index epochs = 0;
  for (const learning::Stage& stage : config.stages) epochs += stage.epochs;
  data["training.epochs"] = fmt::format("{}", epochs);
  data["training.version"] = std::string(version);
}

bool is_of(const learning::Posterior& posterior, const Training& training) {
  learning::Posterior same = posterior;
  Training identified = training;
  take_scaling(training.config, identified.config.setting);
  identified.config.setting.identify();
  describe(identified, same);
  same.metadata["training.version"] = posterior.metadata.contains("training.version")
                                          ? posterior.metadata.at("training.version")
                                          : std::string();
  return same.metadata == posterior.metadata;
}

learning::TrainResult run_training(const Training& asked) {
  asked.config.validate();
  Training training = asked;
  take_scaling(asked.config, training.config.setting);
  training.config.setting.identify();
  TrainConfig config = training.config;
  const LearnedSetting& setting = config.setting;
  io::ResultFolder folder(training.folder,
                          [](const fs::path& name) { return name == weights_name || name == settings_name; });
  training.checkpoint.prepare();
  MemoryNeeds needs(training.memory_limit);
  needs.add("samples", static_cast<double>(setting.samples) * (config.flip_signs ? 2 : 1) *
                           numbers_by_sample(setting, config.precision));
  needs.require_fit();
  require_room_for_steps(training);
  const std::vector<certify::Look> looks = looks_before(training);
  add_seen_samples(training, config);

  const LearnedBench bench =
      make_bench(setting, {.set = families::SampleSet::training,
                           .count = setting.samples,
                           .first = setting.first,
                           .precision = config.precision,
                           .seed = config.seed,
                           .for_training = true,
                           .solutions = learning::compares_with_solutions(config.loss)});
  if (bench.output_scale > 0) {
    for (TrainConfig* one : {&config, &training.config})
      std::get<FolderStart>(one->setting.options).output_scale = bench.output_scale;
  }
  const Index steps = setting.unrolled();
  needs.add_blocks(*bench.op, steps, config.slots, steps + 1);
  add_weights(config, bench.op->weights(), needs);
  needs.require_fit();
  learning::Loss loss;
  loss.kind = config.loss;
  loss.step_weights = config.step_weights;
  loss.target = bench.target;

  learning::TrainOptions options;
  options.seed = config.seed;
  options.steps = steps;
  options.delta = config.delta;
  options.stages = config.stages;
  options.slots = config.slots;
  options.tied = config.tied;
  options.rate_factor = config.rate_factor;
  options.checkpoint = training.checkpoint.file("train");
  options.resume = training.checkpoint.resume;
  options.checkpoint_seconds = training.checkpoint.seconds;
  for (const Field& field : config.fields())
    if (!field.is_place) options.identity.emplace_back(field.name(), field.text());

  learning::TrainHooks hooks;
  if (config.flip_signs) {
    require(bench.refresh != nullptr, "flip_signs: is not for {}: its samples have no signs", setting.model);
    hooks.before_epoch = [&](Index epoch) { bench.refresh(config.seed, epoch); };
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
      learning::train(*bench.op, begin_posterior(config, *bench.op), loss, options, hooks);
  if (!result.finished) throw Interrupted();
  describe(training, result.posterior);
  carry_looks(result.posterior, looks,
              samples_range(setting, families::SampleSet::hold_out, 0, setting.samples));
  const std::string weights = learning::posterior_bytes(result.posterior);
  // Before the weights are there: none are without their entry.
  write_down(training,
             certify::training_look(training_range(setting, setting.seen_first, setting.seen_last),
                                    io::sha256_hex(weights), learning::numbers_sha256(result.posterior)));
  std::vector<io::FileContent> files{{weights_name, weights}};
  std::string settings;
  if (const auto* schedule = dynamic_cast<const algorithms::StepSchedule*>(bench.op.get())) {
    settings = settings_csv(*schedule, result.posterior);
    files.push_back({settings_name, settings});
  }
  folder.finish(files);
  io::remove_output(options.checkpoint);
  return result;
}

}  // namespace surefoot::experiments
