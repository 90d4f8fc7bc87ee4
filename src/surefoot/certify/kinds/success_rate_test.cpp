#include "surefoot/certify/kinds/success_rate.hpp"

#include "surefoot/bounds/risk.hpp"
#include "surefoot/certify/sentences.hpp"

#include "support/contains.hpp"
#include "support/kind_check.hpp"

#include <algorithm>

namespace surefoot::certify {
namespace {

TEST(SuccessRates, PassTheContractOfKinds) {
  test::expect_kind_contract("success");
}

TEST(SuccessRates, AreTheBoundsOfFailuresCountedOneByOne) {
  const test::KindExample example = test::kind_example("success");
  ASSERT_EQ(example.certificate.success.size(), 2U * 8 * 3);
  for (const SuccessClaim& claim : example.certificate.success) {
    Index failures = 0;
    for (const std::vector<double>& run : example.runs)
      if (!(run[static_cast<std::size_t>(claim.step - 1)] < claim.tolerance)) ++failures;
    EXPECT_EQ(claim.failures, failures);
    EXPECT_EQ(claim.lower_bound,
              bounds::success_lower_bound(failures, 200, example.certificate.delta / 48, claim.method));
  }
}

TEST(SuccessRates, OfALooserToleranceWithTheSamePrintedBoundAreNotQuoted) {
  const Certificate certificate = test::kind_example("success").certificate;
  const std::vector<std::string> statements = statements_of(certificate);
  const auto of_a = std::ranges::count_if(
      statements, [](const std::string& sentence) { return sentence.find("for a:") != std::string::npos; });
  EXPECT_LT(of_a, 3);  // three tolerances; the two loose ones are reached by the same runs
  EXPECT_TRUE(test::contains(statements.front(), "after 8 iterations")) << statements.front();
}

}  // namespace
}  // namespace surefoot::certify
