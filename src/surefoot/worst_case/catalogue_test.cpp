#include "surefoot/worst_case/catalogue.hpp"

#include "surefoot/core/random.hpp"
#include "surefoot/worst_case/conditions.hpp"
#include "surefoot/worst_case/proof.hpp"

#include "support/golden.hpp"
#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <map>

namespace surefoot::worst_case {
namespace {

using test_support::input_error;

// What is proven for a question with the start at most 1.
double proven(const Question& question) {
  const Method method = build(question);
  const std::optional<Multipliers> found = prove(method);
  return found ? proven_bound(method, *found, 1.0) : infinity;
}

Question ask(const std::string& method, Index steps, const std::string& metric = "",
             Parameters parameters = {}, Initial initial = Initial::distance) {
  return {method, std::move(parameters), steps, metric, initial};
}

Parameters with(double L, double mu, std::vector<double> step = {}) {
  Parameters result;
  result.L = L;
  result.mu = mu;
  result.step = std::move(step);
  return result;
}

Parameters with_alpha(double alpha) {
  Parameters result;
  result.alpha = alpha;
  return result;
}

Parameters with_factor(double factor) {
  Parameters result;
  result.factor = factor;
  return result;
}

TEST(Catalogue, ProvenBoundsAreTheClosedFormsAndNeverBelowThem) {
  std::vector<Question> questions;
  for (const double alpha : {0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.99, 1.0}) {
    for (const Index steps : {1, 2, 3, 10, 25})
      questions.push_back(ask("averaged", steps, "", with_alpha(alpha)));
  }
  questions.push_back(ask("averaged", 70));
  for (const Index steps : {1, 2, 5, 12}) {
    questions.push_back(ask("averaged", steps, "distance", with_alpha(0.3)));
    questions.push_back(ask("contractive", steps, "", with_factor(0.9)));
    questions.push_back(ask("contractive", steps, "distance", with_factor(0.5)));
    questions.push_back(ask("halpern", steps));
    questions.push_back(ask("proximal-point", steps));
    questions.push_back(ask("gradient", steps));
    questions.push_back(ask("gradient", steps, "gap", with(1000.0, 0.0)));
    questions.push_back(ask("gradient", steps, "gap", with(1e-3, 0.0)));
    questions.push_back(ask("gradient", steps, "distance", with(1.0, 0.1)));
    questions.push_back(ask("gradient", steps, "distance", with(2.0, 0.1, {0.9})));
    questions.push_back(ask("gradient", steps, "gradient", with(3.0, 0.0), Initial::gap));
    questions.push_back(ask("ista", steps, "gap", with(5.0, 0.0)));
  }
  for (const Question& question : questions) {
    const double exact = closed_form(question).value();
    const double bound = proven(question);
    SCOPED_TRACE(metric_in_words(resolved(question)) + " for " + class_in_words(question));
    EXPECT_GE(bound, exact * (1.0 - 1e-14));
    EXPECT_LE(bound, exact * (1.0 + 1e-6));
  }
}

TEST(Catalogue, TheNumberOfThePaper) {
  EXPECT_NEAR(proven(ask("averaged", 70)), 0.0727549, 5e-8);
}

// T = (I + R)/2 with the rotation R by an angle whose half has tangent 1/sqrt(k).
TEST(Catalogue, ARotationAttainsTheWorstCaseOfAveragedOperators) {
  for (const Index steps : {2, 5, 20}) {
    const double half = std::atan(1.0 / std::sqrt(static_cast<double>(steps - 1)));
    const double c = std::cos(2.0 * half);
    const double s = std::sin(2.0 * half);
    double x = 1;
    double y = 0;
    double residual = 0;
    for (Index k = 0; k < steps; ++k) {
      const double next_x = 0.5 * (x + c * x - s * y);
      const double next_y = 0.5 * (y + s * x + c * y);
      residual = std::hypot(next_x - x, next_y - y);
      x = next_x;
      y = next_y;
    }
    const double bound = proven(ask("averaged", steps));
    EXPECT_GE(bound, residual);
    EXPECT_NEAR(bound, residual, 1e-6 * residual);
  }
}

// Huber's function with the corner at 1/(2K+1).
TEST(Catalogue, AFunctionAttainsTheWorstCaseOfGradientDescent) {
  for (const Index steps : {1, 4, 15}) {
    const double corner = 1.0 / (2.0 * static_cast<double>(steps) + 1.0);
    double x = 1;
    for (Index k = 0; k < steps; ++k) x -= std::clamp(x, -corner, corner);
    const double gap = corner * x - 0.5 * corner * corner;
    const double bound = proven(ask("gradient", steps));
    EXPECT_GE(bound, gap);
    EXPECT_NEAR(bound, gap, 1e-6 * gap);
  }
}

// Quadratic functions and linear maps of the class satisfy every condition at random points.
TEST(Conditions, HoldForMembersOfTheirClass) {
  RandomStream random(5, "worst-case conditions", 0);
  struct Member {
    Class what;
    std::function<double(double, std::size_t)> output;  // of a coordinate
    std::function<double(double, std::size_t)> value;
  };
  const std::vector<double> eigenvalues{0.5, 1.1, 2.0};
  const std::vector<Member> members{
      {Class::smooth(2.0, 0.5), [&](double x, std::size_t i) { return eigenvalues[i] * x; },
       [&](double x, std::size_t i) { return 0.5 * eigenvalues[i] * x * x; }},
      {Class::convex(0.5), [&](double x, std::size_t i) { return eigenvalues[i] * x + (x > 0 ? 1.0 : -1.0); },
       [&](double x, std::size_t i) { return 0.5 * eigenvalues[i] * x * x + std::abs(x); }},
      {Class::averaged(0.7),
       [&](double x, std::size_t i) { return 0.7 * (eigenvalues[i] / 2.0 - 1.0) * x; },
       {}},
      {Class::averaged(0.7), [&](double x, std::size_t) { return -1.4 * x; }, {}},
      {Class::lipschitz(0.8), [&](double x, std::size_t i) { return (i == 0 ? -0.8 : 0.3) * x - x; }, {}},
      {Class::monotone(0.5), [&](double x, std::size_t i) { return eigenvalues[i] * x; }, {}},
      {Class::cocoercive(0.5), [&](double x, std::size_t i) { return eigenvalues[i] * x; }, {}},
  };
  for (const Member& member : members) {
    double largest = -infinity;
    for (int trial = 0; trial < 300; ++trial) {
      std::array<std::array<double, 3>, 2> x{};
      std::array<std::array<double, 3>, 2> g{};
      std::array<double, 2> f{};
      for (std::size_t k = 0; k < 2; ++k) {
        for (std::size_t i = 0; i < 3; ++i) {
          x[k][i] = random.normal();
          g[k][i] = member.output(x[k][i], i);
          if (member.value) f[k] += member.value(x[k][i], i);
        }
      }
      std::array<std::array<double, 3>, 3> vectors{};
      const std::size_t first = member.what.has_values() ? 1 : 0;
      for (std::size_t i = 0; i < 3; ++i) {
        if (first == 1) vectors[0][i] = g[1][i];
        vectors[first][i] = x[0][i] - x[1][i];
        vectors[first + 1][i] = g[0][i] - g[1][i];
      }
      const Core<double> weights = core<double>(member.what);
      double sum = f[1] - f[0];
      for (std::size_t a = 0; a < weights.size; ++a) {
        for (std::size_t b = 0; b < weights.size; ++b) {
          for (std::size_t i = 0; i < 3; ++i) sum += weights.entry[a][b] * vectors[a][i] * vectors[b][i];
        }
      }
      largest = std::max(largest, sum);
    }
    EXPECT_LE(largest, 1e-12) << name(member.what.kind);
    EXPECT_GT(largest, -10.0) << name(member.what.kind);
  }
}

TEST(Catalogue, DegenerateCases) {
  EXPECT_NEAR(proven(ask("gradient", 0)), 0.5, 1e-8);
  EXPECT_NEAR(proven(ask("gradient", 0, "distance")), 1.0, 1e-8);
  EXPECT_NEAR(proven(ask("averaged", 8, "", with_alpha(1.0))), 2.0, 1e-6);
  const double slow = proven(ask("averaged", 8, "", with_alpha(1e-3)));  // at least that of N = -I
  EXPECT_GE(slow, 2e-3 * std::pow(1.0 - 2e-3, 7));
  EXPECT_LE(slow, 2e-3);
  EXPECT_NEAR(proven(ask("contractive", 1, "distance", with_factor(0.0))), 0.0, 1e-4);
  EXPECT_NE(
      input_error([] { build(ask("gradient", 3, "gap", with(1.0, 1.0))); }).find("mu: 1 is not below L = 1"),
      std::string::npos);
  EXPECT_NE(input_error([] { build(ask("averaged", 0)); }).find("steps: 0 is outside 1..1000"),
            std::string::npos);
  EXPECT_NE(input_error([] { build(ask("averaged", 3, "", with_alpha(1.5))); }).find("alpha: 1.5"),
            std::string::npos);
  EXPECT_NE(input_error([] { build(ask("newton", 3)); }).find("'newton' is none of averaged"),
            std::string::npos);
  EXPECT_NE(input_error([] { build(ask("averaged", 3, "gap")); }).find("metric: 'gap'"), std::string::npos);
  EXPECT_NE(
      input_error([] { build(ask("gradient", 3, "distance", {}, Initial::gap)); }).find("bounds no distance"),
      std::string::npos);
}

TEST(Method, MisuseIsNamed) {
  Method late;
  const std::size_t f = late.add(Class::smooth(1.0));
  late.measure_gap(Method::start() - late.call(f, Method::start()));
  late.add(Class::monotone());
  EXPECT_EQ(input_error([&] { late.validate(); }), "gap: it leaves out what was declared later");
  Method method;
  const std::size_t map = method.add(Class::averaged(0.5));
  EXPECT_EQ(input_error([&] { method.validate(); }), "method: nothing is measured");
  EXPECT_EQ(input_error([&] { method.call(3, Method::start()); }), "oracle: 3 is not one of the 1 declared");
  EXPECT_EQ(input_error([&] { method.call(map, 0.5 * Method::start()); }),
            "point: z^0 has coefficient 0.5 in it, not 1");
  EXPECT_EQ(input_error([&] {
              method.call(map, {1.0, {0.0, 1.0}});
            }),
            "point: it uses an oracle call that was not made");
  EXPECT_EQ(input_error([&] { method.measure_gap(Method::start()); }),
            "gap: averaged operators have no values");
  const Vector output = method.call(map, Method::start());
  EXPECT_TRUE(method.call(map, Method::start()) == output);  // of one value: asked twice, called once
  EXPECT_EQ(method.calls().size(), 1U);
}

// A step of 3/L: z is multiplied by -2 on L/2 z^2.
TEST(Catalogue, StepsBeyondTwoOverLGrowAsTheyDo) {
  for (const Index steps : {1, 3, 6}) {
    const double growth = std::pow(4.0, static_cast<double>(steps));
    const double bound = proven(ask("gradient", steps, "gap", with(1.0, 0.0, {3.0})));
    EXPECT_GE(bound, 0.5 * growth * (1.0 - 1e-14));
    EXPECT_LE(bound, 0.5 * growth * (1.0 + 1e-6));
  }
}

// The same methods as in PEPit's worked examples (tests/golden/make_pepit.py), described in the words of this
// library.
using Describe = std::function<void(Method&)>;

const std::map<std::string, Describe>& pepit_examples() {
  const auto of_question = [](const Question& question) {
    return [=](Method& method) { method = build(question); };
  };
  // |x - A x| of a nonexpansive A at the last of n points that `next` makes.
  const auto fixed_point = [](double factor, int n, double scale, auto next) {
    return [=](Method& m) {
      const std::size_t map = m.add(factor == 1.0 ? Class::averaged(1.0) : Class::lipschitz(factor));
      Vector x = Method::start();
      for (int i = 0; i < n; ++i) x = next(i, x, x + m.call(map, x));
      m.measure_norm(scale * m.call(map, x));
    };
  };
  const auto optimized = [](bool last, double theta) {
    return (1.0 + std::sqrt((last ? 8.0 : 4.0) * theta * theta + 1.0)) / 2.0;
  };
  static const std::map<std::string, Describe> all{
      {"gradient_descent", of_question(ask("gradient", 4, "gap", with(3.0, 0.0)))},
      {"gradient_descent_contraction", of_question(ask("gradient", 3, "distance", with(1.0, 0.1)))},
      {"accelerated_gradient_convex", of_question(ask("fista", 5))},
      {"heavy_ball_momentum",
       [](Method& m) {
         Parameters parameters = with(1.0, 0.1, {0.5});
         parameters.momentum = std::sqrt((1 - 0.5 * 0.1) * 0.5);
         m = build(ask("heavy-ball", 2, "gap", parameters, Initial::gap));
       }},
      {"optimized_gradient",
       [=](Method& m) {
         const std::size_t f = m.add(Class::smooth(3.0));
         Vector x = Method::start();
         Vector y = x;
         double theta = 1;
         for (int i = 0; i < 4; ++i) {
           const Vector before = x;
           x = y - (1.0 / 3.0) * m.call(f, y);
           const double old = theta;
           theta = optimized(i == 3, theta);
           y = x + ((old - 1) / theta) * (x - before) + (old / theta) * (x - y);
         }
         m.measure_gap(y);
       }},
      {"optimized_gradient_for_gradient",
       [=](Method& m) {
         std::vector<double> theta{1.0};
         for (int i = 0; i < 4; ++i) theta.push_back(optimized(i == 3, theta.back()));
         std::reverse(theta.begin(), theta.end());
         const std::size_t f = m.add(Class::smooth(3.0));
         Vector x = Method::start();
         Vector y = x;
         for (std::size_t i = 0; i < 4; ++i) {
           const Vector before = y;
           y = x - (1.0 / 3.0) * m.call(f, x);
           x = y + ((theta[i] - 1) * (2 * theta[i + 1] - 1) / theta[i] / (2 * theta[i] - 1)) * (y - before) +
               ((2 * theta[i + 1] - 1) / (2 * theta[i] - 1)) * (y - x);
         }
         m.measure_norm(m.call(f, x));
         m.assume_gap();
       }},
      {"proximal_point", of_question(ask("proximal-point", 4, "gap", with(1.0, 0.0, {3.0})))},
      {"triple_momentum",
       [](Method& m) {
         const double rho = 1 - 1 / std::sqrt(10.0);
         const double beta = rho * rho / (2 - rho);
         const double gamma = rho * rho / (1 + rho) / (2 - rho);
         const double delta = rho * rho / (1 - rho * rho);
         const std::size_t f = m.add(Class::smooth(1.0, 0.1));
         Vector older = Method::start();
         Vector newer = older;
         Vector y = older;
         Vector x = older;
         for (int i = 0; i < 4; ++i) {
           const Vector next = newer + beta * (newer - older) - (1 + rho) * m.call(f, y);
           y = next + gamma * (next - newer);
           x = next + delta * (next - newer);
           older = newer;
           newer = next;
         }
         m.measure_gap(x);
       }},
      {"information_theoretic_exact_method",
       [](Method& m) {
         const double q = 0.001;
         double A = 0;
         const std::size_t f = m.add(Class::smooth(1.0, q));
         Vector x = Method::start();
         Vector z = x;
         for (int i = 0; i < 10; ++i) {
           const double next =
               ((1 + q) * A + 2 * (1 + std::sqrt((1 + A) * (1 + q * A)))) / ((1 - q) * (1 - q));
           const double beta = A / (1 - q) / next;
           const double delta = 0.5 * ((1 - q) * (1 - q) * next - (1 + q) * A) / (1 + q + q * A);
           const Vector y = z + beta * (x - z);
           const Vector g = m.call(f, y);
           x = y - g;
           z = z + (q * delta) * (y - z) - delta * g;
           A = next;
         }
         m.measure_norm(z);
       }},
      {"halpern_iteration", of_question(ask("halpern", 11))},
      {"krasnoselskii_mann_constant_step_sizes",
       fixed_point(1.0, 3, 0.5, [](int, const Vector& x, const Vector& Ax) { return x + 0.75 * (Ax - x); })},
      {"krasnoselskii_mann_increasing_step_sizes", fixed_point(1.0, 3, 0.5,
                                                               [](int i, const Vector& x, const Vector& Ax) {
                                                                 return x + (1 - 1.0 / (i + 2)) * (Ax - x);
                                                               })},
      {"optimal_contractive_halpern_iteration",
       fixed_point(1 / 1.1, 10, 1.0,
                   [](int i, const Vector&, const Vector& Ax) {
                     const double phi = (std::pow(1.1, 2 * i + 4) - 1) / (1.1 * 1.1 - 1);
                     return Method::start() + (1 - 1 / phi) * (Ax - Method::start());
                   })},
      {"monotone_proximal_point",
       [](Method& m) {
         const std::size_t A = m.add(Class::monotone());
         Vector x = Method::start();
         Vector before = x;
         for (int i = 0; i < 10; ++i) {
           before = x;
           x = m.implicit(A, x, 2.0).point;
         }
         m.measure_norm(x - before);
       }},
      {"monotone_accelerated_proximal_point",
       [](Method& m) {
         const std::size_t A = m.add(Class::monotone());
         std::vector<Vector> x(11, Method::start());
         std::vector<Vector> y(11, Method::start());
         for (std::size_t i = 0; i < 9; ++i) {
           x[i + 1] = m.implicit(A, y[i + 1], 2.0).point;
           const double weight = static_cast<double>(i) / static_cast<double>(i + 2);
           y[i + 2] = x[i + 1] + weight * (x[i + 1] - x[i]) - weight * (x[i] - y[i]);
         }
         x[10] = m.implicit(A, y[10], 2.0).point;
         m.measure_norm(x[10] - y[10]);
       }},
      {"proximal_gradient", of_question(ask("ista", 2, "distance", with(1.0, 0.1)))},
      {"accelerated_proximal_gradient", of_question(ask("composite-fista", 4))},
      {"accelerated_proximal_gradient_simplified",
       [](Method& m) {
         const std::size_t f = m.add(Class::smooth(1.0));
         const std::size_t h = m.add(Class::convex());
         Vector x = Method::start();
         Vector y = x;
         for (int i = 0; i < 4; ++i) {
           const Vector before = x;
           x = m.implicit(h, y - m.call(f, y), 1.0).point;
           y = x + (static_cast<double>(i) / (i + 3)) * (x - before);
         }
         m.measure_gap(x);
       }},
  };
  return all;
}

TEST(Pepit, AgreesOnItsWorkedExamples) {
  std::size_t compared = 0;
  for (const std::vector<std::string>& row : testing::golden_rows("pepit.csv")) {
    SCOPED_TRACE(row.at(0));
    Method method;
    pepit_examples().at(row.at(0))(method);
    const std::optional<Multipliers> found = prove(method);
    ASSERT_TRUE(found);
    const double bound = proven_bound(method, *found, 1.0);
    const double value = method.measured().empty() ? bound : bound * bound;
    EXPECT_NEAR(value / std::stod(row.at(1)), 1.0, 1e-6);  // what its solver can do
    ++compared;
  }
  EXPECT_GE(compared, 12U);
}

}  // namespace
}  // namespace surefoot::worst_case
