#include "surefoot/report/free_choice.hpp"

#include "surefoot/certify/ask.hpp"
#include "surefoot/core/number_text.hpp"

#include "support/contains.hpp"
#include "support/kind_check.hpp"

namespace surefoot::report {
namespace {

// As page.js does it.
std::string share_in_page(const nlohmann::ordered_json& variant, double bound, Index step, bool within) {
  std::size_t best = 0;
  bool found = false;
  for (const auto& claim : variant.at("claims")) {
    const Index at = claim[0];
    const int about = claim[1];
    if (within ? about != 2 || at > step : at != step && (about == 0 || at > step)) continue;
    for (const auto& point : claim[3]) {
      const bool below = claim[2].get<bool>() ? point[0] <= bound : point[0] < bound;
      if (!below) continue;
      best = std::max(best, point[1].get<std::size_t>());
      found = true;
    }
  }
  return found ? variant.at("shares")[best][1].get<std::string>() : std::string(nothing);
}

TEST(FreeChoice, GivesWhatTheProgramAnswers) {
  certify::Options options;
  options.choose = certify::Choice::both;
  const certify::Certificate certificate =
      test::kinds_example({"success", "quantile", "budget"}, options).certificate;
  const auto free = free_choice(certificate);
  ASSERT_EQ(free.at("variants").size(), 2U);
  ASSERT_GT(free.at("tolerances").size(), 20U);
  for (std::size_t t = 0; t < free.at("tolerances").size(); t += 7) {
    const double bound = free.at("tolerances")[t][0];
    EXPECT_EQ(free.at("tolerances")[t][1], exact_label(bound));
    for (const bool within : {false, true}) {
      const std::string claim = fmt::format("below {} {} 5", bound, within ? "within" : "after");
      const certify::Answer answer = certify::ask(certificate, claim, "b").front();
      const std::string shown = share_in_page(free.at("variants")[1], bound, 5, within);
      EXPECT_EQ(shown, answer.holds ? lower_bound_percent(*answer.claim.share) : std::string(nothing))
          << claim;
    }
  }
}

TEST(FreeChoice, IsNoneWithoutBands) {
  EXPECT_TRUE(free_choice(test::kind_example("success").certificate).is_null());
}

}  // namespace
}  // namespace surefoot::report
