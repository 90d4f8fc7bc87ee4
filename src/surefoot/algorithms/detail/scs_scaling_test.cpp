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

constexpr int scaling_width = ScsScaling::W;

/// The definition, densely: D, E and sigma of one instance.
struct PlainScaling {
  Eigen::VectorXd D, E;
  double sigma = 1;
};

PlainScaling plain_scaling(const problems::ConeProgram& problem, Index instance) {
  Eigen::MatrixXd A = problem.A[0];
  Eigen::MatrixXd P = problem.P[0];
  Eigen::VectorXd b = problem.b.row(instance).transpose();
  Eigen::VectorXd c = problem.c.row(instance).transpose();
  const Eigen::VectorXd in_rows = (A.array() != 0).cast<double>().rowwise().sum();
  const Eigen::VectorXd in_columns =
      ((A.array() != 0).cast<double>().colwise().sum() + (P.array() != 0).cast<double>().colwise().sum())
          .transpose();
  const auto factor = [](double norm) { return 1 / std::sqrt(norm < 1e-4 ? 1.0 : std::min(norm, 1e4)); };
  PlainScaling result{Eigen::VectorXd::Ones(A.rows()), Eigen::VectorXd::Ones(A.cols())};
  for (int pass = 0; pass < 26; ++pass) {
    Eigen::VectorXd rows(A.rows());
    Eigen::VectorXd columns(A.cols());
    for (Index i = 0; i < A.rows(); ++i) {
      rows[i] = pass < 25 ? std::max(A.row(i).cwiseAbs().maxCoeff(), std::abs(b[i]))
                          : std::sqrt((A.row(i).squaredNorm() + b[i] * b[i]) / (in_rows[i] + 1));
    }
    for (Index j = 0; j < A.cols(); ++j) {
      columns[j] =
          pass < 25
              ? std::max({A.col(j).cwiseAbs().maxCoeff(), P.col(j).cwiseAbs().maxCoeff(), std::abs(c[j])})
              : std::sqrt((A.col(j).squaredNorm() + P.col(j).squaredNorm() + c[j] * c[j]) /
                          (in_columns[j] + 1));
    }
    problem.cones.each_block([&](Index first, Index size, Index /*order*/) {
      auto block = rows.segment(first, size);
      const double norm = pass < 25 ? block.maxCoeff() : block.mean();
      block.setConstant(norm);
    });
    const double last = pass < 25 ? std::max(b.cwiseAbs().maxCoeff(), c.cwiseAbs().maxCoeff())
                                  : std::max(b.norm() / std::sqrt(static_cast<double>(b.size())),
                                             c.norm() / std::sqrt(static_cast<double>(c.size())));
    rows = rows.unaryExpr(factor);
    columns = columns.unaryExpr(factor);
    A = rows.asDiagonal() * A * columns.asDiagonal();
    P = columns.asDiagonal() * P * columns.asDiagonal();
    b = b.cwiseProduct(rows) * factor(last);
    c = c.cwiseProduct(columns) * factor(last);
    result.D = result.D.cwiseProduct(rows);
    result.E = result.E.cwiseProduct(columns);
    result.sigma *= factor(last);
  }
  return result;
}

TEST(ScsScaling, IsTheDefinitionInEveryLane) {
  const problems::Cones cones = several_cones();
  problems::ConeProgram problem = testing::random_cone_program(4, 8, cones, scaling_width, 0.5);
  problem.c *= 300;
  const RowPattern A = union_pattern(problem.A);
  const RowPattern P = union_pattern(problem.P);
  const Index n = A.columns;
  const Index m = A.rows;
  Buffer A_values = make_buffer(A.entries(), scaling_width);
  Buffer P_values = make_buffer(P.entries(), scaling_width);
  Buffer h = make_buffer(n + m, scaling_width);
  ScsScaling scaling(n, m);
  for (int lane = 0; lane < scaling_width; ++lane) {
    gather_values(problem.A[0], A, A_values.data() + lane, scaling_width);
    gather_values(problem.P[0], P, P_values.data() + lane, scaling_width);
    for (Index j = 0; j < n; ++j) {
      h[j * scaling_width + lane] = problem.c(lane, j);
      scaling.in_columns[j * scaling_width + lane] =
          static_cast<double>(problem.A[0].col(j).nonZeros() + problem.P[0].col(j).nonZeros());
    }
    for (Index i = 0; i < m; ++i) {
      h[(n + i) * scaling_width + lane] = problem.b(lane, i);
      scaling.in_rows[i * scaling_width + lane] = static_cast<double>(A.start[i + 1] - A.start[i]);
    }
  }
  normalise(P, A, cones, P_values.data(), A_values.data(), h.data(), scaling);
  for (int lane = 0; lane < scaling_width; ++lane) {
    const PlainScaling plain = plain_scaling(problem, lane);
    EXPECT_NEAR(scaling.sigma[lane], plain.sigma, 1e-12 * plain.sigma);
    for (Index i = 0; i < m; ++i) {
      EXPECT_NEAR(scaling.D[i * scaling_width + lane], plain.D[i], 1e-12 * plain.D[i]);
      EXPECT_NEAR(h[(n + i) * scaling_width + lane], problem.b(lane, i) * plain.D[i] * plain.sigma, 1e-12);
    }
    for (Index j = 0; j < n; ++j)
      EXPECT_NEAR(scaling.E[j * scaling_width + lane], plain.E[j], 1e-12 * plain.E[j]);
    for (Index i = 0; i < m; ++i) {
      for (int k = A.start[i]; k < A.start[i + 1]; ++k) {
        EXPECT_NEAR(A_values[static_cast<Index>(k) * scaling_width + lane],
                    problem.A[0].coeff(i, A.index[k]) * plain.D[i] * plain.E[A.index[k]], 1e-12);
      }
    }
  }
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
