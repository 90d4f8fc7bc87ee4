#include "surefoot/bounds/paired.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"
#include "support/simulations.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace surefoot::bounds {
namespace {

TEST(Paired, SignTestIsTheBinomialTail) {
  for (Index n = 1; n <= 20; ++n) {
    double tail = 0;
    double term = std::pow(0.5, static_cast<double>(n));  // C(n, n) / 2^n
    for (Index more = n; more >= 0; --more) {
      tail += term;
      EXPECT_NEAR(sign_test(more, n - more), tail, 1e-12) << more << " of " << n;
      EXPECT_GE(sign_test(more, n - more), tail * (1 - 1e-14));
      term *= static_cast<double>(more) / static_cast<double>(n - more + 1);
    }
  }
  EXPECT_EQ(sign_test(0, 0), 1.0);
  EXPECT_INPUT_ERROR(sign_test(-1, 3), "pairs: -1");
}

/// The wealth of one bet l on E[D] > d, averaged over bets, factor by factor.
double slow_wealth(const PairedCounts& counts, double d) {
  const double m = (1 - d) / 2;
  const double phi = std::asin(std::sqrt(m));
  double sum = 0;
  for (int j = 0; j < 1024; ++j) {
    const double v = (j + 0.5) / 1024;
    const double below = std::pow(std::cos(v * phi) / std::cos(phi), 2);
    const double above = std::pow(std::sin(v * phi) / std::sin(phi), 2);
    sum += std::exp(static_cast<double>(counts.more) * std::log(below) +
                    static_cast<double>(counts.ties) * std::log((below + above) / 2) +
                    static_cast<double>(counts.less) * std::log(above));
  }
  return sum / 1024;
}

TEST(Paired, DifferencesAreWhereTheWealthIsOneOverDelta) {
  for (const PairedCounts& counts :
       {PairedCounts{30, 4, 966}, PairedCounts{7, 0, 93}, PairedCounts{0, 0, 500}, PairedCounts{3, 40, 57}}) {
    const double lower = difference_lower(counts, 0.01);
    EXPECT_GE(slow_wealth(counts, lower), 100 * (1 - 1e-9));
    EXPECT_LT(slow_wealth(counts, lower + 1e-7), 100);
    EXPECT_GE(difference_upper(counts, 0.01), lower);
    const double observed =
        static_cast<double>(counts.more - counts.less) / static_cast<double>(counts.pairs());
    EXPECT_LT(lower, observed + 1e-12);
    EXPECT_LE(difference_lower(counts, 0.001), lower);
    EXPECT_EQ(difference_upper(counts, 0.01),
              -difference_lower({counts.less, counts.more, counts.ties}, 0.01));
  }
  EXPECT_EQ(difference_lower({0, 20, 0}, 0.1), -1.0);
  EXPECT_INPUT_ERROR(difference_lower({0, 0, 0}, 0.1), "groups: there is none");
  EXPECT_INPUT_ERROR(difference_lower({0, 0, -3}, 0.1), "pairs: -3");
}

/// Exact probability of an event of the counts of n pairs.
template <class Event>
double probability(Index n, double more, double less, const Event& event) {
  double sum = 0;
  const auto log_of = [](double p, Index count) {
    return count == 0 ? 0.0 : static_cast<double>(count) * std::log(p);
  };
  for (Index i = 0; i <= n; ++i) {
    for (Index j = 0; i + j <= n; ++j) {
      if (!event(PairedCounts{i, j, n - i - j})) continue;
      const double coefficient =
          std::lgamma(static_cast<double>(n) + 1) - std::lgamma(static_cast<double>(i) + 1) -
          std::lgamma(static_cast<double>(j) + 1) - std::lgamma(static_cast<double>(n - i - j) + 1);
      sum += std::exp(coefficient + log_of(more, i) + log_of(less, j) + log_of(1 - more - less, n - i - j));
    }
  }
  return sum;
}

TEST(Paired, AreFalseNoMoreOftenThanTheySayForEveryShareOfTies) {
  constexpr Index n = 24;
  constexpr double delta = 0.1;
  std::map<std::pair<Index, Index>, double> lower;
  for (Index i = 0; i <= n; ++i)
    for (Index j = 0; i + j <= n; ++j) lower[{i, j}] = difference_lower({i, j, n - i - j}, delta);
  for (const double disagree : {0.05, 0.2, 0.5, 0.9}) {
    for (const double part : {0.1, 0.5, 0.8}) {
      const double more = disagree * part;
      const double less = disagree - more;
      EXPECT_LE(probability(n, more, less,
                            [&](const PairedCounts& counts) {
                              return lower.at({counts.more, counts.less}) > more - less;
                            }),
                delta);
      if (more <= less) {
        EXPECT_LE(probability(n, more, less,
                              [&](const PairedCounts& counts) {
                                return sign_test(counts.more, counts.less) <= delta;
                              }),
                  delta + 1e-12);
      }
    }
  }
}

TEST(Paired, DifferencesStayTrueIfPairsAreAddedUntilTheyPlease) {
  constexpr double delta = 0.1;
  constexpr double more = 0.06;
  constexpr double less = 0.04;
  const std::int64_t repetitions = ::test_support::simulations(200);
  std::map<std::pair<Index, Index>, double> lower;  // counts recur
  int wrong = 0;
  for (std::int64_t repetition = 0; repetition < repetitions; ++repetition) {
    RandomStream random(9, "paired differences", static_cast<std::uint64_t>(repetition));
    PairedCounts counts;
    bool once = false;
    for (int n = 1; n <= 400 && !once; ++n) {
      const double u = random.uniform();
      ++(u < more ? counts.more : (u < more + less ? counts.less : counts.ties));
      if (n % 80 != 0) continue;
      const auto [bound, is_new] = lower.try_emplace({1000 * n + counts.more, counts.less}, 0.0);
      if (is_new) bound->second = difference_lower(counts, delta);
      once = bound->second > more - less;
    }
    wrong += once ? 1 : 0;
  }
  // Three standard deviations above 10 %.
  const auto all = static_cast<double>(repetitions);
  EXPECT_LE(wrong, delta * all + 3 * std::sqrt(delta * (1 - delta) * all));
}

}  // namespace
}  // namespace surefoot::bounds
