#include "surefoot/experiments/tune_family.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/tune_files.hpp"
#include "surefoot/io/checkpoint_file.hpp"
#include "surefoot/runs/named_metric.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

namespace surefoot::experiments {
namespace {

FamilyTuneOptions small() {
  FamilyTuneOptions options;
  options.tune.target = "80% below 1e-2";
  options.tune.runs = 600;
  options.over = "rho=1e-2:10:log:4,alpha=1:1.8:linear:2,adaptive_rho";
  options.iterations = 60;
  return options;
}

std::string mpc() {
  return SUREFOOT_SOURCE_DIR "/examples/mpc";
}

TEST(TuneFamily, SettingsThatAreNotSearchedAreThoseOfThePackageAndATunedRhoIsFixed) {
  const algorithms::OsqpOptions usual = algorithms::OsqpOptions::defaults();
  const algorithms::OsqpOptions fixed = osqp_with({{"rho", "0.5"}, {"scaling", "0"}}, 77);
  EXPECT_EQ(fixed.rho, 0.5);
  EXPECT_EQ(fixed.scaling, 0);
  EXPECT_EQ(fixed.alpha, usual.alpha);
  EXPECT_FALSE(fixed.adaptive_rho);
  EXPECT_TRUE(osqp_with({{"alpha", "1.1"}}, 77).adaptive_rho);
  EXPECT_TRUE(osqp_with({{"rho", "1"}, {"adaptive_rho", "iterations"}}, 77).adaptive_rho);
  EXPECT_INPUT_ERROR((osqp_with({{"rho", "x"}}, 77)), "rho: 'x' is not a number");
  EXPECT_INPUT_ERROR((osqp_with({{"alpha", "2.5"}}, 77)), "alpha: is 2.5");
  EXPECT_FALSE(scs_with({{"scale", "2"}}, 77).adaptive_scale);
  EXPECT_TRUE(scs_with({{"alpha", "1.2"}}, 77).adaptive_scale);
  EXPECT_EQ(scs_with({{"acceleration_lookback", "0"}}, 77).acceleration_lookback, 0);
  EXPECT_INPUT_ERROR((scs_with({{"normalize", "perhaps"}}, 77)), "'perhaps' is not true or false");
}

// The default adapts its rho: fixed at the same number it is another solver, and no default.
TEST(TuneFamily, TheDefaultIsACandidateOnlyWhereItIsThePackage) {
  const auto is_point = [](const std::string& over, bool cone) {
    FamilyTuneOptions options = small();
    options.over = over;
    problems::Cones cones;
    cones.zero = 1;
    cones.nonnegative = 20;
    cones.second_order = {5};
    families::FamilyFiles files(cone ? SUREFOOT_SOURCE_DIR "/examples/portfolio" : mpc(), {});
    const auto subject = cone ? tunable_cone(files, cones, options) : tunable_qp(files, options);
    return subject->default_candidate().has_value();
  };
  EXPECT_TRUE(is_point(usual_osqp_axes(), false));
  EXPECT_TRUE(is_point("rho,adaptive_rho", false));
  EXPECT_TRUE(is_point("alpha", false));
  EXPECT_FALSE(is_point("rho,alpha", false));
  EXPECT_FALSE(is_point("alpha=1:1.5", false));
  EXPECT_TRUE(is_point(usual_scs_axes(), true));
  EXPECT_FALSE(is_point("scale,alpha", true));

  FamilyTuneOptions options = small();
  options.over = "rho=1e-3:2e-3:log:3,alpha=1:1.1:linear:2";  // all of it worse than the package
  options.tune.learn_then_test = true;
  families::FamilyFiles files(mpc(), {});
  const auto subject = tunable_qp(files, options);
  certify::CountJournal journal{io::CheckpointFile()};
  const TuneResult result = tune(*subject, subject->problems(), options.tune, journal);
  EXPECT_TRUE(result.default_wins);
  EXPECT_TRUE(result.winner.empty());
  EXPECT_EQ(result.tuned_traces.values, result.default_traces->values);
  EXPECT_TRUE(result.all_tested->best.empty());
  EXPECT_EQ(subject->settings(result.race.winner), subject->settings(std::nullopt));
  (void)search_script(*subject, options.tune, result, report::ImageFormat::svg);
}

// Cut to 2 it would run, and the record would say 2.7.
TEST(TuneFamily, WholeNumbersOfTheSolverAreNotCut) {
  EXPECT_INPUT_ERROR((osqp_with({{"scaling", "2.7"}}, 77)), "scaling: 2.7 is not a whole number");
  EXPECT_INPUT_ERROR((osqp_with({{"scaling", "1e300"}}, 77)), "scaling: 1e+300 is not a whole number");
  EXPECT_INPUT_ERROR((osqp_with({{"adaptive_rho_interval", "0.5"}}, 77)), "is not a whole number");
  EXPECT_INPUT_ERROR((scs_with({{"acceleration_lookback", "9.5"}}, 77)), "is not a whole number");
  EXPECT_INPUT_ERROR((scs_with({{"acceleration_interval", "1e19"}}, 77)), "is not a whole number");
  EXPECT_EQ(osqp_with({{"scaling", "2e0"}}, 77).scaling, 2);
  FamilyTuneOptions options = small();
  const auto refused = [&](const char* over, const char* words) {
    options.over = over;
    EXPECT_INPUT_ERROR((void)osqp_axes_of(options), words) << over;
  };
  refused("scaling=2.7|10", "--over: scaling: 2.7 is not a whole number");
  refused("rho,scaling=10|1e300", "--over: scaling: 1e+300 is not a whole number");
  refused("scaling=1:10:linear:4", "--over: scaling: 4.4 is not a whole number");
  refused("alpha=1:3", "--over: alpha: ");
  options.over = "scaling=10|0,rho";
  EXPECT_EQ(osqp_axes_of(options).size(), 2U);
  // Of other programs a name says nothing about its numbers.
  EXPECT_EQ(settings_keywords({{"own_interval", "2.7"}, {"other_interval", "3"}}, ""),
            "{\"own_interval\":2.7,\"other_interval\":3}\n");
}

TEST(TuneFamily, EveryAxisIsOneOfTheSolver) {
  for (const SettingAxis& axis : osqp_axes()) axis.validate();
  EXPECT_EQ(SettingSpace(parse_axes("x", usual_osqp_axes(), osqp_axes())).coarse_grid().size(), 208U);
  EXPECT_EQ(SettingSpace(parse_axes("x", usual_scs_axes(), scs_axes())).coarse_grid().size(), 156U);
}

TEST(TuneFamily, FindsTheSameWhateverTheNumberOfThreads) {
  std::string first;
  for (const int count : {1, 3}) {
    set_threads(count);
    families::FamilyFiles files(mpc(), {});
    const auto subject = tunable_qp(files, small());
    certify::CountJournal journal{io::CheckpointFile()};
    const TuneResult result = tune(*subject, subject->problems(), small().tune, journal);
    const std::string record =
        tune_record(*subject, files, small(), result) + search_record(*subject, small().tune, result, true);
    if (first.empty()) first = record;
    EXPECT_EQ(record, first);
    ASSERT_TRUE(result.before && result.after);
    EXPECT_LE(*result.after, *result.before);
    EXPECT_LE(result.race.runs, 600);
  }
  set_threads(0);
}

TEST(TuneFamily, TimesAreThoseOfAWholeRun) {
  families::FamilyFiles files(mpc(), {});
  const FamilyTuneOptions options = small();
  const auto subject = tunable_qp(files, options);
  const SettingValues candidate = subject->space().coarse_grid().back();
  const TuneTraces traces = subject->traces(candidate, {40, 3});
  const std::vector<std::vector<double>> times = subject->times({{candidate, {42, 40}}}, 1e-2);
  EXPECT_EQ(times.at(0).at(0), settling_step(traces.values.row(2).data(), traces.steps, 1e-2));
  EXPECT_EQ(times.at(0).at(1), settling_step(traces.values.row(0).data(), traces.steps, 1e-2));
  // The solver by itself, on all problems.
  const algorithms::Osqp all(files.read_qp(), osqp_with(subject->texts(candidate), options.iterations));
  runs::RunOptions run;
  run.steps = options.iterations;
  run.first = 42;
  run.count = 1;
  const auto alone =
      runs::run_traces(all, {runs::named_metric("optimality", all, [] { return problems::Table(); })},
                       runs::cold_start(), run);
  EXPECT_EQ(alone.front().values.row(0), traces.values.row(2));
}

TEST(TuneFamily, MetricsThatNeedSolutionsHaveThem) {
  families::FamilyFiles files(mpc(), {});
  FamilyTuneOptions options = small();
  options.metric = "distance";
  const auto subject = tunable_qp(files, options);
  const SettingValues candidate = subject->space().coarse_grid().front();
  const TuneTraces some = subject->traces(candidate, {7, 2});
  EXPECT_LT(some.values(0, 60), some.values(0, 0));
}

TEST(TuneFamily, ConeProgramsAreTunedToo) {
  families::FamilyFiles files(SUREFOOT_SOURCE_DIR "/examples/portfolio", {});
  problems::Cones cones;
  cones.zero = 1;
  cones.nonnegative = 20;
  cones.second_order = {5};
  FamilyTuneOptions options;
  options.tune.target = "80% below 1e-2";
  options.tune.runs = 200;
  options.over = "scale=1e-2:1:log:3,acceleration_lookback=0|10";
  options.iterations = 150;
  const auto subject = tunable_cone(files, cones, options);
  certify::CountJournal journal{io::CheckpointFile()};
  const TuneResult result = tune(*subject, subject->problems(), options.tune, journal);
  EXPECT_TRUE(result.before && result.after);
  const std::string script = search_script(*subject, options.tune, result, report::ImageFormat::svg);
  EXPECT_NE(script.find("set xlabel 'scale'"), std::string::npos) << script.substr(0, 2000);
  EXPECT_NE(search_caption(*subject, result).find("by scale"), std::string::npos);
}

TEST(TuneFamily, RefusesUnknownSettingsAndTooFewProblems) {
  families::FamilyFiles files(mpc(), {});
  FamilyTuneOptions options = small();
  options.over = "beta";
  EXPECT_INPUT_ERROR(tunable_qp(files, options), "'beta' is not one of");
  options = small();
  options.tune.target = "99.9% below 1e-2";
  EXPECT_INPUT_ERROR(tunable_qp(files, options), "are needed");
  options = small();
  options.iterations = 0;
  EXPECT_INPUT_ERROR(tunable_qp(files, options), "--iterations: 0");
}

}  // namespace
}  // namespace surefoot::experiments
