#pragma once

#include "surefoot/certify/smallest_hashes.hpp"
#include "surefoot/core/types.hpp"

#include <array>
#include <compare>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

struct Certificate;

/// What was looked for in the rows of a table before anything was claimed from them, and what was found.
///
/// Order: two sign tests, exact for independent rows of one distribution, whatever it is (ties, infinities
/// and NaN included). Rows are taken in groups of 24 that follow each other.
///   serial: in a group, rows 2j, 2j + 1 and 16 + j (j = 0 .. 7) are a triple (a, b, c). Swapping b and c
///     changes nothing about the law of independent rows, so |a - b| < |a - c| is as probable as its
///     opposite.
///   drift: rows of the first half of the file against those of the second, and rows of the outer quarters
///     against those of the inner: either of two is as probably the larger one.
/// Triples and pairs have no row in common. Given m comparisons without a tie, those of one sign are
/// Binomial(m, 1/2); p_value is twice its tail, times the number of statistics. Numbers are compared as their
/// binary digits order them (near to a logarithm), infinities and NaN above all; statistics are the columns
/// looked at (8 at most, spread evenly) and, where there are several, their majority.
///
/// Repeats: rows that are equal in the columns looked at. Iteration counts and rounded numbers repeat by
/// nature, so a row is compared only if three different finite numbers of it are not whole and have more than
/// 12 significant digits; three of them that are equal to earlier rows are a finding. (Even if a row were a
/// function of one number of 52 random bits, three coincidences among 2^16 rows have probability 1e-20.) Rows
/// with more than five digits are compared among the first 1,024; more than one in 20 that repeat are a
/// finding. This is a rule and not a test: draws with replacement from a finite set repeat rows as well.
///
/// Sampled: where there are more than 2^16 rows, of all rows of full precision the different ones with the
/// 4,096 smallest hashes. Three of them that stand there more than once are a finding, wherever they stand: a
/// generator that begins again in every process repeats all of its rows, however many it draws. (Were a row a
/// function of one number of 52 random bits, three coincidences in the sample would have probability 1e-7
/// among 10^10 rows. Rows that are drawn from few different ones repeat here too.) It is noted where it is a
/// finding and `exact` is none.
///
/// Recurring: rows of fewer numbers or digits meet by nature (a limit that many runs hit, ticks of a clock),
/// but then either few different rows recur, or few of the different rows do. Looked at are those of the
/// first 1,024 rows with three different numbers of more than four digits, or with one of more than 12 digits
/// that is above the noise of rounding (1e-12) and not a fraction with a denominator up to 10,000, as shares
/// of counts are. If ten different rows or more, and at least one in four, stand there more than once, that
/// is a finding. (Of 1,024 rows that have 2,000 values, all as probable, fewer recur; 40 problems that are
/// drawn again and again recur all.)
///
/// Tables that were counted apart: their rows follow each other, but each table begins a group of its own,
/// and the groups of the drift test are chosen by their numbers in their table.
///
/// A finding is that, or a p_value at or below half of `level`. Levels, limits and the words of findings
/// stand in certificates and are made again when these are verified: they never change; others would be
/// another part.
struct Independence {
  static constexpr double level = 1e-6;  ///< false alarms of both tests of a table together
  static constexpr double level_each = level / 2;
  static constexpr Index group = 24;

  /// Rows that repeat earlier ones.
  struct Repeats {
    Index compared = 0;    ///< rows looked at: the first ones
    Index comparable = 0;  ///< of those, rows that say enough to be compared
    Index repeated = 0;    ///< of those, rows that are equal to an earlier one

    bool operator==(const Repeats&) const = default;
  };
  static constexpr Index exact_limit = Index{1} << 16;
  static constexpr Index rounded_limit = Index{1} << 10;

  /// Different rows that stand in the table more than once.
  struct Recurring {
    Index compared = 0;   ///< rows looked at: the first ones
    Index different = 0;  ///< rows that say something, equal ones counted once
    Index recurring = 0;  ///< of those, rows that are there more than once

    bool operator==(const Recurring&) const = default;
  };

  /// Different rows of a sample of them that stand in the table more than once.
  struct Sampled {
    Index compared = 0;   ///< rows looked at: all
    Index different = 0;  ///< rows of the sample, equal ones counted once
    Index repeated = 0;   ///< of those, rows that are there more than once

    bool operator==(const Sampled&) const = default;
  };

  /// The most telling statistic of a kind.
  struct SignTest {
    Index statistics = 0;  ///< of which this is the most telling
    std::string about;     ///< "step 10", "most columns"; drift: and what was compared
    Index more = 0;        ///< comparisons with b nearer than c; with the larger value later, or outside
    Index less = 0;        ///< the opposite
    double p_value = 1;

    bool operator==(const SignTest&) const = default;
  };

  static constexpr const char* of_groups = "groups";
  static constexpr const char* of_tables = "tables";
  /// What rows are: "table", "groups" of it, "tables" that were counted apart, "problem data" of our own
  /// runs.
  std::string of = "table";
  bool order_checked = false;      ///< false: fewer than a group of rows, or their order is not known
  Repeats exact;                   ///< among rows of full precision
  Repeats rounded;                 ///< among rows of more than five digits
  Recurring recurring;             ///< among rows that say less
  std::optional<Sampled> sampled;  ///< where it is a finding
  SignTest serial;
  SignTest drift;
  bool allowed = false;  ///< certified in spite of findings: claims hold if the rows were independent

  /// In words, from the numbers above; empty: nothing was found.
  [[nodiscard]] std::vector<std::string> findings() const;
  /// Accepts findings, or throws InputError that names them and says what to do.
  void require_none(const std::string& table, bool allow);

  /// What contradicts itself, or cannot be of so many rows.
  [[nodiscard]] std::vector<std::string> contradictions(Index rows) const;

  bool operator==(const Independence&) const = default;
};

/// What two tables show of the same samples (initial states and disturbances of rollouts): the more telling
/// of each. Their sign tests pay for each other: statistics are those of both.
Independence together(const Independence& a, const Independence& b);

/// p_value of Independence from its counts.
double sign_test_p_value(const Independence::SignTest& test);

/// Whether claims of the certificate are conditional: some variant was certified in spite of findings.
bool if_independent(const Certificate& certificate);
/// "if the rows were independent", or "if these problems were drawn at random from those you will meet",
/// where claims are conditional; otherwise empty.
std::string_view condition_of(const Certificate& certificate);
/// The sentence with the condition before it, where there is one.
std::string conditioned(const Certificate& certificate, const std::string& sentence);
/// How the table of each variant was read, and what was looked for and found in its rows.
std::vector<std::string> notes_on_rows(const Certificate& certificate);

/// Collects what Independence needs, in one pass and in bounded memory. Rows may come in any order and in any
/// number of collectors that are merged: the result is a function of the rows and their numbers alone.
class DependenceCheck {
 public:
  /// Of rows with a number for each of these steps, or of whatever numbers are; empty: of one scalar.
  explicit DependenceCheck(std::vector<Index> steps, std::string number_is = "step");

  /// Row `row` of the table, from 0; every row once.
  void add(Index row, const double* values);
  void merge(const DependenceCheck& other);
  [[nodiscard]] Index rows() const { return rows_; }

  /// Everything as bytes, for checkpoints and other processes.
  [[nodiscard]] std::string state() const;
  static DependenceCheck from_state(std::vector<Index> steps, std::string_view bytes);

  /// What was collected of tables that were counted apart, each with rows from 0 on, in this order; of one
  /// table its own.
  static DependenceCheck of_tables(const std::vector<const DependenceCheck*>& tables);
  /// Forgets what no order of tables can need: groups beyond those that all tables together keep, and rows
  /// that repeats are not looked for in because as many are in the tables before.
  static void prune(const std::vector<DependenceCheck*>& tables);

  /// Of rows 0 .. rows() - 1.
  [[nodiscard]] Independence result() const;

 private:
  static constexpr std::size_t most_columns = 8;
  static constexpr std::size_t groups_kept = 256;  ///< for drift; every 2^k-th where there are more
  struct Count {
    Index more = 0;
    Index less = 0;
  };
  struct Group {
    std::uint32_t filled = 0;          ///< a bit for each row that is there
    std::vector<std::int64_t> places;  ///< row-major: places of its numbers in the order of all numbers
  };
  struct RowHash {
    Index row = 0;
    std::uint64_t hash = 0;
    auto operator<=>(const RowHash&) const = default;
  };
  using RowHashes = std::vector<RowHash>;

  void add_to_group(Index row, const std::int64_t* places);
  void open(Index number);
  void complete();
  void compare_neighbours(const Group& group);
  void thin();
  void close();
  [[nodiscard]] std::string statistic(std::size_t index) const;
  [[nodiscard]] std::vector<const std::int64_t*> rows_for_drift() const;
  [[nodiscard]] Independence::SignTest serial() const;
  [[nodiscard]] Independence::SignTest drift() const;

  std::vector<Index> steps_;
  std::string number_is_;
  std::vector<std::size_t> columns_;  ///< looked at
  Index rows_ = 0;
  std::vector<Count> counts_;      ///< of serial: by column, then of the majority
  std::map<Index, Group> groups_;  ///< by number: those not complete, and those kept
  Index open_number_ = -1;         ///< of the group that rows are being added to; -1: none
  Group open_;
  std::size_t complete_kept_ = 0;
  Index stride_ = 1;     ///< complete groups kept are multiples of it
  bool tables_ = false;  ///< of_tables(), and whether one of them has a whole group
  bool order_ = false;
  RowHashes exact_hashes_;
  RowHashes rounded_hashes_;
  RowHashes recurring_hashes_;
  SmallestHashes sample_;  ///< of all rows of full precision
};

}  // namespace surefoot::certify
