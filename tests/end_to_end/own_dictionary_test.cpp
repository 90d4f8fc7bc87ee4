// Learned soft-thresholding for a dictionary and codes of the user's own: train, calibrate, verify.
#include "surefoot/families/sparse_coding.hpp"
#include "surefoot/io/npy.hpp"
#include "surefoot/learning/posterior_file.hpp"

#include "support/program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>

namespace surefoot {
namespace {

namespace fs = std::filesystem;
using testing::ProgramResult;
using testing::ProgramTest;
using testing::slurp;
using OwnJson = nlohmann::json;

constexpr std::uint64_t family_seed = 5;
constexpr families::SparseCodingOptions small_codes{.measurements = 12, .variables = 24};

class OwnDictionary : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    fs::create_directory(folder_ / "data");
    const families::SparseCoding law(family_seed, small_codes);
    io::write_npy(folder_ / "data/D.npy", law.dictionary());
    const problems::SparseCodes drawn = law.draw(families::SampleSet::training, 600);
    problems::Table codes = problems::Table::Zero(600, 24);
    for (Index i = 0; i < 600; ++i) {
      for (Index t = drawn.begin[i]; t < drawn.begin[i + 1]; ++t) codes(i, drawn.entry[t]) = drawn.value[t];
    }
    io::write_npy(folder_ / "data/codes.npy", codes);
    io::write_npy(folder_ / "data/b.npy", drawn.b);
  }
  void recipe(const std::string& family, const std::string& model = "alista",
              const std::string& posterior = "") const {
    write("t.toml",
          fmt::format("model = \"{}\"\n[family]\n{}\n[network]\nsteps = 3\n{}[[stage]]\nnoise = false\n"
                      "epochs = 3\nbatch = 40\nmean_rate = 2e-2\nsurrogate = \"logarithm\"\n"
                      "[[stage]]\nepochs = 1\nlog_variance = -10\nvariance_rate = 1e-2\n"
                      "prior = \"closed-form\"\npenalty = \"none\"\nsurrogate = \"tolerance\"\n"
                      "tolerance = -8\nwidth = 4\n",
                      model, family, posterior));
  }
  void train(const std::string& family, const std::string& out, const std::string& model = "alista",
             const std::string& posterior = "") const {
    recipe(family, model, posterior);
    const ProgramResult result = surefoot("train t.toml --quiet --out " + out);
    ASSERT_EQ(result.code, 0) << result.err;
  }
  [[nodiscard]] learning::Posterior weights(const std::string& out) const {
    return learning::load_posterior(folder_ / out / "weights.safetensors");
  }
  void expect_refused(const std::string& arguments, const std::string& words) const {
    const ProgramResult result = surefoot(arguments);
    EXPECT_EQ(result.code, 2) << arguments << result.out;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
  }
};

constexpr const char* own = "dictionary = \"data/D.npy\"\ncodes = \"data/codes.npy\"\nsamples = 200\n";

TEST_F(OwnDictionary, ThatIsTheDrawnOneGivesTheSameBits) {
  for (const std::string model : {"alista", "glista", "tilista", "lista"}) {
    const std::string more = model == "lista" ? "[posterior]\nanalytic_start = true\n" : "";
    train("seed = 5\nmeasurements = 12\nvariables = 24\nsamples = 200\n", "drawn", model, more);
    train("seed = 5\ndictionary = \"data/D.npy\"\nsamples = 200\n", "own", model, more);
    const bounds::GaussianPair drawn = weights("drawn").gaussians;
    const bounds::GaussianPair ours = weights("own").gaussians;
    EXPECT_EQ(drawn.mean, ours.mean) << model;
    EXPECT_EQ(drawn.log_variance, ours.log_variance) << model;
    EXPECT_EQ(drawn.prior_log_variance, ours.prior_log_variance) << model;
  }
  OwnJson claims;
  for (const std::string out : {"drawn", "own"}) {
    const ProgramResult made =
        surefoot("calibrate " + out + "/weights.safetensors --problems data --hold-out 0:300 " +
                 "--tolerances -10,-5 --quantiles 0.5 --out g-" + out);
    if (out == "drawn") {
      EXPECT_EQ(made.code, 2) << "nothing of it is a file";
      ASSERT_EQ(surefoot("calibrate drawn/weights.safetensors --hold-out 0:300 --tolerances -10,-5 "
                         "--quantiles 0.5 --out g-drawn")
                    .code,
                0);
    } else {
      ASSERT_EQ(made.code, 0) << made.err;
    }
    for (const std::string kind : {"pac-bayes", "hold-out", "hold-out-means"}) {
      const std::string certificate = "g-" + out + "/" + kind + "/certificate.json";
      EXPECT_EQ(surefoot("verify " + certificate + " --weights " + out + "/weights.safetensors").code, 0);
      const OwnJson read = OwnJson::parse(slurp(folder_ / certificate));
      if (out == "drawn") {
        claims[kind] = read.at("claims");
      } else {
        EXPECT_EQ(claims[kind], read.at("claims")) << kind;
        EXPECT_NE(read.dump().find("dictionary="), std::string::npos);
        const ProgramResult again = surefoot("verify " + certificate + " --rerun .");
        EXPECT_EQ(again.code, 0) << again.out << again.err;
      }
    }
  }
}

TEST_F(OwnDictionary, IsValidatedOnCodesThatAreDrawn) {
  recipe("seed = 5\ndictionary = \"D.npy\"\nsamples = 200\n");
  fs::rename(folder_ / "t.toml", folder_ / "data/t.toml");
  for (const std::string arguments : {"train data/t.toml --quiet --out w --validate 150",
                                      "calibrate w/weights.safetensors --validate 150 --problems data"}) {
    const ProgramResult result = surefoot(arguments);
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_NE(result.out.find("validation samples 0 .. 149"), std::string::npos) << result.out;
  }
}

TEST_F(OwnDictionary, CodesAreRowsThatAreLookedAtOnce) {
  for (const std::string& family :
       {std::string(own), own + std::string("measurement_file = \"data/b.npy\"\n")}) {
    fs::remove_all(folder_ / "w");
    fs::remove_all(folder_ / "g");
    train(family, "w");
    const ProgramResult made = surefoot(
        "calibrate w/weights.safetensors --hold-out 200:300 --tolerances -10,-5 --quantiles 0.5 "
        "--problems data --out g");
    ASSERT_EQ(made.code, 0) << made.err;
    for (const std::string kind : {"pac-bayes", "hold-out", "hold-out-means"})
      EXPECT_EQ(surefoot("verify g/" + kind + "/certificate.json --weights w/weights.safetensors").code, 0);
    const ProgramResult again = surefoot("verify g/hold-out/certificate.json --rerun .");
    EXPECT_EQ(again.code, 0) << again.out << again.err;
    const OwnJson provenance =
        OwnJson::parse(slurp(folder_ / "g/hold-out/certificate.json")).at("variants").at(0).at("provenance");
    EXPECT_EQ(provenance.at("set"), "rows");
    EXPECT_NE(provenance.at("family").get<std::string>().find("codes="), std::string::npos);

    const std::string calibrate = "calibrate w/weights.safetensors --problems data --out h --hold-out ";
    expect_refused(calibrate + "100:50",
                   "depends on rows 0 .. 199 of its files, and 100 .. 149 are to be new");
    expect_refused(calibrate + "550:100", "codes.npy: has rows 0 .. 599");
    expect_refused(calibrate + "300:50", "looked at on 20");
    expect_refused("calibrate w/weights.safetensors --problems data --validate 50",
                   "--validate: rows of your files are good for one look");
    expect_refused("train t.toml --quiet --out v --validate 50",
                   "--validate: rows of your files are good for one look");
    EXPECT_FALSE(fs::exists(folder_ / "v"));
  }
}

TEST_F(OwnDictionary, FilesAreFoundWhereverTheyLieAndPathsChangeNoWeights) {
  train(own, "w");
  const std::string trained = slurp(folder_ / "w/weights.safetensors");
  const std::string calibrate =
      "calibrate w/weights.safetensors --guarantees hold-out-means --tolerances -5 "
      "--quantiles 0.5 --out g --hold-out ";
  fs::create_directories(folder_ / "far");
  const ProgramResult from_far = shell(
      "cd far && $SUREFOOT calibrate ../w/weights.safetensors --guarantees hold-out-means --tolerances -5 "
      "--quantiles 0.5 --hold-out 200:50 --out g");
  EXPECT_EQ(from_far.code, 0) << "beside the folder of the weights" << from_far.err;
  fs::rename(folder_ / "data", folder_ / "moved");
  expect_refused(calibrate + "250:50", "say where the problems lie (--problems)");
  EXPECT_EQ(surefoot(calibrate + "250:50 --problems moved").code, 0);
  fs::rename(folder_ / "moved", folder_ / "data");
  fs::create_directories(folder_ / "elsewhere/data");
  for (const char* file : {"t.toml", "data/D.npy", "data/codes.npy"})
    fs::copy(folder_ / file, folder_ / "elsewhere" / file);
  ASSERT_EQ(shell("cd elsewhere && $SUREFOOT train t.toml --quiet --out w").code, 0);
  EXPECT_EQ(slurp(folder_ / "elsewhere/w/weights.safetensors"), trained);
  ASSERT_EQ(surefoot("train elsewhere/t.toml --quiet --out x").code, 0);
  EXPECT_EQ(slurp(folder_ / "x/weights.safetensors"), trained);
  // A path that begins at the root of this machine is no part of them.
  const std::string absolute = fmt::format(
      "dictionary = \"{0}/data/D.npy\"\ncodes = \"{0}/data/codes.npy\"\nsamples = 200\n", folder_.string());
  train(absolute, "y");
  EXPECT_EQ(slurp(folder_ / "y/weights.safetensors").find(folder_.string()), std::string::npos);
  EXPECT_EQ(weights("y").metadata.at("problems.codes"), "codes.npy");
  for (const char* file : {"D.npy", "codes.npy"}) fs::copy(folder_ / "data" / file, folder_ / "y" / file);
  EXPECT_EQ(
      surefoot("calibrate y/weights.safetensors --guarantees hold-out-means --tolerances -5 --quantiles 0.5 "
               "--hold-out 300:50 --out g")
          .code,
      0)
      << "beside the weights";
  std::string other = slurp(folder_ / "data/codes.npy");
  other[other.size() - 3] = static_cast<char>(other[other.size() - 3] ^ 1);
  write("data/codes.npy", other);
  expect_refused(calibrate + "400:100", "codes.npy: is not the file that the weights were trained on");
}

TEST_F(OwnDictionary, BadInputIsOneLine) {
  const auto refused = [&](const std::string& family, const std::string& words,
                           const std::string& model = "alista") {
    recipe(family, model);
    expect_refused("train t.toml --quiet --out w", words);
    EXPECT_TRUE(!fs::exists(folder_ / "w") || fs::is_empty(folder_ / "w")) << words;
  };
  refused("dictionary = \"none.npy\"\nsamples = 20\n", "none.npy");
  refused("dictionary = \"data/D.npy\"\nmeasurements = 13\nsamples = 20\n", "measurements: 13, and ");
  refused(std::string(own) + "flip_signs = true\n", "flip_signs: is for codes that are drawn");
  refused(std::string(own) + "density = 0.2\n", "density: 0.2, and codes are given");
  refused("dictionary = \"data/D.npy\"\nmeasurement_file = \"data/b.npy\"\n",
          "measurement_file: needs codes");
  refused("dictionary = \"data/D.npy\"\ncodes = \"data/codes.npy\"\nsamples = 700\n",
          "codes.npy: has rows 0 .. 599; samples 0 .. 699");
  problems::Matrix D = families::SparseCoding(family_seed, small_codes).dictionary();
  D.row(3) = D.row(0) + 2 * D.row(1);
  io::write_npy(folder_ / "data/dependent.npy", D);
  for (const std::string model : {"alista", "glista", "tilista"})
    refused("dictionary = \"data/dependent.npy\"\nsamples = 20\n",
            "dependent.npy: D: 12 x 24 has dependent rows", model);
  const problems::SparseCodes drawn =
      families::SparseCoding(family_seed, small_codes).draw(families::SampleSet::test, 30);
  problems::Table twice(60, 24);
  for (Index i = 0; i < 60; ++i) drawn.write_codes(i % 30, 1, 1, twice.row(i).data());
  io::write_npy(folder_ / "data/twice.npy", twice);
  refused("dictionary = \"data/D.npy\"\ncodes = \"data/twice.npy\"\nsamples = 20\n", "not independent");
}

TEST_F(OwnDictionary, WeightsOfOtherRowsAreNoStart) {
  train(own, "w");
  fs::copy(folder_ / "data", folder_ / "others");
  std::string codes = slurp(folder_ / "others/codes.npy");
  codes[codes.size() - 3] = static_cast<char>(codes[codes.size() - 3] ^ 1);
  write("others/codes.npy", codes);
  for (const std::string key : {"start", "prior"}) {
    recipe("dictionary = \"others/D.npy\"\ncodes = \"others/codes.npy\"\nfirst = 300\nsamples = 200\n",
           "alista", "[posterior]\n" + key + " = \"w/weights.safetensors\"\n");
    expect_refused("train t.toml --quiet --out v", "which of these it depends on is not known");
    recipe("dictionary = \"data/D.npy\"\ncodes = \"data/codes.npy\"\nfirst = 300\nsamples = 200\n", "alista",
           "[posterior]\n" + key + " = \"w/weights.safetensors\"\n");
    EXPECT_EQ(surefoot("train t.toml --quiet --out v-" + key).code, 0)
        << "rows of the same files are told apart";
  }
}

}  // namespace
}  // namespace surefoot
