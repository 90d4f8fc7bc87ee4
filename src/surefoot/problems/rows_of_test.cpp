#include "surefoot/problems/rows_of.hpp"

#include "surefoot/core/error.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

namespace surefoot::problems {
namespace {

SparseMatrix diagonal(double value) {
  SparseMatrix matrix(2, 2);
  matrix.insert(0, 0) = value;
  matrix.insert(1, 1) = value;
  matrix.makeCompressed();
  return matrix;
}

TEST(RowsOf, TakesInstancesInTheirOrderAndLeavesWhatIsShared) {
  Qp problem;
  problem.P = {diagonal(1), diagonal(2), diagonal(3)};
  problem.A = {diagonal(7)};
  problem.q = Table::Zero(1, 2);
  problem.l = (Table(3, 2) << 0, 1, 10, 11, 20, 21).finished();
  problem.u = problem.l.array() + 5;
  const Qp chosen = rows_of(problem, {2, 0});
  EXPECT_EQ(chosen.instances(), 2);
  EXPECT_EQ(chosen.P.at(0).coeff(0, 0), 3);
  EXPECT_EQ(chosen.P.at(1).coeff(0, 0), 1);
  EXPECT_EQ(chosen.A.size(), 1U);
  EXPECT_EQ(chosen.q.rows(), 1);
  EXPECT_EQ(chosen.l(0, 1), 21);
  EXPECT_EQ(chosen.u(1, 0), 5);
  chosen.validate();
}

TEST(RowsOf, ConeProgramsKeepTheirCones) {
  ConeProgram problem;
  problem.P = {diagonal(0)};
  problem.A = {diagonal(1)};
  problem.b = (Table(2, 2) << 1, 2, 3, 4).finished();
  problem.c = Table::Ones(1, 2);
  problem.cones.nonnegative = 2;
  const ConeProgram chosen = rows_of(problem, {1});
  EXPECT_EQ(chosen.b(0, 1), 4);
  EXPECT_EQ(chosen.cones.nonnegative, 2);
}

TEST(RowsOf, RefusesInstancesThatAreNotThere) {
  Qp problem;
  problem.P = {diagonal(1)};
  problem.A = {diagonal(1)};
  problem.q = Table::Zero(3, 2);
  problem.l = Table::Zero(1, 2);
  problem.u = Table::Zero(1, 2);
  EXPECT_INPUT_ERROR((rows_of(problem, {3})), "3 is outside 0 .. 2");
  EXPECT_INPUT_ERROR((rows_of(problem, {-1})), "-1 is outside");
  EXPECT_INPUT_ERROR((rows_of(problem, std::vector<Index>{})), "there are none");
}

}  // namespace
}  // namespace surefoot::problems
