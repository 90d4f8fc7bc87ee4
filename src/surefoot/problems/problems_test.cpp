#include "surefoot/core/error.hpp"
#include "surefoot/problems/cone_program.hpp"
#include "surefoot/problems/lasso.hpp"
#include "surefoot/problems/qp.hpp"
#include "surefoot/problems/quadratic.hpp"

#include "support/random_problems.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <string>

namespace surefoot::problems {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class Problem>
std::string complaint(const Problem& problem) {
  try {
    problem.validate();
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

SparseMatrix sparse(const Matrix& matrix) {
  return matrix.sparseView(0.0, 0.0);
}

TEST(Qp, AcceptsAGoodFamily) {
  EXPECT_EQ(complaint(testing::random_qp(1, 8, 6, 3)), "");
  EXPECT_EQ(complaint(testing::random_qp(1, 8, 6, 3, 0.5, 2)), "") << "rank-deficient P";
  problems::Qp free = testing::random_qp(1, 8, 6, 3);
  free.P[0].setZero();
  EXPECT_EQ(complaint(free), "") << "linear program";
}

TEST(Qp, NamesTheBrokenArgumentAndPlace) {
  const Qp good = testing::random_qp(2, 4, 3, 2);
  Qp bad = good;
  bad.P[0] = sparse((Matrix(2, 2) << 1, 2, 3, 4).finished());
  bad.A[0] = sparse(Matrix::Ones(3, 2));
  EXPECT_EQ(complaint(bad), "P: entry (1, 0) is 3 but entry (0, 1) is 2, must be symmetric");
  bad = good;
  bad.P[0] = sparse((Matrix(4, 4) << 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1).finished());
  EXPECT_NE(complaint(bad).find("P: is not positive semidefinite"), std::string::npos) << complaint(bad);
  EXPECT_NE(complaint(bad).find(", in row 1)"), std::string::npos) << complaint(bad);
  bad = good;
  bad.A[0] = sparse(Matrix::Ones(3, 5));
  EXPECT_EQ(complaint(bad), "A: is 3 x 5, must be 3 x 4");
  bad = good;
  Matrix A = Matrix::Ones(3, 4);
  A.row(1).setZero();
  bad.A[0] = sparse(A);
  EXPECT_EQ(complaint(bad), "") << "a zero row is a constraint on nothing, or that nothing satisfies";
  bad = good;
  bad.q(1, 3) = nan;
  EXPECT_EQ(complaint(bad), "q: entry 3 of instance 1 is nan, must be finite");
  bad = good;
  bad.u(0, 2) = nan;
  EXPECT_EQ(complaint(bad), "u: entry 2 of instance 0 is nan, must not be NaN");
  bad = good;
  bad.q = Table::Zero(5, 4);
  EXPECT_EQ(complaint(bad), "l: has 2 rows, must have 5 (instances) or 1");
  bad = good;
  bad.l.row(0).setConstant(-infinity);
  bad.u(0, 1) = -infinity;
  EXPECT_EQ(complaint(bad), "u: entry 1 of instance 0 is -inf, no number satisfies it");
  bad = good;
  bad.P.assign(3, good.P[0]);
  EXPECT_EQ(complaint(bad), "q: has 2 rows, must have 3 (instances) or 1");
}

TEST(ConeProgram, NamesTheBrokenArgumentAndPlace) {
  Cones cones;
  cones.zero = 1;
  cones.nonnegative = 2;
  cones.second_order = {3};
  cones.semidefinite = {2};
  const ConeProgram good = testing::random_cone_program(1, 5, cones, 2);
  EXPECT_EQ(complaint(good), "");
  ConeProgram bad = good;
  bad.cones.zero = 2;
  EXPECT_EQ(complaint(bad), "cones: have 10 rows, must have 9 (rows of A)");
  bad = good;
  bad.cones.second_order = {0};
  EXPECT_EQ(complaint(bad), "cones: second-order cone 0 has dimension 0, must be >= 1");
  constexpr Index huge = std::numeric_limits<Index>::max();
  bad = good;
  bad.cones.nonnegative = huge;
  bad.cones.second_order = {huge, 6};
  EXPECT_EQ(complaint(bad), "cones: rows: 1 + 9223372036854775807 is out of range");
  bad = good;
  bad.cones.zero = 0;
  bad.cones.second_order = {huge, huge, 11};  // 9 rows if sums wrapped around
  EXPECT_NE(complaint(bad).find("out of range"), std::string::npos) << complaint(bad);
  bad = good;
  bad.A[0] = sparse(Matrix::Zero(9, 5));
  EXPECT_EQ(complaint(bad), "") << "a zero row says something of b alone, as in the package";
  bad = good;
  bad.b(1, 4) = infinity;
  EXPECT_EQ(complaint(bad), "b: entry 4 of instance 1 is inf, must be finite");
  bad = good;
  bad.c = Table::Zero(1, 4);
  EXPECT_EQ(complaint(bad), "c: has 4 entries per instance, must have 5");
}

TEST(QuadraticAndLasso, NameTheBrokenArgument) {
  Quadratic quadratic{Matrix::Identity(3, 3), Table::Zero(2, 3)};
  EXPECT_EQ(complaint(quadratic), "");
  quadratic.P(0, 0) = -1;
  EXPECT_NE(complaint(quadratic).find("P: is not positive semidefinite"), std::string::npos);
  Lasso lasso{Matrix::Ones(2, 3), Table::Zero(4, 2), 0.1};
  EXPECT_EQ(complaint(lasso), "");
  lasso.weight = -1;
  EXPECT_EQ(complaint(lasso), "weight: is -1, must be finite and >= 0");
}

}  // namespace
}  // namespace surefoot::problems
