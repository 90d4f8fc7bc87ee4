#include "surefoot/experiments/learned.hpp"

#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/certify/run_counter.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/experiments/data.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/stages.hpp"
#include "surefoot/experiments/train_config.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/learning/posterior_file.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>

namespace surefoot::experiments {

LearnedSetting setting_for(const std::string& model, const Settings& settings, Index samples, Index steps) {
  LearnedSetting setting = learned_optimizer(model).defaults;
  setting.family_seed = settings.seed;
  setting.samples = samples;
  setting.steps = steps;
  return setting;
}

std::vector<learning::Stage> recipe_stages(const std::string& recipe, double epochs) {
  std::vector<learning::Stage> stages = parse_train_config(recipe, data_file(recipe)).stages;
  for (learning::Stage& stage : stages) stage.epochs = times(epochs, stage.epochs);
  return stages;
}

learning::TrainResult train_aloud(const std::string& name, algorithms::LearnedOperator& op,
                                  learning::Posterior begin, const learning::Loss& loss,
                                  learning::TrainOptions options) {
  if (!options.checkpoint.empty()) {
    io::prepare_output_folder(options.checkpoint);
    std::string file = fmt::format("{}_{}.checkpoint", name, options.stages.at(0).name);
    std::replace(file.begin(), file.end(), ' ', '_');
    options.checkpoint /= file;
  }
  learning::TrainHooks hooks;
  Progress bar("training " + name);
  hooks.progress = [&](const learning::TrainProgress& now) {
    if (!now.epoch_done || now.epoch + 1 < now.stage->epochs) {
      bar.update(now.seconds, now.seconds + now.seconds_left, "s");
      return;
    }
    fmt::print("  {:<22} {:<10} {:>3} epochs  loss {:<9}", name, now.stage->name, now.stage->epochs,
               observed_value(now.loss));
    if (now.stage->noise)
      fmt::print("  B {}  surrogate {}  objective {}", upper_bound_value(now.regularizer),
                 observed_value(now.surrogate), observed_value(now.objective));
    fmt::print("  {:.0f} s\n", now.seconds);
    std::fflush(stdout);
  };
  hooks.stop = host().stopped;
  const auto train = [&](learning::Posterior from) {
    learning::TrainResult result = learning::train(op, std::move(from), loss, options, hooks);
    if (!result.finished) throw Interrupted();
    return result;
  };
  const bool goes_on =
      ranks().as_first(!options.checkpoint.empty() && std::filesystem::exists(options.checkpoint));
  try {
    return train(begin);
  } catch (const InputError&) {
    if (!goes_on) throw;
    io::remove_output(options.checkpoint);  // damaged, or of another recipe: from the beginning
    return train(std::move(begin));
  }
}

learning::Posterior at_prior(learning::Posterior posterior) {
  bounds::GaussianPair& pair = posterior.gaussians;
  pair.prior_mean = pair.mean;
  // The grid, too, may be chosen by other samples: its first point costs least.
  constexpr double variance = 1e-8;
  posterior.grid.lambda_max = variance * std::exp(1 / posterior.grid.b);
  pair.prior_log_variance.setConstant(std::log(variance));
  learning::round_prior(posterior);
  for (std::size_t b = 0; b < posterior.layout.blocks.size(); ++b) {
    pair.log_variance.segment(posterior.layout.offset(b), posterior.layout.blocks[b].size())
        .setConstant(pair.prior_log_variance[static_cast<Index>(b)]);
  }
  return posterior;
}

certify::Certificate certify_candidates(algorithms::LearnedOperator& op,
                                        const std::vector<Candidate>& candidates,
                                        certify::PacBayesOptions options, const runs::Metric& metric,
                                        Index steps, const certify::CalibrationOptions& calibration,
                                        PartJournals& journals) {
  options.claims.metric = metric.name;
  options.claims.unit = metric.unit;
  options = certify::resolved(std::move(options), certify::recorded_steps(metric, steps));
  std::vector<certify::Calibrated> calibrated;
  for (const Candidate& candidate : candidates) {
    certify::LearnedModel model{op, candidate.posterior, metric, steps};
    model.name = candidate.name;
    model.source = fmt::format("weights_{}.safetensors", candidate.name);
    certify::CalibrationOptions own = calibration;
    own.journal = &journals.next(learning::posterior_sha256(candidate.posterior));
    Progress bar("calibration " + candidate.name);
    own.progress = [&](Index done, Index all) {
      bar.update(static_cast<double>(done), static_cast<double>(all), "runs");
    };
    calibrated.push_back(certify::calibrate(model, options, own));
  }
  return certify::certify(options, calibrated);
}

certify::SampleRange named_samples(const FamilyKey& family, const Settings& settings, families::SampleSet set,
                                   Index count, Index first) {
  return {family.text(), static_cast<Index>(settings.seed), std::string(families::to_string(set)), first,
          count};
}

runs::Tally count_baseline(const algorithms::Operator& op, const runs::Metric& metric,
                           const runs::Start& start, Index steps, const std::vector<double>& tolerances,
                           certify::CountJournal& journal) {
  certify::Options claims;
  claims.tolerances = tolerances;
  claims.all_steps = true;
  claims.metric = metric.name;
  claims.unit = metric.unit;
  return count_baseline(op, metric, start, steps,
                        certify::resolved(claims, {certify::recorded_steps(metric, steps)}), journal);
}

runs::Tally count_baseline(const algorithms::Operator& op, const runs::Metric& metric,
                           const runs::Start& start, Index steps, const certify::Options& resolved_claims,
                           certify::CountJournal& journal) {
  certify::RunCounter counter(certify::tally_spec(resolved_claims, certify::recorded_steps(metric, steps)),
                              &journal);
  runs::RunOptions run_options;
  run_options.steps = steps;
  counter.run(op, metric, start, run_options);
  return counter.finish();
}

BestBudget best_budget(const certify::Certificate& certificate, double quantile, double tolerance,
                       std::optional<std::size_t> variant) {
  BestBudget best;
  for (const certify::BudgetClaim& claim : certificate.budget) {
    if (variant && claim.variant != *variant) continue;
    if (claim.quantile != quantile || claim.tolerance != tolerance || !claim.steps) continue;
    if (best.certified && *best.certified <= *claim.steps) continue;
    best.certified = claim.steps;
    best.observed = claim.empirical;
    best.variant = claim.variant;
  }
  return best;
}

std::optional<Index> observed_budget(const runs::Tally& tally, std::size_t tolerance, double quantile) {
  const std::vector<Index> settled = tally.settled(tolerance);
  const Index enough = bounds::empirical_rank(tally.samples(), quantile);
  for (std::size_t column = 0; column < settled.size(); ++column) {
    if (settled[column] >= enough) return tally.spec().steps[column];
  }
  return std::nullopt;
}

void add_table(Output& output, const std::string& slug, const std::string& title,
               const report::TextTable& table, const std::vector<std::string>& remarks) {
  fmt::print("\n{}\n\n{}", title, report::to_text(table, "  "));
  std::string markdown = fmt::format("### {}\n\n{}\n", title, report::to_markdown(table));
  for (const std::string& remark : remarks) {
    fmt::print("{}", report::wrapped(remark, 110, "  - ", "    "));
    markdown += fmt::format("- {}\n", remark);
  }
  output.write(fmt::format("table_{}.md", slug), markdown);
  output.add_table({slug, title, table, remarks});
}

std::string regularizers(const certify::Certificate& certificate) {
  std::string text;
  for (const certify::Variant& variant : certificate.variants) {
    if (!variant.pac_bayes) continue;
    text += fmt::format("{}{}: B = {}", text.empty() ? "" : ", ", variant.name,
                        upper_bound_value(variant.pac_bayes->regularizer));
  }
  return text;
}

}  // namespace surefoot::experiments
