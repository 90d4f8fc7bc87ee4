#include "surefoot/algorithms/cones.hpp"
#include "surefoot/algorithms/detail/dense_lanes.hpp"
#include "surefoot/algorithms/detail/equilibration.hpp"
#include "surefoot/algorithms/detail/kronecker.hpp"
#include "surefoot/algorithms/detail/normal_system.hpp"
#include "surefoot/algorithms/detail/splitting_system.hpp"

#include "support/random_problems.hpp"

#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <gtest/gtest.h>

#include <algorithm>
#include <numbers>

namespace surefoot::algorithms {
namespace {

using problems::Matrix;
using problems::SparseMatrix;
using problems::Vector;
using testing::random_matrix;

Matrix lanes_to_matrix(const Buffer& buffer, Index rows, Index width) {
  return Eigen::Map<const problems::Table>(buffer.data(), rows, width);
}

TEST(DenseLanes, ProductsAgreeWithDenseAlgebra) {
  RandomStream stream(1, "dense lanes test", 0);
  for (const Index rows : {1, 4, 13}) {
    for (const Index columns : {1, 6, 15, 24}) {
      for (const Index width : {8, 16}) {
        const problems::Table M = random_matrix(stream, rows, columns);
        const problems::Table x = random_matrix(stream, columns, width);
        const problems::Table y = random_matrix(stream, rows, width);
        problems::Table product(rows, width);
        multiply(M.data(), rows, columns, x.data(), product.data(), width);
        EXPECT_LT((product - M * x).cwiseAbs().maxCoeff(), 1e-12);
        problems::Table by_lane(width, columns);
        transpose(x.data(), columns, width, by_lane.data());
        EXPECT_EQ(by_lane, problems::Table(x.transpose()));
        problems::Table sum = M;
        add_outer_products(y.data(), rows, by_lane.data(), columns, width, sum.data());
        EXPECT_LT((sum - (M + y * x.transpose())).cwiseAbs().maxCoeff(), 1e-12) << rows << " " << columns;
      }
    }
  }
}

TEST(SplittingSystem, SparseDenseAndOwnSolvesAgreeWithDenseAlgebra) {
  RandomStream stream(3, "splitting", 0);
  for (const double density : {0.05, 0.3, 1.0}) {
    const Index n = 37;
    const Index m = 23;
    const Matrix factor = random_matrix(stream, n, 9, density);
    const std::vector<SparseMatrix> P = {Matrix(factor * factor.transpose()).sparseView()};
    const std::vector<SparseMatrix> A = {random_matrix(stream, m, n, density).sparseView()};
    const Vector rho = random_matrix(stream, m, 1).cwiseAbs().array() + 0.1;
    const Matrix K = Matrix(P[0]) + 0.5 * Matrix::Identity(n, n) +
                     Matrix(A[0]).transpose() * rho.asDiagonal() * Matrix(A[0]);
    for (const bool own : {false, true}) {
      for (const SystemKind kind : {SystemKind::sparse, SystemKind::dense}) {
        if (own && kind == SystemKind::dense) continue;
        const SplittingSystem system(P, A, own, kind);
        SplittingSystem::Numbers numbers = system.make_numbers();
        const Index lanes = own ? 8 : 1;
        for (Index lane = 0; lane < lanes; ++lane) {
          gather_values(P[0], system.P(), numbers.P.data() + lane, lanes);
          gather_values(A[0], system.A(), numbers.A.data() + lane, lanes);
          for (Index i = 0; i < n; ++i) numbers.sigma[i * lanes + lane] = 0.5;
          for (Index i = 0; i < m; ++i) numbers.rho[i * lanes + lane] = rho[i];
        }
        system.factor(numbers);
        const Index W = system.width();
        const problems::Table rhs = random_matrix(stream, n, W);
        Buffer x = make_buffer(n, W);
        Buffer scratch = make_buffer(system.scratch_size(), 1);
        if (kind == SystemKind::dense) {
          system.solve<16, false>(
              numbers, [&](int i) { return Lanes<16>::load(rhs.data() + i * W); }, x.data(), scratch.data());
        } else if (own) {
          system.solve<8, true>(
              numbers, [&](int i) { return Lanes<8>::load(rhs.data() + i * W); }, x.data(), scratch.data());
        } else {
          system.solve<8, false>(
              numbers, [&](int i) { return Lanes<8>::load(rhs.data() + i * W); }, x.data(), scratch.data());
        }
        const Matrix expected = K.fullPivLu().solve(Matrix(rhs));
        EXPECT_LT((lanes_to_matrix(x, n, W) - expected).cwiseAbs().maxCoeff(), 1e-11) << density << own;
      }
    }
  }
}

/// Rows that are alike become panels, chains are eliminated from both ends: neither changes fill or
/// solutions.
TEST(NormalSystem, SolvesArrowsAndChainsWithoutFill) {
  RandomStream stream(5, "patterns", 0);
  const Index n = 40;
  for (const Index dense_rows : {0, 1, 3, 5, 8}) {
    for (const bool chain : {false, true}) {
      Matrix P = Matrix::Zero(n, n);
      for (Index i = 0; i < n; ++i) P(i, i) = 20 + stream.uniform();
      for (Index i = 0; chain && i + 1 < n; ++i) P(i, i + 1) = P(i + 1, i) = stream.normal();
      for (Index i = 0; i < dense_rows; ++i) {
        const Index row = (7 * i + 3) % n;
        for (Index j = 0; j < n; ++j) {
          if (j != row) P(row, j) = P(j, row) = stream.normal();
        }
      }
      const std::vector<SparseMatrix> quadratic = {P.sparseView()};
      const std::vector<SparseMatrix> none = {SparseMatrix(0, n)};
      const SplittingSystem system(quadratic, none, true, SystemKind::sparse);
      const Index clique = dense_rows * (dense_rows - 1) / 2;
      if (!chain || dense_rows == 0) {
        EXPECT_EQ(system.factor_entries(), dense_rows * (n - dense_rows) + clique + (chain ? n - 1 : 0));
      }
      SplittingSystem::Numbers numbers = system.make_numbers();
      for (Index lane = 0; lane < 8; ++lane)
        gather_values(quadratic[0], system.P(), numbers.P.data() + lane, 8);
      std::fill(numbers.sigma.begin(), numbers.sigma.end(), 0.5);
      system.factor(numbers);
      const problems::Table rhs = random_matrix(stream, n, 8);
      Buffer x = make_buffer(n, 8);
      system.solve<8, true>(
          numbers, [&](int i) { return Lanes<8>::load(rhs.data() + i * 8); }, x.data(), nullptr);
      const Matrix K = P + 0.5 * Matrix::Identity(n, n);
      const Matrix expected = K.fullPivLu().solve(Matrix(rhs));
      EXPECT_LT((lanes_to_matrix(x, n, 8) - expected).cwiseAbs().maxCoeff(), 1e-10) << dense_rows << chain;
    }
  }
}

TEST(KroneckerSystem, FoldedAndPlainSolvesAgreeWithTheLargeMatrix) {
  RandomStream stream(4, "kronecker", 0);
  for (const Index d : {4, 5, 10, 28}) {
    for (const bool symmetric_blur : {true, false}) {
      Matrix b = Matrix::Zero(d, d);
      for (Index i = 0; i < d; ++i) {
        for (Index j = 0; j < d; ++j) {
          if (std::abs(i - j) <= 2)
            b(i, j) = symmetric_blur ? 1.0 / static_cast<double>(1 + std::abs(i - j)) : stream.normal();
        }
      }
      const Matrix G = b.transpose() * b;
      const KroneckerSystem system(G, 1.5, 0.7);
      EXPECT_EQ(system.folded(), symmetric_blur && d % 2 == 0);
      Matrix P(d * d, d * d);
      for (Index i = 0; i < d * d; ++i) {
        for (Index j = 0; j < d * d; ++j) P(i, j) = G(i / d, j / d) * G(i % d, j % d);
      }
      const problems::Table rhs = random_matrix(stream, d * d, 8);
      Buffer x = make_buffer(d * d, 8);
      Buffer scratch = make_buffer(system.scratch_size(), 1);
      system.solve(rhs.data(), x.data(), scratch.data());
      const Matrix back = 1.5 * P * lanes_to_matrix(x, d * d, 8) + 0.7 * lanes_to_matrix(x, d * d, 8);
      EXPECT_LT((back - Matrix(rhs)).cwiseAbs().maxCoeff(), 1e-10 * (1 + P.cwiseAbs().maxCoeff()));
      Buffer product = make_buffer(d * d, 8);
      system.multiply(rhs.data(), product.data(), scratch.data());
      EXPECT_LT((lanes_to_matrix(product, d * d, 8) - P * Matrix(rhs)).cwiseAbs().maxCoeff(),
                1e-11 * (1 + P.cwiseAbs().maxCoeff()));
    }
  }
}

TEST(Cones, ProjectionsAgreeWithDefinitions) {
  RandomStream stream(5, "cones", 0);
  problems::Cones cones;
  cones.zero = 2;
  cones.nonnegative = 3;
  cones.second_order = {1, 2, 4, 7};
  cones.semidefinite = {1, 2, 3, 6};
  for (const Index W : {8, 16}) {
    SemidefiniteRoom room(cones, W);
    for (int trial = 0; trial < 20; ++trial) {
      const problems::Table point = random_matrix(stream, cones.rows(), W);
      Buffer onto(point.data(), point.data() + point.size());
      Buffer dual(point.data(), point.data() + point.size());
      for (double& value : dual) value = -value;
      project_cone(cones, onto.data(), W, room);
      project_dual_cone(cones, dual.data(), W, room);
      Buffer inside = onto;
      Buffer violation = make_buffer(1, W);
      cone_violation(cones, inside.data(), W, room, violation.data());
      for (Index lane = 0; lane < W; ++lane) {
        EXPECT_LT(violation[lane], 1e-13);
        double product = 0;
        for (Index i = 0; i < cones.rows(); ++i) {
          // Moreau: v = Pi_K(v) - Pi_K*(-v), with the two parts orthogonal.
          EXPECT_NEAR(onto[i * W + lane] - dual[i * W + lane], point(i, lane), 1e-13);
          product += onto[i * W + lane] * dual[i * W + lane];
        }
        EXPECT_NEAR(product, 0, 1e-12);
      }
    }
  }
}

TEST(Cones, SemidefiniteProjectionOfRepeatedEigenvaluesAndZero) {
  problems::Cones cones;
  cones.semidefinite = {3};
  SemidefiniteRoom room(cones, 8);
  Buffer v = make_buffer(6, 8);
  for (Index lane = 0; lane < 8; ++lane) {
    const double value = static_cast<double>(lane) - 3;  // value * identity
    v[0 * 8 + lane] = v[3 * 8 + lane] = v[5 * 8 + lane] = value;
  }
  project_cone(cones, v.data(), 8, room);
  for (Index lane = 0; lane < 8; ++lane) {
    EXPECT_DOUBLE_EQ(v[lane], std::max(0.0, static_cast<double>(lane) - 3));
    EXPECT_DOUBLE_EQ(v[8 + lane], 0);
  }
}

TEST(Cones, DerivativesAgreeWithDifferences) {
  RandomStream stream(6, "cone derivatives", 0);
  problems::Cones cones;
  cones.zero = 2;
  cones.nonnegative = 3;
  cones.second_order = {1, 2, 4, 7};
  cones.semidefinite = {1, 2, 3, 6};
  for (const Index W : {8, 16}) {
    SemidefiniteRoom room(cones, W);
    const problems::Table point = random_matrix(stream, cones.rows(), W);
    const problems::Table direction = random_matrix(stream, cones.rows(), W);
    const double h = 1e-6;
    const auto projected = [&](double shift) {
      problems::Table moved = point + shift * direction;
      project_dual_cone(cones, moved.data(), W, room);
      return moved;
    };
    const problems::Table difference = (projected(h) - projected(-h)) / (2 * h);
    problems::Table derivative = direction;
    project_dual_cone_vjp(cones, point.data(), derivative.data(), W, room);
    EXPECT_LT((derivative - difference).cwiseAbs().maxCoeff(), 1e-7);
  }
}

TEST(Cones, SemidefiniteDerivativeAtRepeatedEigenvaluesIsAllOrNothing) {
  problems::Cones cones;
  cones.semidefinite = {3};
  SemidefiniteRoom room(cones, 8);
  problems::Table v = problems::Table::Zero(6, 8);
  for (Index lane = 0; lane < 8; ++lane) {
    v(0, lane) = v(3, lane) = v(5, lane) = static_cast<double>(lane) - 3;  // a multiple of the identity
  }
  RandomStream stream(7, "cone derivatives", 0);
  const problems::Table direction = random_matrix(stream, 6, 8);
  problems::Table derivative = direction;
  project_dual_cone_vjp(cones, v.data(), derivative.data(), 8, room);
  for (Index lane = 0; lane < 8; ++lane) {
    const double share = lane > 3 ? 1 : 0;
    EXPECT_LT((derivative.col(lane) - share * direction.col(lane)).norm(), 1e-14) << lane;
  }
}

TEST(Equilibration, BringsRowsAndColumnsToOne) {
  const problems::Qp problem = testing::random_qp(1, 12, 9, 1);
  const Equilibration scaling = equilibrate(problem.P[0], problem.A[0], problem.q.data(), 10);
  const Matrix A = scaling.E.asDiagonal() * Matrix(problem.A[0]) * scaling.D.asDiagonal();
  for (Index i = 0; i < A.rows(); ++i) EXPECT_NEAR(A.row(i).cwiseAbs().maxCoeff(), 1, 0.2);
  const Equilibration none = equilibrate(problem.P[0], problem.A[0], problem.q.data(), 0);
  EXPECT_EQ(none.cost, 1);
  EXPECT_EQ(none.D, Vector::Ones(12));
}

TEST(Equilibration, InLanesIsThatOfEachProblemToTheBit) {
  constexpr Index W = 8;
  std::vector<problems::Qp> all;
  std::vector<problems::SparseMatrix> P, A;
  for (Index lane = 0; lane < W; ++lane) {
    problems::Qp problem = testing::random_qp(20 + static_cast<std::uint64_t>(lane), 14, 11, 1, 0.3);
    // Sizes beyond the limits of a norm, on both sides, and a row and a column of zeros.
    problem.A[0] *= std::pow(10.0, static_cast<double>(lane) - 4);
    if (lane == 3) problem.q *= 1e7;
    if (lane == 5) problem.q.setZero();
    if (lane == 6)
      problem.A[0].prune([](Index row, Index column, double) { return row != 2 && column != 4; });
    P.push_back(problem.P[0]);
    A.push_back(problem.A[0]);
    all.push_back(std::move(problem));
  }
  const RowPattern P_pattern = union_pattern(P);
  const RowPattern A_pattern = union_pattern(A);
  Buffer P_values = make_buffer(P_pattern.entries(), W);
  Buffer A_values = make_buffer(A_pattern.entries(), W);
  Buffer q = make_buffer(14, W);
  for (Index lane = 0; lane < W; ++lane) {
    gather_values(P[static_cast<std::size_t>(lane)], P_pattern, P_values.data() + lane, W);
    gather_values(A[static_cast<std::size_t>(lane)], A_pattern, A_values.data() + lane, W);
    for (Index i = 0; i < 14; ++i) q[i * W + lane] = all[static_cast<std::size_t>(lane)].q(0, i);
  }
  LaneEquilibration lanes(14, 11);
  for (const Index passes : {0, 1, 10, 25}) {
    lanes.equilibrate(P_pattern, P_values.data(), A_pattern, A_values.data(), q.data(), passes);
    for (Index lane = 0; lane < W; ++lane) {
      const problems::Qp& problem = all[static_cast<std::size_t>(lane)];
      const Equilibration alone = equilibrate(problem.P[0], problem.A[0], problem.q.data(), passes);
      EXPECT_EQ(lanes.cost[lane], alone.cost) << lane;
      for (Index i = 0; i < 14; ++i) EXPECT_EQ(lanes.D[i * W + lane], alone.D[i]) << lane;
      for (Index i = 0; i < 11; ++i) EXPECT_EQ(lanes.E[i * W + lane], alone.E[i]) << lane;
    }
  }
}

}  // namespace
}  // namespace surefoot::algorithms
