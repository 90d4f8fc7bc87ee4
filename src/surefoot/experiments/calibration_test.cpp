#include "surefoot/experiments/calibration.hpp"

#include "surefoot/experiments/learned_bench.hpp"
#include "surefoot/experiments/learned_weights.hpp"
#include "surefoot/learning/train.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace surefoot::experiments {
namespace {

/// Weights of a small learned start as training begins with them.
Candidate untrained(const std::string& file = "w.safetensors") {
  LearnedSetting setting = learned_optimizer("l2ws").defaults;
  setting.samples = 40;
  setting.steps = 30;
  std::get<GradientStart>(setting.options).hidden = 4;
  const LearnedBench bench = make_bench(setting, {.count = 40, .seed = 3});
  Candidate candidate;
  candidate.posterior = learning::initial_posterior(*bench.op);
  learning::round_prior(candidate.posterior);
  describe_weights(candidate.posterior, setting);
  candidate.name = "l2ws";
  candidate.source = std::filesystem::path(file).filename().string();
  candidate.file = file;
  return candidate;
}

TEST(Calibration, CandidatesAreToldApartByFolderOrPath) {
  std::vector<Candidate> one{untrained("a/w.safetensors")};
  name_candidates(one, {});
  EXPECT_EQ(one[0].name, "l2ws");
  std::vector<Candidate> several{untrained("a/w.safetensors"), untrained("b/w.safetensors"),
                                 untrained("x/a/w.safetensors")};
  name_candidates(several, {});
  EXPECT_EQ(several[0].name, "a");
  EXPECT_EQ(several[1].name, "b");
  EXPECT_EQ(several[2].name, "x/a/w.safetensors");
  name_candidates(several, {"p", "q", "r"});
  EXPECT_EQ(several[2].name, "r");
  EXPECT_INPUT_ERROR(name_candidates(several, {"p"}), "--names: 1 names for 3 files of weights");
}

TEST(Calibration, WithoutNamesAllKindsThatTheSamplesAllow) {
  EXPECT_EQ(possible_kinds({untrained()}, false, false).size(), 2U);
  EXPECT_EQ(possible_kinds({untrained()}, true, false).size(), 4U);
  EXPECT_EQ(kinds_named({"hold-out"}), std::vector<GuaranteeKind>{GuaranteeKind::hold_out});
  EXPECT_INPUT_ERROR(kinds_named({"luck"}), "guarantee: 'luck' is not one of pac-bayes");
}

TEST(Calibration, APlanGetsTheTolerancesOfItsMetric) {
  const GuaranteePlan plan = resolved({}, {untrained()});
  EXPECT_EQ(plan.tolerances, learned_optimizer("l2ws").metrics.front().tolerances);
  GuaranteePlan given;
  given.tolerances = {0.5};
  EXPECT_EQ(resolved(given, {untrained()}).tolerances, std::vector<double>{0.5});
  given.metric = "largest error";
  EXPECT_INPUT_ERROR(resolved(given, {untrained()}), "metric: 'largest error' is not one of");
}

TEST(Calibration, ARepetitionHasWhatWasFilledIn) {
  const std::vector<Candidate> candidates{untrained("a/w.safetensors"), untrained("b/w.safetensors")};
  const GuaranteePlan plan = resolved({}, candidates);
  const RerunOptions options = rerun_options_of(GuaranteeKind::pac_bayes, candidates, plan);
  EXPECT_EQ(options, (RerunOptions{{"--guarantees", "pac-bayes"},
                                   {"--tolerances", "0.0001,0.001,0.01"},
                                   {"--hold-out", ""},
                                   {"--names", "l2ws,l2ws"}}));
  const std::vector<RerunFile> files = rerun_files(candidates, plan);
  ASSERT_EQ(files.size(), 2U);
  EXPECT_EQ(files[0].file, "w.safetensors");
  EXPECT_EQ(files[0].sha256, weights_read(candidates, plan).front().second.substr(5, 64));
}

TEST(Calibration, TheFolderHoldsEveryKindAndTellsThoseOfEarlierCalls) {
  const test_support::TemporaryFolder place;
  const std::filesystem::path out = place.path() / "g";
  const std::vector<Candidate> candidates{untrained()};
  GuaranteePlan plan;
  plan.kinds = {GuaranteeKind::pac_bayes};
  {
    const std::vector<Guarantee> guarantees = make_guarantees(candidates, plan);
    GuaranteeFolder folder(out, plan.kinds);
    const GuaranteeSummary summary = summary_of(guarantees);
    EXPECT_EQ(summary.title, "fixed-point residual after 30 steps: quantiles");
    EXPECT_NE(summary.text().find("Each column is a certificate of its own"), std::string::npos);
    folder.write(guarantees, summary);
    EXPECT_TRUE(std::filesystem::exists(folder.certificate_of(GuaranteeKind::pac_bayes)));
    EXPECT_TRUE(folder.of_earlier_calls().empty());
  }
  const GuaranteeFolder next(out, {GuaranteeKind::pac_bayes_paper});
  EXPECT_EQ(next.of_earlier_calls(), std::vector<std::filesystem::path>{out / "pac-bayes"});
}

}  // namespace
}  // namespace surefoot::experiments
