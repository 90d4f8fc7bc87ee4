#include "surefoot/io/npy.hpp"
#include "surefoot/problems/matrix.hpp"

#include "support/child.hpp"
#include "support/program.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace surefoot {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr int no_memory_or_disk = 4;

class Limits : public testing::ProgramTest {
 protected:
  void expect_refusal(const testing::ProgramResult& result, const std::string& words,
                      int code = no_memory_or_disk) const {
    EXPECT_EQ(result.code, code) << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
};

constexpr const char* run_mpc = "$SUREFOOT run qp " SUREFOOT_SOURCE_DIR "/examples/mpc --out out ";

TEST_F(Limits, MemoryThatIsNotThereIsRefusedWithNumbersBeforeTheWork) {
  expect_refusal(shell(std::string(run_mpc) + "--iterations 100000000 --memory-limit 4GB"),
                 "surefoot: this needs ");
  expect_refusal(shell(std::string(run_mpc) + "--iterations 100000 --save-traces --memory-limit 1GB"),
                 "traces 2.40 GB");
#ifndef SUREFOOT_SANITIZED  // the address sanitizer reserves more than any limit
  expect_refusal(shell(std::string("ulimit -v 1000000; ") + run_mpc + "--iterations 100000 --save-traces"),
                 "within ulimit -v");
#endif
  write("train.toml",
        "[family]\nsamples = 1000000000\n[[stage]]\nnoise = false\nsurrogate = \"logarithm\"\n");
  expect_refusal(surefoot("train train.toml --out out --memory-limit 2GB"), "samples ");
  write("deep.toml",
        "[family]\nsamples = 100\n[network]\nsteps = 20000000\n[[stage]]\nnoise = false\n"
        "surrogate = \"logarithm\"\n");
  expect_refusal(surefoot("train deep.toml --out out --memory-limit 200MB"), "states of all steps ");
  EXPECT_TRUE(fs::is_empty(folder_ / "out"));
}

TEST_F(Limits, ValuesOfATableAreCountedBeforeTheyAreRead) {
  // 400,000 rows of 8 steps keep 3.2 million values.
  std::string table = "k=1,k=2,k=3,k=4,k=5,k=6,k=7,k=8\n";
  for (int i = 0; i < 400'000; ++i) table += "1,2,3,4,5,6,7,8\n";
  write("table.csv", table);
  expect_refusal(surefoot("certify table.csv --out out --memory-limit 50MB"), "values for quantiles ");
  expect_refusal(shell("$SUREFOOT certify - --out out --memory-limit 50MB <table.csv"),
                 "values for quantiles ");
}

#ifndef SUREFOOT_SANITIZED  // sanitizers have memory of their own
class MemoryOf : public Limits {
 protected:
  struct Work {
    std::vector<std::string> arguments;
    double enough_to_begin = 0;             ///< a limit under which it is refused with all parts known
    std::vector<std::string> program = {};  ///< words after all options
  };

  // A tally is a file; what is verified writes nothing.
  [[nodiscard]] static std::vector<std::string> with_output(std::vector<std::string> words) {
    if (words.front() != "verify" && std::ranges::count(words, "--tally") == 0)
      words.insert(words.end(), {"--out", "out"});
    return words;
  }

  // Bytes that it says it needs, from its refusal.
  [[nodiscard]] double said(const Work& work) const {
    std::string line;
    for (const std::string& word : with_output(work.arguments)) line += fmt::format("'{}' ", word);
    line += fmt::format("--memory-limit {:.0f}", work.enough_to_begin);
    for (const std::string& word : work.program) line += fmt::format(" '{}'", word);
    const testing::ProgramResult result = surefoot(line);
    EXPECT_EQ(result.code, no_memory_or_disk) << result.err;
    constexpr std::string_view words = "this needs ";
    const std::size_t at = result.err.find(words);
    if (at == std::string::npos) return 0;
    char* unit = nullptr;
    const double number = std::strtod(result.err.c_str() + at + words.size(), &unit);
    RecordProperty("said", result.err);
    return number * (std::string_view(unit).starts_with(" GB") ? 1e9 : 1e6);
  }
  [[nodiscard]] double peak(std::vector<std::string> arguments, int code = 0,
                            const std::vector<std::string>& program = {}) const {
    arguments = with_output(std::move(arguments));
    arguments.insert(arguments.begin(), SUREFOOT_PROGRAM);
    arguments.insert(arguments.end(), program.begin(), program.end());
    testing::Child child(folder_, arguments);
    EXPECT_EQ(child.wait(), code) << testing::slurp(folder_ / ".err");
    return child.peak();
  }
  // `least` is the same work, as small as it can be: what it takes is the program.
  void expect_said_as_measured(const Work& work, const std::vector<std::string>& least) const {
    const double needed = said(work);
    const double measured = peak(work.arguments, 0, work.program) - peak(least, 0, work.program);
    fmt::print("said {:.1f} MB, measured {:.1f} MB\n", needed / 1e6, measured / 1e6);
    EXPECT_GE(measured, 30e6) << "too little to tell";
    EXPECT_LE(measured, needed);
    EXPECT_LE(needed, 4 * measured);
  }
  [[nodiscard]] std::vector<std::string> training(const std::string& name, const std::string& model,
                                                  int samples, int variables) const {
    write(name, fmt::format("model = '{}'\n[family]\nsamples = {}\nmeasurements = {}\nvariables = {}\n"
                            "[network]\nsteps = 5\n[[stage]]\nepochs = 1\nlog_variance = -12\n"
                            "surrogate = 'tolerance'\ntolerance = -10\nwidth = 4\n",
                            model, samples, variables / 2, variables));
    return {"train", name, "--quiet"};
  }
};

TEST_F(MemoryOf, RunsIsWhatTheySay) {
  std::string tolerances = "1e-4";
  for (int i = 1; i < 20; ++i) tolerances += fmt::format(",{}e-4", 10 * i);
  const auto run = [&](const char* steps) {
    return std::vector<std::string>{
        "run", "qp", SUREFOOT_SOURCE_DIR "/examples/mpc", "--iterations", steps, "--tolerances", tolerances};
  };
  expect_said_as_measured({run("6000"), 1e6}, run("20"));
}

TEST_F(MemoryOf, RunsThatKeepTracesIsWhatTheySay) {
  const auto run = [&](const std::vector<std::string>& more) {
    std::vector<std::string> words{
        "run", "qp", SUREFOOT_SOURCE_DIR "/examples/mpc", "--iterations", "3000", "--metric", "residual"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  expect_said_as_measured({run({"--save-traces"}), 1e6}, run({}));
  expect_said_as_measured({run({"--save-traces", "--checkpoint", "kept", "--checkpoint-seconds", "0"}), 1e6},
                          run({}));
}

TEST_F(MemoryOf, RunsOfADrawnFamilyIsWhatTheySay) {
  const auto run = [](const char* steps) {
    return std::vector<std::string>{"run",          "family", "unconstrained-qp", "--samples", "60",
                                    "--iterations", steps};
  };
  std::vector<std::string> kept = run("60000");
  kept.insert(kept.end(), {"--checkpoint", "kept", "--checkpoint-seconds", "0"});
  expect_said_as_measured({run("60000"), 1e6}, run("20"));
  expect_said_as_measured({kept, 1e6}, run("20"));
}

TEST_F(MemoryOf, StreamedRunsIsWhatTheySay) {
  std::string tolerances = "1e-4";
  for (int i = 1; i < 20; ++i) tolerances += fmt::format(",{}e-4", 10 * i);
  const auto run = [&](const char* steps) {
    return std::vector<std::string>{"run",          "qp",           SUREFOOT_SOURCE_DIR "/examples/mpc",
                                    "--stream",     "--iterations", steps,
                                    "--tolerances", tolerances};
  };
  expect_said_as_measured({run("6000"), 1e6}, run("20"));
}

// Numbers of a program: 200 rows of 40,000.
TEST_F(MemoryOf, RunsOfAProgramIsWhatTheySay) {
  std::string row = "1";
  for (int i = 1; i < 40'000; ++i) row += ",0.25";
  write("row.csv", row + "\n");
  const auto run = [](const char* samples) {
    return std::vector<std::string>{"run",          "command", "--samples",          samples,
                                    "--tolerances", "0.5",     "--allow-dependence", "--quantiles",
                                    "0.5"};
  };
  const std::vector<std::string> program{"--", "/bin/sh", "-c", "cat row.csv # {seed}"};
  expect_said_as_measured({run("200"), 1e6, program}, run("20"));
}

TEST_F(MemoryOf, ClosedLoopsIsWhatTheySay) {
  fs::copy(SUREFOOT_SOURCE_DIR "/examples/cartpole", folder_ / "loop");
  fs::remove(folder_ / "loop/cost-Q.mtx");  // without an exact loop, which takes long
  fs::remove(folder_ / "loop/cost-R.mtx");
  const auto run = [](const char* rollouts, const char* ticks) {
    return std::vector<std::string>{"run",     "loop", "loop",     "--rollouts", rollouts,
                                    "--ticks", ticks,  "--limits", "2"};
  };
  const std::vector<std::string> least = run("40", "3");
  expect_said_as_measured({run("8000", "60"), 40e6}, least);
  std::vector<std::string> kept = run("8000", "60");
  kept.insert(kept.end(), {"--checkpoint", "kept", "--checkpoint-seconds", "0"});
  expect_said_as_measured({kept, 40e6}, least);
  std::vector<std::string> many = run("20000", "2");
  many.back() = "1,2,3,4,5,6,7,8,9,10";
  expect_said_as_measured({many, 40e6}, least);
}

TEST_F(MemoryOf, TuningsIsWhatTheySay) {
  const auto qp = [](const char* steps) {
    return std::vector<std::string>{"tune",
                                    "qp",
                                    SUREFOOT_SOURCE_DIR "/examples/mpc",
                                    "--iterations",
                                    steps,
                                    "--target",
                                    "80% below 1e-2",
                                    "--over",
                                    "rho=0.1:1:log:2",
                                    "--grid",
                                    "2",
                                    "--search-share",
                                    "0.05"};
  };
  expect_said_as_measured({qp("3000"), 1e6}, qp("100"));
  std::vector<std::string> kept = qp("3000");
  kept.insert(kept.end(), {"--save-traces", "--checkpoint", "kept", "--checkpoint-seconds", "0"});
  expect_said_as_measured({kept, 1e6}, qp("100"));
  const auto cone = [](const char* steps) {
    return std::vector<std::string>{"tune",
                                    "cone",
                                    SUREFOOT_SOURCE_DIR "/examples/portfolio",
                                    "--iterations",
                                    steps,
                                    "--target",
                                    "80% below 1e-2",
                                    "--over",
                                    "scale=0.1:1:log:2",
                                    "--grid",
                                    "2",
                                    "--search-share",
                                    "0.05"};
  };
  expect_said_as_measured({cone("6000"), 1e6}, cone("300"));
}

TEST_F(MemoryOf, TuningsOfAProgramIsWhatTheySay) {
  std::string row = "1";
  for (int i = 1; i < 40'000; ++i) row += ",0.25";
  write("row.csv", row + "\n");
  const auto tune = [](const char* samples) {
    return std::vector<std::string>{"tune",
                                    "command",
                                    "--over",
                                    "rho=1:2:linear:2",
                                    "--grid",
                                    "2",
                                    "--target",
                                    "50% below 0.5",
                                    "--confidence",
                                    "0.5",
                                    "--samples",
                                    samples,
                                    "--search-share",
                                    "0.1",
                                    "--allow-dependence"};
  };
  const std::vector<std::string> program{"--", "/bin/sh", "-c", "cat row.csv # {rho} {seed}"};
  expect_said_as_measured({tune("300"), 40e6, program}, tune("80"));
}

TEST_F(MemoryOf, TalliesIsWhatTheySay) {
  const auto count = [&](const char* name, int rows) {
    write(fmt::format("{}.npy", name), io::npy_bytes(problems::Table::Random(rows, 12).cwiseAbs()));
    return std::vector<std::string>{
        "certify", fmt::format("{}.npy", name),  "--steps", "all", "--tolerances", "0.5", "--names", "s",
        "--tally", fmt::format("{}.tally", name)};
  };
  const std::vector<std::string> least = count("least", 100);
  expect_said_as_measured({count("a", 300'000), 1e6}, least);
  (void)peak(count("b", 300'000));
  expect_said_as_measured({{"certify", "a.tally", "b.tally"}, 1e6}, {"certify", "least.tally"});
}

TEST_F(MemoryOf, RunsThatCompareWithSolutionsIsWhatTheySay) {
  constexpr int n = 100;
  std::string P = fmt::format("%%MatrixMarket matrix coordinate real symmetric\n{0} {0} {0}\n", n);
  for (int i = 1; i <= n; ++i) P += fmt::format("{0} {0} {1}\n", i, 1 + 0.01 * i);
  fs::create_directory(folder_ / "many");
  write("many/P.mtx", P);
  write("many/A.mtx",
        fmt::format("%%MatrixMarket matrix coordinate real general\n1 {} 2\n1 1 1\n1 2 1\n", n));
  write("many/l.csv", "-1\n");
  write("many/u.csv", "1\n");
  write("many/q.npy", io::npy_bytes(problems::Table::Random(40000, n)));
  const auto run = [&](const char* metric) {
    return std::vector<std::string>{"run", "qp", "many", "--iterations", "20", "--metric", metric};
  };
  expect_said_as_measured({run("distance"), 150e6}, run("residual"));
  expect_said_as_measured({run("gap"), 150e6}, run("residual"));
  std::vector<std::string> kept = run("nmse");
  kept.insert(kept.end(), {"--checkpoint", "kept"});
  expect_said_as_measured({kept, 150e6}, run("residual"));
}

TEST_F(MemoryOf, ReproductionsIsWhatTheySay) {
  const auto reproduce = [](const char* experiment, const char* samples) {
    return std::vector<std::string>{"reproduce", experiment, "--samples", samples, "--steps", "60"};
  };
  const std::vector<std::string> least = reproduce("robust-kalman", "20");
  expect_said_as_measured({reproduce("robust-kalman", "1000"), 1e6}, least);
  expect_said_as_measured({reproduce("deblurring", "600"), 1e6}, least);
  const auto quick = [](const char* experiment, const char* samples, const char* steps) {
    return std::vector<std::string>{"reproduce", experiment, "--scale", "quick",
                                    "--samples", samples,    "--steps", steps};
  };
  expect_said_as_measured({quick("l2ws", "20000", "400"), 1e6}, least);
  expect_said_as_measured({quick("l2ws", "100", "2000"), 1e6}, least);
  expect_said_as_measured({quick("maml", "4000", "4"), 1e6}, least);
  expect_said_as_measured({quick("mpc-warm-start", "6000", "20"), 1e6}, least);
}

// A certificate of claims, and texts of JSON that become large.
TEST_F(MemoryOf, VerifyingIsWhatItSays) {
  const auto verify = [&](const std::string& file) { return std::vector<std::string>{"verify", file}; };
  write("few.npy", io::npy_bytes(problems::Table::Random(20, 5).cwiseAbs()));
  write("many.npy", io::npy_bytes(problems::Table::Random(100, 4000).cwiseAbs()));
  ASSERT_EQ(surefoot("certify few.npy --out few").code, 0);
  ASSERT_EQ(surefoot("certify many.npy --steps all --out many").code, 0);
  const double least = peak(verify("few/certificate.json"), 0);
  const auto expect = [&](const std::string& file, int code) {
    const double needed = said({verify(file), 1e6});
    const double measured = peak(verify(file), code) - least;
    fmt::print("{}: said {:.1f} MB, measured {:.1f} MB\n", file, needed / 1e6, measured / 1e6);
    EXPECT_GE(measured, 30e6) << "too little to tell";
    EXPECT_LE(measured, needed) << file;
    EXPECT_LE(needed, 4 * measured) << file;
  };
  expect("many/certificate.json", 0);
  for (const std::string item : {"0", "[]", "\"\"", "{\"a\":{}}"}) {
    std::string list = "{\"a\": [" + item;
    while (list.size() < 6'000'000) list += "," + item;
    write("list.json", list + "]}");
    expect("list.json", 2);
  }
}

TEST_F(MemoryOf, TrainingIsWhatItSays) {
  const std::vector<std::string> least = training("least.toml", "lista", 100, 16);
  expect_said_as_measured({training("weights.toml", "lista", 500, 176), 54e6}, least);
  expect_said_as_measured({training("samples.toml", "glista", 40000, 128), 1e6}, least);
}

TEST_F(MemoryOf, ArraysIsWhatTheySay) {
  const auto certify = [&](const char* name, int rows) {
    write(name, io::npy_bytes(problems::Table::Random(rows, 12).cwiseAbs()));
    return std::vector<std::string>{"certify", name, "--steps", "all"};
  };
  const std::vector<std::string> least = certify("least.npy", 100);
  const Work work{certify("table.npy", 400'000), 1e6};
  expect_said_as_measured(work, least);
  EXPECT_LE(said(work), 2.5 * (peak(work.arguments) - peak(least))) << "its header says how many rows it has";
}

TEST_F(MemoryOf, TablesOfTextIsWhatTheySay) {
  const auto certify = [&](const char* name, int rows, int columns, const std::vector<std::string>& more) {
    std::string table;
    for (int j = 1; j <= columns; ++j) table += fmt::format("{}k={}", j == 1 ? "" : ",", j);
    const problems::Table numbers = problems::Table::Random(rows, columns).cwiseAbs();
    for (int i = 0; i < rows; ++i) {
      table += '\n';
      for (int j = 0; j < columns; ++j) table += fmt::format("{}{:.16f}", j == 0 ? "" : ",", numbers(i, j));
    }
    write(name, table + '\n');
    std::vector<std::string> words{"certify", name};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  };
  const std::vector<std::string> least = certify("least.csv", 20, 5, {});
  expect_said_as_measured({certify("rows.csv", 300'000, 12, {}), 1e6}, least);
  expect_said_as_measured(
      {certify("kept.csv", 300'000, 12, {"--checkpoint", "kept", "--checkpoint-seconds", "0"}), 1e6}, least);
  expect_said_as_measured({certify("columns.csv", 8, 200'000, {}), 1e6}, least);
  expect_said_as_measured({certify("claims.csv", 20, 10'000, {"--steps", "all"}), 1e6}, least);
}

TEST_F(MemoryOf, CalibrationsIsWhatTheySay) {
  const auto calibrate = [&](const std::string& model, int samples, int variables, const char* fresh) {
    (void)peak(training("t.toml", model, samples, variables));
    std::filesystem::rename(folder_ / "out" / "weights.safetensors", folder_ / (model + fresh));
    return std::vector<std::string>{"calibrate", model + fresh, "--hold-out", fmt::format("0:{}", fresh),
                                    "--look-again"};
  };
  const std::vector<std::string> least = calibrate("lista", 100, 16, "100");
  expect_said_as_measured({calibrate("lista", 100, 256, "200"), 1e6}, least);
  expect_said_as_measured({calibrate("glista", 100, 128, "30000"), 1e6}, least);
}

/// --memory-limit as a cap: whatever a verb is given, its peak stays below the limit.
class MemoryCap : public Limits {
 protected:
  static constexpr double smallest = 128e6;  // as core/memory_cap.hpp has it

  /// Its exit code: 0 or, with one line, 4.
  int expect_below(double limit, std::vector<std::string> arguments,
                   const std::vector<std::string>& program = {}) const {
    const std::string words = fmt::format("{}", fmt::join(arguments, " "));
    arguments.insert(arguments.begin(), SUREFOOT_PROGRAM);
    arguments.insert(arguments.end(), {"--memory-limit", fmt::format("{:.0f}", limit)});
    if (!program.empty()) arguments.emplace_back("--");
    arguments.insert(arguments.end(), program.begin(), program.end());
    testing::Child child(folder_, arguments);
    const int code = child.wait();
    const std::string errors = testing::slurp(folder_ / ".err");
    EXPECT_TRUE(code == 0 || code == no_memory_or_disk) << words << ": " << code << ": " << errors;
    if (code == no_memory_or_disk) {
      EXPECT_NE(errors.find("--memory-limit"), std::string::npos) << words << ": " << errors;
      EXPECT_EQ(std::count(errors.begin(), errors.end(), '\n'), 1) << words << ": " << errors;
    }
    EXPECT_LE(child.peak(), std::max(limit, smallest)) << words << ": " << errors;
    fmt::print("{:>6.1f} MB of {:>6.1f}, exit code {}: {}\n", child.peak() / 1e6, limit / 1e6, code, words);
    return code;
  }
  [[nodiscard]] std::vector<std::string> training_arguments() const {
    write(
        "t.toml",
        "model = 'alista'\n[family]\nsamples = 200\nmeasurements = 8\nvariables = 16\n[network]\nsteps = 3\n"
        "[[stage]]\nepochs = 1\nlog_variance = -12\nsurrogate = 'tolerance'\ntolerance = -10\nwidth = 4\n");
    return {"train", "t.toml", "--quiet", "--out", "trained"};
  }
  [[nodiscard]] std::string random_table(int rows, int columns) const {
    const problems::Table numbers = problems::Table::Random(rows, columns).cwiseAbs();
    write("table.npy", io::npy_bytes(numbers));
    return "table.npy";
  }
};

TEST_F(MemoryCap, HoldsForEveryVerb) {
  (void)random_table(3000, 20);
  const std::string mpc_family = SUREFOOT_SOURCE_DIR "/examples/mpc";
  EXPECT_EQ(expect_below(200e6, {"certify", "table.npy", "--out", "certified"}), 0);
  EXPECT_EQ(expect_below(200e6, {"run", "qp", mpc_family, "--iterations", "50", "--out", "ran"}), 0);
  EXPECT_EQ(expect_below(200e6, {"verify", "certified"}), 0);
  write("larger.npy", io::npy_bytes(10 * problems::Table::Random(3000, 20).cwiseAbs()));
  EXPECT_EQ(expect_below(200e6, {"certify", "larger.npy", "--out", "larger"}), 0);
  EXPECT_EQ(expect_below(200e6, {"compare", "certified/certificate.json", "larger/certificate.json",
                                 "--variants", "table,larger", "--out", "compared"}),
            0);
  EXPECT_EQ(expect_below(200e6, {"compare", "table.npy", "larger.npy", "--paired"}), 0);
  EXPECT_EQ(expect_below(200e6, {"ask", "certified/certificate.json", "--claim", "10% below 1"}), 0);
  EXPECT_EQ(expect_below(200e6, {"monitor", "certified/certificate.json"}), 0);
  EXPECT_EQ(expect_below(200e6, {"export", "certified/certificate.json", "--c", "constants.h"}), 0);
  EXPECT_EQ(expect_below(200e6, {"certify", "table.npy", "--scalar", "--out", "scalars"}), 0);
  EXPECT_EQ(expect_below(200e6, {"certify", "table.npy", "--anytime", "--out", "grown"}), 0);
  write("more.npy", io::npy_bytes(problems::Table::Random(3000, 20).cwiseAbs()));
  EXPECT_EQ(expect_below(200e6, {"certify", "more.npy", "--append", "grown", "--out", "grown"}), 0);
  const std::string cones = SUREFOOT_SOURCE_DIR "/examples/portfolio";
  EXPECT_EQ(
      expect_below(200e6, {"run", "qp", mpc_family, "--stream", "--iterations", "50", "--out", "streamed"}),
      0);
  EXPECT_EQ(expect_below(200e6, {"run", "family", "unconstrained-qp", "--samples", "60", "--out", "drawn"}),
            0);
  EXPECT_EQ(expect_below(200e6, {"run", "loop", SUREFOOT_SOURCE_DIR "/examples/cartpole", "--rollouts", "60",
                                 "--ticks", "5", "--limits", "3,9", "--out", "looped"}),
            0);
  EXPECT_EQ(
      expect_below(200e6, {"run", "command", "--samples", "20", "--out", "commanded"}, {"echo", "0.5{seed}"}),
      0);
  EXPECT_EQ(expect_below(200e6, {"tune", "qp", mpc_family, "--iterations", "60", "--target", "80% below 1e-1",
                                 "--over", "rho=0.1:1:log:2", "--grid", "2", "--search-share", "0.05",
                                 "--out", "tuned-qp"}),
            0);
  EXPECT_EQ(expect_below(
                200e6, {"tune", "cone", cones, "--iterations", "60", "--target", "80% below 1e-1", "--over",
                        "scale=0.1:1:log:2", "--grid", "2", "--search-share", "0.05", "--out", "tuned-cone"}),
            0);
  EXPECT_EQ(expect_below(200e6,
                         {"tune", "command", "--over", "rho=1:2:linear:2", "--target", "50% below 2",
                          "--confidence", "0.5", "--samples", "20", "--out", "tuned-command"},
                         {"echo", "0.5{seed}7", "{rho}"}),
            0);
  for (const char* part : {"table", "larger"})
    EXPECT_EQ(expect_below(200e6, {"certify", fmt::format("{}.npy", part), "--names", "s", "--tolerances",
                                   "0.5", "--tally", fmt::format("{}.tally", part)}),
              0);
  EXPECT_EQ(expect_below(200e6,
                         {"certify", "table.tally", "larger.tally", "--allow-dependence", "--out", "merged"}),
            0);
  EXPECT_EQ(expect_below(200e6, {"worst-case", "averaged", "--steps", "1..20", "--out", "worst"}), 0);
  EXPECT_EQ(expect_below(200e6, training_arguments()), 0);
  EXPECT_EQ(expect_below(300e6, {"calibrate", "trained/weights.safetensors", "--hold-out", "0:1000", "--out",
                                 "calibrated"}),
            0);
  for (const char* experiment : {"robust-kalman", "l2ws", "maml", "deblurring"}) {
    expect_below(250e6, {"reproduce", experiment, "--scale", "quick", "--samples", "60", "--steps", "30",
                         "--out", std::string("reproduced-") + experiment});
  }
}

// Each under limits from too little to enough: one line, or the whole result.
TEST_F(MemoryCap, HoldsWhereVerbsPressIt) {
  const auto press = [&](const std::vector<std::string>& arguments, const std::vector<double>& limits) {
    int refused = 0;
    for (const double limit : limits) refused += expect_below(limit, arguments) == no_memory_or_disk ? 1 : 0;
    EXPECT_GE(refused, 1) << arguments.front() << ": no limit is too low; nothing is tested";
    EXPECT_LT(refused, static_cast<int>(limits.size())) << arguments.front() << ": no limit is enough";
  };
  const std::string examples = SUREFOOT_SOURCE_DIR "/examples/";
  press({"run", "qp", examples + "mpc", "--iterations", "3000", "--metric", "distance", "--save-traces",
         "--checkpoint", "kept", "--checkpoint-seconds", "0", "--out", "qp"},
        {1e6, 128e6, 150e6, 300e6});
  press({"run", "cone", examples + "portfolio", "--iterations", "6000", "--metric", "distance",
         "--save-traces", "--checkpoint", "kept", "--checkpoint-seconds", "0", "--out", "cone"},
        {1e6, 128e6, 150e6, 300e6});
  // Certificates of 5 MB.
  for (const int scale : {1, 10}) {
    write(fmt::format("{}.npy", scale), io::npy_bytes(scale * problems::Table::Random(400, 1500).cwiseAbs()));
    const testing::ProgramResult made = surefoot(fmt::format(
        "certify {0}.npy --steps all --names x --tolerances .1,.2,.3,.4,.5,.6,.7,.8,.9,1 --out {0}", scale));
    ASSERT_EQ(made.code, 0) << made.err;
  }
  press({"verify", "1/certificate.json", "--data", "1.npy"}, {1e6, 90e6, 150e6});
  press({"verify", "1"}, {1e6, 150e6});
  press({"compare", "1/certificate.json", "10/certificate.json"}, {1e6, 150e6, 300e6});
  press({"worst-case", "averaged", "--steps", "60", "--out", "worst"}, {1e6, 128e6});
  write("lista.toml",
        "model = 'lista'\n[family]\nsamples = 300\nmeasurements = 64\nvariables = 128\n[network]\nsteps = 4\n"
        "[[stage]]\nepochs = 1\nlog_variance = -12\nsurrogate = 'tolerance'\ntolerance = -10\nwidth = 4\n");
  press({"train", "lista.toml", "--quiet", "--out", "lista"}, {1e6, 35e6, 150e6});
  press({"calibrate", "lista/weights.safetensors", "--hold-out", "0:1000", "--look-again", "--out", "kinds"},
        {1e6, 20e6, 150e6});
  press({"reproduce", "robust-kalman", "--scale", "quick", "--samples", "60", "--steps", "30", "--out", "rk"},
        {1e6, 250e6});
}

TEST_F(MemoryCap, HoldsForLargeInput) {
  (void)random_table(400'000, 12);
  for (const double limit : {60e6, 130e6, 400e6})
    expect_below(limit, {"certify", "table.npy", "--out", "rows"});
  (void)random_table(8, 100'000);
  for (const double limit : {120e6, 300e6}) expect_below(limit, {"certify", "table.npy", "--out", "columns"});
  // A line of 300 MB, the first or a later one; and a certificate of 30 MB.
  ASSERT_EQ(
      shell("(head -c 150000000 /dev/zero | tr '\\0' 1; head -c 150000000 /dev/zero | tr '\\0' ,) >line.csv;"
            "(echo k=1; echo 1; cat line.csv) >later.csv")
          .code,
      0);
  for (const auto& [file, line] : {std::pair("line.csv", 1), std::pair("later.csv", 3)}) {
    for (const double limit : {150e6, 400e6}) {
      EXPECT_EQ(expect_below(limit, {"certify", file, "--out", "line"}), no_memory_or_disk);
      const std::string said = testing::slurp(folder_ / ".err");
      EXPECT_NE(said.find(fmt::format("{}:{}: the line is longer than ", file, line)), std::string::npos)
          << said;
    }
  }
  std::string list = "{\"a\": [0";
  while (list.size() < 30'000'000) list += ",0";
  write("large.json", list + "]}");
  list = {};
  EXPECT_EQ(expect_below(150e6, {"verify", "large.json"}), no_memory_or_disk);
}
#endif

// A limit on the size of files stands for a full disk: writing fails in the middle.
TEST_F(Limits, AFullDiskNamesTheFileAndLeavesWhatWasThere) {
  ASSERT_EQ(shell(std::string(run_mpc) + "--iterations 20").code, 0);
  const std::string before = testing::slurp(folder_ / "out" / "certificate.json");
  expect_refusal(
      shell(std::string("ulimit -f 16; ") + run_mpc + "--preset fixed --iterations 30 --save-traces"),
      "traces.npy: cannot write: File too large");
  EXPECT_EQ(testing::slurp(folder_ / "out" / "certificate.json"), before);
  for (const auto& entry : fs::directory_iterator(folder_ / "out"))
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
}

TEST_F(Limits, AFullDiskOfCheckpointsEndsNothing) {
  if (shell("mkdir small && mount -t tmpfs -o size=64k tmpfs small").code != 0)
    GTEST_SKIP() << "A REALLY FULL DISK OF CHECKPOINTS IS NOT TESTED: it needs the right to mount one";
  const auto result =
      shell(std::string(run_mpc) +
            "--iterations 1000 --save-traces --checkpoint small --checkpoint-seconds 0; code=$?\n"
            "umount small; exit $code");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("No space left on device; the work continues"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("could not be written"), std::string::npos) << "said at the end";
  EXPECT_EQ(surefoot("verify out/certificate.json --data out/traces.npy").code, 0);
}

TEST_F(Limits, AFullDiskIsNamed) {
  if (shell("mkdir small && mount -t tmpfs -o size=256k tmpfs small").code != 0)
    GTEST_SKIP() << "A REALLY FULL DISK IS NOT TESTED: it needs the right to mount one";
  const auto result = shell("$SUREFOOT run qp " SUREFOOT_SOURCE_DIR
                            "/examples/mpc --out small/out --iterations 1000 --save-traces; code=$?\n"
                            "find small -name '*.tmp'; umount small; exit $code");
  expect_refusal(result, "small/out/traces.npy: cannot write: No space left on device");
  EXPECT_EQ(result.out, "") << "something is left half-written";
}

TEST_F(Limits, AFolderThatCannotBeWrittenIsNamedBeforeTheWork) {
  write("file", "");
  expect_refusal(shell(std::string(run_mpc) + "--checkpoint file --iterations 1000000"),
                 "file: is a file, not a folder", 2);
  expect_refusal(shell(std::string(run_mpc) + "--checkpoint /proc/kept --iterations 1000000"), "/proc/kept",
                 2);
}

}  // namespace
}  // namespace surefoot
