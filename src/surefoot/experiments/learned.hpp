#pragma once

#include "surefoot/certify/learned.hpp"
#include "surefoot/experiments/guarantees.hpp"
#include "surefoot/experiments/output.hpp"
#include "surefoot/experiments/settings.hpp"
#include "surefoot/families/family_key.hpp"
#include "surefoot/learning/train.hpp"

#include <functional>
#include <string>
#include <vector>

/// What the paper's learned optimizers share beyond reproduce.hpp: training in stages with a line per stage,
/// calibration of candidates, curves of counted runs.
namespace surefoot::experiments {

inline constexpr double learned_delta = certify::paper_learned_delta;

/// The model as the registry has it, on so many samples of its family with the experiment's seed.
LearnedSetting setting_for(const std::string& model, const Settings& settings, Index samples, Index steps);

/// Trains and prints what the last epoch of each stage reached. options.checkpoint is a folder: a training
/// has a file there, by its name and first stage, from which it goes on, and which says that it is done.
learning::TrainResult train_aloud(const std::string& name, algorithms::LearnedOperator& op,
                                  learning::Posterior begin, const learning::Loss& loss,
                                  learning::TrainOptions options);

/// The stages of a recipe in experiments/, "l2ws/network.toml", with so many times their epochs.
std::vector<learning::Stage> recipe_stages(const std::string& recipe, double epochs);

/// The posterior that stays at its prior: means trained on samples that are not the bound's, variances next
/// to nothing.
learning::Posterior at_prior(learning::Posterior posterior);

/// Calibrates every candidate in one pass over samples first .. first+count-1 and certifies them together.
certify::Certificate certify_candidates(algorithms::LearnedOperator& op,
                                        const std::vector<Candidate>& candidates,
                                        certify::PacBayesOptions options, const runs::Metric& metric,
                                        Index steps, const certify::CalibrationOptions& calibration,
                                        PartJournals& journals);

/// Samples of a set of a family with the experiment's seed, as certificates name them.
certify::SampleRange named_samples(const FamilyKey& family, const Settings& settings, families::SampleSet set,
                                   Index count, Index first = 0);

/// Counts of runs of an ordinary optimizer from a start, for baselines: claims at all recorded steps.
runs::Tally count_baseline(const algorithms::Operator& op, const runs::Metric& metric,
                           const runs::Start& start, Index steps, const std::vector<double>& tolerances,
                           certify::CountJournal& journal);
/// The same for the claims of resolved options.
runs::Tally count_baseline(const algorithms::Operator& op, const runs::Metric& metric,
                           const runs::Start& start, Index steps, const certify::Options& resolved_claims,
                           certify::CountJournal& journal);

/// The smallest budget of all variants (or of the given one) at (quantile, tolerance); the observed one of
/// the same variant.
struct BestBudget {
  std::optional<Index> certified;
  std::optional<Index> observed;
  std::size_t variant = 0;
};
BestBudget best_budget(const certify::Certificate& certificate, double quantile, double tolerance,
                       std::optional<std::size_t> variant = std::nullopt);

/// The first step at which a share of the runs is below the tolerance and stays so.
std::optional<Index> observed_budget(const runs::Tally& tally, std::size_t tolerance, double quantile);

/// Prints a table under its title and writes it as Markdown and CSV.
void add_table(Output& output, const std::string& slug, const std::string& title,
               const report::TextTable& table, const std::vector<std::string>& remarks);

/// "B = 0.041", rounded up, for every variant of a certificate.
std::string regularizers(const certify::Certificate& certificate);

}  // namespace surefoot::experiments
