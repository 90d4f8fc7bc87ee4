#include "surefoot/certify/count_journal.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/certify_run.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/learned.hpp"
#include "surefoot/certify/run_counter.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"

#include "support/gzip.hpp"
#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/toy_learned.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>

namespace surefoot::certify {
namespace {

using test_support::input_error;
using test_support::TemporaryFolder;

const io::Configuration example_work{{"work", "test"}};

/// Lets a journal come to `blocks` blocks of work, then stops it; beyond `stops` stops it lets it finish.
class Stopper {
 public:
  explicit Stopper(const std::string& file, double seconds = 0) : file_(file), seconds_(seconds) {}

  /// Calls work(journal) in processes that are stopped after `blocks` blocks each, until one finishes.
  template <class Work>
  auto until_done(int blocks, const Work& work) {
    for (bool resume = false;; resume = true) {
      std::atomic<int> left{blocks};
      CountJournal journal(io::CheckpointFile(file_, example_work, seconds_), resume, [&] {
        if (left-- <= 0) throw Interrupted();
      });
      try {
        return work(journal);
      } catch (const Interrupted&) {
        ++stops;
      }
    }
  }

  int stops = 0;

 private:
  std::string file_;
  double seconds_;
};

runs::Metric distances(Index instances) {
  std::vector<double> targets;
  RandomStream random(2, "targets", 0);
  for (Index i = 0; i < instances; ++i) targets.push_back(random.normal());
  return test::toy_metric(targets);
}

TEST(CountJournal, StoppedCalibrationsEndInTheSameCounts) {
  const TemporaryFolder folder;
  constexpr Index samples = 300;
  test::ToyLearned op(std::vector<Index>(samples, 0), 1);
  const learning::Posterior posterior = test::toy_posterior({0.7}, 0.3, 40);
  const runs::Metric metric = distances(samples);
  PacBayesOptions options;
  options.claims.tolerances = {0.5, 1.0, 2.0};
  options.claims.quantiles = {0.5};
  options = resolved(options, recorded_steps(metric, 4));
  const LearnedModel model{op, posterior, metric, 4};
  for (const Design design : {Design::stratified, Design::paper}) {
    CalibrationOptions calibration;
    calibration.design = design;
    calibration.draws = 3;
    const std::string whole = calibrate(model, options, calibration).tally.state();
    for (const double seconds : {0.0, 1e9}) {
      for (const int team : {1, 3}) {
        set_threads(team);
        Stopper stopper(folder / fmt::format("{}-{}-{}", static_cast<int>(design), seconds, team), seconds);
        const std::string stopped = stopper.until_done(7, [&](CountJournal& journal) {
          CalibrationOptions own = calibration;
          own.journal = &journal;
          return calibrate(model, options, own).tally.state();
        });
        EXPECT_EQ(stopped, whole);
        EXPECT_GE(stopper.stops, 3);
      }
    }
  }
  set_threads(0);
}

TEST(CountJournal, StoppedHoldOutsOfSeveralModelsEndInTheSameCertificate) {
  const TemporaryFolder folder;
  constexpr Index samples = 200;
  test::ToyLearned op(std::vector<Index>(samples, 0), 1);
  const learning::Posterior one = test::toy_posterior({0.7}, 0.3, 40);
  const learning::Posterior two = test::toy_posterior({0.2}, 0.1, 40);
  const runs::Metric metric = distances(samples);
  Options options;
  options.tolerances = {0.5, 1.0};
  const std::vector<LearnedModel> models{{op, one, metric, 3, "one"}, {op, two, metric, 3, "two"}};
  const std::string whole = to_json(certify_hold_out(models, options, {}));
  Stopper stopper(folder / "c");
  const std::string stopped = stopper.until_done(5, [&](CountJournal& journal) {
    HoldOutOptions hold_out;
    hold_out.journal = &journal;
    return to_json(certify_hold_out(models, options, hold_out));
  });
  EXPECT_EQ(stopped, whole);
  EXPECT_GE(stopper.stops, 3);
}

TEST(CountJournal, StoppedRunsTellTheListenerOfEachInstanceOnce) {
  const TemporaryFolder folder;
  constexpr Index samples = 150;
  test::ToyLearned op(std::vector<Index>(samples, 0), 1);
  const runs::Metric metric = distances(samples);
  const SampledOperator sampled(op);
  Options options;
  options.tolerances = {0.5};
  runs::RunOptions run_options;
  run_options.steps = 3;
  const std::string whole = to_json(certify_run(sampled, metric, options, run_options));
  Stopper stopper(folder / "c");
  std::vector<int> heard(samples, 0);
  const std::string stopped = stopper.until_done(2, [&](CountJournal& journal) {
    journal.companion.save = [&](ByteWriter& to) {
      for (const int count : heard) to.number(static_cast<char>(count));
    };
    journal.companion.restore = [&](std::string_view bytes) { heard.assign(bytes.begin(), bytes.end()); };
    return to_json(certify_run(
        sampled, metric, options, run_options, {},
        [&](Index instance, const double*) { ++heard[static_cast<std::size_t>(instance)]; }, &journal));
  });
  EXPECT_EQ(stopped, whole);
  EXPECT_GE(stopper.stops, 3);
  EXPECT_EQ(heard, std::vector<int>(samples, 1));
}

TEST(CountJournal, StoppedRunsOfSeveralMetricsAndGroupsAreCountedAsTheirTraces) {
  const TemporaryFolder folder;
  constexpr Index samples = 150;
  constexpr std::size_t rings = 3;
  test::ToyLearned op(std::vector<Index>(samples, 0), 1);
  const SampledOperator sampled(op, 5, "weights", 0);
  const std::vector<runs::Metric> metrics{distances(samples), runs::fixed_point_residual()};
  const auto group_of = [](std::size_t metric, Index instance) {
    return metric * rings + static_cast<std::size_t>(instance) % rings;
  };
  runs::RunOptions run_options;
  run_options.steps = 3;
  Options options;
  options.tolerances = {0.1, 0.5};
  std::vector<runs::TallySpec> specs;
  std::vector<runs::Tally> by_hand;
  const std::vector<runs::Trace> traces = runs::run_traces(sampled, metrics, {}, run_options);
  for (const runs::Trace& trace : traces) {
    std::vector<Index> steps;
    for (Index k = 0; k < trace.values.cols(); ++k) steps.push_back(trace.first_step + k);
    specs.insert(specs.end(), rings, tally_spec(resolved(options, {steps}), steps));
  }
  for (const runs::TallySpec& spec : specs) by_hand.emplace_back(spec);
  for (std::size_t metric = 0; metric < traces.size(); ++metric) {
    for (Index i = 0; i < samples; ++i)
      by_hand[group_of(metric, i)].add_run(traces[metric].values.row(i).data());
  }
  for (const int team : {1, 3}) {
    set_threads(team);
    Stopper stopper(folder / fmt::format("{}", team));
    const std::vector<runs::Tally> counted = stopper.until_done(2, [&](CountJournal& journal) {
      RunCounter counter(specs, &journal);
      counter.run_grouped(sampled, metrics, {}, run_options, group_of);
      EXPECT_EQ(counter.counted(), samples * static_cast<Index>(metrics.size()));
      return counter.finish_groups();
    });
    ASSERT_EQ(counted.size(), by_hand.size());
    for (std::size_t i = 0; i < by_hand.size(); ++i) EXPECT_EQ(counted[i].state(), by_hand[i].state()) << i;
    EXPECT_GE(stopper.stops, 3);
  }
  set_threads(0);
}

TEST(CountJournal, WhatHasEndedIsWrittenWhenAskedFor) {
  const TemporaryFolder folder;
  const std::string file = folder / "c";
  {
    CountJournal journal(io::CheckpointFile(file, example_work, 1e9));
    EXPECT_FALSE(journal.begin());
    journal.end("first");
    EXPECT_FALSE(std::filesystem::exists(file));
    journal.flush();
  }
  CountJournal again(io::CheckpointFile(file, example_work, 1e9), true);
  EXPECT_EQ(again.begin(), "first");
  std::filesystem::remove(file);
  again.end("first");
  again.flush();
  EXPECT_FALSE(std::filesystem::exists(file)) << "nothing is new";
}

const io::TableOptions small_blocks{.block_bytes = 4096};

std::string table_of_many_blocks() {
  std::string text = "k=1,k=2\n";
  RandomStream random(9, "table", 0);
  while (text.size() < 20 * small_blocks.block_bytes)
    text += fmt::format("{:.17g},{:.17g}\n", random.normal(), random.normal());
  return text;
}

TEST(CountJournal, StoppedTablesAreGoneOnWithAndChangedOnesRefused) {
  const TemporaryFolder folder;
  std::string text = table_of_many_blocks();
  const std::string plain = folder.write("t.csv", text);
  const std::string packed = folder.write("t.csv.gz", test_support::gzip(text));
  Options options;
  options.tolerances = {0.5};
  for (const std::string& path : {plain, packed}) {
    const auto count = [&](CountJournal* journal) {
      RunTable table(path, std::nullopt, small_blocks);
      const Options claims = resolved(options, {table.steps()});
      const runs::Tally tally = table.count(tally_spec(claims, table.steps()), nullptr, journal);
      return tally.state() + table.sha256();
    };
    Stopper stopper(folder / "c");
    EXPECT_EQ(stopper.until_done(1, [&](CountJournal& journal) { return count(&journal); }), count(nullptr));
    EXPECT_GE(stopper.stops, 9);
    std::filesystem::remove(folder / "c");
  }
  const auto stopped_then = [&](const std::string& changed) {
    CountJournal journal(io::CheckpointFile(folder / "c", example_work, 0), false,
                         [] { throw Interrupted(); });
    const auto count = [&](CountJournal& counting) {
      RunTable table(plain, std::nullopt, small_blocks);
      (void)table.count(tally_spec(resolved(options, {table.steps()}), table.steps()), nullptr, &counting);
    };
    EXPECT_THROW(count(journal), Interrupted);
    folder.write("t.csv", changed);
    CountJournal again(io::CheckpointFile(folder / "c", example_work, 0), true);
    return input_error([&] { count(again); });
  };
  text[100] = text[100] == '1' ? '2' : '1';
  EXPECT_NE(stopped_then(text).find("is not the table that the checkpoint has counted"), std::string::npos);
  EXPECT_NE(stopped_then(text.substr(0, text.find('\n', 1000) + 1)).find("were there before"),
            std::string::npos);
}

}  // namespace
}  // namespace surefoot::certify
