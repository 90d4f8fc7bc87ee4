#include "surefoot/algorithms/detail/scs_scaling.hpp"

#include "support/random_problems.hpp"

#include <Eigen/QR>
#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::algorithms {
namespace {

problems::Cones several_cones() {
  problems::Cones cones;
  cones.zero = 2;
  cones.nonnegative = 3;
  cones.second_order = {4, 2};
  cones.semidefinite = {3};
  return cones;
}

TEST(ScsScaling, BalancesTheRowsOfTheStackedMatrixAndKeepsConesTogether) {
  const problems::Cones cones = several_cones();
  const problems::ConeProgram problem = testing::random_cone_program(4, 8, cones, 3, 0.5);
  for (Index instance = 0; instance < 3; ++instance) {
    const double* b = problems::table_row(problem.b, instance);
    const double* c = problems::table_row(problem.c, instance);
    const auto& [D, E, sigma] = scs_scaling(problem.P[0], problem.A[0], b, c, cones);
    const Eigen::MatrixXd A = D.asDiagonal() * Eigen::MatrixXd(problem.A[0]) * E.asDiagonal();
    const Eigen::MatrixXd P = E.asDiagonal() * Eigen::MatrixXd(problem.P[0]) * E.asDiagonal();
    cones.each_block([&](Index first, Index size, Index /*order*/) {
      for (Index i = first; i < first + size; ++i) EXPECT_EQ(D[i], D[first]);
    });
    for (Index j = 0; j < A.cols(); ++j) {
      const double largest = std::max(
          {A.col(j).cwiseAbs().maxCoeff(), P.col(j).cwiseAbs().maxCoeff(), std::abs(c[j]) * E[j] * sigma});
      EXPECT_GT(largest, 0.3) << j;
      EXPECT_LT(largest, 5) << j;
    }
    for (Index i = 0; i < cones.zero + cones.nonnegative; ++i) {
      const double largest = std::max(A.row(i).cwiseAbs().maxCoeff(), std::abs(b[i]) * D[i] * sigma);
      EXPECT_GT(largest, 0.3) << i;
      EXPECT_LT(largest, 5) << i;
    }
  }
}

TEST(ScsScaling, AProblemOfOneNumberByHand) {
  problems::SparseMatrix P(1, 1);
  problems::SparseMatrix A(1, 1);
  A.insert(0, 0) = 4;
  problems::Cones cones;
  cones.nonnegative = 1;
  const double b = 4;
  const double c = 4;
  // Every row and column has the same norms, so that all three factors are 1/2 after the first passes.
  const ScsScaling scaling = scs_scaling(P, A, &b, &c, cones);
  EXPECT_NEAR(scaling.D[0] * scaling.E[0] * 4, 1, 1e-9);
  EXPECT_NEAR(scaling.D[0] * scaling.sigma * 4, 1, 1e-9);
  EXPECT_NEAR(scaling.D[0], 0.5, 1e-9);
}

TEST(ScsScaling, SemidefiniteWeightsAreTheNearestProducts) {
  constexpr Index order = 4;
  std::vector<double> weights;
  std::vector<double> logs;
  Eigen::MatrixXd design = Eigen::MatrixXd::Zero(order * (order + 1) / 2, order);
  Eigen::VectorXd right(order * (order + 1) / 2);
  Index row = 0;
  for (Index j = 0; j < order; ++j) {
    for (Index i = j; i < order; ++i, ++row) {
      weights.push_back(std::exp(0.3 * std::sin(1.0 + 5.0 * static_cast<double>(row))));
      design(row, i) += 1;
      design(row, j) += 1;
      right[row] = std::log(weights.back());
    }
  }
  const Eigen::VectorXd expected = design.colPivHouseholderQr().solve(right);
  std::vector<double> d(order);
  fit_semidefinite_weights(order, 1e-3, 1e3, weights.data(), d.data());
  row = 0;
  for (Index j = 0; j < order; ++j) {
    for (Index i = j; i < order; ++i, ++row)
      EXPECT_NEAR(weights[row], std::exp(expected[i] + expected[j]), 1e-12);
  }
  std::vector<double> extreme(order * (order + 1) / 2, 1e9);
  fit_semidefinite_weights(order, 1e-3, 1e3, extreme.data(), d.data());
  for (const double value : extreme) EXPECT_NEAR(value, 1e3, 1e-9);
}

}  // namespace
}  // namespace surefoot::algorithms
