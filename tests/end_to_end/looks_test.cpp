// Samples that are to be looked at once: hold-out ranges, validation, ledgers, and what certificates say of
// it.

#include "surefoot/certify/ledger.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/learning/posterior_file.hpp"

#include "support/contains.hpp"
#include "support/program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

namespace {

using surefoot::test::contains;
using surefoot::testing::ProgramResult;
using surefoot::testing::ProgramTest;
using surefoot::testing::slurp;
using Json = nlohmann::json;
namespace fs = std::filesystem;

class Looks : public ProgramTest {
 protected:
  /// A training of another seed is another training.
  void train(const std::string& out, int seed, const std::string& more = "",
             const std::string& posterior = "") const {
    write("train.toml",
          "model = \"alista\"\n[family]\nseed = 5\nmeasurements = 24\nvariables = 48\nsamples = 200\n"
          "[network]\nsteps = 3\n[posterior]\n" +
              posterior +
              "\n[[stage]]\nnoise = false\nepochs = 2\nbatch = 50\nmean_rate = 2e-2\n"
              "surrogate = \"logarithm\"\n[[stage]]\nepochs = 1\nlog_variance = -10\nvariance_rate = 1e-2\n"
              "prior = \"closed-form\"\npenalty = \"none\"\nsurrogate = \"tolerance\"\ntolerance = -8\n"
              "width = 4\n");
    const ProgramResult result =
        surefoot(fmt::format("train train.toml --quiet --seed {} --out {} {}", seed, out, more));
    ASSERT_EQ(result.code, 0) << result.err;
    trained_ = result.out;
  }
  [[nodiscard]] ProgramResult calibrate(const std::string& weights, const std::string& more,
                                        const std::string& out = "g") const {
    return surefoot(
        fmt::format("calibrate {}/weights.safetensors --tolerances -10,-5 --quantiles 0.5,0.9 --out {} {}",
                    weights, out, more));
  }
  [[nodiscard]] Json certificate(const std::string& folder) const {
    return Json::parse(slurp(folder_ / folder / "certificate.json"));
  }
  [[nodiscard]] Json provenance(const std::string& folder) const {
    return certificate(folder).at("variants").at(0).at("provenance");
  }
  [[nodiscard]] bool says(const std::string& folder, const std::string& words) const {
    const Json body = certificate(folder);
    return std::any_of(body.at("assumptions").begin(), body.at("assumptions").end(),
                       [&](const Json& sentence) { return contains(sentence.get<std::string>(), words); });
  }
  /// Looks at hold-out samples and trainings that a ledger has.
  [[nodiscard]] std::ptrdiff_t looks_in(const std::string& file) const {
    const auto looks = surefoot::certify::read_ledger(folder_ / file);
    return std::count_if(looks.begin(), looks.end(), [](const auto& look) { return !is_training(look); });
  }
  [[nodiscard]] std::ptrdiff_t trainings_in(const std::string& file) const {
    const auto looks = surefoot::certify::read_ledger(folder_ / file);
    return std::count_if(looks.begin(), looks.end(), [](const auto& look) { return is_training(look); });
  }
  /// Weights whose metadata say that they depend on other samples; their own digest is made anew.
  void retell(const std::string& from, const std::string& to, const std::string& last) const {
    namespace learning = surefoot::learning;
    learning::Posterior posterior = learning::load_posterior(folder_ / from);
    posterior.metadata.at("seen.last") = last;
    fs::create_directories((folder_ / to).parent_path());
    learning::save_posterior(posterior, folder_ / to);
  }
  static void expect_refused(const ProgramResult& result) {
    EXPECT_EQ(result.code, 2);
    EXPECT_TRUE(contains(result.err, "looked at on 20") && contains(result.err, "by calibrate"))
        << result.err;
    EXPECT_TRUE(contains(result.err, "--look-again")) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }

  mutable std::string trained_;
};

TEST_F(Looks, WithoutARangeNoHoldOutSampleIsCounted) {
  train("a", 1);
  ASSERT_EQ(calibrate("a", "").code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "g/pac-bayes/certificate.json"));
  EXPECT_FALSE(fs::exists(folder_ / "g/hold-out"));
  EXPECT_EQ(looks_in("a/ledger.jsonl"), 0);
  const ProgramResult unnamed = calibrate("a", "--guarantees hold-out");
  EXPECT_EQ(unnamed.code, 2);
  EXPECT_TRUE(contains(unnamed.err, "--hold-out FIRST:COUNT")) << unnamed.err;
  for (const char* range : {"300", "0:0", "-1:5", "0:x", ":", "1:9223372036854775807"}) {
    const ProgramResult result = calibrate("a", fmt::format("--hold-out={}", range));
    EXPECT_EQ(result.code, 2) << range;
    EXPECT_EQ(looks_in("a/ledger.jsonl"), 0);
  }
  EXPECT_EQ(calibrate("a", "--guarantees pac-bayes --hold-out 0:100").code, 2) << "samples for nothing";
}

TEST_F(Looks, RetrainingDoesNotMakeASecondLookTheFirst) {
  train("a", 1);
  ASSERT_EQ(calibrate("a", "--hold-out 0:100").code, 0);
  EXPECT_EQ(provenance("g/hold-out").at("earlier_looks"), Json());
  EXPECT_TRUE(says("g/hold-out", "Earlier looks at these samples are unknown."));
  EXPECT_FALSE(says("g/hold-out", "used once"));
  expect_refused(calibrate("a", "--hold-out 0:100"));
  train("a", 2);
  expect_refused(calibrate("a", "--hold-out 0:100"));
  expect_refused(calibrate("a", "--hold-out 99:10 --guarantees hold-out-means"));
  fs::remove(folder_ / "a/ledger.jsonl");  // the weights still know
  expect_refused(calibrate("a", "--hold-out 50:100"));
  EXPECT_EQ(calibrate("a", "--hold-out 100:100").code, 0) << "other samples are fresh";
}

TEST_F(Looks, ASecondLookThatIsAllowedIsInTheCertificate) {
  train("a", 1);
  ASSERT_EQ(calibrate("a", "--hold-out 0:100").code, 0);
  train("a", 2);
  ASSERT_EQ(calibrate("a", "--hold-out 50:100 --look-again").code, 0);
  for (const char* folder : {"g/hold-out", "g/hold-out-means"}) {
    EXPECT_EQ(provenance(folder).at("earlier_looks"), 1);
    EXPECT_TRUE(says(folder, "looked at once before"));
    EXPECT_TRUE(contains(slurp(folder_ / folder / "report.html"), "looked at once before"));
    const ProgramResult check = surefoot(fmt::format("verify {}/certificate.json", folder));
    EXPECT_EQ(check.code, 0);
    EXPECT_TRUE(contains(check.out, "Deviates:")) << check.out;
  }
  EXPECT_EQ(looks_in("a/ledger.jsonl"), 2);
  ASSERT_EQ(calibrate("a", "--hold-out 0:200 --look-again").code, 0);
  EXPECT_TRUE(says("g/hold-out", "looked at 2 times before"));
}

TEST_F(Looks, CertificatesSayWhichSamplesTheyAreOf) {
  train("a", 1);
  ASSERT_EQ(calibrate("a", "--hold-out 40:60").code, 0);
  const std::string family = "sparse-coding(density=0.1, measurements=24, noise=0.01, variables=48)";
  const Json fresh = provenance("g/hold-out");
  EXPECT_EQ(fresh, Json({{"family", family},
                         {"seed", 5},
                         {"set", "hold-out"},
                         {"first", 40},
                         {"count", 60},
                         {"earlier_looks", nullptr}}));
  EXPECT_EQ(provenance("g/hold-out-means"), fresh);
  const Json training = provenance("g/pac-bayes");
  EXPECT_EQ(training, Json({{"family", family},
                            {"seed", 5},
                            {"set", "training"},
                            {"first", 0},
                            {"count", 200},
                            {"earlier_looks", nullptr}}));
  EXPECT_EQ(provenance("g/pac-bayes-paper"), training);
}

TEST_F(Looks, AreSharedByALedgerAndNotByPaths) {
  train("a", 1, "--ledger shared.jsonl");
  ASSERT_EQ(calibrate("a", "--hold-out 0:100 --ledger shared.jsonl").code, 0);
  EXPECT_EQ(provenance("g/hold-out").at("earlier_looks"), 0);
  EXPECT_TRUE(says("g/hold-out", "The ledger has no earlier look at these samples."));
  // Another folder, other weights: the same samples.
  train("b", 2, "--ledger shared.jsonl");
  expect_refused(calibrate("b", "--hold-out 0:10"));
  train("c", 3);
  expect_refused(calibrate("c", "--hold-out 0:10 --ledger shared.jsonl"));
  ASSERT_EQ(calibrate("c", "--hold-out 0:10").code, 0);
  EXPECT_TRUE(says("g/hold-out", "unknown")) << "without the ledger nothing is known";
  // A ledger that begins with the look knows nothing of earlier ones.
  ASSERT_EQ(calibrate("c", "--hold-out 500:10 --ledger new.jsonl").code, 0);
  EXPECT_TRUE(says("g/hold-out", "unknown"));
}

TEST_F(Looks, FollowWeightsThatOthersBeginWith) {
  train("a", 1);
  ASSERT_EQ(calibrate("a", "--hold-out 0:100").code, 0);
  train("b", 2, "", "start = \"a/weights.safetensors\"");
  expect_refused(calibrate("b", "--hold-out 0:10"));
  fs::create_directory(folder_ / "copy");
  fs::copy(folder_ / "b/weights.safetensors", folder_ / "copy/weights.safetensors");
  expect_refused(calibrate("copy", "--hold-out 0:10"));
  fs::remove_all(folder_ / "a");
  train("a", 1);
  ASSERT_EQ(calibrate("a", "--hold-out 0:100").code, 0);
  EXPECT_TRUE(says("g/hold-out", "Earlier looks at these samples are unknown."));
}

TEST_F(Looks, AtValidationSamplesAreFreeAndLeaveNoCertificate) {
  train("a", 1, "--validate 150");
  EXPECT_TRUE(contains(trained_, "validation samples 0 .. 149")) << trained_;
  for (int look = 0; look < 2; ++look) {
    const ProgramResult result = calibrate("a", "--validate 150");
    ASSERT_EQ(result.code, 0) << result.err;
    for (const char* words : {"validation samples 0 .. 149", "no guarantee", "at the means", "drawn weights",
                              "share below -10 dB", "90 % of problems"})
      EXPECT_TRUE(contains(result.out, words)) << words << result.out;
    EXPECT_FALSE(contains(result.out, "certified"));
  }
  EXPECT_FALSE(fs::exists(folder_ / "g"));
  EXPECT_EQ(looks_in("a/ledger.jsonl"), 0);
  EXPECT_NE(calibrate("a", "--validate 150 --hold-out 0:10").code, 0);
  EXPECT_NE(calibrate("a", "--validate 0").code, 0);
}

TEST_F(Looks, ADamagedLedgerIsNamedBeforeTheWork) {
  train("a", 1);
  write("a/ledger.jsonl", "{\"format\":\"surefoot-ledger\",\"format_version\":1}\nnot a look\n");
  const ProgramResult result = calibrate("a", "--hold-out 0:100");
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(contains(result.err, "a/ledger.jsonl: line 2: is damaged")) << result.err;
  EXPECT_FALSE(fs::exists(folder_ / "g"));
}

TEST_F(Looks, AtDataFilesAreKnownByDigestAndRows) {
  std::string table = "k=1,k=2\n";
  for (int i = 0; i < 60; ++i)
    table += fmt::format("{},{}\n", 1 + 0.137 * (i * 23 % 60), 0.0123 * (i * 37 % 60) + 0.011);
  write("t.csv", table);
  ASSERT_EQ(surefoot("certify t.csv --tolerances 0.5").code, 0);
  EXPECT_FALSE(certificate("surefoot-report").at("variants").at(0).contains("provenance"));
  ASSERT_EQ(surefoot("certify t.csv --tolerances 0.5 --ledger l.jsonl").code, 0);
  write("same_rows.csv", table + "\n");
  ASSERT_EQ(surefoot("certify same_rows.csv --tolerances 0.5 --ledger l.jsonl --out same").code, 0);
  EXPECT_TRUE(says("same", "no earlier look at a file with this digest; it does not know the same rows"));
  fs::rename(folder_ / "t.csv", folder_ / "other.csv");
  const ProgramResult again = surefoot("certify other.csv --tolerances 0.4 --ledger l.jsonl");
  EXPECT_EQ(again.code, 2);
  EXPECT_TRUE(contains(again.err, "looked at on 20")) << again.err;
  ASSERT_EQ(surefoot("certify other.csv --tolerances 0.4 --ledger l.jsonl --look-again").code, 0);
  const Json stated = provenance("surefoot-report");
  EXPECT_EQ(stated.at("earlier_looks"), 1);
  EXPECT_EQ(stated.at("set"), "rows");
  EXPECT_EQ(stated.at("count"), 60);
  EXPECT_TRUE(says("surefoot-report", "looked at once before"));
  EXPECT_EQ(surefoot("verify surefoot-report/certificate.json --data other.csv").code, 0);
}

TEST_F(Looks, AtFamiliesOfFilesAreKnownByTheirProblems) {
  const std::string run = "run qp " SUREFOOT_SOURCE_DIR "/examples/mpc --iterations 10 --ledger l.jsonl ";
  ASSERT_EQ(surefoot(run).code, 0);
  const ProgramResult tuned = surefoot(run + "--rho 0.3");
  EXPECT_EQ(tuned.code, 2) << "another setting on the same problems is a second look";
  EXPECT_TRUE(contains(tuned.err, "by run")) << tuned.err;
  ASSERT_EQ(surefoot(run + "--rho 0.3 --look-again").code, 0);
  EXPECT_EQ(provenance("surefoot-report").at("earlier_looks"), 1);
}

TEST_F(Looks, ALedgerKnowsWhatWeightsWereTrainedOn) {
  train("a", 1, "--ledger shared.jsonl");
  const auto looks = surefoot::certify::read_ledger(folder_ / "shared.jsonl");
  ASSERT_EQ(looks.size(), 1U);
  EXPECT_EQ(looks[0].by, "train");
  EXPECT_EQ(looks[0].range.set, "training");
  EXPECT_EQ(looks[0].range.first, 0);
  EXPECT_EQ(looks[0].range.count, 200);
  EXPECT_EQ(looks[0].subject,
            "weights " + surefoot::io::sha256_hex(slurp(folder_ / "a/weights.safetensors")));
  EXPECT_EQ(trainings_in("a/ledger.jsonl"), 1);
  const std::string weights = slurp(folder_ / "a/weights.safetensors");
  train("a", 1, "--ledger shared.jsonl");
  EXPECT_EQ(trainings_in("shared.jsonl"), 1) << "the same training is one entry";
  EXPECT_EQ(slurp(folder_ / "a/weights.safetensors"), weights) << "and weights do not depend on ledgers";
  train("a", 2, "--ledger shared.jsonl");
  EXPECT_EQ(trainings_in("shared.jsonl"), 2);
  const ProgramResult result = calibrate("a", "--hold-out 0:10 --ledger shared.jsonl");
  EXPECT_EQ(result.code, 0);
  EXPECT_EQ(result.err, "");
}

TEST_F(Looks, WeightsThatTellOtherSamplesThanTheLedgerAreRefused) {
  train("a", 1, "--ledger shared.jsonl");
  const auto expect_refused = [](const ProgramResult& result, const char* file, const char* ledger) {
    EXPECT_EQ(result.code, 2);
    EXPECT_TRUE(contains(result.err, fmt::format("{}: its metadata say that it depends on samples 0 .. 20 of "
                                                 "the set training",
                                                 file)))
        << result.err;
    EXPECT_TRUE(contains(result.err,
                         fmt::format("{} says that these weights were trained on samples 0 .. 199", ledger)))
        << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  };
  retell("a/weights.safetensors", "b/weights.safetensors", "20");
  expect_refused(calibrate("b", "--ledger shared.jsonl"), "b/weights.safetensors", "shared.jsonl");
  EXPECT_FALSE(fs::exists(folder_ / "g"));
  // As a prior, which must have been trained on other samples, and as a start.
  train("c", 2, "", "prior = \"a/weights.safetensors\"");
  const std::string split = "--guarantees pac-bayes --samples 100 --first 100 --prior ";
  EXPECT_TRUE(
      contains(calibrate("c", split + "a/weights.safetensors").err, "overlap the bound's 100 .. 199"));
  expect_refused(calibrate("c", split + "b/weights.safetensors --ledger shared.jsonl"),
                 "b/weights.safetensors", "shared.jsonl");
  retell("a/weights.safetensors", "a/weights.safetensors", "20");
  expect_refused(calibrate("c", split + "a/weights.safetensors"), "a/weights.safetensors", "a/ledger.jsonl");
  write("start.toml",
        "model = 'alista'\n[family]\nseed = 5\nmeasurements = 24\nvariables = 48\nsamples = 200\n[network]\n"
        "steps = 3\n[posterior]\nstart = 'a/weights.safetensors'\n[[stage]]\nnoise = false\n"
        "surrogate = 'logarithm'\n");
  expect_refused(surefoot("train start.toml --quiet --out d"), "a/weights.safetensors", "a/ledger.jsonl");
}

TEST_F(Looks, WeightsThatNoLedgerKnowsAreUsedWithALine) {
  train("a", 1);
  fs::create_directory(folder_ / "copy");
  fs::copy(folder_ / "a/weights.safetensors", folder_ / "copy/weights.safetensors");
  EXPECT_EQ(calibrate("copy", "").err, "") << "no ledger is kept";
  train("b", 2, "--ledger shared.jsonl");
  const ProgramResult result = calibrate("copy", "--ledger shared.jsonl");
  EXPECT_EQ(result.code, 0);
  EXPECT_TRUE(contains(result.err,
                       "copy/weights.safetensors: what it was trained on is known from its own metadata "
                       "alone; shared.jsonl does not have these weights"))
      << result.err;
}

TEST_F(Looks, AnEditedPriorGridIsRefused) {
  train("a", 1);
  ASSERT_EQ(calibrate("a", "--guarantees pac-bayes").code, 0);
  namespace learning = surefoot::learning;
  learning::Posterior posterior = learning::load_posterior(folder_ / "a/weights.safetensors");
  posterior.grid.lambda_max = std::exp(posterior.gaussians.prior_log_variance.maxCoeff()) * std::exp(0.01);
  learning::round_prior(posterior);
  learning::save_posterior(posterior, folder_ / "a/weights.safetensors");
  const ProgramResult result = calibrate("a", "--guarantees pac-bayes", "edited");
  EXPECT_EQ(result.code, 2);
  EXPECT_TRUE(contains(result.err, "lambda_max = ") && contains(result.err, "declared one has 100 and 100"))
      << result.err;
  EXPECT_FALSE(fs::exists(folder_ / "edited/pac-bayes"));
}

}  // namespace
