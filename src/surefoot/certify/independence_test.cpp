#include "surefoot/certify/independence.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/certify/certificate.hpp"
#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace surefoot::certify {
namespace {

using Rows = std::vector<std::vector<double>>;

std::vector<Index> first_steps(std::size_t columns) {
  std::vector<Index> steps(columns);
  std::iota(steps.begin(), steps.end(), 1);
  return steps;
}

DependenceCheck collected(const Rows& rows, std::size_t first, std::size_t end) {
  DependenceCheck check(first_steps(rows.front().size()));
  for (std::size_t i = first; i < end; ++i) check.add(static_cast<Index>(i), rows[i].data());
  return check;
}

Independence looked_at(const Rows& rows) {
  return collected(rows, 0, rows.size()).result();
}

/// A trace that begins at `scale` and falls at a rate that it draws.
std::vector<double> trace_from(double scale, double rate, std::size_t columns) {
  std::vector<double> row;
  for (std::size_t k = 0; k < columns; ++k) row.push_back(scale * std::pow(rate, static_cast<double>(k)));
  return row;
}

Rows drawn(std::size_t count, std::uint64_t seed,
           const std::function<std::vector<double>(RandomStream&)>& draw) {
  Rows rows;
  for (std::size_t i = 0; i < count; ++i) {
    RandomStream random(seed, "rows of a test", i);
    rows.push_back(draw(random));
  }
  return rows;
}

std::vector<double> ordinary_row(RandomStream& random) {
  return trace_from(std::exp(random.normal()), random.uniform(0.5, 0.9), 12);
}

/// Rows of every kind that a table may have.
const std::vector<std::pair<const char*, std::function<std::vector<double>(RandomStream&)>>> kinds{
    {"traces", ordinary_row},
    {"heavy tails, both signs",
     [](RandomStream& random) {
       return std::vector<double>{1 / random.normal(), std::pow(random.normal(), 9)};
     }},
    {"whole numbers with many ties",
     [](RandomStream& random) {
       return std::vector<double>{std::floor(random.uniform(0, 3)), std::floor(random.uniform(0, 20)), 7};
     }},
    {"two values",
     [](RandomStream& random) { return std::vector<double>{random.uniform(0, 1) < 0.05 ? 1.0 : 0.0}; }},
    {"failures",
     [](RandomStream& random) {
       std::vector<double> row = ordinary_row(random);
       if (random.uniform(0, 1) < 0.4) std::fill(row.begin() + 4, row.end(), NAN);
       if (random.uniform(0, 1) < 0.2) std::fill(row.begin(), row.end(), infinity);
       return row;
     }},
    {"decibels",
     [](RandomStream& random) {
       return std::vector<double>{random.normal(), -10 + 10 * random.normal(), -40 + 20 * random.normal()};
     }},
};

// Exact tests: at any level, at most that share of independent tables is found. Here 2,400 tables at 0.01.
TEST(Independence, IndependentRowsAreFoundNoMoreOftenThanTheLevel) {
  constexpr int tables = 400;
  constexpr double level = 0.01;
  Index serial = 0;
  Index drift = 0;
  for (std::size_t kind = 0; kind < kinds.size(); ++kind) {
    Index found = 0;
    for (std::uint64_t seed = 0; seed < tables; ++seed) {
      const Independence result = looked_at(drawn(100 + 3 * seed, 1000 * kind + seed, kinds[kind].second));
      serial += result.serial.p_value <= level ? 1 : 0;
      drift += result.drift.p_value <= level ? 1 : 0;
      found += result.findings().empty() ? 0 : 1;
    }
    EXPECT_EQ(found, 0) << kinds[kind].first;
  }
  const auto all = static_cast<Index>(tables * kinds.size());
  EXPECT_GT(bounds::binomial_tail_upper(serial, all, level), 1e-3) << serial;
  EXPECT_GT(bounds::binomial_tail_upper(drift, all, level), 1e-3) << drift;
}

// Without the correction for several statistics the level is used up: the tests above do not pass by
// idleness.
TEST(Independence, StatisticOfOneColumnUsesItsLevel) {
  constexpr int tables = 4000;
  Index serial = 0;
  Index drift = 0;
  for (std::uint64_t seed = 0; seed < tables; ++seed) {
    const Independence result = looked_at(
        drawn(2400, seed, [](RandomStream& random) { return std::vector<double>{random.normal()}; }));
    serial += result.serial.p_value <= 0.1 ? 1 : 0;
    drift += result.drift.p_value <= 0.1 ? 1 : 0;
  }
  EXPECT_NEAR(static_cast<double>(serial) / tables, 0.09, 0.02);
  EXPECT_NEAR(static_cast<double>(drift) / tables, 0.09, 0.03);
}

std::string all_findings(const Rows& rows) {
  std::string text;
  for (const std::string& line : looked_at(rows).findings()) text += line + "\n";
  return text;
}

TEST(Independence, FindsRepeatedRows) {
  const Rows forty = drawn(40, 1, ordinary_row);
  Rows rows;
  for (int i = 0; i < 100; ++i) rows.insert(rows.end(), forty.begin(), forty.end());
  EXPECT_EQ(looked_at(rows).exact.repeated, 3960);
  EXPECT_NE(all_findings(rows).find("3960 of 4000 rows repeat"), std::string::npos);
  Rows some = drawn(500, 2, ordinary_row);
  for (const std::size_t again : {17U, 3U}) some.push_back(some[again]);
  EXPECT_EQ(looked_at(some).exact.repeated, 2);
  EXPECT_EQ(all_findings(some), "") << "two may be chance";
  some.push_back(some[401]);
  EXPECT_NE(all_findings(some).find("3 of 503 rows repeat"), std::string::npos);
}

/// Rows first .. first + count - 1, those from `again_at` on the rows from `again_from` on once more.
DependenceCheck many_rows(Index first, Index count, Index again_at, Index again_from) {
  DependenceCheck check(first_steps(4));
  for (Index row = first; row < first + count; ++row) {
    RandomStream random(3, "many rows of a test",
                        static_cast<std::uint64_t>(row < again_at ? row : again_from + row - again_at));
    check.add(row, trace_from(std::exp(random.normal()), random.uniform(0.5, 0.9), 4).data());
  }
  return check;
}

// Repeats beyond the rows that are all compared with each other.
TEST(Independence, FindsRepeatsWhereverTheyStand) {
  constexpr Index none = 1 << 30;
  const DependenceCheck honest = many_rows(0, 200000, none, 0);
  EXPECT_TRUE(honest.result().findings().empty());
  EXPECT_FALSE(honest.result().sampled);
  // Two workers of 100,000 rows that begin with the same seed.
  const DependenceCheck first = many_rows(0, 100000, none, 0);
  const DependenceCheck second = many_rows(100000, 100000, 100000, 0);
  DependenceCheck both = first;
  both.merge(second);
  DependenceCheck other_way = DependenceCheck::from_state(first_steps(4), second.state());
  other_way.merge(first);
  EXPECT_TRUE(both.state() == other_way.state()) << "bytes do not depend on the order";
  const Independence found = both.result();
  EXPECT_EQ(found.exact.repeated, 0);
  ASSERT_TRUE(found.sampled.has_value());
  EXPECT_EQ(*found.sampled, (Independence::Sampled{200000, 4096, 4096}));
  ASSERT_FALSE(found.findings().empty());
  EXPECT_EQ(
      found.findings().front(),
      "4096 of 4096 different rows, a sample from all 200000, stand there more than once, to the last digit");
  // One in a hundred that repeats is enough.
  const Independence few = many_rows(0, 101000, 100000, 70000).result();
  ASSERT_TRUE(few.sampled.has_value());
  EXPECT_NEAR(static_cast<double>(few.sampled->repeated), 41, 25);
  // Where all rows are compared, nothing else is said of them.
  EXPECT_FALSE(many_rows(0, 60000, 30000, 0).result().sampled);
  EXPECT_FALSE(many_rows(0, 70000, 60000, 0).result().sampled) << "found among the first";
}

// Rows of few numbers or digits repeat by nature: no row of the sample.
TEST(Independence, SamplesOnlyRowsThatSayEnough) {
  DependenceCheck check(first_steps(4));
  for (Index row = 0; row < 100000; ++row) {
    RandomStream random(4, "rows of few digits", static_cast<std::uint64_t>(row));
    const double value = std::floor(random.uniform(0, 20));
    check.add(row, std::vector<double>{value, value / 4, std::exp(value), 0}.data());
  }
  EXPECT_FALSE(check.result().sampled);
}

std::vector<double> rounded_row(RandomStream& random, const char* format) {
  std::vector<double> row = ordinary_row(random);
  for (double& value : row) value = std::stod(fmt::format(fmt::runtime(format), value));
  return row;
}

TEST(Independence, FindsRepeatsOfRoundedRowsToo) {
  for (const char* format : {"{:.5e}", "{:.6g}", "{:.9e}"}) {
    Rows forty = drawn(40, 1, [&](RandomStream& random) { return rounded_row(random, format); });
    Rows rows;
    for (int i = 0; i < 100; ++i) rows.insert(rows.end(), forty.begin(), forty.end());
    EXPECT_EQ(looked_at(rows).exact.comparable, 0) << format;
    EXPECT_NE(all_findings(rows).find("rows repeat"), std::string::npos) << format;
  }
}

// Rows that are a function of one number: rounded to six digits they meet by chance.
TEST(Independence, ChanceRepeatsOfRoundedRowsAreNone) {
  const Rows rows = drawn(20000, 1, [](RandomStream& random) {
    std::vector<double> row = trace_from(random.uniform(0.9, 1.1), 0.7, 12);
    for (double& value : row) value = std::stod(fmt::format("{:.6g}", value));
    return row;
  });
  EXPECT_GT(looked_at(rows).rounded.repeated, 0);
  EXPECT_EQ(all_findings(rows), "");
}

TEST(Independence, FewDigitsAndCountsMayRepeat) {
  const auto comparable = [](const std::vector<double>& row) {
    const Independence found = looked_at(Rows(500, row));
    return found.exact.comparable + found.rounded.comparable;
  };
  EXPECT_EQ(comparable({12, 30, 77, 1234567}), 0);
  EXPECT_EQ(comparable({0.001, 0.00025, 1.5e-7, 3.1416}), 0);
  EXPECT_EQ(comparable({1.0 / 3, 1.0 / 3, 1.0 / 3, 0, infinity, NAN}), 0);
  EXPECT_EQ(comparable({1.0 / 3, 1.0 / 7, 5}), 0);
  EXPECT_EQ(looked_at(Rows(500, {1.0 / 3, 1e-7 / 7, 1e10 / 11})).exact.repeated, 499);
  EXPECT_EQ(looked_at(Rows(500, {1.234567e-5, 9.876543e-8, 1.000001})).rounded.repeated, 499);
}

/// Rows that draw from a list again and again.
Rows drawn_from(const Rows& list, std::size_t count) {
  return drawn(count, 11, [&](RandomStream& random) {
    return list[static_cast<std::size_t>(random.uniform(0, static_cast<double>(list.size())))];
  });
}

double to_digits(double value, int digits) {
  return std::stod(fmt::format("{:.{}e}", value, digits - 1));
}

TEST(Independence, FindsRowsOfFewNumbersOrDigitsThatRecur) {
  const std::vector<std::pair<const char*, std::function<std::vector<double>(RandomStream&)>>> few{
      {"one number", [](RandomStream& random) { return std::vector<double>{random.uniform()}; }},
      {"two numbers",
       [](RandomStream& random) {
         return std::vector<double>{random.uniform(), random.uniform()};
       }},
      {"a number and a count",
       [](RandomStream& random) {
         return std::vector<double>{random.uniform(), std::floor(random.uniform(1, 9))};
       }},
      {"four of five digits", [](RandomStream& random) {
         std::vector<double> row;
         for (int i = 0; i < 4; ++i) row.push_back(to_digits(random.uniform(), 5));
         return row;
       }}};
  for (const auto& [name, draw] : few) {
    const Rows forty = drawn(40, 1, draw);
    const Independence found = looked_at(drawn_from(forty, 4000));
    const Index different = found.recurring.different;
    EXPECT_EQ(found.recurring.compared, 1024) << name;
    EXPECT_EQ(found.recurring.recurring, different) << name;
    EXPECT_LE(different, 40) << name;
    EXPECT_GE(different, 30) << name << ": five digits may end with a zero";
    EXPECT_EQ(found.findings(), std::vector<std::string>{fmt::format(
                                    "{} of {} different rows stand there more than once, to the last digit",
                                    different, different)})
        << name;
    EXPECT_EQ(all_findings(drawn_from(drawn(800, 1, draw), 800)).find("different rows stand there"),
              std::string("000 of 000 ").size())
        << name << ": as many as there are";
    EXPECT_EQ(all_findings(drawn(1024, 2, draw)), "") << name;
  }
}

// Discrete by nature: what many runs share is no second run of one problem.
TEST(Independence, NumbersThatRecurByNatureAreNoFinding) {
  const std::vector<std::pair<const char*, std::function<std::vector<double>(RandomStream&)>>> honest{
      {"iterations",
       [](RandomStream& random) { return std::vector<double>{std::floor(random.uniform(1, 300))}; }},
      {"shares of 37",
       [](RandomStream& random) { return std::vector<double>{std::floor(random.uniform(0, 37)) / 37}; }},
      {"shares of 9999",
       [](RandomStream& random) { return std::vector<double>{std::floor(random.uniform(0, 200)) / 9999}; }},
      {"hundredths",
       [](RandomStream& random) { return std::vector<double>{std::floor(random.uniform(0, 100)) / 100}; }},
      {"a limit",
       [](RandomStream& random) {
         return std::vector<double>{random.uniform() < 0.7 ? std::log(2.0) : random.uniform()};
       }},
      {"noise of rounding",
       [](RandomStream& random) {
         return std::vector<double>{1.1e-16 * std::sqrt(std::floor(random.uniform(1, 60)))};
       }},
      {"ticks of a clock",
       [](RandomStream& random) {
         return std::vector<double>{std::floor(random.uniform(2e4, 4e4)) * 4e-7 / 7};
       }},
      {"three of three digits",
       [](RandomStream& random) {
         const double value = random.uniform(1, 9);
         return std::vector<double>{to_digits(value, 3), to_digits(value / 3, 3), to_digits(value / 7, 3)};
       }},
      {"three of five digits from one number", [](RandomStream& random) {
         const double value = random.uniform(1, 1.1);
         return std::vector<double>{to_digits(value, 5), to_digits(value / 3, 5), to_digits(value / 7, 5)};
       }}};
  for (const auto& [name, draw] : honest) EXPECT_EQ(all_findings(drawn(4000, 5, draw)), "") << name;
}

Rows chain(std::size_t count, double memory, std::uint64_t seed) {
  RandomStream random(seed, "chain of a test", 0);
  Rows rows;
  double state = random.normal();
  for (std::size_t i = 0; i < count; ++i) {
    rows.push_back(trace_from(std::exp(state), 0.7, 5));
    state = memory * state + std::sqrt(1 - memory * memory) * random.normal();
  }
  return rows;
}

TEST(Independence, FindsAnAutoregressiveChain) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    const Independence found = looked_at(chain(1000, 0.9, seed));
    EXPECT_LE(found.serial.p_value, Independence::level_each) << seed;
    EXPECT_GT(found.serial.more, found.serial.less);
  }
}

// A chain in one of many columns only is found as well, and so are rows that alternate.
TEST(Independence, FindsDependenceInOneColumnAndAlternation) {
  Rows rows = drawn(2000, 3, ordinary_row);
  const Rows one = chain(2000, 0.9, 4);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].back() = one[i].front();
  EXPECT_NE(all_findings(rows).find("step 12"), std::string::npos);
  Rows alternating = drawn(2000, 5, ordinary_row);
  for (std::size_t i = 0; i < alternating.size(); i += 2)
    for (double& value : alternating[i]) value *= 1000;
  EXPECT_NE(all_findings(alternating).find("less alike"), std::string::npos);
}

// 60 trajectories of 40 ticks: a state that falls towards its target, a solver that is worse far from it.
Rows trajectories(std::uint64_t seed, bool by_tick) {
  Rows rows(60 * 40);
  for (std::size_t path = 0; path < 60; ++path) {
    RandomStream random(seed, "trajectories of a test", path);
    double state = 3 * std::abs(random.normal());
    for (std::size_t tick = 0; tick < 40; ++tick) {
      rows[by_tick ? tick * 60 + path : path * 40 + tick] =
          trace_from(state * std::exp(0.3 * random.normal()), 0.6, 4);
      state = 0.9 * state + 0.05 * std::abs(random.normal());
    }
  }
  return rows;
}

TEST(Independence, FindsPooledTrajectories) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_LE(looked_at(trajectories(seed, false)).serial.p_value, Independence::level_each) << seed;
    EXPECT_LE(looked_at(trajectories(seed, true)).drift.p_value, Independence::level_each) << seed;
  }
}

TEST(Independence, FindsDriftUpAndThereAndBack) {
  Rows rising = drawn(1200, 6, ordinary_row);
  Rows there_and_back = rising;
  for (std::size_t i = 0; i < rising.size(); ++i) {
    const double place = static_cast<double>(i) / static_cast<double>(rising.size());
    for (double& value : rising[i]) value *= std::exp(2 * place);
    for (double& value : there_and_back[i]) value *= std::exp(4 * std::abs(place - 0.5));
  }
  EXPECT_NE(all_findings(rising).find("second half against first"), std::string::npos);
  EXPECT_NE(all_findings(there_and_back).find("outer quarters against inner"), std::string::npos);
}

// One trace in a column, or a table the wrong way round, is no sample of problems either.
TEST(Independence, FindsATraceInAColumn) {
  Rows column;
  for (const double value : trace_from(1, 0.97, 500)) column.push_back({value});
  EXPECT_NE(all_findings(column).find("drift"), std::string::npos);
}

TEST(Independence, DoesNotDependOnHowRowsAreShared) {
  const Rows rows = drawn(24 * 700 + 11, 7, ordinary_row);
  const Independence whole = looked_at(rows);
  for (const std::size_t part : {1UL, 5UL, 24UL, 100UL, 5000UL, 9001UL}) {
    std::vector<DependenceCheck> parts;
    for (std::size_t first = 0; first < rows.size(); first += part)
      parts.push_back(collected(rows, first, std::min(rows.size(), first + part)));
    DependenceCheck forwards = parts.front();
    for (std::size_t i = 1; i < parts.size(); ++i) forwards.merge(parts[i]);
    EXPECT_EQ(forwards.result(), whole) << part;
    if (part < 5) continue;
    DependenceCheck backwards = parts.back();
    for (std::size_t i = parts.size() - 1; i-- > 0;)
      backwards.merge(DependenceCheck::from_state(first_steps(12), parts[i].state()));
    EXPECT_EQ(backwards.result(), whole) << part;
  }
}

// The same counts by a plain loop of the definition.
TEST(Independence, CountsAsDefined) {
  const Rows rows = drawn(24 * 6 + 5, 8, [](RandomStream& random) {
    return std::vector<double>{random.uniform(1, 2)};  // one binade: places are as far apart as numbers
  });
  Index more = 0;
  Index less = 0;
  for (std::size_t group = 0; group < 6; ++group) {
    for (std::size_t j = 0; j < 8; ++j) {
      const double a = rows[24 * group + 2 * j][0];
      const double near = std::abs(a - rows[24 * group + 2 * j + 1][0]);
      const double far = std::abs(a - rows[24 * group + 16 + j][0]);
      (near < far ? more : less) += 1;
    }
  }
  const Independence found = looked_at(rows);
  EXPECT_EQ(found.serial.more, more);
  EXPECT_EQ(found.serial.less, less);
  EXPECT_EQ(found.serial.statistics, 1);
  EXPECT_DOUBLE_EQ(found.serial.p_value,
                   std::min(1.0, 2 * bounds::binomial_tail_upper(std::max(more, less), 48, 0.5)));
  Index later_larger = 0;
  Index outer_larger = 0;
  for (std::size_t i = 0; i < 72; ++i) later_larger += rows[72 + i][0] > rows[i][0] ? 1 : 0;
  for (std::size_t i = 0; i < 36; ++i) {
    outer_larger += rows[i][0] > rows[36 + i][0] ? 1 : 0;
    outer_larger += rows[108 + i][0] > rows[72 + i][0] ? 1 : 0;
  }
  const bool halves = found.drift.about.find("half") != std::string::npos;
  EXPECT_EQ(found.drift.more, halves ? later_larger : outer_larger);
  EXPECT_EQ(found.drift.more + found.drift.less, 72);
}

TEST(Independence, FewRowsAreNotChecked) {
  EXPECT_FALSE(looked_at(drawn(23, 9, ordinary_row)).order_checked);
  EXPECT_TRUE(looked_at(drawn(24, 9, ordinary_row)).order_checked);
}

// Numbers that do not follow from each other, whoever wrote them.
TEST(Independence, ContradictionsAreFound) {
  Independence good = looked_at(chain(1000, 0.9, 1));
  good.require_none("t.csv", true);
  EXPECT_TRUE(good.contradictions(1000).empty());
  EXPECT_FALSE(good.contradictions(999).empty() && good.contradictions(20).empty());
  const auto caught = [&](const std::function<void(Independence&)>& change) {
    Independence changed = good;
    change(changed);
    return !changed.contradictions(1000).empty();
  };
  EXPECT_TRUE(caught([](Independence& each) { each.allowed = false; }));
  EXPECT_TRUE(caught([](Independence& each) { each.serial.p_value = 0.5; }));
  EXPECT_TRUE(caught([](Independence& each) { std::swap(each.serial.more, each.serial.statistics); }));
  EXPECT_TRUE(caught([](Independence& each) { each.serial.more = 100000; }));
  EXPECT_TRUE(caught([](Independence& each) { each.drift.less = -1; }));
  EXPECT_TRUE(caught([](Independence& each) { each.exact.repeated = 1001; }));
  EXPECT_TRUE(caught([](Independence& each) { each.exact.compared = 10; }));
  EXPECT_TRUE(caught([](Independence& each) { each.recurring.compared = 10; }));
  EXPECT_TRUE(caught([](Independence& each) { each.recurring.different = 1025; }));
  EXPECT_TRUE(caught([](Independence& each) { each.recurring.recurring = each.recurring.different + 1; }));
  EXPECT_TRUE(caught([](Independence& each) { each.sampled = {1000, 500, 100}; }));
  Independence many = many_rows(0, 80000, 70000, 0).result();
  many.require_none("t.csv", true);
  EXPECT_TRUE(many.contradictions(80000).empty());
  for (const Independence::Sampled& other :
       {Independence::Sampled{80001, 4096, 10}, {80000, 4097, 10}, {80000, 4096, 2}, {80000, 9, 10}}) {
    many.sampled = other;
    EXPECT_FALSE(many.contradictions(80000).empty());
  }
  EXPECT_TRUE(caught([](Independence& each) { each.order_checked = false; }));
  EXPECT_TRUE(caught([](Independence& each) { each.of = "rows"; }));
}

// Two tables about the same samples: a finding in either is one of both, and the level is that of one.
TEST(Independence, OfTwoTablesIsTheMoreTelling) {
  const Independence plain = looked_at(drawn(1000, 11, ordinary_row));
  Rows again = drawn(1000, 12, ordinary_row);
  for (std::size_t i = 0; i < 40; ++i) again[500 + i] = again[i];
  const Independence repeats = looked_at(again);
  const Independence dependent = looked_at(chain(1000, 0.9, 1));
  EXPECT_TRUE(together(plain, plain).findings().empty());
  for (const Independence& found : {repeats, dependent}) {
    const Independence first = together(found, plain);
    const Independence second = together(plain, found);
    EXPECT_FALSE(first.findings().empty());
    EXPECT_EQ(first.findings(), second.findings());
    Independence allowed = first;
    allowed.require_none("t.csv", true);
    EXPECT_TRUE(allowed.contradictions(1000).empty());
  }
  EXPECT_EQ(together(repeats, dependent).findings().size(), 2U);
  EXPECT_EQ(together(dependent, plain).serial.statistics,
            dependent.serial.statistics + plain.serial.statistics);
  EXPECT_GT(together(dependent, plain).serial.p_value, dependent.serial.p_value);
}

TEST(Independence, RefusesUnlessAllowed) {
  Independence found = looked_at(chain(1000, 0.9, 1));
  const std::string message = test_support::input_error([&] { found.require_none("t.csv", false); });
  for (const char* part :
       {"t.csv", "more alike", "--group COLUMN", "--sequence", "new samples", "--allow-dependence"})
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  found.require_none("t.csv", true);
  EXPECT_TRUE(found.allowed);
  Certificate certificate;
  certificate.variants.emplace_back();
  EXPECT_EQ(conditioned(certificate, "With confidence."), "With confidence.");
  certificate.variants.front().independence = found;
  EXPECT_EQ(conditioned(certificate, "With confidence."), "If the rows were independent, with confidence.");
  Independence none = looked_at(drawn(1000, 1, ordinary_row));
  none.require_none("t.csv", true);
  EXPECT_FALSE(none.allowed) << "nothing was found";
}

}  // namespace
}  // namespace surefoot::certify
