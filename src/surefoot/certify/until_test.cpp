#include "surefoot/certify/until.hpp"

#include "surefoot/bounds/anytime.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/random.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace surefoot::certify {
namespace {

using surefoot::test::contains;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

TEST(Until, IsTheClaimAloneUnlessMoreIsDeclared) {
  const Options rate = Until("99% below 1e-3 after 50").declare({}, {});
  EXPECT_TRUE(rate.anytime());
  EXPECT_EQ(rate.kinds, std::vector<std::string>{"success"});
  EXPECT_EQ(rate.tolerances, std::vector<double>{1e-3});
  EXPECT_EQ(rate.steps, std::vector<Index>{50});
  const Options budget = Until("95% below 0.1 within 3").declare({}, {});
  EXPECT_EQ(budget.kinds, std::vector<std::string>{"budget"});
  EXPECT_EQ(budget.quantiles, std::vector<double>{0.95});
  EXPECT_TRUE(budget.steps.empty());
  const Options quantile = Until("95% at most 0.1 after 3").declare({}, {});
  EXPECT_EQ(quantile.kinds, std::vector<std::string>{"quantile"});
  EXPECT_EQ(quantile.quantiles, std::vector<double>{0.95});

  Options more;
  more.tolerances = {1e-3, 1e-2};
  const Options both = Until("99% below 1e-3 after 50").declare(more, {.kinds = true, .tolerances = true});
  EXPECT_EQ(both.tolerances, more.tolerances);
  EXPECT_EQ(both.kinds, more.kinds);
}

TEST(Until, RefusesWhatItDoesNotMean) {
  EXPECT_INPUT_ERROR(Until("99% above 1e-3"), "at word 3, 'above'");
  EXPECT_INPUT_ERROR(Until("below 1e-3"), "expected a share");
  EXPECT_INPUT_ERROR(Until("99% at most 2 within 3"), "say 'below'");
  Options other;
  other.tolerances = {1e-2};
  const Until until("99% below 1e-3 after 50");
  EXPECT_INPUT_ERROR(until.declare(other, {.tolerances = true}), "0.001 is not among the tolerances");
  other = {};
  other.kinds = {"budget"};
  EXPECT_INPUT_ERROR(until.declare(other, {.kinds = true}), "success is not among the kinds of claims");
  other = {};
  other.simultaneous = Simultaneity::each;
  EXPECT_INPUT_ERROR(until.declare(other, {}), "hold together");
  other = {};
  other.choose = Choice::both;
  EXPECT_INPUT_ERROR(until.declare(other, {}), "choose: 'both' makes bands");
  EXPECT_INPUT_ERROR(until.require_recorded({1, 2, 3}), "step 50 was not recorded; runs have 1 .. 3");
  EXPECT_INPUT_ERROR(Until("99% at most 1").require_recorded({1, 2}), "say after which");
  EXPECT_NO_THROW(Until("99% at most 1").require_recorded({1}));
}

// What a run is counted as, against the counts of the tally that the certificate is made from.
TEST(Until, CountsTheFailuresThatTheCertificateCounts) {
  const std::vector<Index> recorded{1, 2, 5};
  RandomStream random(1, "until test", 0);
  std::vector<std::vector<double>> runs;
  for (int i = 0; i < 400; ++i) {
    std::vector<double> run;
    for (std::size_t k = 0; k < recorded.size(); ++k) {
      const double u = random.uniform();
      run.push_back(u < 0.03 ? not_a_number : u < 0.05 ? infinity : u < 0.3 ? 1.0 : random.uniform(0, 2));
    }
    runs.push_back(run);
  }
  for (const char* text : {"20% below 1 after 2", "20% below 1 within 2", "20% below 1 within 3",
                           "20% below 1 within 5", "20% below 1", "20% at most 1 after 5"}) {
    const Until until(text);
    const Options options = resolved(until.declare({}, {}), {recorded});
    runs::Tally tally(tally_spec(options, recorded));
    Index failures = 0;
    for (const std::vector<double>& run : runs) {
      tally.add_run(run.data());
      failures += until.fails(recorded, run.data()) ? 1 : 0;
    }
    const Index n = tally.samples();
    Index counted = -1;
    if (until.kind() == "success") counted = tally.failures(1, 0);
    if (until.kind() == "quantile") counted = n - tally.values(0).count_at_most(1.0);
    if (until.kind() == "budget")
      counted = n - tally.settled(0)[std::string(text) == "20% below 1 within 2"   ? 1
                                     : std::string(text) == "20% below 1 within 3" ? 1
                                                                                   : 2];
    EXPECT_EQ(failures, counted) << text;
    EXPECT_GT(failures, 0) << text;
  }
}

// Looking after every run, and looking only where the claim can hold, end at the same run.
TEST(Until, LooksExactlyWhereTheClaimCanHold) {
  for (const double rate : {0.0, 0.01, 0.03}) {
    const Until until("95% below 1 after 1");
    const Options options = resolved(until.declare({}, {}), {{1}});
    const runs::TallySpec spec = tally_spec(options, {1});
    const double delta = delta_of_claims(options, spec, until.kind());
    EXPECT_NEAR(delta, 0.01, 1e-15);
    UntilLooks looks(until.share(), delta);
    runs::Tally tally(spec);
    Index next = looks.next_look();
    EXPECT_EQ(next, bounds::anytime_upper(0, next, delta) <= 0.05 ? next : -1);
    Index failures = 0;
    for (Index n = 1; n <= 3000; ++n) {
      RandomStream random(7, "until looks", static_cast<std::uint64_t>(n));
      const double value = random.uniform() < rate ? 2.0 : 0.5;
      tally.add_run(&value);
      looks.add(until.fails({1}, &value));
      failures += value > 1 ? 1 : 0;
      Variant variant;
      variant.name = "x";
      const bool slow = bounds::anytime_upper(failures, n, delta) <= 0.05;
      EXPECT_EQ(until.holds(certify(options, {{variant, tally}})), slow) << n;
      EXPECT_TRUE(!slow || n >= next) << "a look was left out at " << n;
      if (slow) {
        EXPECT_EQ(looks.runs(), n);
        EXPECT_GE(looks.certified(), 0.95);
        break;
      }
      next = looks.next_look();
      EXPECT_GT(next, n);
    }
    EXPECT_GE(looks.certified(), 0.95) << rate;
  }
}

TEST(Until, SaysWhereItStands) {
  const Until until("90% below 1 after 1");
  UntilLooks looks(0.9, 0.01);
  EXPECT_TRUE(contains(standing_of(until, looks, false), "UNDECIDED"));
  looks.add(true);
  for (int i = 0; i < 100; ++i) looks.add(false);
  const std::string text = standing_of(until, looks, true);
  EXPECT_TRUE(contains(text, "\"90% below 1 after 1\" holds after 101 runs, 1 of them failed")) << text;
}

}  // namespace
}  // namespace surefoot::certify
