#include "surefoot/certify/grouped_rows.hpp"

#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>

namespace surefoot::certify {
namespace {

using test_support::TemporaryFolder;

Options options_of_groups() {
  Options options;
  options.sampling = Sampling::groups;
  options.kinds = default_kinds(Sampling::groups);
  options.tolerances = {0.3, 0.6};
  return options;
}

runs::TallySpec spec_of(const std::vector<Index>& steps) {
  return tally_spec(resolved(options_of_groups(), {steps}), steps);
}

struct LabelledRow {
  std::string label;
  std::vector<double> values;
};

std::vector<LabelledRow> labelled_rows(const std::vector<std::string>& labels, int rows) {
  RandomStream random(6, "grouped rows", 0);
  std::vector<LabelledRow> all;
  for (int i = 0; i < rows; ++i) {
    LabelledRow row{labels[random.below(labels.size())], {}};
    for (int k = 0; k < 3; ++k) row.values.push_back(random.uniform());
    all.push_back(row);
  }
  return all;
}

/// Groups by hand: in the order of their first rows, the largest value at each step and the share of
/// failures.
struct ByHand {
  std::vector<std::vector<double>> largest;
  std::vector<std::vector<int>> failed;  // at step 1 below 0.3, below 0.6
  std::vector<int> ticks;
};

ByHand by_hand(const std::vector<LabelledRow>& rows) {
  ByHand groups;
  std::map<std::string, std::size_t> place;
  for (const LabelledRow& row : rows) {
    const auto [found, is_new] = place.try_emplace(row.label, groups.ticks.size());
    if (is_new) {
      groups.largest.push_back(row.values);
      groups.failed.push_back({0, 0});
      groups.ticks.push_back(0);
    }
    const std::size_t g = found->second;
    for (std::size_t k = 0; k < 3; ++k) groups.largest[g][k] = std::max(groups.largest[g][k], row.values[k]);
    groups.failed[g][0] += row.values[0] >= 0.3 ? 1 : 0;
    groups.failed[g][1] += row.values[0] >= 0.6 ? 1 : 0;
    ++groups.ticks[g];
  }
  return groups;
}

std::string csv_of(const std::vector<LabelledRow>& rows, const std::string& header, bool label_last) {
  std::string text = header + '\n';
  for (const LabelledRow& row : rows) {
    std::string quoted = "\"";
    for (const char c : row.label) quoted += c == '"' ? "\"\"" : std::string(1, c);
    quoted += '"';
    const std::string numbers = fmt::format("{},{},{}", row.values[0], row.values[1], row.values[2]);
    text += label_last ? numbers + ',' + quoted + '\n' : quoted + ',' + numbers + '\n';
  }
  return text;
}

TEST(GroupedRows, OfAFileAreThoseOfItsLabelsWhereverTheyLie) {
  const TemporaryFolder folder;
  const std::vector<std::string> labels{"a", "b, c", "say \"no\"", "Übung 1", "-", "a b"};
  const std::vector<LabelledRow> rows = labelled_rows(labels, 200);
  const ByHand hand = by_hand(rows);
  for (const bool last : {false, true}) {
    for (const std::size_t block : {std::size_t{64}, std::size_t{8} << 20U}) {
      const std::string path =
          folder.write("t.csv", csv_of(rows, last ? "k=1,k=2,k=3,flight" : "flight,k=1,k=2,k=3", last));
      RunTable table(path, std::nullopt, {.block_bytes = block}, "flight");
      ASSERT_TRUE(table.grouped());
      ASSERT_EQ(table.steps(), (std::vector<Index>{1, 2, 3}));
      EXPECT_EQ(table.reading().back(), "the column 'flight' names the group of each row");
      const runs::Tally tally = table.count(spec_of(table.steps()), nullptr);
      ASSERT_EQ(tally.samples(), static_cast<Index>(hand.ticks.size()));
      EXPECT_EQ(tally.ticks(), 200);
      runs::Tally expected(tally.spec());
      for (std::size_t t = 0; t < 2; ++t) {
        Index failures = 0;
        std::vector<double> shares;
        for (std::size_t g = 0; g < hand.ticks.size(); ++g) {
          failures += hand.largest[g][0] >= (t == 0 ? 0.3 : 0.6) ? 1 : 0;
          shares.push_back(static_cast<double>(hand.failed[g][t]) / hand.ticks[g]);
        }
        EXPECT_EQ(tally.failures(0, t), failures);
        std::ranges::sort(shares);
        for (std::size_t i = 0; i < shares.size(); ++i)
          EXPECT_NEAR(tally.failed_shares(0, t).order_statistic(static_cast<Index>(i + 1)), shares[i], 1e-15);
      }
      EXPECT_EQ(table.independence().of, Independence::of_groups);
    }
  }
}

TEST(GroupedRows, LookForDependenceBetweenGroupsAndNotBetweenTicks) {
  // Ticks of a flight are alike; flights are not.
  const TemporaryFolder folder;
  std::string text = "flight,k=1,k=2,k=3\n";
  RandomStream random(8, "dependent ticks", 0);
  for (int flight = 0; flight < 480; ++flight) {
    const double level = random.uniform();
    for (int tick = 0; tick < 12; ++tick)
      text += fmt::format("{},{},{},{}\n", flight, level + 1e-3 * random.uniform(), level * level, level);
  }
  const std::string path = folder.write("t.csv", text);
  RunTable grouped(path, std::nullopt, {}, "flight");
  (void)grouped.count(spec_of(grouped.steps()), nullptr);
  EXPECT_TRUE(grouped.independence().findings().empty());
  RunTable pooled(path, std::nullopt);  // the first column numbers the instances
  Options plain;
  plain.tolerances = {0.3};
  (void)pooled.count(tally_spec(resolved(plain, {pooled.steps()}), pooled.steps()), nullptr);
  EXPECT_FALSE(pooled.independence().findings().empty());
  Independence drifting = pooled.independence();
  drifting.of = Independence::of_groups;
  EXPECT_INPUT_ERROR(drifting.require_none("t.csv", false), "the groups are not independent samples");
}

TEST(GroupedRows, RefuseLabelsThatAreMissingOrWrittenInTwoWays) {
  const TemporaryFolder folder;
  const auto complaint = [&](const std::string& text, const std::string& column = "flight") {
    const std::string path = folder.write("t.csv", text);
    return test_support::input_error([&] {
      RunTable table(path, std::nullopt, {}, column);
      (void)table.count(spec_of(table.steps()), nullptr);
    });
  };
  const std::string head = "flight,k=1,k=2\n";
  EXPECT_NE(complaint(head + "a,1,2\n,1,2\n").find("t.csv:3: column 1 ('flight'): empty cell"),
            std::string::npos);
  EXPECT_NE(complaint(head + "a,1,2\n\"\",1,2\n").find("t.csv:3: column 1 ('flight'): empty cell"),
            std::string::npos);
  EXPECT_NE(complaint(head + "a,1,2\nnan,1,2\n").find("t.csv:3: the label of the group is missing ('nan')"),
            std::string::npos);
  EXPECT_NE(complaint(head + "a,1,2\nNA,1,2\n").find("missing ('NA')"), std::string::npos);
  EXPECT_NE(complaint(head + "1,1,2\n2,1,2\n1.0,1,2\n")
                .find("t.csv:4: the label '1.0' is the number that stands in line 2 "
                      "as '1'"),
            std::string::npos);
  EXPECT_NE(complaint(head + "\"a,1,2\n").find("t.csv:2: a quote is opened and not closed"),
            std::string::npos);
  EXPECT_NE(complaint(head + "a,1\n").find("expected 3 cells, found 2"), std::string::npos);
  EXPECT_NE(complaint(head + "a,1,x\n").find("column 3: 'x' is not a number"), std::string::npos);
  EXPECT_NE(complaint(head + "\xff,1,2\n").find("text is not UTF-8"), std::string::npos);
  EXPECT_NE(complaint("run,k=1,k=2\na,1,2\n")
                .find("t.csv:1: there is no column 'flight'; the columns are 'run', 'k=1', "
                      "'k=2'"),
            std::string::npos);
  EXPECT_NE(complaint("1,2,3\n0.5,1,2\n")
                .find("there is no column 'flight': the line has no labels ('1', '2', '3')"),
            std::string::npos);
  EXPECT_NE(complaint("flight,k=1,flight\na,1,2\n").find("two columns are called 'flight'"),
            std::string::npos);
  EXPECT_NE(complaint("flight\na\n").find("there is no column of numbers"), std::string::npos);
}

TEST(GroupedRows, TakeNumbersAsLabelsAndStepsBesideThem) {
  const TemporaryFolder folder;
  // Numbers as labels, a column that numbers the ticks, and bare steps in the header line.
  const std::string path =
      folder.write("t.csv", "tick;1;2;flight\n1;0.1;0.2;007\n2;0.5;0.1;007\n3;0.1;0.9;8\n");
  RunTable table(path, std::nullopt, {}, "flight");
  EXPECT_EQ(table.steps(), (std::vector<Index>{1, 2}));
  const runs::Tally tally = table.count(spec_of(table.steps()), nullptr);
  EXPECT_EQ(tally.samples(), 2);
  EXPECT_EQ(tally.failures(0, 0), 1);
  EXPECT_EQ(tally.failures(1, 1), 1);
  const std::string bare = folder.write("b.csv", "1,2,flight\n0.1,0.2,x\n0.5,0.1,y\n");
  RunTable steps(bare, std::nullopt, {}, "flight");
  EXPECT_EQ(steps.steps(), (std::vector<Index>{1, 2}));
  EXPECT_EQ(steps.count(spec_of(steps.steps()), nullptr).samples(), 2);
}

TEST(GroupedRows, AreRefusedWhereTheyNeedMoreMemoryThanThereIs) {
  const runs::TallySpec spec = spec_of({1, 2, 3});
  GroupedRows groups(spec, "t.csv", 3 * GroupedRows::bytes_per_group(spec) + 100);
  const double values[3] = {0.1, 0.1, 0.1};
  for (int row = 0; row < 30; ++row) groups.add(fmt::format("g{}", row % 3), row + 2, values);
  EXPECT_EQ(groups.groups(), 3);
  EXPECT_THROW(groups.add("another", 32, values), ResourceError);
}

TEST(GroupedRows, GoOnFromTheirState) {
  const runs::TallySpec spec = spec_of({1, 2, 3});
  const std::vector<LabelledRow> rows = labelled_rows({"1", "2", "x"}, 40);
  GroupedRows whole(spec, "t", 0);
  GroupedRows first(spec, "t", 0);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    whole.add(rows[i].label, static_cast<Index>(i + 2), rows[i].values.data());
    if (i < 20) first.add(rows[i].label, static_cast<Index>(i + 2), rows[i].values.data());
  }
  GroupedRows rest(spec, "t", 0);
  rest.go_on(first.state());
  for (std::size_t i = 20; i < rows.size(); ++i)
    rest.add(rows[i].label, static_cast<Index>(i + 2), rows[i].values.data());
  const auto counted = [&](const GroupedRows& groups) {
    runs::Tally tally(spec);
    DependenceCheck check(spec.steps);
    groups.count(tally, check);
    return tally.state() + check.state();
  };
  EXPECT_EQ(counted(rest), counted(whole));
  const double values[3] = {0.1, 0.1, 0.1};
  EXPECT_INPUT_ERROR(rest.add("1.0", 99, values), "the label '1.0' is the number");
  std::string damaged = first.state();
  damaged.resize(damaged.size() - 1);
  GroupedRows other(spec, "t", 0);
  EXPECT_INPUT_ERROR(other.go_on(damaged), "groups of a checkpoint");
}

TEST(GroupedRows, OfAnArrayInMemoryAreThoseOfAFile) {
  const std::vector<LabelledRow> rows = labelled_rows({"p", "q", "r"}, 50);
  const std::map<std::string, Index> number{{"p", 5}, {"q", 2}, {"r", 9}};
  problems::Table values(50, 3);
  std::vector<Index> group_of_row;
  for (Index i = 0; i < 50; ++i) {
    for (Index k = 0; k < 3; ++k)
      values(i, k) = rows[static_cast<std::size_t>(i)].values[static_cast<std::size_t>(k)];
    group_of_row.push_back(number.at(rows[static_cast<std::size_t>(i)].label));
  }
  const runs::TallySpec spec = spec_of({1, 2, 3});
  Independence found;
  const runs::Tally tally = count_grouped_view(view_of(values), group_of_row, spec, nullptr, &found);
  GroupedRows expected(spec, "t", 0);
  for (std::size_t i = 0; i < rows.size(); ++i)
    expected.add(rows[i].label, static_cast<Index>(i + 2), rows[i].values.data());
  runs::Tally whole(spec);
  DependenceCheck check(spec.steps);
  expected.count(whole, check);
  EXPECT_EQ(tally.state(), whole.state());
  EXPECT_EQ(found.of, Independence::of_groups);
  group_of_row.pop_back();
  EXPECT_INPUT_ERROR(count_grouped_view(view_of(values), group_of_row, spec),
                     "groups: 49 labels for 50 rows");
}

}  // namespace
}  // namespace surefoot::certify
