#include "surefoot/certify/part_tally.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/counted_rows.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/io/sealed_bytes.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace surefoot::certify {
namespace {

using test_support::input_error;

const std::vector<Index> part_steps{1, 2, 3, 4};

/// A trace, the same for the same row of the same source.
std::vector<double> part_row(std::uint64_t source, Index row) {
  RandomStream random(source, "rows that are counted in parts", static_cast<std::uint64_t>(row));
  std::vector<double> values;
  const double scale = std::exp(random.normal());
  const double rate = random.uniform(0.1, 0.5);
  for (const Index step : part_steps) values.push_back(scale * std::pow(rate, static_cast<double>(step)));
  return values;
}

Options part_options() {
  Options options;
  options.choose = Choice::both;
  options.tolerances = {0.01, 0.1};
  options.metric = "residual";
  return resolved(options, {part_steps});
}

struct PartRows {
  std::uint64_t source = 1;
  Index first = 0;
  Index count = 0;
};

PartTally part_of_rows(const Options& options, const PartRows& rows, RowSource source) {
  const runs::TallySpec spec = tally_spec(options, part_steps);
  runs::Tally tally(spec);
  DependenceCheck check(spec.steps);
  for (Index row = rows.first; row < rows.first + rows.count; ++row) {
    const std::vector<double> values = part_row(rows.source, row);
    tally.add_run(values.data(), row);
    check.add(row, values.data());
  }
  PartTally part(options);
  part.add("solver", std::move(tally), std::move(check), rows.first, std::move(source));
  return part;
}

RowSource whole_file(char digest = 'a') {
  return {std::string(1, digest) + ".csv", std::string(64, digest), {"read"}};
}

/// The same as one table, counted by one process.
Certificate certificate_of_one(const Options& options, const PartRows& rows, const RowSource& source) {
  const runs::TallySpec spec = tally_spec(options, part_steps);
  runs::Tally tally(spec);
  DependenceCheck check(spec.steps);
  for (Index row = 0; row < rows.count; ++row) {
    const std::vector<double> values = part_row(rows.source, row);
    tally.add_run(values.data(), row);
    check.add(row, values.data());
  }
  CountedRows counted;
  counted.add(std::move(tally), check, {source.name, source.sha256, 0, source.reading});
  Variant variant;
  variant.name = "solver";
  counted.describe(variant);
  return certify(options, {{variant, counted.take_tally()}});
}

std::vector<PartTally> parts_of(const Options& options, Index rows, const std::vector<Index>& cuts) {
  std::vector<PartTally> parts;
  for (std::size_t i = 0; i + 1 < cuts.size(); ++i)
    parts.push_back(part_of_rows(options, {1, cuts[i], std::min(rows, cuts[i + 1]) - cuts[i]}, whole_file()));
  return parts;
}

PartTally merged(const std::vector<PartTally>& parts, const std::vector<std::size_t>& order) {
  PartTally all = parts[order.front()];
  for (std::size_t i = 1; i < order.size(); ++i) all.merge(parts[order[i]], "next");
  return all;
}

TEST(PartTally, MergedInAnyOrderIsTheTallyAndTheCertificateOfOneProcess) {
  const Options options = part_options();
  constexpr Index rows = 20000;  // more groups than are kept
  const std::vector<PartTally> parts = parts_of(options, rows, {0, 7, 1000, 1001, 9999, 17777, rows});
  const std::string whole = part_of_rows(options, {1, 0, rows}, whole_file()).bytes();
  RandomStream random(1, "orders of a test", 0);
  std::vector<std::size_t> order{0, 1, 2, 3, 4, 5};
  for (int round = 0; round < 12; ++round) {
    for (std::size_t i = order.size(); i-- > 1;)
      std::swap(order[i], order[static_cast<std::size_t>(random.uniform(0, static_cast<double>(i + 1)))]);
    EXPECT_EQ(merged(parts, order).bytes(), whole);
  }
  // Not only one after the other.
  PartTally left = merged(parts, {4, 0});
  PartTally right = merged(parts, {5, 2, 3});
  right.merge(parts[1], "next");
  left.merge(right, "next");
  EXPECT_EQ(left.bytes(), whole);
  EXPECT_EQ(to_json(left.certificate(false)),
            to_json(certificate_of_one(options, {1, 0, rows}, whole_file())));
}

TEST(PartTally, ComesBackFromItsBytes) {
  const Options options = part_options();
  const PartTally part = part_of_rows(options, {1, 0, 500}, whole_file());
  const PartTally back = PartTally::from_bytes(part.bytes(), "part");
  EXPECT_EQ(back.bytes(), part.bytes());
  EXPECT_EQ(to_json(back.certificate(false)), to_json(part.certificate(false)));
  EXPECT_EQ(back.rows(), std::vector<std::string>{"rows 0 .. 499 of a.csv"});
}

TEST(PartTally, OfSeveralFilesIsOneCertificateWhateverTheOrder) {
  const Options options = part_options();
  std::vector<PartTally> parts;
  const std::vector<Index> sizes{6000, 10, 9000, 700};
  for (std::size_t i = 0; i < sizes.size(); ++i)
    parts.push_back(part_of_rows(options, {10 + i, 0, sizes[i]}, whole_file(static_cast<char>('a' + i))));
  const std::string bytes = merged(parts, {0, 1, 2, 3}).bytes();
  EXPECT_EQ(merged(parts, {3, 2, 1, 0}).bytes(), bytes);
  EXPECT_EQ(merged(parts, {2, 0, 3, 1}).bytes(), bytes);
  const Certificate certificate = PartTally::from_bytes(bytes, "all").certificate(false);
  const std::string text = to_json(certificate);
  EXPECT_TRUE(verify(parse_certificate(text)).holds());
  ASSERT_EQ(certificate.variants.front().appended.size(), 3U);
  EXPECT_EQ(certificate.variants.front().samples, 15710);
  EXPECT_EQ(certificate.variants.front().independence->of, "tables");

  // Counted again from the tables, in their order.
  CountedRows counted(true);
  const runs::TallySpec spec = tally_spec(options, part_steps);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    runs::Tally tally(spec);
    DependenceCheck check(spec.steps);
    for (Index row = 0; row < sizes[i]; ++row) {
      const std::vector<double> values = part_row(10 + i, row);
      tally.add_run(values.data(), row);
      check.add(counted.next_row() + row, values.data());
    }
    const RowSource source = whole_file(static_cast<char>('a' + i));
    counted.add(std::move(tally), check, {source.name, source.sha256, 0, source.reading});
  }
  Verification verification;
  compare_counted(certificate, 0, counted, verification);
  EXPECT_TRUE(verification.holds()) << verification.findings.front();
}

TEST(PartTally, OfSeveralFilesKeepsLittleOfEach) {
  const Options options = part_options();
  PartTally all = part_of_rows(options, {1, 0, 7000}, {"1.csv", std::string(64, 'a'), {"read"}});
  const std::size_t one = all.bytes().size();
  for (std::uint64_t i = 2; i <= 9; ++i)
    all.merge(part_of_rows(options, {i, 0, 7000},
                           {std::to_string(i) + ".csv", std::string(63, 'b') + std::to_string(i), {"read"}}),
              "next");
  // The values of the claims, and nothing else, grow with every file.
  const std::size_t values = tally_spec(options, part_steps).claim_columns.size() * 2 * sizeof(double) * 7000;
  EXPECT_LT(all.bytes().size(), one + 8 * (values + 16 * 7000) + 100000);
  EXPECT_TRUE(verify(parse_certificate(to_json(all.certificate(false)))).holds());
}

TEST(PartTally, RefusesToCountTwiceAndNamesTheRows) {
  const Options options = part_options();
  PartTally all = part_of_rows(options, {1, 0, 100}, whole_file());
  const std::string before = all.bytes();
  EXPECT_EQ(input_error([&] {
              all.merge(part_of_rows(options, {1, 60, 100}, whole_file()), "b.tally");
            }),
            "b.tally: rows 60 .. 99 of a.csv are counted already");
  EXPECT_EQ(input_error([&] { all.merge(all, "a.tally"); }),
            "a.tally: rows 0 .. 99 of a.csv are counted already");
  EXPECT_EQ(input_error([&] {
              all.merge(part_of_rows(options, {1, 99, 1}, whole_file()), "b.tally");
            }),
            "b.tally: row 99 of a.csv are counted already");
  RowSource renamed = whole_file();
  renamed.name = "copy.csv";
  EXPECT_TRUE(test::contains(input_error([&] {
                               all.merge(part_of_rows(options, {1, 0, 10}, renamed), "b.tally");
                             }),
                             "b.tally: rows 0 .. 9 of copy.csv are counted already"));
  EXPECT_EQ(all.bytes(), before);
}

TEST(PartTally, RefusesOtherDeclarationsByName) {
  const Options options = part_options();
  PartTally all = part_of_rows(options, {1, 0, 100}, whole_file());
  const auto refusal = [&](const std::function<void(Options&)>& change) {
    Options other = part_options();
    change(other);
    return input_error([&] {
      all.merge(part_of_rows(resolved(other, {part_steps}), {1, 100, 100}, whole_file()), "b.tally");
    });
  };
  EXPECT_EQ(refusal([](Options& other) {
              other.tolerances = {0.02, 0.1};
            }),
            "b.tally: declares something else than the tallies before it: tolerances is '0.02, 0.1' and not "
            "'0.01, 0.1'");
  EXPECT_TRUE(test::contains(refusal([](Options& other) { other.delta = 0.02; }), "delta is '0.02'"));
  EXPECT_TRUE(test::contains(refusal([](Options& other) { other.steps = {2, 4}; }), "steps is '2, 4'"));
  EXPECT_TRUE(test::contains(refusal([](Options& other) { other.metric = "gap"; }), "metric is 'gap'"));
  EXPECT_TRUE(test::contains(refusal([](Options& other) {
                               other.default_quantiles = false;
                               other.quantiles = {0.5};
                             }),
                             "quantiles is '0.5'"));
  EXPECT_TRUE(
      test::contains(refusal([](Options& other) { other.kind_delta["success"] = 1e-3; }), "success 0.001"));
  EXPECT_TRUE(test::contains(refusal([](Options& other) { other.shift = bounds::parse_shift("kl:0.1"); }),
                             "shift is 'kl:0.1' and not 'none'"));
  EXPECT_TRUE(
      test::contains(refusal([](Options& other) { other.budget_method = bounds::BudgetMethod::every_step; }),
                     "budget method"));
}

TEST(PartTally, RefusesWhatItDoesNotKnow) {
  const Options options = part_options();
  RowSource unknown = whole_file();
  unknown.known = false;
  PartTally all = part_of_rows(options, {1, 0, 100}, unknown);
  EXPECT_TRUE(verify(parse_certificate(to_json(all.certificate(false)))).holds());
  EXPECT_TRUE(
      test::contains(input_error([&] {
                       all.merge(part_of_rows(options, {1, 100, 10}, whole_file()), "b.tally");
                     }),
                     "b.tally: does not say which samples were counted, nor do the tallies before it"));
  // Named sources have no digest that a certificate of several could show.
  PartTally named = part_of_rows(options, {1, 0, 100}, {"seeds", ""});
  named.merge(part_of_rows(options, {2, 0, 100}, {"other seeds", ""}), "b.tally");
  EXPECT_TRUE(
      test::contains(input_error([&] { (void)named.certificate(false); }), "known by its name alone"));
}

TEST(PartTally, RefusesGapsInItsRows) {
  const Options options = part_options();
  PartTally all = part_of_rows(options, {1, 100, 100}, whole_file());
  EXPECT_EQ(input_error([&] { (void)all.certificate(false); }), "rows 0 .. 99 of a.csv are not counted");
  all.merge(part_of_rows(options, {1, 0, 99}, whole_file()), "b.tally");
  EXPECT_EQ(input_error([&] { (void)all.certificate(false); }), "row 99 of a.csv are not counted");
  all.merge(part_of_rows(options, {1, 99, 1}, whole_file()), "c.tally");
  EXPECT_EQ(all.certificate(false).variants.front().samples, 200);
}

TEST(PartTally, SeesAGeneratorThatRepeatsItself) {
  const Options options = part_options();
  // A generator that begins again in every process, and says other rows.
  const auto again = [&](Index first) {
    const runs::TallySpec spec = tally_spec(options, part_steps);
    runs::Tally tally(spec);
    DependenceCheck check(spec.steps);
    for (Index row = 0; row < 300; ++row) {
      const std::vector<double> values = part_row(1, row);
      tally.add_run(values.data(), first + row);
      check.add(first + row, values.data());
    }
    PartTally part(options);
    part.add("solver", std::move(tally), std::move(check), first, {"seeds", ""});
    return part;
  };
  PartTally all = again(0);
  EXPECT_NO_THROW((void)all.certificate(false));
  all.merge(again(300), "b.tally");
  EXPECT_TRUE(
      test::contains(input_error([&] { (void)all.certificate(false); }),
                     "seeds: the rows of the table are not independent samples: 300 of 600 rows repeat"));
  // The same in files of their own.
  PartTally files = part_of_rows(options, {1, 0, 300}, whole_file('a'));
  files.merge(part_of_rows(options, {1, 0, 300}, whole_file('b')), "b.tally");
  EXPECT_TRUE(test::contains(input_error([&] { (void)files.certificate(false); }),
                             "the rows of the tables are not independent samples: 300 of 600 rows repeat"));
}

// However many rows come before the second part.
TEST(PartTally, SeesAGeneratorOfManyRowsThatRepeatsItself) {
  Options options;
  options.kinds = {"success"};
  options.tolerances = {0.1};
  options = resolved(options, {part_steps});
  constexpr Index rows = 100000;
  PartTally one = part_of_rows(options, {1, 0, rows}, whole_file('a'));
  PartTally two = part_of_rows(options, {1, 0, rows}, whole_file('b'));
  PartTally all = one;
  all.merge(two, "b.tally");
  two.merge(one, "a.tally");
  EXPECT_EQ(all.bytes(), two.bytes());
  const std::string refused = input_error([&] { (void)all.certificate(false); });
  EXPECT_TRUE(test::contains(refused, "4096 of 4096 different rows, a sample from all 200000, stand there"));
  // Allowed, it says so and verifies.
  const Certificate allowed = all.certificate(true);
  EXPECT_TRUE(verify(parse_certificate(to_json(allowed))).holds());
  EXPECT_TRUE(allowed.variants.front().independence->sampled.has_value());
  one.merge(part_of_rows(options, {2, 0, rows}, whole_file('b')), "b.tally");
  EXPECT_NO_THROW((void)one.certificate(false)) << "honest rows";
}

TEST(PartTally, RefusesDamagedBytesAndOtherVersions) {
  const Options options = part_options();
  const std::string bytes = part_of_rows(options, {1, 0, 60}, whole_file()).bytes();
  for (std::size_t i = 0; i < bytes.size(); i += 7) {
    std::string changed = bytes;
    changed[i] = static_cast<char>(changed[i] ^ 4);
    EXPECT_TRUE(test::contains(input_error([&] { (void)PartTally::from_bytes(changed, "x"); }), "x: is "))
        << i;
    EXPECT_TRUE(
        test::contains(input_error([&] { (void)PartTally::from_bytes(bytes.substr(0, i), "x"); }), "x: is "));
  }
  const std::string heading = "surefoot tally 2\n";
  const std::string body(io::sealed_body(bytes, heading, "x"));
  const std::string other = io::sealed_bytes(heading, [&](ByteWriter& to) {
    to.text("0.0.1");
    to.bytes(body.substr(sizeof(Index) + std::string(version).size()));
  });
  EXPECT_TRUE(test::contains(input_error([&] { (void)PartTally::from_bytes(other, "x"); }),
                             "x: was counted by version 0.0.1, and this is"));
  EXPECT_TRUE(
      test::contains(input_error([&] { (void)PartTally::from_bytes("1,2\n", "x"); }), "x: is not a tally"));
}

// With a digest that fits, whoever changes bytes must still leave counts that runs can have.
TEST(PartTally, ReadsNothingElseUnderAFittingDigest) {
  const Options options = part_options();
  const std::string bytes = part_of_rows(options, {1, 0, 30}, whole_file()).bytes();
  const std::string heading = "surefoot tally 2\n";
  const std::string body(io::sealed_body(bytes, heading, "x"));
  int refused = 0;
  for (std::size_t i = 0; i < body.size(); ++i) {
    std::string changed = body;
    changed[i] = static_cast<char>(changed[i] ^ 0x81);
    const std::string sealed = io::sealed_bytes(heading, [&](ByteWriter& to) { to.bytes(changed); });
    try {
      PartTally read = PartTally::from_bytes(sealed, "x");
      EXPECT_EQ(PartTally::from_bytes(read.bytes(), "x").bytes(), read.bytes());
      (void)read.certificate(true);
    } catch (const InputError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, static_cast<int>(body.size() / 4));
}

// Rows are places in groups: one below 0 was written outside of them.
TEST(PartTally, RowsOutsideWhatIsCountedAreRefused) {
  const Options options = part_options();
  const std::vector<double> values = part_row(1, 0);
  TableView view;
  view.data = reinterpret_cast<const std::byte*>(values.data());
  view.rows = 1;
  view.columns = static_cast<Index>(values.size());
  view.column_bytes = sizeof(double);
  view.row_bytes = view.columns * view.column_bytes;
  for (const Index first : {Index{-5}, Index{-1}, most_counted, most_counted + 1,
                            std::numeric_limits<Index>::max() - 7, std::numeric_limits<Index>::min()}) {
    DependenceCheck check(part_steps);
    EXPECT_INPUT_ERROR((void)count_view_from(first, view, tally_spec(options, part_steps), nullptr, &check),
                       "first_row: rows ")
        << first;
    if (first != most_counted) {
      EXPECT_INPUT_ERROR(check.add(first, values.data()), "is outside 0 .. ") << first;
    }
    PartTally part(options);
    runs::Tally tally(tally_spec(options, part_steps));
    tally.add_run(values.data(), 0);
    EXPECT_INPUT_ERROR(part.add("solver", std::move(tally), std::move(check), first, whole_file()),
                       "first_row: rows ")
        << first;
  }
}

}  // namespace
}  // namespace surefoot::certify
