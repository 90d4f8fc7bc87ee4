#include "surefoot/worst_case/proof.hpp"

#include "surefoot/core/random.hpp"
#include "surefoot/worst_case/ball.hpp"
#include "surefoot/worst_case/catalogue.hpp"

#include <boost/multiprecision/cpp_int.hpp>
#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::worst_case {
namespace {

using Rational = boost::multiprecision::cpp_rational;

// Positive semidefinite by exact elimination: a pivot of 0 must have a row of zeros.
bool is_exactly_positive_semidefinite(std::vector<Rational> a, std::size_t n) {
  for (std::size_t k = 0; k < n; ++k) {
    const Rational pivot = a[k * n + k];
    if (pivot < 0) return false;
    if (pivot == 0) {
      for (std::size_t i = k + 1; i < n; ++i) {
        if (a[i * n + k] != 0) return false;
      }
      continue;
    }
    for (std::size_t i = k + 1; i < n; ++i) {
      const Rational factor = a[i * n + k] / pivot;
      for (std::size_t j = k + 1; j < n; ++j) a[i * n + j] -= factor * a[k * n + j];
    }
  }
  return true;
}

// The same argument as what_is_wrong(), without any rounding.
bool proves_exactly(const Method& method, const Multipliers& multipliers) {
  std::vector<Rational> lack(method.calls().size(), Rational(0));
  const Rational unit(std::ldexp(1.0, multipliers.exponent));
  for (const std::size_t call : method.measured_values()) lack[call] += unit;
  for (const std::size_t call : method.assumed_values()) lack[call] -= multipliers.initial;
  for (const auto& [pair, y] : multipliers.pairs) {
    if (y < 0) return false;
    if (!class_of(method, pair).has_values()) continue;
    if (pair.j >= 0) lack[static_cast<std::size_t>(pair.j)] -= y;
    if (pair.i >= 0) lack[static_cast<std::size_t>(pair.i)] += y;
  }
  for (const Rational& one : lack) {
    if (one != 0) return false;
  }
  return multipliers.initial >= 0 &&
         is_exactly_positive_semidefinite(slack_matrix<Rational>(method, multipliers), method.dimension());
}

std::vector<Question> small_questions() {
  std::vector<Question> all;
  for (const NamedMethod& method : named_methods()) {
    for (const std::string_view metric : method.metrics) {
      for (const Index steps : {1, 3}) {
        Question question{std::string(method.name), {}, steps, std::string(metric), Initial::distance};
        question.parameters.mu = 0.1;
        question.parameters.alpha = 0.6;
        all.push_back(question);
      }
    }
  }
  Question gap{"gradient", {}, 3, "gradient", Initial::gap};
  all.push_back(gap);
  gap.parameters.mu = 0.2;
  all.push_back(gap);
  return all;
}

TEST(Proof, EveryProofHoldsInRationalArithmetic) {
  for (const Question& question : small_questions()) {
    SCOPED_TRACE(question.method + " " + question.metric);
    const Method method = build(question);
    const std::optional<Multipliers> found = prove(method);
    ASSERT_TRUE(found);
    EXPECT_EQ(what_is_wrong(method, *found), "");
    EXPECT_TRUE(proves_exactly(method, *found));
  }
}

// Whatever what_is_wrong() accepts is a proof, and what is far from one it refuses.
TEST(Proof, AChangedMultiplierIsFoundOrStillProves) {
  int refused = 0;
  int changed = 0;
  for (const Question& question : small_questions()) {
    if (question.steps != 3) continue;
    SCOPED_TRACE(question.method + " " + question.metric);
    const Method method = build(question);
    const Multipliers good = prove(method).value();
    for (std::size_t p = 0; p <= good.pairs.size(); ++p) {
      for (const double factor : {0.0, 0.999, 1.001, 2.0, -1.0}) {
        Multipliers bad = good;
        std::int64_t& y = p < good.pairs.size() ? bad.pairs[p].multiplier : bad.initial;
        const std::int64_t before = y;
        y = static_cast<std::int64_t>(static_cast<double>(y) * factor);
        if (y == before) continue;
        ++changed;
        const bool accepted = what_is_wrong(method, bad).empty();
        EXPECT_TRUE(!accepted || proves_exactly(method, bad));
        refused += accepted ? 0 : 1;
        // Smaller bounds than the worst case have no proof; values must balance to the last unit.
        const bool smaller = p == good.pairs.size() && factor < 1.0;
        const bool unbalanced = p < good.pairs.size() && class_of(method, good.pairs[p].pair).has_values();
        EXPECT_FALSE(accepted && (smaller || unbalanced));
      }
    }
  }
  EXPECT_GT(changed, 500);
  EXPECT_GT(refused, changed / 2);
}

TEST(Proof, MalformedMultipliersAreRefusedByName) {
  const Method method = build({"gradient", {}, 3, "gap", Initial::distance});
  const Multipliers good = prove(method).value();
  const auto wrong = [&](auto change) {
    Multipliers bad = good;
    change(bad);
    return what_is_wrong(method, bad);
  };
  EXPECT_EQ(wrong([](Multipliers& m) { m.exponent = 61; }), "the exponent 61 is outside 0..60");
  EXPECT_EQ(wrong([](Multipliers& m) { m.initial = -1; }), "the multiplier of the start is negative");
  EXPECT_NE(wrong([](Multipliers& m) {
              m.pairs[0].pair = {7, 8};
            }).find("no such condition"),
            std::string::npos);
  EXPECT_NE(wrong([](Multipliers& m) { m.pairs[0].multiplier = -1; }).find("is negative"), std::string::npos);
  EXPECT_NE(wrong([](Multipliers& m) { m.pairs.push_back(m.pairs[0]); }).find("given twice"),
            std::string::npos);
  EXPECT_NE(wrong([](Multipliers& m) { ++m.pairs[0].multiplier; }).find("does not balance"),
            std::string::npos);
  EXPECT_NE(wrong([](Multipliers& m) { m.initial /= 2; }).find("positive semidefinite"), std::string::npos);
  EXPECT_NE(wrong([](Multipliers& m) {
              for (auto& item : m.pairs) item.multiplier = std::int64_t{1} << 61;
            }).find("too large"),
            std::string::npos);
}

TEST(Ball, HoldsTheExactResultOfRandomOperations) {
  RandomStream random(11, "balls", 0);
  const auto inside = [](const Ball& ball, const Rational& exact) {
    const Rational distance = abs(exact - Rational(ball.middle()));
    return distance <= Rational(ball.radius());
  };
  for (int trial = 0; trial < 200; ++trial) {
    Ball ball(random.normal());
    Rational exact(static_cast<double>(ball.middle()));
    for (int k = 0; k < 12; ++k) {
      const double other = random.normal() * std::pow(10.0, 3.0 * random.normal());
      switch (k % 4) {
        case 0:
          ball = ball * Ball(other);
          exact *= Rational(other);
          break;
        case 1:
          ball += Ball(other);
          exact += Rational(other);
          break;
        case 2:
          ball = ball / Ball(other);
          exact /= Rational(other);
          break;
        default:
          ball -= ball * Ball(other);
          exact -= exact * Rational(other);
          break;
      }
      ASSERT_TRUE(inside(ball, exact)) << trial << " " << k;
    }
    EXPECT_LT(ball.radius(), 1e-12L * (1 + std::abs(ball.middle())) * 1e6L);
  }
  EXPECT_TRUE(std::isinf((Ball(1.0) / (Ball(1.0) - Ball(1.0))).radius()));
}

TEST(Proof, SlackMatrixInBallsHoldsTheRationalOne) {
  const Method method = build({"nesterov", {0.5, 0.9, 3.0, 0.7, {}, {}}, 4, "gap", Initial::distance});
  const Multipliers multipliers = prove(method).value();
  const std::vector<Ball> balls = slack_matrix<Ball>(method, multipliers);
  const std::vector<Rational> exact = slack_matrix<Rational>(method, multipliers);
  for (std::size_t i = 0; i < exact.size(); ++i)
    EXPECT_LE(abs(exact[i] - Rational(balls[i].middle())), Rational(balls[i].radius()));
}

// Leaving conditions out gives a bound that is not smaller; generation finds those that matter.
TEST(Proof, GenerationOfConditionsReachesTheBoundOfAll) {
  for (const char* name : {"averaged", "fista", "heavy-ball"}) {
    Question question{name, {}, 12, "", Initial::distance};
    question.parameters.mu = 0.05;
    const Method method = build(question);
    ProveOptions few;
    few.all_pairs_up_to = 0;
    ProveOptions all;
    all.all_pairs_up_to = 100000;
    const double with_few = proven_bound(method, prove(method, few).value(), 1.0);
    const double with_all = proven_bound(method, prove(method, all).value(), 1.0);
    EXPECT_NEAR(with_few, with_all, 1e-6 * with_all) << name;
  }
}

TEST(Proof, InterruptionEndsTheSearch) {
  ProveOptions options;
  options.interrupt = [] { throw Interrupted{}; };
  EXPECT_THROW(prove(build({"fista", {}, 5, "gap", Initial::distance}), options), Interrupted);
}

}  // namespace
}  // namespace surefoot::worst_case
