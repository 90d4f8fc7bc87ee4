// Learned starts for problems of a folder: trained on some rows, certified beside other starts on others, run
// on other problems.
#include "support/program.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string>

namespace surefoot {
namespace {

namespace fs = std::filesystem;
using testing::ProgramResult;
using testing::ProgramTest;
using testing::slurp;
using StartTestJson = nlohmann::json;

class FolderStarts : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    fs::copy(SUREFOOT_SOURCE_DIR "/examples/mpc", folder_ / "mpc");
    fs::copy(SUREFOOT_SOURCE_DIR "/examples/portfolio", folder_ / "portfolio");
  }
  static std::string recipe(const std::string& family, const std::string& more = "") {
    return "model = \"warm-start\"\n[family]\n" + family + "\n[network]\nhidden = [16]\n" + more;
  }
  static std::string quick() {
    return "[[stage]]\nepochs = 3\nbatch = 50\nnoise = false\nsurrogate = \"identity\"\n";
  }
  void train(const std::string& content, const std::string& out = "s") {
    write("t.toml", content);
    const ProgramResult result = surefoot("train t.toml --quiet --out " + out);
    ASSERT_EQ(result.code, 0) << result.err;
  }
  void expect_refused(const std::string& arguments, const std::string& words) {
    const ProgramResult result = surefoot(arguments);
    EXPECT_EQ(result.code, 2) << arguments << result.out;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  }
  /// Rows first .. of a table.
  void keep_rows(const std::string& file, int first, int count) {
    std::istringstream all(slurp(folder_ / file));
    std::string kept;
    std::string line;
    for (int row = 0; std::getline(all, line); ++row) {
      if (row >= first && row < first + count) kept += line + "\n";
    }
    write(file, kept);
  }
  StartTestJson certificate(const std::string& folder) {
    return StartTestJson::parse(slurp(folder_ / folder / "certificate.json"));
  }
};

TEST_F(FolderStarts, ModelKindAndFolderAreAWholeTrainingFile) {
  write("t.toml", "model = \"warm-start\"\n[family]\nkind = \"qp\"\nfolder = \"mpc\"\n");
  const ProgramResult trained = surefoot("train t.toml --quiet --threads 1 --out s");
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.out.find("Learned from problems 0 .. 499 of"), std::string::npos) << trained.out;
  EXPECT_NE(trained.out.find("surefoot calibrate s/weights.safetensors --hold-out 500:COUNT"),
            std::string::npos);
  const ProgramResult made = surefoot("calibrate s/weights.safetensors --hold-out 500:500 --out g");
  ASSERT_EQ(made.code, 0) << made.err;
  // No PAC-Bayes: the inputs were scaled on the training problems.
  EXPECT_FALSE(fs::exists(folder_ / "g/pac-bayes"));
  for (const std::string kind : {"hold-out", "hold-out-means"})
    EXPECT_EQ(surefoot("verify g/" + kind + "/certificate.json --weights s/weights.safetensors").code, 0)
        << kind;
  EXPECT_EQ(surefoot("verify g/starts/certificate.json --weights s/weights.safetensors").code, 0);
  EXPECT_NE(made.out.find("Learning pays: fewer iterations than from every other start are shown for"),
            std::string::npos)
      << made.out;
  const StartTestJson starts = certificate("g/starts");
  ASSERT_EQ(starts.at("variants").size(), 3U);
  EXPECT_EQ(starts.at("variants").at(0).at("name"), "learned");
  EXPECT_EQ(starts.at("variants").at(2).at("name"), "nearest");
  // The learned start is that of the certificate of the weights at their means.
  const StartTestJson means = certificate("g/hold-out-means");
  const auto budget = [](const StartTestJson& made_of, double quantile) {
    for (const StartTestJson& claim : made_of.at("claims").at("iteration_budget")) {
      if (claim.at("variant") == 0 && claim.at("quantile") == quantile && claim.at("tolerance") == 1e-2)
        return claim.at("empirical");
    }
    return StartTestJson();
  };
  EXPECT_EQ(budget(starts, 0.5), budget(means, 0.5));
  EXPECT_FALSE(budget(starts, 0.5).is_null());
}

TEST_F(FolderStarts, OfConeProgramsTakeTheConesOfTheFolder) {
  train(recipe("kind = \"cone\"\nfolder = \"portfolio\"\nsamples = 100", quick()));
  const ProgramResult made = surefoot(
      "calibrate s/weights.safetensors --hold-out 100:100 --guarantees hold-out-means,starts --out g");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_EQ(surefoot("verify g/hold-out-means/certificate.json --rerun .").code, 0);
  EXPECT_EQ(surefoot("verify g/starts/certificate.json --rerun .").code, 0);
  fs::remove(folder_ / "portfolio/settings.toml");
  write("t.toml", recipe("kind = \"cone\"\nfolder = \"portfolio\"\nsamples = 100", quick()));
  expect_refused("train t.toml --quiet --out u", "portfolio: has no settings.toml that says the cones");
}

TEST_F(FolderStarts, AreRunOnOtherProblemsWithAnySettings) {
  train(recipe("folder = \"mpc\"\nsamples = 200", quick()));
  expect_refused("run qp mpc --start s/weights.safetensors --out r",
                 "depends on problems 0 .. 199 of these files");
  fs::copy(folder_ / "mpc", folder_ / "others");
  for (const char* name : {"others/l.csv", "others/u.csv"}) keep_rows(name, 500, 300);
  const ProgramResult ran = surefoot(
      "run qp others --start s/weights.safetensors --iterations 30 --metric optimality --tolerances 1e-2 --out r");
  ASSERT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(certificate("r").at("run").at("start"), "weights.safetensors");
  EXPECT_EQ(surefoot("verify r/certificate.json --rerun .").code, 0);
  train(recipe("kind = \"cone\"\nfolder = \"portfolio\"\nsamples = 100", quick()), "c");
  expect_refused("run qp others --start c/weights.safetensors --out x",
                 "no learned start of problems of the kind qp");
  fs::copy(folder_ / "portfolio", folder_ / "assets");
  keep_rows("assets/c.csv", 200, 100);
  const ProgramResult cone =
      surefoot("run cone assets --start c/weights.safetensors --iterations 40 --tolerances 1e-2 --out rc");
  ASSERT_EQ(cone.code, 0) << cone.err;
}

TEST_F(FolderStarts, SeeTheParametersOfAUserAndAreComparedWithHisStart) {
  std::string parameters;
  std::string start;
  for (int i = 0; i < 1000; ++i) {
    parameters += std::to_string(i % 37) + "," + std::to_string(0.5 * (i % 11)) + "\n";
    for (int j = 0; j < 38 * 3; ++j) start += j == 0 ? "0.25" : ",0";
    start += "\n";
  }
  write("mpc/parameters.csv", parameters);
  write("mpc/start.csv", start);
  train(recipe("folder = \"mpc\"\nsamples = 200", quick()));
  const ProgramResult made =
      surefoot("calibrate s/weights.safetensors --hold-out 300:200 --guarantees starts --out g");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(made.out.find("Learning is not shown to pay with these 200 problems") != std::string::npos ||
              made.out.find("Learning does not pay here: fewer iterations are shown from") !=
                  std::string::npos)
      << made.out;
  EXPECT_NE(made.out.find("if each row of the table start was made from its own problem alone"),
            std::string::npos);
  EXPECT_EQ(certificate("g/starts").at("variants").size(), 4U);
  EXPECT_EQ(certificate("g/starts").at("variants").at(3).at("name"), "shifted");
  write("mpc/parameters.csv", parameters + "1,2\n");
  expect_refused("calibrate s/weights.safetensors --hold-out 600:200 --guarantees starts --out h",
                 "parameters.csv");
}

TEST_F(FolderStarts, APriorBringsItsScalingSoThatPacBayesHolds) {
  const std::string bayes = "[[stage]]\nepochs = 2\nbatch = 50\n";
  train(recipe("folder = \"mpc\"\nsamples = 200", quick()), "prior");
  train(recipe("folder = \"mpc\"\nfirst = 200\nsamples = 200",
               "[posterior]\nprior = \"prior/weights.safetensors\"\n" + bayes));
  expect_refused("calibrate s/weights.safetensors --guarantees pac-bayes --out g", "--prior");
  const ProgramResult made = surefoot(
      "calibrate s/weights.safetensors --prior prior/weights.safetensors --guarantees pac-bayes --out g");
  ASSERT_EQ(made.code, 0) << made.err;
  expect_refused("calibrate prior/weights.safetensors --guarantees pac-bayes --out h",
                 "was scaled on problems 0 .. 199, which overlap the bound's 0 .. 199");
  expect_refused("calibrate prior/weights.safetensors --out h", "name problems that training has not seen");
}

// What the network says is scaled by the solutions of training problems: never by those of a bound that is
// continued to.
TEST_F(FolderStarts, AScaleIsNeverFoundOnTheProblemsOfABound) {
  const std::string measured = "[loss]\nkind = \"optimality\"\n";
  train(recipe("folder = \"mpc\"\nsamples = 60", "unroll = 2\n" + measured + quick()), "first");
  train(recipe("folder = \"mpc\"\nfirst = 60\nsamples = 60",
               "[posterior]\nstart = \"first/weights.safetensors\"\n" + quick()));
  const std::string bytes = slurp(folder_ / "s/weights.safetensors");
  const std::size_t at = bytes.find("network.output_scale");
  ASSERT_NE(at, std::string::npos);
  EXPECT_EQ(bytes.substr(at, 25), "network.output_scale\":\"1\"") << bytes.substr(at, 40);
}

TEST_F(FolderStarts, TablesOfOtherLengthsAreRefused) {
  std::string parameters;
  for (int i = 0; i < 1000; ++i)
    parameters += std::to_string(i % 37) + "," + std::to_string(0.5 * (i % 11)) + "\n";
  write("mpc/parameters.csv", parameters);
  train(recipe("folder = \"mpc\"\nsamples = 100", quick()));
  write("t.toml", recipe("folder = \"mpc\"\nsamples = 30000000", quick()));
  expect_refused("train t.toml --out big", "samples 0 .. 29999999 are not all there");
  fs::copy(folder_ / "mpc", folder_ / "others");
  for (const char* name : {"others/l.csv", "others/u.csv"}) keep_rows(name, 500, 300);
  keep_rows("others/parameters.csv", 500, 3);
  expect_refused("run qp others --start s/weights.safetensors --out r", "has 3 rows for 300 problems");
  fs::remove(folder_ / "others/parameters.csv");
  expect_refused("run qp others --start s/weights.safetensors --out r", "parameters");
}

TEST_F(FolderStarts, BadInputIsOneLine) {
  const auto refused = [&](const std::string& content, const std::string& words) {
    write("t.toml", content);
    expect_refused("train t.toml --out b", words);
    EXPECT_TRUE(!fs::exists(folder_ / "b") || fs::is_empty(folder_ / "b")) << words;
  };
  refused(recipe("kind = \"lasso\"\nfolder = \"mpc\""), "kind: 'lasso' is not one of qp, cone");
  refused(recipe("folder = \"none\""), "none: is not a folder");
  refused(recipe("folder = \"mpc\"\nsamples = 2000"), "samples 0 .. 1999");
  refused(recipe("folder = \"mpc\"\nfirst = 990"), "to learn from half of them, 16 are needed");
  refused(recipe("folder = \"mpc\"", "unrol = 3\n"), "did you mean unroll?");
  for (const char* name : {"l", "u"}) {
    std::string row = slurp(folder_ / "mpc" / (std::string(name) + ".csv"));
    row = row.substr(0, row.find('\n') + 1);
    std::string same;
    for (int i = 0; i < 40; ++i) same += row;
    write("mpc/" + std::string(name) + ".csv", same);
  }
  refused(recipe("folder = \"mpc\""),
          "the 20 problems that are learned from all agree: there is nothing to learn");
}

}  // namespace
}  // namespace surefoot
