#include "surefoot/certify/count_table.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"

#include "support/gzip.hpp"
#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_ranks.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <atomic>

namespace surefoot::certify {
namespace {

using test_support::gzip;
using test_support::input_error;
using test_support::TemporaryFolder;

std::string decaying_rows(int rows) {
  std::string text;
  for (int i = 0; i < rows; ++i)
    text += fmt::format("{},{},{}\n", 1.0 / (i + 1), 0.3 / (i + 1), 0.1 / (i + 2));
  return text;
}

struct CountedTable {
  std::string state;
  std::string sha256;
  std::vector<std::string> reading;
  Independence independence;
};

CountedTable counted(const std::string& path) {
  // Blocks so small that what is wrong further down is not seen when the table is opened.
  RunTable table(path, std::nullopt, {.block_bytes = 64});
  runs::TallySpec spec;
  spec.steps = table.steps();
  spec.tolerances = {1e-3, 1e-2};
  spec.claim_columns = {0, 2};
  const std::string state = table.count(spec, nullptr).state();
  return {state, table.sha256(), table.reading(), table.independence()};
}

TEST(RunTable, CountsTheSameWhateverTheProcesses) {
  const TemporaryFolder folder;
  const std::vector<std::string> files = {
      folder.write("plain.csv", decaying_rows(101)),
      folder.write("header.csv", "k=1,k=5,k=7\n" + decaying_rows(101)),
      folder.write("numbers.csv", "1,4,7\n" + decaying_rows(101)),
      folder.write("few.csv", "1,4,7\n" + decaying_rows(1) + "\n\n"),
      folder.write("packed.csv.gz", gzip(decaying_rows(101))),
      folder.write("no_end.csv", decaying_rows(101) + "0.5,0.25,0.125"),
  };
  for (const std::string& file : files) {
    const CountedTable reference = counted(file);
    for (const int processes : {2, 3, 8}) {
      std::atomic<int> agree = 0;
      test::ThreadRanks::run(processes, [&] {
        const CountedTable own = counted(file);
        const bool fits = own.state == reference.state && own.reading == reference.reading &&
                          own.independence == reference.independence &&
                          (!ranks().first() || own.sha256 == reference.sha256);
        agree += fits ? 1 : 0;
      });
      EXPECT_EQ(agree, processes) << file;
    }
  }
}

TEST(RunTable, LooksForDependenceAlikeWhateverTheThreadsAndBlocks) {
  const TemporaryFolder folder;
  std::string rows;
  for (int i = 0; i < 5000; ++i) {
    RandomStream random(1, "rows of a test", static_cast<std::uint64_t>(i / 2));
    rows += fmt::format("{:.17g},{:.17g},{:.17g}\n", random.uniform(), random.uniform(), random.uniform());
  }
  const std::string file = folder.write("pairs.csv", rows);
  std::vector<Independence> found;
  for (const int count : {1, 2, 5}) {
    set_threads(count);
    for (const std::size_t bytes : {100U, 4096U, 1U << 20U}) {
      RunTable table(file, std::nullopt, {.block_bytes = bytes});
      runs::TallySpec spec;
      spec.steps = table.steps();
      table.count(spec, nullptr);
      found.push_back(table.independence());
    }
  }
  set_threads(0);
  EXPECT_GT(found.front().exact.repeated, 2000);
  EXPECT_GT(found.front().serial.more, found.front().serial.less);
  for (const Independence& each : found) EXPECT_EQ(each, found.front());
}

TEST(StepsOfColumns, ReadsWhatLabelsSay) {
  const auto steps = [](const std::vector<std::string>& labels) {
    return steps_of_columns(labels, static_cast<Index>(labels.size()), std::nullopt).steps;
  };
  EXPECT_EQ(steps({"k=1e1", "k=1e2", "k=1e3"}), (std::vector<Index>{10, 100, 1000}));
  EXPECT_EQ(steps({"iter_005", "iter_250"}), (std::vector<Index>{5, 250}));
  EXPECT_EQ(steps({"0", "1", "12.0"}), (std::vector<Index>{0, 1, 12}));
  EXPECT_EQ(steps({"problem", "k 3", "k 4"}), (std::vector<Index>{3, 4}));
  for (const char* label :
       {"t=0.1", "step -10", "k=+3", "x.5", "10^2", "2x10", "k=1e-1", "k10b", "k=1e16", "k"}) {
    const std::string error = input_error([&] { steps({label}); });
    EXPECT_NE(error.find(fmt::format("label '{}' says no step", label)), std::string::npos) << error;
  }
  for (const char* label : {"K=7", "Iteration 7", "ITER: 7", "iters_7", "step[7]", "steps(7)", "it#7", "i7",
                            "n=7", "t=7", "t7", "epoch 7", "iter-k=7", "# 7"})
    EXPECT_EQ(steps({label}), std::vector<Index>{7}) << label;
  for (const char* label :
       {"t=1.0", "kiter=1", "log k=1", "<10", "~10", "minus 10", "t\u22121", "q50", "seed1", "problem 1",
        "k=-1", "k - 1", "time 1", "k]1", "k(1", "k 1)", "k[1)", "error1", "t=1.5"}) {
    const std::string error = input_error([&] { steps({label}); });
    EXPECT_NE(error.find("says no step"), std::string::npos) << label << ": " << error;
    EXPECT_NE(error.find("--first-step"), std::string::npos) << label << ": " << error;
  }
  EXPECT_EQ(steps_of_columns({"t=0.1", "t=0.2"}, 2, 7).steps, (std::vector<Index>{7, 8}));
}

TEST(RunTable, RefusesTheSameWhateverTheProcesses) {
  const TemporaryFolder folder;
  const std::string rows = decaying_rows(60);
  std::string late = rows;
  late.replace(late.size() - 4, 3, "zzz");
  const std::size_t middle = rows.find('\n', rows.size() / 2) + 1;
  const std::string first_half = rows.substr(0, middle);
  const std::string second_half = rows.substr(middle);
  const std::vector<std::string> files = {
      folder.write("late.csv", "k1,k2,k3\n" + late),
      folder.write("blank.csv", first_half + "\n" + second_half),
      folder.write("blanks.csv", first_half + std::string(rows.size(), '\n') + second_half),
      folder.write("blank_then_bad.csv", first_half + "\n\n1,2\n"),
      folder.write("two_errors.csv", first_half + "1,2\n" + second_half + "x,y,z\n"),
      folder.write("nothing.csv", "k1,k2,k3\n"),
  };
  for (const std::string& file : files) {
    const std::string reference = input_error([&] { counted(file); });
    for (const int processes : {2, 3, 8}) {
      std::atomic<int> agree = 0;
      test::ThreadRanks::run(processes, [&] {
        std::string message;
        try {
          counted(file);
        } catch (const InputError& error) {
          message = ranks().fail({error.what(), 2}).message;
        } catch (const OtherRankFailed& other) {
          message = other.failure().message;
        }
        agree += message == reference ? 1 : 0;
      });
      EXPECT_EQ(agree, processes) << file << ": " << reference;
    }
  }
}

}  // namespace
}  // namespace surefoot::certify
