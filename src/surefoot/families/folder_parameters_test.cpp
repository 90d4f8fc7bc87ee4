#include "surefoot/families/folder_parameters.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace surefoot::families {
namespace {

problems::Qp three_problems() {
  problems::Qp qp;
  problems::SparseMatrix unit(2, 2);
  unit.setIdentity();
  qp.P = {unit};
  qp.A = {unit};
  qp.q = problems::Table{{1, 7}, {2, 7}, {6, 7}};
  qp.l = problems::Table{{1, -infinity}, {2, 0}, {6, 1}};
  qp.u = problems::Table{{5, 5}};
  return qp;
}

TEST(FolderParameters, AreEntriesThatVaryOnceEach) {
  // q[1] is constant, l[0] equals q[0], l[1] is infinite once.
  const FolderProblems problems = three_problems();
  const ParameterMap map = find_parameters(problems, nullptr);
  EXPECT_EQ(map.entries, "q[0]");
  EXPECT_DOUBLE_EQ(map.center[0], 3.0);
  EXPECT_DOUBLE_EQ(map.scale[0], std::sqrt((4 + 1 + 9) / 3.0));
  const problems::Table table = parameters_of(map, problems, nullptr);
  EXPECT_EQ(table, (problems::Table{{1}, {2}, {6}}));
}

TEST(FolderParameters, ReadWhatOneProblemHasAlsoWhereItsTablesHaveOneRow) {
  const ParameterMap map = ParameterMap::parse("q[0..1];l[0] 0;0;0 1;1;1");
  problems::Qp one = three_problems();
  one.q = problems::Table{{3, 4}};
  one.l = problems::Table{{5, 6}};
  EXPECT_EQ(parameters_of(map, one, nullptr), (problems::Table{{3, 4, 5}}));
}

TEST(FolderParameters, OfMatricesAreTheirNumbers) {
  problems::Qp qp = three_problems();
  qp.q = problems::Table{{0, 0}};
  qp.l = problems::Table{{0, 0}};
  qp.A = {qp.A[0], qp.A[0], qp.A[0]};
  qp.A[1].valuePtr()[1] = 4;
  EXPECT_EQ(find_parameters(qp, nullptr).entries, "A[1]");
  qp.A[2].coeffRef(0, 1) = 2;
  qp.A[2].makeCompressed();
  EXPECT_INPUT_ERROR((void)find_parameters(qp, nullptr), "A: its pattern differs from problem to problem");
}

TEST(FolderParameters, OfAUserStandBeforeAllOthers) {
  const problems::Table given{{1, 0}, {2, 0}, {3, 0}};
  const ParameterMap map = find_parameters(three_problems(), &given);
  EXPECT_EQ(map.entries, "parameters[0]");
  EXPECT_TRUE(is_of_given(map));
  EXPECT_INPUT_ERROR((void)parameters_of(map, three_problems(), nullptr), "parameters: the network sees it");
}

TEST(FolderParameters, WhereAllAgreeThereIsNothingToLearn) {
  problems::Qp qp = three_problems();
  qp.q = problems::Table{{1, 1}};
  qp.l = problems::Table{{0, 0}};
  EXPECT_INPUT_ERROR((void)find_parameters(qp, nullptr), "all agree: there is nothing to learn");
}

TEST(FolderParameters, AreScaledWithoutOverflow) {
  problems::Qp qp = three_problems();
  qp.q = problems::Table{{1e300, 1}, {-1e300, 1}, {1e299, 1}};
  qp.l = problems::Table{{0, 0}};
  const ParameterMap map = find_parameters(qp, nullptr);
  EXPECT_TRUE(std::isfinite(map.scale[0]));
  EXPECT_GT(map.scale[0], 1e299);
}

TEST(FolderParameters, GoThroughTheirText) {
  const ParameterMap map = find_parameters(three_problems(), nullptr);
  const ParameterMap again = ParameterMap::parse(map.text());
  EXPECT_EQ(again.text(), map.text());
  EXPECT_EQ(again.center, map.center);
  EXPECT_EQ(ParameterMap::parse("").size(), 0);
  for (const char* bad : {"q", "q[] 1 1", "q[1..0] 1 1", "q[0] 1 0", "q[0] 1", "q[0] 1;2 1", "q[0] x 1",
                          "q[0..99999999999] 1 1", "q[0,0] 1;1 1;1", "[0] 1 1", "q[-1] 1 1"})
    EXPECT_INPUT_ERROR((void)ParameterMap::parse(bad), "inputs: ") << bad;
}

}  // namespace
}  // namespace surefoot::families
