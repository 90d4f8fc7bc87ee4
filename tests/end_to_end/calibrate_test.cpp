#include "support/program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace {

using surefoot::testing::ProgramResult;
using surefoot::testing::ProgramTest;
using surefoot::testing::slurp;
using Json = nlohmann::json;

std::string config(const std::string& samples, const std::string& posterior) {
  return "model = \"alista\"\n[family]\nmeasurements = 24\nvariables = 48\n" + samples +
         "\n[network]\nsteps = 3\n" + posterior +
         "\n[[stage]]\nnoise = false\nepochs = 4\nbatch = 32\nmean_rate = 2e-2\nsurrogate = \"logarithm\"\n"
         "[[stage]]\nepochs = 4\nlog_variance = -10\nvariance_rate = 1e-2\nprior = \"closed-form\"\n"
         "penalty = \"none\"\nsurrogate = \"tolerance\"\ntolerance = -8\nwidth = 4\n";
}

class Calibrate : public ProgramTest {
 protected:
  void train(const std::string& name, const std::string& samples = "samples = 1000",
             const std::string& posterior = "") const {
    write(name + ".toml", config(samples, posterior));
    const ProgramResult result = surefoot(fmt::format("train {0}.toml --quiet --out {0}", name));
    ASSERT_EQ(result.code, 0) << result.err;
  }
  [[nodiscard]] Json certificate(const std::string& folder) const {
    return Json::parse(slurp(folder_ / folder / "certificate.json"));
  }
};

constexpr const char* few_claims = " --tolerances -10,-5 --quantiles 0.5,0.9 ";
constexpr const char* few_samples = " --hold-out 0:300 --tolerances -10,-5 --quantiles 0.5,0.9 ";

TEST_F(Calibrate, ShowsEveryGuaranteeSideBySideAndAllVerify) {
  train("a");
  const ProgramResult result =
      surefoot(fmt::format("calibrate a/weights.safetensors --out g {}", few_samples));
  ASSERT_EQ(result.code, 0) << result.err;
  for (const char* words : {"PAC-Bayes", "paper's accounting", "hold-out", "at the means", "Check it:"})
    EXPECT_NE(result.out.find(words), std::string::npos) << words;
  for (const char* kind : {"pac-bayes", "pac-bayes-paper", "hold-out", "hold-out-means"}) {
    const ProgramResult check =
        surefoot(fmt::format("verify g/{}/certificate.json --weights a/weights.safetensors", kind));
    EXPECT_EQ(check.code, 0) << kind << check.out << check.err;
    EXPECT_NE(check.out.find("weights read again"), std::string::npos);
    EXPECT_TRUE(std::filesystem::exists(folder_ / "g" / kind / "report.html"));
  }
  const Json guarantee = certificate("g/pac-bayes").at("variants").at(0).at("pac_bayes");
  EXPECT_EQ(guarantee.at("samples"), 1000);
  EXPECT_EQ(guarantee.at("runs"), 1000);
  EXPECT_EQ(guarantee.at("prior_samples"), 0);
  // 4 recorded steps x (801 + 2) tolerances + 2 x 4 steps.
  EXPECT_EQ(guarantee.at("losses"), 4 * 803 + 8);
}

TEST_F(Calibrate, CertificatesFitTheSchema) {
  train("a");
  ASSERT_EQ(surefoot(fmt::format("calibrate a/weights.safetensors --out g {}", few_samples)).code, 0);
  for (const char* kind : {"pac-bayes", "pac-bayes-paper", "hold-out", "hold-out-means"}) {
    const ProgramResult result =
        shell(fmt::format("/usr/bin/python3 -c \"import json, jsonschema; "
                          "jsonschema.validate(json.load(open('g/{}/certificate.json')), "
                          "json.load(open('{}/schema/certificate.schema.json')))\"",
                          kind, SUREFOOT_SOURCE_DIR));
    EXPECT_EQ(result.code, 0) << result.err;
  }
}

TEST_F(Calibrate, OtherWeightsAreNotVerified) {
  train("a");
  train("b", "samples = 900");
  ASSERT_EQ(
      surefoot(fmt::format("calibrate a/weights.safetensors --guarantees pac-bayes --out g {}", few_claims))
          .code,
      0);
  const ProgramResult check = surefoot("verify g/pac-bayes/certificate.json --weights b/weights.safetensors");
  EXPECT_EQ(check.code, 1);
  EXPECT_NE(check.out.find("SHA-256"), std::string::npos) << check.out;
  EXPECT_NE(check.out.find("KL"), std::string::npos) << check.out;
}

TEST_F(Calibrate, DoesNotDependOnThreads) {
  train("a");
  for (const char* threads : {"1", "3"}) {
    ASSERT_EQ(surefoot(fmt::format("calibrate a/weights.safetensors --threads {0} --out g{0} {1}", threads,
                                   few_samples))
                  .code,
              0);
    std::filesystem::remove(folder_ / "a" / "ledger.jsonl");  // of the first: it is the same look
  }
  for (const char* kind : {"pac-bayes", "hold-out"}) {
    EXPECT_EQ(certificate(fmt::format("g1/{}", kind)), certificate(fmt::format("g3/{}", kind)));
  }
}

TEST_F(Calibrate, CandidatesShareOmegaAlone) {
  train("a");
  train("b", "samples = 1000\nflip_signs = true");
  ASSERT_EQ(
      surefoot(fmt::format(
                   "calibrate a/weights.safetensors b/weights.safetensors --guarantees pac-bayes --out g {}",
                   few_claims))
          .code,
      0);
  const Json body = certificate("g/pac-bayes");
  ASSERT_EQ(body.at("variants").size(), 2U);
  EXPECT_EQ(body.at("variants").at(0).at("name"), "a");
  const Json guarantee = body.at("variants").at(1).at("pac_bayes");
  EXPECT_EQ(guarantee.at("prior_means"), 1);
  EXPECT_EQ(guarantee.at("candidates"), 2);
  EXPECT_NEAR(guarantee.at("delta_each").get<double>(), 2 * guarantee.at("omega_each").get<double>(), 1e-15);
  EXPECT_EQ(
      surefoot("verify g/pac-bayes/certificate.json --weights a/weights.safetensors b/weights.safetensors")
          .code,
      0);
}

TEST_F(Calibrate, APriorTrainedOnTheBoundsSamplesIsRefused) {
  train("prior", "samples = 500");
  train("split", "samples = 500\nfirst = 500", "[posterior]\nprior = \"prior/weights.safetensors\"");
  const std::string calibrate =
      fmt::format("calibrate split/weights.safetensors --guarantees pac-bayes --out g {}", few_claims);
  ProgramResult result = surefoot(calibrate);
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("--prior"), std::string::npos) << result.err;
  result = surefoot(calibrate + "--prior prior/weights.safetensors");
  ASSERT_EQ(result.code, 0) << result.err;
  const Json guarantee = certificate("g/pac-bayes").at("variants").at(0).at("pac_bayes");
  EXPECT_EQ(guarantee.at("samples"), 500);
  EXPECT_EQ(guarantee.at("prior_samples"), 500);
  EXPECT_EQ(surefoot("verify g/pac-bayes/certificate.json --weights split/weights.safetensors").code, 0);
  result = surefoot(calibrate + "--prior prior/weights.safetensors --samples 600 --first 400");
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("overlap"), std::string::npos) << result.err;
  // Weights that began with ones trained on those samples depend on them too.
  train("tainted", "samples = 500", "[posterior]\nstart = \"split/weights.safetensors\"");
  train("again", "samples = 500\nfirst = 500", "[posterior]\nprior = \"tainted/weights.safetensors\"");
  result =
      surefoot(fmt::format("calibrate again/weights.safetensors --guarantees pac-bayes --out g "
                           "{} --prior tainted/weights.safetensors",
                           few_claims));
  EXPECT_EQ(result.code, 2);
  EXPECT_NE(result.err.find("overlap"), std::string::npos) << result.err;
}

TEST_F(Calibrate, TakesWeightsOfEveryLearnedOptimizer) {
  const std::string stage =
      "[[stage]]\nname = \"plain\"\nnoise = false\nepochs = 2\nbatch = 16\nsurrogate = \"logarithm\"\n";
  const std::vector<std::pair<std::string, std::string>> models{
      {"l2ws", "[network]\nsteps = 40\nhidden = 4\n"},
      {"maml", "[network]\nsteps = 2\nhidden = 4\n"},
      {"mpc-warm-start", "horizon = 3\n[network]\nsteps = 20\nhidden = [4]\n"}};
  for (const auto& [model, network] : models) {
    write("t.toml", fmt::format("model = \"{}\"\n[family]\nsamples = 48\n{}{}", model, network, stage));
    ASSERT_EQ(surefoot(fmt::format("train t.toml --quiet --out {}", model)).code, 0) << model;
    const ProgramResult made =
        surefoot(fmt::format("calibrate {0}/weights.safetensors --hold-out 0:40 --out g_{0}", model));
    ASSERT_EQ(made.code, 0) << model << made.err;
    for (const char* kind : {"pac-bayes", "pac-bayes-paper", "hold-out", "hold-out-means"}) {
      const ProgramResult check = surefoot(fmt::format(
          "verify g_{0}/{1}/certificate.json --weights {0}/weights.safetensors --rerun {0}", model, kind));
      EXPECT_EQ(check.code, 0) << model << kind << check.out << check.err;
    }
  }
  // A model may have several metrics; the repetition asks for the same one.
  ASSERT_EQ(surefoot("calibrate maml/weights.safetensors --metric 'largest error' --out g").code, 0);
  EXPECT_EQ(certificate("g/pac-bayes").at("metric").at("name"), "largest error");
  EXPECT_EQ(surefoot("verify g/pac-bayes/certificate.json --rerun maml").code, 0);
  const ProgramResult unknown = surefoot("calibrate maml/weights.safetensors --metric NMSE --out g");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.err.find("metric: 'NMSE' is not one of mean squared error, largest error"),
            std::string::npos)
      << unknown.err;
}

TEST_F(Calibrate, BadInputIsOneLine) {
  write("noise.safetensors", "not weights");
  for (const char* arguments :
       {"nowhere.safetensors", "noise.safetensors", "noise.safetensors --guarantees luck"}) {
    const ProgramResult result = surefoot(std::string("calibrate ") + arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
}

TEST_F(Calibrate, HelpEndsInAnExample) {
  const ProgramResult result = surefoot("calibrate --help");
  EXPECT_EQ(result.code, 0);
  EXPECT_NE(result.out.find("Example: surefoot calibrate"), std::string::npos);
}

}  // namespace
