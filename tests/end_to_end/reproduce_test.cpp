#include "support/contains.hpp"
#include "support/program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace {

using surefoot::test::unwrapped;
using surefoot::testing::ProgramResult;
using surefoot::testing::ProgramTest;
using surefoot::testing::slurp;
using Json = nlohmann::json;
using Cells = std::vector<std::string>;

const std::filesystem::path real_letters =
    std::filesystem::path(SUREFOOT_SOURCE_DIR).parent_path() / "shared" / "emnist";

class Reproduce : public ProgramTest {
 protected:
  // Rows of a CSV file, the heading first; cells may be quoted.
  [[nodiscard]] std::vector<Cells> table(const std::string& name) const {
    std::vector<Cells> rows;
    std::istringstream text(slurp(folder_ / name));
    for (std::string line; std::getline(text, line);) {
      rows.push_back({""});
      bool quoted = false;
      for (const char letter : line) {
        if (letter == '"') {
          quoted = !quoted;
        } else if (letter == ',' && !quoted) {
          rows.back().emplace_back();
        } else {
          rows.back().back() += letter;
        }
      }
    }
    return rows;
  }
  // Weights of an experiment say what they are: calibrate takes them, and its certificate can be repeated.
  void expect_calibrated(const std::string& weights, const std::string& options) const {
    const std::string folder = std::filesystem::path(weights).stem().string() + "_guarantees";
    const ProgramResult made = surefoot(fmt::format("calibrate {} {} --out {}", weights, options, folder));
    ASSERT_EQ(made.code, 0) << weights << made.err;
    const ProgramResult check = surefoot(fmt::format(
        "verify {}/{} --rerun {}", folder,
        options.find("--guarantees hold-out-means") == std::string::npos ? "pac-bayes/certificate.json"
                                                                         : "hold-out-means/certificate.json",
        std::filesystem::path(weights).parent_path().string()));
    EXPECT_EQ(check.code, 0) << weights << check.out << check.err;
  }
  // The number in the first row below the heading, -1 if it says nothing.
  [[nodiscard]] static int first_number(const std::vector<Cells>& rows, const std::string& heading) {
    const auto column = std::find(rows.at(0).begin(), rows.at(0).end(), heading) - rows.at(0).begin();
    const std::string& cell = rows.at(1).at(static_cast<std::size_t>(column));
    return cell == "-" ? -1 : std::stoi(cell);
  }
  void expect_refused(const std::string& arguments, const std::vector<std::string>& mentioned) const {
    const ProgramResult result = surefoot("reproduce " + arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    for (const std::string& word : mentioned) {
      EXPECT_NE(result.err.find(word), std::string::npos) << word << ": " << result.err;
    }
  }
};

TEST_F(Reproduce, RobustKalmanTakesAsManyStepsAsInThePaper) {
  const ProgramResult result = surefoot("reproduce robust-kalman --samples 200 --steps 200 --out kalman");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const auto rows = table("kalman/table_residual.csv");
  ASSERT_EQ(rows.size(), 10U);
  EXPECT_EQ(first_number(rows, "observed: paper"), 135);
  EXPECT_NEAR(first_number(rows, "observed: ours"), 135, 5);
  EXPECT_LE(first_number(rows, "N = 100: exact"), first_number(rows, "N = 100: paper"));
  EXPECT_GE(first_number(rows, "N = 200: exact"), first_number(rows, "observed: ours"));
  for (const char* file : {"report.html", "table_pairs.md", "trajectories.svg", "trajectories.pdf",
                           "success_residual.svg", "quantiles_states.pdf", "states/report.html"}) {
    EXPECT_GT(std::filesystem::file_size(folder_ / "kalman" / file), 500U) << file;
  }
}

TEST_F(Reproduce, CertificatesHoldTheirRunAndVerify) {
  ASSERT_EQ(surefoot("reproduce robust-kalman --samples 40 --steps 60 --seed 3 --out kalman").code, 0);
  const Json body = Json::parse(slurp(folder_ / "kalman" / "certificate.json"));
  EXPECT_EQ(body.at("run").at("seed"), 3);
  EXPECT_EQ(body.at("run").at("steps"), 60);
  EXPECT_EQ(body.at("variants").at(0).at("samples"), 40);
  EXPECT_EQ(surefoot("verify kalman/certificate.json").code, 0);
  EXPECT_EQ(surefoot("verify kalman/states/certificate.json").code, 0);
}

TEST_F(Reproduce, GivesTheSameCertificateWhateverTheThreads) {
  ASSERT_EQ(surefoot("reproduce robust-kalman --samples 30 --steps 40 --threads 1 --out one").code, 0);
  ASSERT_EQ(surefoot("reproduce robust-kalman --samples 30 --steps 40 --threads 3 --out three").code, 0);
  for (const char* file : {"certificate.json", "states/certificate.json", "table_pairs.csv"}) {
    EXPECT_EQ(slurp(folder_ / "one" / file), slurp(folder_ / "three" / file)) << file;
  }
}

TEST_F(Reproduce, DeblurringSaysThatItDrewTheLetters) {
  const ProgramResult result = surefoot("reproduce deblurring --samples 12 --steps 150 --out letters");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("letters drawn by this program"), std::string::npos);
  EXPECT_NE(slurp(folder_ / "letters" / "report.html").find("letters drawn by this program"),
            std::string::npos);
  EXPECT_GT(std::filesystem::file_size(folder_ / "letters" / "letters.svg"), 5000U);
  EXPECT_EQ(surefoot("verify letters/certificate.json").code, 0);
  EXPECT_EQ(surefoot("verify letters/nmse/certificate.json").code, 0);
}

TEST_F(Reproduce, DeblursTheRealLetters) {
  if (!std::filesystem::exists(real_letters)) {
    GTEST_SKIP() << "THE REAL LETTERS ARE NOT TESTED: there is no " << real_letters;
  }
  const ProgramResult result =
      surefoot(fmt::format("reproduce deblurring --samples 100 --scale quick --letters '{}' --out letters",
                           real_letters.string()));
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("EMNIST letters"), std::string::npos);
  EXPECT_NEAR(first_number(table("letters/table_residual.csv"), "observed: ours"), 182, 15);
}

TEST_F(Reproduce, SparseCodingHasThePapersTableAndCertificatesPerModel) {
  const ProgramResult result =
      surefoot("reproduce sparse-coding --scale quick --samples 400 --epochs 1 --models alista --out codes");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const auto rows = table("codes/table_alista.csv");
  ASSERT_EQ(rows.size(), 8U);
  std::istringstream committed(
      slurp(std::filesystem::path(SUREFOOT_SOURCE_DIR) / "experiments/sparse_coding/paper_quantiles.csv"));
  std::string line;
  std::getline(committed, line);
  for (std::size_t row = 1; std::getline(committed, line); ++row) {
    std::istringstream cells(line);
    Cells paper;
    for (std::string cell; std::getline(cells, cell, ',');) paper.push_back(cell);
    EXPECT_EQ(rows.at(row).at(0), paper.at(0) + " %");
    EXPECT_NEAR(std::stod(rows.at(row).at(1)), std::stod(paper.at(3)), 1e-9);
    EXPECT_NEAR(std::stod(rows.at(row).at(2)), std::stod(paper.at(4)), 1e-9);
  }
  // Real ISTA and FISTA at ten steps, whatever the training.
  EXPECT_NEAR(std::stod(table("codes/table_ista.csv").at(3).at(2)), -4.2, 0.3);
  EXPECT_NEAR(std::stod(table("codes/table_fista.csv").at(3).at(2)), -6.2, 0.4);
  for (const char* certificate : {"alista/pac-bayes", "alista/pac-bayes-paper", "alista/hold-out",
                                  "alista/hold-out-means", "ista", "fista"}) {
    EXPECT_EQ(surefoot(fmt::format("verify codes/{}/certificate.json", certificate)).code, 0) << certificate;
  }
  for (const char* file : {"results.md", "quantiles_nmse.svg", "success_nmse.pdf", "recipes/alista.toml",
                           "weights/alista/weights.safetensors"}) {
    EXPECT_GT(std::filesystem::file_size(folder_ / "codes" / file), 300U) << file;
  }
  // Weights that are there are used again, and give the same certificate.
  const std::string before = slurp(folder_ / "codes" / "alista/pac-bayes/certificate.json");
  const ProgramResult again =
      surefoot("reproduce sparse-coding --scale quick --samples 400 --epochs 1 --models alista --out codes");
  EXPECT_EQ(again.out.find("training alista\n"), std::string::npos);
  EXPECT_EQ(slurp(folder_ / "codes" / "alista/pac-bayes/certificate.json"), before);
}

TEST_F(Reproduce, RefusesWhatItDoesNotKnow) {
  expect_refused("fusion", {"'fusion'", "robust-kalman", "deblurring", "sparse-coding"});
  expect_refused("sparse-coding --models sista", {"--models", "'sista'", "glista"});
  expect_refused("robust-kalman --epochs 3", {"--epochs", "sparse-coding"});
  expect_refused("robust-kalman --letters here", {"--letters", "deblurring"});
  expect_refused("robust-kalman --samples 0", {"--samples", "0"});
  expect_refused("robust-kalman --seed -1", {"--seed", "-1"});
  expect_refused("robust-kalman --samples 12 --scale huge", {"--scale", "'huge'", "quick"});
  expect_refused("deblurring --blur motion", {"--blur", "'motion'", "gaussian"});
}

TEST_F(Reproduce, RefusesLettersThatAreMissingOrDamaged) {
  expect_refused("deblurring --letters nowhere", {"--letters", "nowhere", "images-idx3-ubyte"});
  std::filesystem::create_directory(folder_ / "damaged");
  write("damaged/emnist-letters-train-images-idx3-ubyte", "not an IDX file");
  expect_refused("deblurring --letters damaged", {"emnist-letters-train-images-idx3-ubyte"});
  std::filesystem::create_directory(folder_ / "few");
  std::string few{"\0\0\x08\x03\0\0\0\x02\0\0\0\x1c\0\0\0\x1c", 16};
  write("few/emnist-letters-train-images-idx3-ubyte", few + std::string(2 * 28 * 28, '\x7f'));
  expect_refused("deblurring --letters few --samples 5", {"2 letters", "13"});
}

TEST_F(Reproduce, HelpEndsInAnExample) {
  const ProgramResult result = surefoot("reproduce --help");
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(result.out.find("Example: surefoot reproduce robust-kalman"), std::string::npos);
}

TEST_F(Reproduce, LearnedWarmStartsAreCertifiedFasterThanTheColdStart) {
  const ProgramResult result = surefoot("reproduce l2ws --scale quick --steps 400 --out l2ws");
  ASSERT_EQ(result.code, 0) << result.err;
  const auto rows = table("l2ws/table_residual.csv");
  ASSERT_EQ(rows.size(), 13U);
  EXPECT_EQ(first_number(rows, "cold start: paper"), 281);
  EXPECT_NEAR(first_number(rows, "cold start: ours"), 281, 5);
  EXPECT_LT(first_number(rows, "learned, certified: ours"), 100);
  EXPECT_LE(first_number(rows, "learned, certified: hold-out"), 10);
  // Weights are drawn for each problem: Theorem 3 leaves a risk, and is of one posterior.
  const std::string out = unwrapped(result.out);
  EXPECT_NE(out.find("a new problem fails with probability at most 1e-9"), std::string::npos) << result.out;
  EXPECT_NE(out.find("Theorem 3 (posterior 80)"), std::string::npos) << result.out;
  EXPECT_EQ(out.find("no problem fails"), std::string::npos) << result.out;
  for (const char* file : {"certificate.json", "hold_out/certificate.json"})
    EXPECT_EQ(surefoot(fmt::format("verify l2ws/{}", file)).code, 0) << file;
  expect_calibrated("l2ws/weights_80.safetensors", "--guarantees pac-bayes --samples 200");
  expect_calibrated("l2ws/weights_deterministic.safetensors", "--hold-out 0:100");
}

TEST_F(Reproduce, LearnedStartsOfControlAreCertifiedBesideColdShiftedAndNearestOnes) {
  const ProgramResult result = surefoot("reproduce mpc-warm-start --scale quick --samples 1000 --out mpc");
  ASSERT_EQ(result.code, 0) << result.err;
  const auto rows = table("mpc/table_budgets.csv");
  ASSERT_EQ(rows.size(), 10U);
  const double cold = first_number(rows, "cold start: certified");
  EXPECT_LT(first_number(rows, "cold start: observed"), cold + 1);
  EXPECT_LT(first_number(rows, "shifted start: certified"), cold);
  const double hold_out = first_number(rows, "learned start: hold-out");
  EXPECT_LT(hold_out, cold - 1);
  // So few samples bound the cold start from below by less than that: two upper bounds differ, and nothing is
  // shown. Deltas of both certificates and of the bounds from the other side: 0.00972 + 0.00972 + 0.01.
  EXPECT_EQ(first_number(rows, "fewer, at least, than: cold"), -1);
  const std::string out = unwrapped(result.out);
  EXPECT_NE(out.find("together with confidence 0.97056"), std::string::npos) << result.out;
  EXPECT_NE(out.find("together with confidence 0.97084"), std::string::npos) << result.out;
  EXPECT_EQ(out.find("fewer, certified"), std::string::npos) << result.out;
  ASSERT_EQ(surefoot("compare mpc/hold_out/certificate.json mpc/starts/certificate.json --variants "
                     "deterministic,cold --variants deterministic,shifted --out compared")
                .code,
            0);
  for (const char* file : {"certificate.json", "hold_out/certificate.json", "starts/certificate.json"})
    EXPECT_EQ(surefoot(fmt::format("verify mpc/{}", file)).code, 0) << file;
  expect_calibrated("mpc/weights_deterministic.safetensors", "--guarantees hold-out-means --hold-out 0:100");
  expect_calibrated("mpc/weights_split.safetensors",
                    "--prior mpc/weights_split.safetensors --guarantees pac-bayes --samples 200 --first 500");
}

TEST_F(Reproduce, MetaLearningWritesBothTables) {
  const ProgramResult result = surefoot("reproduce maml --scale quick --out maml");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(table("maml/table_mse.csv").size(), 8U);
  EXPECT_EQ(table("maml/table_sup.csv").size(), 8U);
  for (const char* file : {"certificate.json", "split/certificate.json", "hold_out/certificate.json",
                           "mse/certificate.json", "mse/split/certificate.json"})
    EXPECT_EQ(surefoot(fmt::format("verify maml/{}", file)).code, 0) << file;
  expect_calibrated("maml/weights_meta.safetensors", "--metric 'largest error' --samples 100");
  expect_calibrated("maml/weights_split.safetensors",
                    "--prior maml/weights_split.safetensors --samples 200 --first 256");
}

}  // namespace
