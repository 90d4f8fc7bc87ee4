#include "surefoot/certify/long_table.hpp"

#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace surefoot::certify::long_table_tests {
namespace {

using Values = std::vector<double>;
using Texts = std::vector<std::string>;

LongTable table_of(const std::string& text, const TableChoice& choice) {
  return {io::memory_bytes("t.csv", text), choice};
}

std::string error_of(const std::string& text, const TableChoice& choice) {
  return test_support::input_error([&] { table_of(text, choice); });
}

TableChoice scalars(Texts values = {}) {
  TableChoice choice;
  choice.scalar = true;
  choice.values = std::move(values);
  return choice;
}

/// As the results file of a public benchmark is written.
const std::string benchmark =
    "problem,solver,settings,runtime,found\n"
    "P1,osqp,default,0.5,True\n"
    "P1,osqp,high,0.7,True\n"
    "P1,scs,default,1.5,True\n"
    "\"P, 2\",osqp,default,0.25,False\n"
    "\"P, 2\",scs,default,> 4,True\n"
    "P3,scs,default,2,True\n"
    "P3,osqp,default,1,True\n";

TableChoice of_benchmark() {
  TableChoice choice;
  choice.values = {"runtime"};
  choice.variants = "solver";
  choice.rows = "problem";
  choice.where = {"settings=default"};
  choice.failed = {"found=False"};
  return choice;
}

TEST(LongTable, RowsAreProblemsAndPartsAreVariants) {
  const LongTable table = table_of(benchmark, of_benchmark());
  ASSERT_EQ(table.parts().size(), 2U);
  EXPECT_EQ(table.parts()[0].name, "osqp");
  EXPECT_EQ(table.parts()[0].values, (Values{0.5, infinity, 1}));
  EXPECT_EQ(table.parts()[0].selection.failed_lines, 1);
  EXPECT_EQ(table.parts()[1].name, "scs");
  EXPECT_EQ(table.parts()[1].values, (Values{1.5, infinity, 2}));
  EXPECT_EQ(table.parts()[1].selection.censored, 1);
  EXPECT_TRUE(table.scalar());
  EXPECT_EQ(table.metric().name, "runtime");
  EXPECT_EQ(table.view(1).rows, 3);
}

TEST(LongTable, TheOrderOfLinesDoesNotMatterForNamedProblems) {
  std::vector<std::string> lines;
  for (int problem = 0; problem < 40; ++problem)
    for (int step = 0; step < 3; ++step)
      lines.push_back(fmt::format("p{},{},{}\n", problem, 5 * step, problem + 0.1 * step));
  const auto sorted_rows = [&] {
    std::string text = "problem,k,gap\n";
    for (const std::string& line : lines) text += line;
    TableChoice choice;
    choice.values = {"gap"};
    choice.rows = "problem";
    const LongTable table = table_of(text, choice);
    EXPECT_FALSE(table.scalar());
    EXPECT_EQ(table.steps(), (std::vector<Index>{0, 5, 10}));
    std::vector<Values> rows;
    const Values& values = table.parts().front().values;
    for (std::size_t i = 0; i < values.size(); i += 3)
      rows.push_back({values[i], values[i + 1], values[i + 2]});
    std::ranges::sort(rows);
    return rows;
  };
  const std::vector<Values> in_order = sorted_rows();
  EXPECT_EQ(in_order[7], (Values{7, 7.1, 7.2}));
  RandomStream random(1, "order of lines", 0);
  for (std::size_t i = lines.size(); i > 1; --i)
    std::swap(lines[i - 1], lines[static_cast<std::size_t>(random.uniform() * static_cast<double>(i))]);
  EXPECT_EQ(sorted_rows(), in_order);
}

TEST(LongTable, OneLineTwiceIsRefusedWithBothLines) {
  TableChoice choice = of_benchmark();
  choice.where.clear();
  EXPECT_EQ(
      error_of(benchmark, choice),
      "t.csv:3: problem 'P1' of solver 'osqp' stands in line 2 already; if they differ elsewhere, choose with "
      "--where: 'settings'");
}

TEST(LongTable, WhatIsMissingIsRefusedOrFails) {
  const std::string text = "problem,solver,t\na,x,1\nb,x,2\na,y,3\n";
  TableChoice choice;
  choice.values = {"t"};
  choice.variants = "solver";
  choice.rows = "problem";
  EXPECT_EQ(
      error_of(text, choice),
      "t.csv: 1 of 2 numbers of y are missing, the first is problem 'b' of solver 'y'; --missing failed counts "
      "them as failures");
  choice.missing = Missing::failed;
  const LongTable table = table_of(text, choice);
  EXPECT_EQ(table.parts()[1].values, (Values{3, infinity}));
  EXPECT_EQ(table.parts()[1].selection.missing_cells, 1);
  EXPECT_EQ(table.notices(), (Texts{"y: 1 numbers are missing and count as infinite"}));
  const std::string empty = "problem,solver,t\na,x,1\nb,x,\n";
  EXPECT_EQ(table_of(empty, choice).parts()[0].values, (Values{1, infinity}));
  choice.missing = Missing::refuse;
  EXPECT_EQ(error_of(empty, choice),
            "t.csv:3: the cell of 't' is empty; write inf where a run failed, or --missing failed");
}

TEST(LongTable, ColumnsAreListedWhenAnOptionIsMissing) {
  const std::string columns = "the columns are 'problem', 'solver', 'settings', 'runtime', 'found'";
  TableChoice choice = of_benchmark();
  choice.values.clear();
  EXPECT_EQ(error_of(benchmark, choice),
            "t.csv: --value is missing: which column has the numbers? " + columns);
  choice = of_benchmark();
  choice.rows = "";
  EXPECT_EQ(
      error_of(benchmark, choice),
      "t.csv: --rows is missing: which column names the problem? ('line': every line is a problem of its own); " +
          columns);
  choice = of_benchmark();
  choice.variants = "solvr";
  EXPECT_EQ(error_of(benchmark, choice), "t.csv: --variants: there is no column 'solvr'; " + columns);
  choice = of_benchmark();
  choice.where = {"settings"};
  EXPECT_EQ(error_of(benchmark, choice), "t.csv: --where: 'settings' is not COLUMN=TEXT; " + columns);
}

TEST(LongTable, AConditionThatMeetsNothingIsNoSlipOfThePen) {
  TableChoice choice = of_benchmark();
  choice.where = {"settings=defalut"};
  EXPECT_EQ(error_of(benchmark, choice),
            "t.csv: --where: no line has settings=defalut; 'settings' is 'default', 'high'");
  choice = of_benchmark();
  choice.failed = {"found=false"};
  EXPECT_EQ(error_of(benchmark, choice),
            "t.csv: --failed: no line has found=false; 'found' is 'False', 'True'");
  choice.failed = {"found=Never"};
  EXPECT_EQ(table_of(benchmark, choice).notices().front(),
            "no line has found=Never: by that nothing has failed; 'found' is 'False', 'True'");
}

TEST(LongTable, TextWithoutAMeaningIsRefused) {
  // Four settings of one problem are no four problems.
  EXPECT_EQ(
      error_of("problem,t\na,1\na,2\n", scalars({"t"})),
      "t.csv:2: 'a' in 'problem' is a text: say what it is, --rows \"problem\" if it names the problem, --where "
      "to select lines, or --rows line if every line is a problem of its own; the columns are 'problem', 't'");
  TableChoice every = scalars({"t"});
  every.rows = TableChoice::each_line;
  EXPECT_EQ(table_of("problem,t\na,1\na,2\n", every).parts()[0].values, (Values{1, 2}));
}

TEST(LongTable, BadCellsAreNamed) {
  EXPECT_EQ(error_of("t\n1\nslow\n", scalars()),
            "t.csv:3: 'slow' in 't' is not a number; write inf where a run failed, or --failed \"t=slow\"");
  EXPECT_EQ(
      error_of("0,05\n0,07\n", scalars()),
      "t.csv:1: '0,05' has decimal commas; write 0.05, or separate cells by semicolons or tabs and write points");
  TableChoice traces;
  traces.values = {"gap"};
  traces.rows = "problem";
  EXPECT_EQ(error_of("problem,step,gap\na,1.5,3\n", traces), "t.csv:2: '1.5' in 'step' is not a step");
  EXPECT_EQ(error_of("problem,step,gap\n,1,3\n", traces), "t.csv:2: the cell of 'problem' is empty");
  traces.rows = "";
  EXPECT_EQ(
      error_of("problem,step,gap\na,1,3\n", traces),
      "t.csv: --rows is missing: which column names the problem? the columns are 'problem', 'step', 'gap'");
  EXPECT_EQ(error_of("a,a\n1,2\n", scalars({"a"})), "t.csv: 'a' stands twice in the header");
  EXPECT_EQ(error_of("a,a\n1,2\n", scalars()), "t.csv: 'a' stands twice in the header");
  EXPECT_EQ(error_of("a,\n1,2\n", scalars()), "t.csv: column 2 has no label; the columns are 'a', ''");
  EXPECT_EQ(error_of("t\n", scalars()), "t.csv: there is a header line but no row after it");
  TableChoice failed = scalars({"t"});
  failed.failed = {"t=slow"};
  EXPECT_EQ(table_of("t\n1\nslow\n", failed).parts()[0].values, (Values{1, infinity}));
}

TEST(LongTable, ColumnsOfScalarsAreVariants) {
  const LongTable one = table_of("runtime [ms]\n1\n2\n", scalars());
  EXPECT_EQ(one.parts().size(), 1U);
  EXPECT_EQ(one.parts()[0].name, "");
  EXPECT_EQ(one.metric().name, "runtime");
  EXPECT_EQ(one.metric().unit, "ms");
  const LongTable two = table_of("problem,osqp (s),scs (s)\n1,3,4\n2,5,6\n", scalars());
  ASSERT_EQ(two.parts().size(), 2U);
  EXPECT_EQ(two.parts()[1].name, "scs");
  EXPECT_EQ(two.parts()[1].selection.value, "scs (s)");
  EXPECT_EQ(two.parts()[1].values, (Values{4, 6}));
  EXPECT_EQ(two.metric().name, "");
  EXPECT_EQ(two.metric().unit, "s");
  EXPECT_EQ(two.notices(), (Texts{"the first column ('problem') numbers the problems and is not counted"}));
  EXPECT_EQ(
      error_of("t (ms),iterations\n1,2\n", scalars()),
      "t.csv: 't (ms)' and 'iterations' have different units: choose one of them with --value; the columns are "
      "'t (ms)', 'iterations'");
  EXPECT_EQ(table_of("t (ms),iterations\n1,2\n", scalars({"iterations"})).parts()[0].values, (Values{2}));
  EXPECT_EQ(table_of("1\n2\n", scalars()).parts()[0].selection.value, "column 1");
}

TEST(LongTable, UnitsStandBehindTheName) {
  EXPECT_EQ(metric_of_label("runtime (ms)").unit, "ms");
  EXPECT_EQ(metric_of_label("solve time [µs]").name, "solve time");
  EXPECT_EQ(metric_of_label("f(x)").unit, "x");
  for (const char* label : {"runtime", "(ms)", "runtime ()", "runtime (ms", ""}) {
    EXPECT_EQ(metric_of_label(label).name, label);
    EXPECT_EQ(metric_of_label(label).unit, "");
  }
}

TEST(LongTable, IsReadAgainByWhatWasSelected) {
  const LongTable table = table_of(benchmark, of_benchmark());
  std::vector<Selection> selections;
  for (const LongTable::Part& part : table.parts()) selections.push_back(part.selection);
  const LongTable again = table_of(benchmark, TableChoice::of(selections));
  ASSERT_EQ(again.parts().size(), table.parts().size());
  for (std::size_t i = 0; i < table.parts().size(); ++i) {
    EXPECT_EQ(again.parts()[i].selection, table.parts()[i].selection);
    EXPECT_EQ(again.parts()[i].values, table.parts()[i].values);
  }
  // A column called line is no obstacle where every line was a problem.
  const LongTable lines = table_of("line,t\n1,2\n2,3\n", scalars({"t"}));
  const LongTable lines_again = table_of("line,t\n1,2\n2,3\n", TableChoice::of({lines.parts()[0].selection}));
  EXPECT_EQ(lines_again.parts()[0].selection, lines.parts()[0].selection);
}

TEST(LongTable, HolesAreNotFilledWithoutEnd) {
  std::string text = "problem,solver,t\n";
  for (int i = 0; i < 200; ++i) text += fmt::format("p{},s{},1\n", i, i);
  TableChoice choice;
  choice.values = {"t"};
  choice.variants = "solver";
  choice.rows = "problem";
  choice.missing = Missing::failed;
  EXPECT_EQ(error_of(text, choice),
            "t.csv: 200 problems at 1 steps and 200 variants, but only 200 numbers: most are missing");
}

}  // namespace
}  // namespace surefoot::certify::long_table_tests
