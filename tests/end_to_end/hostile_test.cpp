#include "surefoot/core/random.hpp"

#include "support/program.hpp"
#include "support/training_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

namespace surefoot {
namespace {

namespace fs = std::filesystem;

constexpr const char* huge = "9223372036854775807";

/// Input that means harm: each is refused in one line, nothing is written, nothing crashes.
class Hostile : public testing::ProgramTest {
 protected:
  void expect_refused(const std::string& arguments, const std::string& words) const {
    const testing::ProgramResult result = surefoot(arguments);
    EXPECT_EQ(result.code, 2) << arguments << "\n" << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << arguments << "\n" << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << arguments << "\n" << result.err;
    EXPECT_EQ(result.err.find("internal error"), std::string::npos) << arguments << "\n" << result.err;
  }
  // A training file with one table of these lines before its stage.
  std::string training(const std::string& lines) const {
    write("hostile.toml", lines + "\n[[stage]]\nnoise = false\nsurrogate = \"logarithm\"\n");
    return "train hostile.toml --out out";
  }
  std::string trained() const {
    write("small.toml",
          "[family]\nsamples = 100\nmeasurements = 8\nvariables = 16\n[network]\nsteps = 3\n"
          "[[stage]]\nepochs = 1\nnoise = false\nsurrogate = \"logarithm\"\n");
    EXPECT_EQ(surefoot("train small.toml --out trained --quiet").code, 0);
    return "trained/weights.safetensors";
  }
  [[nodiscard]] static std::string repeated(const std::string& text, int times) {
    std::string all;
    for (int i = 0; i < times; ++i) all += text;
    return all;
  }
};

constexpr const char* portfolio =
    "run cone " SUREFOOT_SOURCE_DIR "/examples/portfolio --out out --iterations 5 ";
constexpr const char* closed_loop =
    "run loop " SUREFOOT_SOURCE_DIR "/examples/cartpole --rollouts 30 --ticks 3 --limits 5 --out looped ";
constexpr const char* tune_mpc =
    "tune qp " SUREFOOT_SOURCE_DIR
    "/examples/mpc --out tuned --iterations 60 --target \"80% below 1e-1\" --runs 300 "
    "--over rho=0.1:1:log:3,adaptive_rho ";
constexpr const char* tune_portfolio =
    "tune cone " SUREFOOT_SOURCE_DIR
    "/examples/portfolio --out tuned --iterations 60 --target \"80% below 1e-1\" --grid 3 --search-share 0.1 "
    "--over scale=0.1:1:log:3 ";
constexpr const char* mpc = "run qp " SUREFOOT_SOURCE_DIR "/examples/mpc --out out --iterations 5 ";

TEST_F(Hostile, SizesOfConesThatOverflowAreRefused) {
  fs::copy(SUREFOOT_SOURCE_DIR "/examples/portfolio", folder_ / "family");
  // 26 rows of A: these sizes are 26, or 27, if sums wrap around.
  for (const char* sizes :
       {"zero = 9223372036854775807\nnonnegative = 9223372036854775807\nsecond_order = [28]",
        "nonnegative = 9223372036854775807\nsecond_order = [9223372036854775807, 28]"}) {
    write("family/settings.toml", sizes);
    expect_refused("run cone family --out out", "out of range");
  }
  expect_refused(std::string(portfolio) + "--zero 4611686018427387904 --nonnegative 4611686018427387904",
                 "out of range");
  expect_refused(std::string(portfolio) + "--semidefinite 9223372036854775807", "1 .. 30000");
}

TEST_F(Hostile, MatricesWithoutEntriesAndManyRowsAreRefused) {
  fs::copy(SUREFOOT_SOURCE_DIR "/examples/portfolio", folder_ / "family");
  for (const char* shape : {"(1000000000000, 0, 5)", "(3000000000, 0)", "(0, 3000000000)"}) {
    std::string head = fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': {}, }}", shape);
    head.resize(117, ' ');
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(head.size() + 1);
    file += '\0';
    write("empty.npy", file + head + '\n');
    expect_refused("run cone family --A empty.npy --out out", "rows and columns");
  }
}

TEST_F(Hostile, TomlNestedDeepIsRefusedBeforeItIsParsed) {
  const std::vector<std::string> deep{"[" + repeated("a.", 100000) + "a]\n",
                                      repeated("a.", 100000) + "a = 1\n",
                                      "x = { " + repeated("a.", 20000) + "a = 1 }\n",
                                      "x = " + repeated("[", 20000) + repeated("]", 20000) + "\n",
                                      "x = " + repeated("{a=", 20000) + "1" + repeated("}", 20000) + "\n",
                                      "[[" + repeated("'a' . ", 20000) + "a]]\n"};
  for (const std::string& text : deep) {
    write("deep.toml", text);
    expect_refused("train deep.toml --out out", "nested deeper than 16");
    expect_refused(std::string(mpc) + "--settings deep.toml", "nested deeper than 16");
  }
  write("long.toml", "# " + std::string(1 << 20, 'x') + "\n");
  expect_refused("train long.toml --out out", "1048576 bytes");
  // Dots and brackets in texts, comments and numbers are no depth.
  write("texts.toml",
        "title = \"" + repeated("a.[", 40) + "\"  # " + repeated("a.[", 40) +
            "\nquantiles = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.81, 0.82, 0.83, 0.84, 0.85, 0.86, "
            "0.87, 0.88, 0.89, 0.9]\n");
  EXPECT_EQ(surefoot(std::string(mpc) + "--settings texts.toml").code, 0);
}

TEST_F(Hostile, NumbersOutsideTheirRangeAreRefused) {
  expect_refused(training(fmt::format("[network]\nsteps = {}", huge)), "steps: 9223372036854775807");
  expect_refused(training(fmt::format("[family]\nsamples = 100\nfirst = {}", huge)), "out of range");
  expect_refused(training(fmt::format("[family]\nvariables = {}", huge)), "variables");
  expect_refused(training(fmt::format("[family]\nsamples = 100\n[posterior]\nslots = {}", huge)), "slots");
  expect_refused(training("[posterior]\ninitial = { step = nan }"), "must be a number");
  expect_refused(training("[posterior]\ndelta = 1.0"), "delta: 1 is outside (0, 1)");
  expect_refused(training("") + " --samples -5", "'-5' is below 1");
  expect_refused(training("") + " --validate 0", "'0' is below 1");
  expect_refused(training("") + " --target nan", "'nan' is not a number of at least 0");
  for (const char* verb : {mpc, portfolio}) {
    expect_refused(std::string(verb) + "--memory-limit -1", "'-1' is not a size");
    expect_refused(std::string(verb) + "--memory-limit nan", "'nan' is not a size");
    for (const char* seconds : {"nan", "inf", "-1", "1e999"})
      expect_refused(fmt::format("{} --checkpoint-seconds {}", verb, seconds),
                     "is not a number of at least 0");
  }
  expect_refused(fmt::format("run family unconstrained-qp --samples {} --out out", huge),
                 "--samples: 9223372036854775807 is outside 1 .. 1000000000000000");
  expect_refused(fmt::format("run family unconstrained-qp --samples 9 --first {} --out out", huge),
                 "--first: ");
  expect_refused(std::string(tune_mpc) + "--search-share 1e-300", "--search-share: 1e-300 is outside");
  const std::string weights = trained();
  expect_refused(fmt::format("calibrate {} --first {}", weights, huge), "--samples");
  expect_refused(fmt::format("calibrate {} --first {} --samples 100", weights, huge), "100");
  expect_refused(fmt::format("calibrate {} --first -1 --samples 100", weights), "-1");
  expect_refused(fmt::format("calibrate {} --draws {} --guarantees pac-bayes", weights, huge),
                 "out of range");
  expect_refused(fmt::format("calibrate {} --hold-out {}:1", weights, huge), "too many");
}

TEST_F(Hostile, BytesThatAreNoTextAreNoInternalError) {
  fs::copy(SUREFOOT_SOURCE_DIR "/examples/mpc", folder_ / "family");
  fs::rename(folder_ / "family" / "q.csv", folder_ / "\xff.csv");
  const auto result = surefoot(
      "run qp family --q \"$(printf '\\377').csv\" --title \"$(printf '\\377')\" --iterations 5 --out out");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(surefoot("verify out/certificate.json").code, 0);
  const std::string weights = trained();
  EXPECT_EQ(surefoot("calibrate " + weights + " --names \"$(printf '\\377')\" --out calibrated").code, 0);
}

TEST_F(Hostile, SettingsOfAFamilyDoNotChooseWhereFilesGo) {
  fs::copy(SUREFOOT_SOURCE_DIR "/examples/portfolio", folder_ / "family");
  const std::string cones = "\n[cones]\nzero = 1\nnonnegative = 20\nsecond_order = [5]\n";
  for (const char* line :
       {"out = 'elsewhere'", "checkpoint = 'elsewhere'", "ledger = 'elsewhere'", "resume = true"}) {
    write("family/settings.toml", line + cones);
    expect_refused("run cone family --iterations 5 --out mine", "only the command line may");
    EXPECT_FALSE(fs::exists(folder_ / "elsewhere")) << line;
  }
}

TEST_F(Hostile, CommandsToCopyAreQuotedAndNamesAreNoControlCharacters) {
  write("table.csv", "k=1,k=2\n3,1\n2,1\n");
  const auto result = surefoot("certify table.csv --out \"$(printf 'a b;\\033[31m')\"");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("surefoot verify 'a b;"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find('\033'), std::string::npos) << result.out;
  const auto dash = surefoot("certify table.csv --out=-x");
  ASSERT_EQ(dash.code, 0) << dash.err;
  EXPECT_NE(dash.out.find("surefoot verify ./-x/certificate.json\n"), std::string::npos) << dash.out;
}

TEST_F(Hostile, FiguresThatCouldNotBeDrawnAreNotSaidToBeWritten) {
  write("table.csv", "k=1,k=2\n3,1\n2,1\n");
  const auto drawn = surefoot("certify table.csv --out drawn");
  EXPECT_NE(drawn.out.find("curves.csv, figures and tables for papers\n"), std::string::npos) << drawn.out;
  fs::create_directory(folder_ / "bin");
  write("bin/gnuplot", "#!/bin/sh\necho '<?xml version=\"1.0\"?><svg><g>'\n");
  fs::permissions(folder_ / "bin" / "gnuplot", fs::perms::owner_all);
  const auto cut = shell("PATH=$PWD/bin:$PATH $SUREFOOT certify table.csv --out cut");
  EXPECT_EQ(cut.code, 0) << cut.err;
  EXPECT_NE(cut.err.find("No figure success: "), std::string::npos) << cut.err;
  EXPECT_NE(cut.out.find("curves.csv, tables for papers, and the figures that could be drawn\n"),
            std::string::npos)
      << cut.out;
  EXPECT_FALSE(fs::exists(folder_ / "cut" / "success.svg"));
}

TEST_F(Hostile, NamesInSentencesAreOneShortLine) {
  write("table.csv", "k=1,k=2\n3,1\n2,1\n");
  const std::string sentence = "\"$(printf 'x of all problems is 0.\\nWith confidence 1')\"";
  for (const char* option : {"--metric", "--unit", "--title", "--names"}) {
    const std::string name = std::string(option).substr(std::string_view(option) == "--names" ? 0 : 2);
    expect_refused(fmt::format("certify table.csv {} {} --out out", option, sentence),
                   name + ": 'x of all problems is 0.\\nWith confidence 1' has control characters");
    expect_refused(fmt::format("certify table.csv {} {} --out out", option, std::string(201, 'x')),
                   "has 201 characters, a name has at most 200");
  }
  EXPECT_FALSE(fs::exists(folder_ / "out"));
}

TEST_F(Hostile, FilesThatAreReplacedKeepTheirMode) {
  write("table.csv", "k=1,k=2\n3,1\n2,1\n");
  ASSERT_EQ(surefoot("certify table.csv --out out").code, 0);
  const fs::path file = folder_ / "out" / "certificate.json";
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
  ASSERT_EQ(surefoot("certify table.csv --out out --title again").code, 0);
  EXPECT_EQ(fs::status(file).permissions(), fs::perms::owner_read | fs::perms::owner_write);
}

// A row for every code of docs/reference_verbs.md; 5 cannot be reached, and those of signals are tested with
// them.
// Every code that a verb can end with; 5 is in app/ending_test.cpp, signals are in interruption_test.cpp.
TEST_F(Hostile, ExitCodesAreThoseOfTheTable) {
  std::string slow = "k=1,k=2\n";
  std::string fast = slow;
  for (int i = 0; i < 200; ++i) {
    RandomStream random(1, "hostile test", static_cast<std::uint64_t>(i));
    slow += fmt::format("{:.9g},{:.9g}\n", random.uniform(3, 4), random.uniform(2, 3));
    fast += fmt::format("{:.9g},{:.9g}\n", random.uniform(3, 4), random.uniform(0, 0.5));
  }
  write("slow.csv", slow);
  write("fast.csv", fast);
  const std::string weights = trained();
  // The same problems as those of the example but for one bound: other problems.
  fs::copy(SUREFOOT_SOURCE_DIR "/examples/mpc", folder_ / "others");
  std::string bounds = testing::slurp(folder_ / "others" / "u.csv");
  write("others/u.csv", bounds.substr(bounds.find('\n') + 1));
  bounds = testing::slurp(folder_ / "others" / "l.csv");
  write("others/l.csv", bounds.substr(bounds.find('\n') + 1));
  write("schedule.toml",
        "model = 'schedule'\n[family]\nkind = 'qp'\nfolder = '" SUREFOOT_SOURCE_DIR
        "/examples/mpc'\nsamples = 20\n[network]\nsteps = 4\nrho = 0.4\n[[stage]]\nnoise = false\n"
        "epochs = 1\nbatch = 10\nsurrogate = 'logarithm'\n");
  struct Row {
    std::string words;
    int code;
  };
  const std::vector<Row> rows{
      {"certify slow.csv --tolerances 1 --out slow", 0},
      {"certify fast.csv --tolerances 1 --names slow --out fast", 0},
      {"certify slow.csv --tolerances 1 --out again --title again", 0},
      {"certify slow.csv --tolerances x --out out", 2},
      {"certify slow.csv --tolerances 1 --out small --memory-limit 1kB", 4},
      {"certify slow.csv --tolerances 1 --out piped >/dev/full", 4},
      {mpc, 0},
      {std::string(mpc) + "--metric nothing", 2},
      {std::string(mpc) + "--memory-limit 1kB", 4},
      {portfolio, 0},
      {std::string(portfolio) + "--zero 2", 2},
      {std::string(portfolio) + "--memory-limit 1kB", 4},
      {"certify slow.csv --tolerances 1 --anytime --out open", 0},
      {"certify fast.csv --append open --out x", 2},
      {"certify fast.csv --append slow --out x", 2},
      {std::string(mpc) + "--until \"10% below 1e9\"", 0},
      {std::string(mpc) + "--until \"99.9% below 1e-9\" --max-runs 4", 3},
      {std::string(mpc) + "--until \"99.9% over 1\"", 2},
      {"run family unconstrained-qp --samples 30 --iterations 3 --out drawn", 0},
      {"run family unconstrained --samples 30 --out drawn", 2},
      {"run family unconstrained-qp --samples 30 --out drawn --memory-limit 1kB", 4},
      {closed_loop, 0},
      {std::string(closed_loop) + "--limits 9,8", 2},
      {std::string(closed_loop) + "--memory-limit 1kB", 4},
      {"run command --samples 3 --out ran -- echo 0.5 {seed}", 0},
      {"run command --until \"99% below 1 after 1\" --max-runs 3 --out ran -- echo 0.5 {seed}", 3},
      {"run command --samples 3 --out ran -- false {seed}", 2},
      {"run command --samples 3 --out ran --memory-limit 1kB -- echo 0.5 {seed}", 4},
      {tune_mpc, 0},
      {std::string(tune_mpc) + "--metric nothing", 2},
      {std::string(tune_mpc) + "--memory-limit 1kB", 4},
      {"tune qp " SUREFOOT_SOURCE_DIR
       "/examples/mpc --out tuned --iterations 5 --target \"80% below 1e-9\" --runs 900 "
       "--over rho=1:2",
       2},
      {"tune command --over rho=1:2 --default rho=1 --target \"50% below 2\" --confidence 0.5 --samples 20 --out tuned "
       "-- echo 0.5{seed}7 {rho}",
       0},
      {"tune command --over rho=1:2 --target \"50% below 2\" --samples 20 --out tuned -- false {rho} {seed}",
       2},
      // Of the problems that settings were chosen by all are below 2, of the others none is.
      {"tune command --over rho=1:2 --target \"50% below 2\" --confidence 0.5 --samples 20 --out tuned "
       "-- sh -c 'echo $(($0 / 10 * 5)).${0}7' {seed} {rho}",
       1},
      {"tune command --over rho=1:2 --target \"50% below 2\" --samples 20 --out tuned --memory-limit 1kB -- echo {rho} {seed}",
       4},
      {tune_portfolio, 0},
      {std::string(tune_portfolio) + "--metric nothing", 2},
      {std::string(tune_portfolio) + "--memory-limit 1kB", 4},
      {std::string(mpc) + "--stream", 0},
      {std::string(mpc) + "--stream --save-traces", 2},
      {std::string(mpc) + "--stream --memory-limit 1kB", 4},
      {"train schedule.toml --quiet --out schedule", 0},
      {"run qp others --schedule schedule/weights.safetensors --iterations 5 --out scheduled", 0},
      {std::string(mpc) + "--schedule schedule/weights.safetensors", 2},
      {"run qp others --schedule schedule/weights.safetensors --iterations 5 --out scheduled --memory-limit 1kB",
       4},
      {"certify slow.csv --names s --tolerances 1 --tally slow.tally", 0},
      {"certify fast.csv --names s --tolerances 1 --tally fast.tally", 0},
      {"certify slow.csv --names s --tolerances 1 --tally slow.csv", 2},
      {"certify slow.csv --names s --tolerances 1 --tally other.tally --memory-limit 1kB", 4},
      {"certify slow.tally fast.tally --allow-dependence --out merged", 0},
      {"certify slow.tally slow.tally --out merged", 2},
      {"certify slow.tally fast.csv --out merged", 2},
      {"certify slow.tally fast.tally --out merged --memory-limit 1kB", 4},
      {"verify slow/certificate.json", 0},
      {"verify slow/certificate.json --data fast.csv", 1},
      {"verify missing.json", 2},
      {"verify slow/certificate.json >/dev/full", 4},
      {"verify slow/certificate.json --memory-limit 1kB", 4},
      {"ask slow/certificate.json --claim \"50% below 10 within 1\"", 0},
      {"ask slow/certificate.json --claim \"50% below 1 within 1\"", 1},
      {"ask forged.json --claim \"50% below 10 within 1\"", 1},
      {"ask slow/certificate.json --claim \"50% above 1\"", 2},
      {"ask missing.json --claim \"50% below 1\"", 2},
      {"ask slow/certificate.json --claim \"50% below 10 within 1\" >/dev/full", 4},
      {"ask slow/certificate.json --claim \"50% below 10 within 1\" --memory-limit 1kB", 4},
      {"monitor fast/certificate.json", 0},
      {"monitor fast/certificate.json --claim \"below 1 after 2\" --arl 10 < slow.csv", 1},
      {"monitor forged.json", 1},
      {"monitor missing.json", 2},
      {"monitor fast/certificate.json >/dev/full", 4},
      {"monitor fast/certificate.json --memory-limit 1kB", 4},
      {"export fast/certificate.json --c own.h", 0},
      {"export forged.json --c own.h", 1},
      {"export fast/certificate.json --c own.h --name 1x", 2},
      {"export fast/certificate.json --c own.h --memory-limit 1kB", 4},
      {"compare slow/certificate.json fast/certificate.json", 0},
      {"compare slow/certificate.json forged.json", 1},
      {"compare slow/certificate.json missing.json", 2},
      {"compare slow/certificate.json again/certificate.json", 3},
      {"compare slow/certificate.json fast/certificate.json >/dev/full", 4},
      {"compare slow/certificate.json fast/certificate.json --rank \"below 1 after 2\"", 0},
      {"compare slow/certificate.json again/certificate.json --rank \"below 1 after 2\"", 3},
      {"compare slow/certificate.json forged.json --rank \"below 1 after 2\"", 1},
      {"compare slow/certificate.json fast/certificate.json --rank below", 2},
      {"compare slow.csv fast.csv --paired --claim \"below 1 after 2\" --allow 0.05", 0},
      {"compare fast.csv slow.csv --paired --claim \"below 1 after 2\" --allow 0.05", 1},
      {"compare slow.csv fast.csv --paired --claim \"below 3.5 after 1\" --allow 0.01", 3},
      {"compare slow.csv fast.csv --paired --claim \"above\"", 2},
      {"compare slow.csv fast.csv --paired --claim \"below 1 after 2\" --memory-limit 1kB", 4},
      {"compare slow.csv fast.csv --paired --tolerances 1 --record record.json", 0},
      {"verify record.json --data slow.csv fast.csv", 0},
      {"verify record.json --data fast.csv slow.csv", 1},
      {"verify record.json --weights none.safetensors", 2},
      {"bound risk --failures 3 --samples 1000 --delta 1e-4", 0},
      {"bound risk --failures 3 --samples 2 --delta 1e-4", 2},
      {"bound risk --failures 3 --samples 1000 --delta 1e-4 >/dev/full", 4},
      {"plan --share 0.9", 0},
      {"plan --share 0", 2},
      {"plan --share 0.9 >/dev/full", 4},
      {"completion bash", 0},
      {"completion fishy", 2},
      {"completion bash >/dev/full", 4},
      {"manual --out pages", 0},
      {"manual --out small.toml", 2},
      {"manual >/dev/full", 4},
      {"worst-case averaged --steps 2", 0},
      {"worst-case averaged --steps 2..1", 2},
      {"worst-case gradient --step 1e100 --steps 4", 3},
      {"worst-case averaged --steps 9000 --memory-limit 200MB", 4},
      {"train small.toml --quiet --out other", 0},
      {"train missing.toml --out other", 2},
      {fmt::format("train small.toml --out other --samples {}", huge), 4},
      {"calibrate " + weights + " --out calibrated", 0},
      {"calibrate missing.safetensors --out calibrated", 2},
      {"calibrate " + weights + " --out calibrated --memory-limit 1kB", 4},
      {"reproduce robust-kalman --scale quick --samples 3 --steps 2 --out kalman", 0},
      {"reproduce nothing --out nothing", 2},
      {"reproduce robust-kalman --scale quick --samples 3 --steps 2 --out kalman --memory-limit 1kB", 4},
      {"nonsense", 2},
      {"", 2},
      {"--help", 0},
      {"--version >/dev/full", 4},
  };
  for (const Row& row : rows) {
    const testing::ProgramResult result = surefoot(row.words);
    EXPECT_EQ(result.code, row.code) << row.words << "\n" << result.err;
    if (row.words.find("--out again") != std::string::npos) {
      std::string forged = testing::slurp(folder_ / "slow" / "certificate.json");
      forged.replace(forged.find("\"samples\": 200"), 14, "\"samples\": 201");
      write("forged.json", forged);
    }
  }
}

TEST_F(Hostile, MessagesThatCannotBeWrittenEndNothing) {
  write("table.csv", "k=1,k=2\n3,1\n2,1\n");
  const std::string certify = "$SUREFOOT certify table.csv --out out ";
  for (const char* nowhere : {"2>/dev/full", "2>&-"}) {
    EXPECT_EQ(shell("$SUREFOOT certify missing.csv --out out " + std::string(nowhere)).code, 2) << nowhere;
    fs::remove_all(folder_ / "out");
    EXPECT_EQ(shell(certify + nowhere).code, 0) << nowhere;
    EXPECT_EQ(surefoot("verify out/certificate.json").code, 0) << nowhere;
  }
  // With no streams at all nothing of the messages lands in a file.
  fs::remove_all(folder_ / "out");
  (void)shell(certify + "<&- >&- 2>&-");
  EXPECT_EQ(surefoot("verify out/certificate.json").code, 0);
}

}  // namespace
}  // namespace surefoot
