#include "surefoot/families/deblurring.hpp"

#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/runs/run.hpp"
#include "surefoot/runs/solve_qp.hpp"

#include <gtest/gtest.h>

namespace surefoot::families {
namespace {

using problems::Matrix;
using problems::Table;
using problems::Vector;

TEST(Deblurring, ProblemIsTheLeastSquaresProblemOfTheBlur) {
  for (const Blur blur : {Blur::box, Blur::gaussian}) {
    DeblurringOptions options;
    options.side = 12;
    options.blur = blur;
    const Deblurring family(options);
    const Table letters = draw_letters(1, 2, 0, 12);
    const Table observed = family.observe(letters, 5);
    const problems::Qp problem = family.problem(observed);
    problem.validate();
    const Matrix& b = family.blur_matrix();
    Matrix B(144, 144);
    for (Index i = 0; i < 144; ++i) {
      for (Index j = 0; j < 144; ++j) B(i, j) = b(i / 12, j / 12) * b(i % 12, j % 12);
    }
    EXPECT_LT((Matrix(problem.P[0]) - B.transpose() * B).cwiseAbs().maxCoeff(), 1e-14);
    const Vector q = (-(B.transpose() * observed.row(1).transpose())).array() + options.weight;
    EXPECT_LT((problem.q.row(1).transpose() - q).cwiseAbs().maxCoeff(), 1e-13);
    const Vector noise = observed.row(1).transpose() - B * letters.row(1).transpose();
    EXPECT_NEAR(noise.norm(), 0.001 * 12, 0.004);
  }
}

TEST(Deblurring, KroneckerStepsAreTheDenseOnes) {
  DeblurringOptions options;
  options.side = 16;
  const Deblurring family(options);
  const problems::Qp problem = family.problem(family.observe(draw_letters(2, 9, 0, 16), 2));
  algorithms::OsqpOptions paper = algorithms::OsqpOptions::paper();
  const algorithms::Osqp fast(problem, paper);
  EXPECT_EQ(fast.system().kind(), algorithms::SystemKind::kronecker);
  paper.system = algorithms::SystemKind::dense;
  const algorithms::Osqp dense(problem, paper);
  runs::RunOptions run_options;
  run_options.steps = 50;
  const std::vector<runs::Metric> metrics = {runs::fixed_point_residual(),
                                             runs::quantity(algorithms::Quantity::dual_residual)};
  const auto a = runs::run_traces(fast, metrics, {}, run_options);
  const auto b = runs::run_traces(dense, metrics, {}, run_options);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_LT((a[i].values - b[i].values).cwiseAbs().maxCoeff(), 1e-12);
  }
}

TEST(Deblurring, SolutionsAreFixedPoints) {
  const Deblurring family;
  const problems::Qp problem = family.problem(family.observe(draw_letters(3, 10), 3));
  const Table solutions = runs::solve_qp(problem);
  const algorithms::Osqp op(problem, algorithms::OsqpOptions::paper());
  runs::RunOptions options;
  options.steps = 3;
  const auto traces =
      runs::run_traces(op, {runs::fixed_point_residual()}, runs::given_start(solutions), options);
  EXPECT_LT(traces[0].values.maxCoeff(), 1e-11);
  EXPECT_GE(solutions.leftCols(784).minCoeff(), -1e-10);
  EXPECT_LE(solutions.leftCols(784).maxCoeff(), 1 + 1e-10);
}

TEST(Letters, DependOnTheirIndexOnlyAndLookLikeInk) {
  const Table all = draw_letters(4, 60);
  const Table part = draw_letters(4, 5, 30);
  EXPECT_EQ(part, all.middleRows(30, 5));
  EXPECT_GE(all.minCoeff(), 0);
  EXPECT_LE(all.maxCoeff(), 1);
  for (Index i = 0; i < 60; ++i) {
    const double ink = all.row(i).mean();
    EXPECT_GT(ink, 0.05) << i;
    EXPECT_LT(ink, 0.5) << i;
  }
}

}  // namespace
}  // namespace surefoot::families
