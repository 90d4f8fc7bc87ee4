#include "surefoot/certify/table_view.hpp"

#include "surefoot/certify/classical.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

namespace surefoot::certify {
namespace {

constexpr Index view_rows = 5000;
constexpr Index view_columns = 40;

runs::TallySpec view_spec() {
  std::vector<Index> numbered(view_columns);
  std::iota(numbered.begin(), numbered.end(), Index{1});
  return tally_spec(resolved(Options(), {numbered}), numbered);
}

template <class Number>
std::vector<Number> view_numbers() {
  RandomStream random(3, "table view test", 0);
  std::vector<Number> numbers;
  for (Index i = 0; i < view_rows * view_columns; ++i)
    numbers.push_back(static_cast<Number>(random.uniform()));
  return numbers;
}

template <class Number>
TableView view_of(const std::vector<Number>& numbers) {
  const auto size = static_cast<Index>(sizeof(Number));
  return {reinterpret_cast<const std::byte*>(numbers.data()),
          size == 8 ? TableView::Number::float64 : TableView::Number::float32,
          view_rows,
          view_columns,
          view_columns * size,
          size};
}

void expect_equal(const runs::Tally& a, const runs::Tally& b) {
  ASSERT_EQ(a.samples(), b.samples());
  for (std::size_t t = 0; t < a.spec().tolerances.size(); ++t) {
    EXPECT_EQ(a.settled(t), b.settled(t));
    for (std::size_t column = 0; column < a.spec().steps.size(); ++column)
      ASSERT_EQ(a.failures(column, t), b.failures(column, t));
  }
  for (std::size_t column = 0; column < a.spec().claim_columns.size(); ++column)
    ASSERT_EQ(a.values(column).order_statistic(2500), b.values(column).order_statistic(2500));
}

runs::Tally one_by_one(const std::vector<double>& numbers) {
  runs::Tally tally(view_spec());
  for (Index i = 0; i < view_rows; ++i) tally.add_run(numbers.data() + i * view_columns);
  return tally;
}

TEST(TableView, CountsAsOneRowAfterTheOther) {
  const std::vector<double> numbers = view_numbers<double>();
  for (const int team : {1, 3}) {
    set_threads(team);
    expect_equal(count_view(view_of(numbers), view_spec()), one_by_one(numbers));
  }
  set_threads(0);
}

TEST(TableView, ReadsEveryLayoutAndSinglePrecision) {
  const std::vector<double> numbers = view_numbers<double>();
  std::vector<double> transposed(numbers.size());
  for (Index i = 0; i < view_rows; ++i) {
    for (Index j = 0; j < view_columns; ++j) {
      transposed[static_cast<std::size_t>(j * view_rows + i)] =
          numbers[static_cast<std::size_t>(i * view_columns + j)];
    }
  }
  TableView view = view_of(transposed);
  view.row_bytes = sizeof(double);
  view.column_bytes = view_rows * static_cast<Index>(sizeof(double));
  expect_equal(count_view(view, view_spec()), one_by_one(numbers));

  view = view_of(numbers);  // from the last row to the first
  view.data += (view_rows - 1) * view.row_bytes;
  view.row_bytes = -view.row_bytes;
  expect_equal(count_view(view, view_spec()), one_by_one(numbers));

  const std::string bytes =
      "x" + std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * 8);
  view = view_of(numbers);
  view.data = reinterpret_cast<const std::byte*>(bytes.data() + 1);
  expect_equal(count_view(view, view_spec()), one_by_one(numbers));

  const std::vector<float> single = view_numbers<float>();
  expect_equal(count_view(view_of(single), view_spec()), one_by_one({single.begin(), single.end()}));
}

TEST(TableView, EndsWithWhatAnInterruptionThrows) {
  struct Stopped {};
  const std::vector<double> numbers = view_numbers<double>();
  EXPECT_THROW(count_view(view_of(numbers), view_spec(), [] { throw Stopped(); }), Stopped);
}

TEST(TableView, RefusesWhatIsNotATableOfTheSteps) {
  const std::vector<double> numbers = view_numbers<double>();
  TableView view = view_of(numbers);
  view.columns = 39;
  EXPECT_INPUT_ERROR(count_view(view, view_spec()), "traces: 39 columns for 40 recorded steps");
  view = view_of(numbers);
  view.rows = 0;
  EXPECT_INPUT_ERROR(count_view(view, view_spec()), "traces: there is no run in the table");
}

// A family whose matrices alone differ: `count` problems that have one of `different` matrices each.
problems::Qp family_of_matrices(Index count, Index different) {
  problems::Qp problem;
  RandomStream order(4, "order of matrices", 0);
  for (Index i = 0; i < count; ++i) {
    const auto which = static_cast<std::uint64_t>(
        different == count ? static_cast<double>(i) : order.uniform(0, static_cast<double>(different)));
    RandomStream random(5, "matrix of a test", which);
    problems::SparseMatrix matrix(2, 2);
    for (int j = 0; j < 2; ++j) matrix.insert(j, j) = 1 + random.uniform();
    problem.P.push_back(matrix);
  }
  problem.A = {problem.P.front()};
  problem.q = problems::Table::Ones(1, 2);
  problem.l = -problem.q;
  problem.u = problem.q;
  return problem;
}

TEST(IndependenceOfProblems, LooksAtMatrices) {
  const problems::Qp repeated = family_of_matrices(1000, 40);
  const Independence found = independence_of_problems(data_of(repeated));
  EXPECT_EQ(found.of, "problem data");
  EXPECT_TRUE(found.order_checked);
  EXPECT_EQ(found.recurring.recurring, 40);
  EXPECT_EQ(found.findings().size(), 1U);
  EXPECT_TRUE(found.contradictions(1000).size() == 1U) << "it is not allowed";
  const problems::Qp different = family_of_matrices(1000, 1000);
  EXPECT_TRUE(independence_of_problems(data_of(different)).findings().empty());
}

TEST(IndependenceOfProblems, SayWhatWasNotLookedAt) {
  const problems::Qp one = family_of_matrices(1, 1);
  const Independence of_one = independence_of_problems(data_of(one));
  EXPECT_FALSE(of_one.order_checked);
  EXPECT_TRUE(of_one.contradictions(1).empty());
  const problems::Qp same = family_of_matrices(50, 1);
  EXPECT_TRUE(independence_of_problems(data_of(same)).order_checked);
}

}  // namespace
}  // namespace surefoot::certify
