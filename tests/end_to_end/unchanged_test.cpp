// Work on the inside of the program changes no claim: what three commands counted, and the deltas that they
// spent, are what they were before experiments became a module of their own. Values that carry the machine's
// last bits (metrics) are left out.
#include "surefoot/io/sha256.hpp"

#include "support/program.hpp"

#include <nlohmann/json.hpp>

#include <string>

namespace {

using surefoot::testing::ProgramTest;
using surefoot::testing::slurp;
using Json = nlohmann::json;

class Unchanged : public ProgramTest {
 protected:
  /// Steps, tolerances, methods, samples, counts, ranks and deltas of all claims; bounds on shares, which
  /// follow from them.
  [[nodiscard]] std::string claims(const std::string& folder) const {
    const Json all = Json::parse(slurp(folder_ / folder / "certificate.json")).at("claims");
    Json kept;
    for (const auto& [kind, claims] : all.items()) {
      for (const Json& claim : claims) {
        Json& one = kept[kind].emplace_back();
        for (const char* key :
             {"variant", "step", "tolerance", "quantile", "method", "samples", "failures", "rank", "reached",
              "reached_before", "below", "at_most", "delta", "lower_bound", "steps"}) {
          if (claim.contains(key)) one[key] = claim.at(key);
        }
      }
    }
    return kept.dump();
  }
  void expect_claims(const std::string& folder, const std::string& digest) const {
    EXPECT_EQ(surefoot::io::sha256_hex(claims(folder)), digest) << claims(folder).substr(0, 3000);
  }
};

TEST_F(Unchanged, ClaimsOfARunFamily) {
  const std::string family = std::string(SUREFOOT_SOURCE_DIR) + "/examples/mpc";
  ASSERT_EQ(surefoot("run qp " + family +
                     " --preset paper --iterations 60 --steps 10,20,40,60 --choose before --out mpc")
                .code,
            0);
  expect_claims("mpc", "f163dd6087ae58af3593b03b38e9349627e7200e5af711af2d0a8b70eb5b2882");
}

TEST_F(Unchanged, ClaimsOfAnExperiment) {
  ASSERT_EQ(surefoot("reproduce robust-kalman --scale quick --samples 40 --out kalman").code, 0);
  expect_claims("kalman", "4fbb471a799d707de6863612c18efdefde601723918f208f1763042a4a91d7e6");
  expect_claims("kalman/states", "69c830704c09e2b23eb22ea5d8dfcbcdca1b014d7f88eefa200281a04b85f5ae");
}

TEST_F(Unchanged, ClaimsOfTrainedWeights) {
  write("small.toml",
        "model = \"alista\"\nseed = 1\n"
        "[family]\nsamples = 256\nmeasurements = 20\nvariables = 40\n"
        "[network]\nsteps = 4\n"
        "[[stage]]\nname = \"plain\"\nnoise = false\nepochs = 2\nbatch = 32\nmean_rate = "
        "2e-2\nsurrogate = \"logarithm\"\n"
        "[[stage]]\nname = \"bound\"\nepochs = 2\nbatch = 32\nmean_rate = 1e-3\nvariance_rate = 1e-2\n"
        "surrogate = \"tolerance\"\ntolerance = -10\nwidth = 6\n");
  ASSERT_EQ(surefoot("train small.toml --quiet --out weights").code, 0);
  const std::string calibrate = "calibrate weights/weights.safetensors --guarantees pac-bayes,hold-out";
  ASSERT_EQ(surefoot(calibrate + " --hold-out 0:200 --out guarantees").code, 0);
  expect_claims("guarantees/pac-bayes", "818763928dc0580dc53235aefcef8b4c4872101139f4209f4dfccbfb50d2b30a");
  expect_claims("guarantees/hold-out", "94776d02eab98b7578df085db98ac21b8d99bc2d655dd0444ddf0be16cddd415");
}

}  // namespace
