#pragma once

#include "surefoot/core/random.hpp"
#include "surefoot/problems/cone_program.hpp"
#include "surefoot/problems/qp.hpp"

#include <cmath>
#include <numbers>
#include <vector>

namespace surefoot::testing {

inline problems::Matrix random_matrix(RandomStream& stream, Index rows, Index columns, double density = 1) {
  problems::Matrix matrix = problems::Matrix::Zero(rows, columns);
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      if (stream.uniform() < density) matrix(i, j) = stream.normal();
    }
  }
  return matrix;
}

/// A family with equalities, two-sided, one-sided and missing bounds; feasible and bounded, P of the given
/// rank.
inline problems::Qp random_qp(std::uint64_t seed, Index n, Index m, Index instances, double density = 0.4,
                              Index rank = -1) {
  RandomStream stream(seed, "random-qp", 0);
  problems::Qp problem;
  const problems::Matrix factor = random_matrix(stream, n, rank < 0 ? n : rank, density);
  problem.P.push_back(problems::Matrix(factor * factor.transpose()).sparseView());
  problems::Matrix A = random_matrix(stream, m, n, density);
  for (Index i = 0; i < m; ++i) A(i, static_cast<Index>(stream.below(n))) = 1 + stream.uniform();
  problem.A.push_back(A.sparseView());
  problem.q = random_matrix(stream, instances, n);
  if (rank >= 0) problem.q = (problem.q * problem.P[0]).eval();  // bounded below
  problem.l.resize(instances, m);
  problem.u.resize(instances, m);
  for (Index k = 0; k < instances; ++k) {
    const problems::Vector center = A * random_matrix(stream, n, 1);
    for (Index i = 0; i < m; ++i) {
      problem.l(k, i) = center[i] - stream.uniform();
      problem.u(k, i) = center[i] + stream.uniform();
      if (i % 5 == 0 && i < n / 2) problem.l(k, i) = problem.u(k, i) = center[i];
      if (i % 5 == 1) problem.l(k, i) = -infinity;
      if (i % 5 == 2) problem.u(k, i) = infinity;
      if (i % 10 == 3) problem.l(k, i) = -infinity, problem.u(k, i) = infinity;
    }
  }
  return problem;
}

/// A point of the cone, in its interior but for the zero cone.
inline problems::Vector random_cone_point(RandomStream& stream, const problems::Cones& cones) {
  problems::Vector point = problems::Vector::Zero(cones.rows());
  Index row = cones.zero;
  for (Index i = 0; i < cones.nonnegative; ++i) point[row++] = stream.uniform();
  for (const Index dimension : cones.second_order) {
    for (Index i = 1; i < dimension; ++i) point[row + i] = stream.normal();
    point[row] = point.segment(row + 1, dimension - 1).norm() + stream.uniform();
    row += dimension;
  }
  for (const Index order : cones.semidefinite) {
    const problems::Matrix factor = random_matrix(stream, order, order);
    const problems::Matrix matrix = factor * factor.transpose();
    for (Index j = 0; j < order; ++j) {
      for (Index i = j; i < order; ++i) point[row++] = matrix(i, j) * (i == j ? 1 : std::numbers::sqrt2);
    }
  }
  return point;
}

/// Feasible and bounded: b and c are built from a feasible primal and dual point.
inline problems::ConeProgram random_cone_program(std::uint64_t seed, Index n, const problems::Cones& cones,
                                                 Index instances, double density = 0.5) {
  RandomStream stream(seed, "random-cone-program", 0);
  problems::ConeProgram problem;
  problem.cones = cones;
  const Index m = cones.rows();
  const problems::Matrix factor = random_matrix(stream, n, n, density);
  const problems::Matrix P = factor * factor.transpose();
  problems::Matrix A = random_matrix(stream, m, n, density);
  for (Index i = 0; i < m; ++i) A(i, static_cast<Index>(stream.below(n))) = 1 + stream.uniform();
  problem.P.push_back(P.sparseView());
  problem.A.push_back(A.sparseView());
  problem.b.resize(instances, m);
  problem.c.resize(instances, n);
  for (Index k = 0; k < instances; ++k) {
    const problems::Vector x = random_matrix(stream, n, 1);
    problems::Vector y = random_cone_point(stream, cones);
    for (Index i = 0; i < cones.zero; ++i) y[i] = stream.normal();
    problem.b.row(k) = (A * x + random_cone_point(stream, cones)).transpose();
    problem.c.row(k) = (-(A.transpose() * y) - P * x).transpose();
  }
  return problem;
}

}  // namespace surefoot::testing
