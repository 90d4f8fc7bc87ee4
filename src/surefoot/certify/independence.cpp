#include "surefoot/certify/independence.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/certify/certificate.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

namespace surefoot::certify {

namespace {

constexpr Index triples_of_group = Independence::group / 3;
constexpr std::uint32_t all_rows = (1U << static_cast<unsigned>(Independence::group)) - 1;

// Where a number stands among all numbers: increasing, neighbours one apart. Failures stand above all.
std::int64_t place_of(double value) {
  if (!(value < infinity)) return std::numeric_limits<std::int64_t>::max();
  const auto bits = std::bit_cast<std::int64_t>(value);
  return bits < 0 ? std::numeric_limits<std::int64_t>::min() - bits : bits;
}

std::uint64_t distance(std::int64_t a, std::int64_t b) {
  const auto [low, high] = std::minmax(a, b);
  return static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
}

// 10^exponent, exponent -350 .. 350.
double power_of_ten(int exponent) {
  static const std::vector<double> powers = [] {
    std::vector<double> table;
    for (int e = -350; e <= 350; ++e) table.push_back(std::pow(10.0, e));
    return table;
  }();
  return powers.at(static_cast<std::size_t>(exponent + 350));
}

// Whether a number is not whole and has more significant digits than so many, or one more if its leading ones
// are small.
bool has_more_digits(double value, int digits) {
  constexpr double smallest = 1e-300;
  constexpr double largest = 1e15;
  constexpr double rounding = 2e-15;  // of the product below, relative
  constexpr double digits_per_bit = 0.30102999566398120;
  const double size = std::abs(value);
  if (!(size > smallest && size < largest) || size == std::floor(size)) return false;
  const auto exponent = static_cast<int>(std::bit_cast<std::uint64_t>(size) >> 52U) - 1023;
  const double scaled =
      size * power_of_ten(digits - 1 - static_cast<int>(std::floor(exponent * digits_per_bit)));
  return std::abs(scaled - std::nearbyint(scaled)) > rounding * scaled;
}

// Whether three different numbers of a row have more digits than so many: another row with the same numbers
// is then the same problem again.
bool is_comparable(const double* values, const std::vector<std::size_t>& columns, int digits) {
  constexpr std::size_t enough = 3;
  std::array<double, enough> found{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < columns.size() && count + columns.size() - i >= enough; ++i) {
    const double value = values[columns[i]];
    const bool known = std::find(found.begin(), found.begin() + count, value) != found.begin() + count;
    if (known || !has_more_digits(value, digits)) continue;
    found[count++] = value;
    if (count == enough) return true;
  }
  return false;
}

// Whether a number is a fraction with a denominator up to 10,000, by its continued fraction.
bool is_simple_fraction(double value) {
  constexpr double largest_denominator = 1e4;
  constexpr double rounding = 4e-16;  // of a quotient, relative
  const double size = std::abs(value);
  double rest = size;
  double before = 0;
  double denominator = 1;
  while (denominator <= largest_denominator) {
    const double numerator = std::nearbyint(size * denominator);
    if (std::abs(numerator / denominator - size) <= rounding * size) return true;
    rest = 1 / (rest - std::floor(rest));
    if (!(rest < largest_denominator)) return false;
    before = std::exchange(denominator, std::floor(rest) * denominator + before);
  }
  return false;
}

// Whether a row that recurs says something: Independence::recurring.
bool may_recur(const double* values, const std::vector<std::size_t>& columns) {
  constexpr int full = 12;
  constexpr int few = 4;
  constexpr double noise = 1e-12;
  const auto telling = [&](std::size_t column) {
    const double value = values[column];
    return std::abs(value) > noise && has_more_digits(value, full) && !is_simple_fraction(value);
  };
  return is_comparable(values, columns, few) || std::ranges::any_of(columns, telling);
}

std::uint64_t hash_of(const std::int64_t* places, std::size_t columns) {
  std::uint64_t hash = 0x9E3779B97F4A7C15;
  for (std::size_t i = 0; i < columns; ++i) {
    hash = (hash ^ static_cast<std::uint64_t>(places[i])) * 0xD6E8FEB86659FD93;
    hash ^= hash >> 32U;
  }
  return hash;
}

Independence::Repeats repeats_of(std::vector<std::uint64_t> hashes, Index rows, Index limit) {
  Independence::Repeats found;
  found.compared = std::min(rows, limit);
  found.comparable = static_cast<Index>(hashes.size());
  std::sort(hashes.begin(), hashes.end());
  const auto end = std::unique(hashes.begin(), hashes.end());
  found.repeated = found.comparable - static_cast<Index>(end - hashes.begin());
  return found;
}

Independence::Recurring recurring_of(std::vector<std::uint64_t> hashes, Index rows) {
  Independence::Recurring found;
  found.compared = std::min(rows, Independence::rounded_limit);
  std::sort(hashes.begin(), hashes.end());
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    const bool again = i > 0 && hashes[i] == hashes[i - 1];
    const bool third = again && i > 1 && hashes[i] == hashes[i - 2];
    found.different += again ? 0 : 1;
    found.recurring += again && !third ? 1 : 0;
  }
  return found;
}

constexpr Index coincidences = 3;  // fewer repeats are none

bool too_many(const Independence::Repeats& exact) {
  return exact.repeated >= coincidences;
}

bool too_many(const Independence::Sampled& sampled) {
  return sampled.repeated >= coincidences;
}

bool too_many_rounded(const Independence::Repeats& rounded) {
  constexpr Index one_in = 20;
  return rounded.repeated >= coincidences && rounded.repeated * one_in > rounded.comparable;
}

bool too_many_recur(const Independence::Recurring& rows) {
  constexpr Index fewest = 10;
  constexpr Index one_in = 4;
  return rows.recurring >= fewest && rows.recurring * one_in >= rows.different;
}

// Keeps the statistic with the smaller p-value.
void keep_stronger(Independence::SignTest& best, Independence::SignTest candidate) {
  candidate.p_value = sign_test_p_value(candidate);
  if (best.about.empty() || candidate.p_value < best.p_value) best = std::move(candidate);
}

std::string p_label(double p) {
  return fmt::format("p = {}", upper_bound_value(p));
}

}  // namespace

double sign_test_p_value(const Independence::SignTest& test) {
  const Index comparisons = test.more + test.less;
  if (comparisons == 0) return 1.0;
  const double tail = bounds::binomial_tail_upper(std::max(test.more, test.less), comparisons, 0.5);
  return std::min(1.0, 2.0 * static_cast<double>(test.statistics) * tail);
}

Independence together(const Independence& a, const Independence& b) {
  Independence both = a;
  const auto more_repeated = [](const auto& one, const auto& other, const auto& finding) {
    if (finding(one) != finding(other)) return finding(one) ? one : other;
    return one.repeated >= other.repeated ? one : other;
  };
  both.exact = more_repeated(a.exact, b.exact, [](const auto& each) { return too_many(each); });
  both.rounded = more_repeated(a.rounded, b.rounded, too_many_rounded);
  const bool b_recurs = too_many_recur(b.recurring);
  if (b_recurs != too_many_recur(a.recurring) ? b_recurs : b.recurring.recurring > a.recurring.recurring)
    both.recurring = b.recurring;
  if (!both.sampled) both.sampled = b.sampled;
  if (too_many(both.exact)) both.sampled.reset();
  const auto stronger = [](Independence::SignTest one, Independence::SignTest other) {
    one.statistics = other.statistics = one.statistics + other.statistics;
    Independence::SignTest best;
    keep_stronger(best, std::move(one));
    keep_stronger(best, std::move(other));
    return best;
  };
  both.serial = stronger(a.serial, b.serial);
  both.drift = stronger(a.drift, b.drift);
  both.allowed = false;
  return both;
}

std::vector<std::string> Independence::findings() const {
  std::vector<std::string> found;
  const std::string row = of == of_groups ? "group" : "row";
  if (too_many(exact) || too_many_rounded(rounded)) {
    const Repeats& repeats = too_many(exact) ? exact : rounded;
    found.push_back(fmt::format("{} of {} {}s repeat an earlier {} to the last digit", repeats.repeated,
                                repeats.comparable, row, row));
  } else if (too_many_recur(recurring)) {
    found.push_back(fmt::format("{} of {} different {}s stand there more than once, to the last digit",
                                recurring.recurring, recurring.different, row));
  }
  if (sampled) {
    found.push_back(fmt::format(
        "{} of {} different {}s, a sample from all {}, stand there more than once, to the last digit",
        sampled->repeated, sampled->different, row, sampled->compared));
  }
  if (serial.p_value <= level_each) {
    found.push_back(
        fmt::format("{}s that follow each other are {} alike than {}s further apart ({}: {} of "
                    "{} comparisons, {})",
                    row, serial.more > serial.less ? "more" : "less", row, serial.about,
                    std::max(serial.more, serial.less), serial.more + serial.less, p_label(serial.p_value)));
  }
  if (drift.p_value <= level_each) {
    found.push_back(fmt::format("values drift along the {}s ({}: {} of {} comparisons, {})", row, drift.about,
                                std::max(drift.more, drift.less), drift.more + drift.less,
                                p_label(drift.p_value)));
  }
  return found;
}

void Independence::require_none(const std::string& table, bool allow) {
  const std::vector<std::string> found = findings();
  allowed = allow && !found.empty();
  require(
      of != of_groups || found.empty() || allow,
      "{}: the groups are not independent samples: {}. If groups belong together (flights of one day), let a column "
      "name what is independent; if they were sorted, give them in the order in which they were drawn; otherwise "
      "record new ones. --allow-dependence (in Python allow_dependence=True) certifies all the same, and every "
      "sentence then begins with \"if the groups were independent\"",
      table, fmt::join(found, "; "));
  require(
      found.empty() || allow,
      "{}: the rows of the {} are not independent samples: {}. If rows belong to groups (ticks of a "
      "trajectory, repeated runs of a problem), name the group of each row (--group COLUMN, in Python groups=); if they were "
      "recorded one after the other in one log, --sequence (sequence=True) speaks of its past; if they were sorted, give them in "
      "the order in which they were drawn; otherwise draw new samples. --allow-dependence (in Python "
      "allow_dependence=True) certifies all the same, and every sentence then begins with \"if the "
      "rows were independent\"",
      table, of, fmt::join(found, "; "));
}

std::vector<std::string> Independence::contradictions(Index rows) const {
  std::vector<std::string> found;
  const auto expect = [&](bool condition, std::string text) {
    if (!condition) found.push_back("independence: " + std::move(text));
  };
  expect(of == "table" || of == "problem data" || of == of_groups || of == of_tables,
         fmt::format("rows of '{}'", of));
  // Small tables may have no group among them, however many they are.
  const bool small_tables =
      of == of_tables && !order_checked && serial.more + serial.less == 0 && drift.more + drift.less == 0;
  expect(small_tables || order_checked == (rows >= group),
         fmt::format("whether the order of {} rows is checked", rows));
  for (const auto& [repeats, limit] : {std::pair(exact, exact_limit), std::pair(rounded, rounded_limit)}) {
    expect(repeats.compared == std::min(rows, limit) && 0 <= repeats.repeated &&
               repeats.repeated <= std::max<Index>(0, repeats.comparable - 1) &&
               repeats.comparable <= repeats.compared,
           fmt::format("{} of {} of {} rows repeat", repeats.repeated, repeats.comparable, repeats.compared));
  }
  expect(recurring.compared == std::min(rows, rounded_limit) && 0 <= recurring.recurring &&
             recurring.recurring <= recurring.different &&
             recurring.different <= recurring.compared - recurring.recurring,
         fmt::format("{} of {} different rows of {} recur", recurring.recurring, recurring.different,
                     recurring.compared));
  if (sampled) {
    expect(sampled->compared == rows && rows > exact_limit && too_many(*sampled) && !too_many(exact) &&
               sampled->repeated <= sampled->different &&
               sampled->different <= static_cast<Index>(SmallestHashes::most),
           fmt::format("{} of {} different rows, a sample from {}, repeat", sampled->repeated,
                       sampled->different, sampled->compared));
  }
  const Index serial_most = rows / group * triples_of_group;
  for (const SignTest* test : {&serial, &drift}) {
    const Index most = test == &serial ? serial_most : rows / 2;
    const bool counts =
        test->more >= 0 && test->less >= 0 && test->more <= most && test->less <= most - test->more;
    expect(counts && test->statistics >= 1, fmt::format("{} and {} comparisons of {} rows, {} statistics",
                                                        test->more, test->less, rows, test->statistics));
    if (!counts) continue;
    constexpr double rounding = 1e-9;  // of another machine's logarithms
    const double p_value = sign_test_p_value(*test);
    expect(std::abs(test->p_value - p_value) <= rounding * p_value,
           fmt::format("{} and {} comparisons give p = {}, not {}", test->more, test->less, p_value,
                       test->p_value));
  }
  expect(allowed == !findings().empty(),
         allowed ? "dependence is allowed where none was found" : "dependence was found and not allowed");
  return found;
}

namespace {

// Lines at the beginning that are the same for all variants of a table of text; 0 where there is one variant.
std::size_t shared_lines_of_reading(const Certificate& certificate) {
  const std::vector<Variant>& variants = certificate.variants;
  if (variants.size() < 2 ||
      !std::ranges::all_of(variants, [](const Variant& each) { return each.selection.has_value(); }))
    return 0;
  std::size_t shared = variants.front().reading.size();
  for (const Variant& variant : variants) {
    const auto [first, other] = std::ranges::mismatch(variants.front().reading, variant.reading);
    shared = std::min(shared, static_cast<std::size_t>(first - variants.front().reading.begin()));
  }
  return shared;
}

}  // namespace

bool if_independent(const Certificate& certificate) {
  return std::ranges::any_of(certificate.variants, [](const Variant& variant) {
    return variant.independence && variant.independence->allowed;
  });
}

std::string_view condition_of(const Certificate& certificate) {
  if (!names_problems(certificate)) {
    if (!if_independent(certificate)) return "";
    return sampling_of(certificate) == Sampling::groups ? "if the groups were independent"
                                                        : "if the rows were independent";
  }
  return if_independent(certificate)
             ? "if the rows were independent and these problems drawn at random from those you will meet"
             : "if these problems were drawn at random from those you will meet";
}

std::string conditioned(const Certificate& certificate, const std::string& sentence) {
  std::string condition(condition_of(certificate));
  if (condition.empty() || sentence.empty()) return sentence;
  std::string rest = sentence;
  const bool begins = std::isupper(static_cast<unsigned char>(rest.front())) != 0;
  rest.front() = static_cast<char>(std::tolower(static_cast<unsigned char>(rest.front())));
  if (begins) condition.front() = 'I';
  return condition + ", " + rest;
}

std::vector<std::string> notes_on_rows(const Certificate& certificate) {
  std::vector<std::string> notes;
  const std::size_t shared = shared_lines_of_reading(certificate);
  if (shared > 0) {
    const std::vector<std::string>& lines = certificate.variants.front().reading;
    notes.push_back(
        fmt::format("Table of all variants: {}.",
                    fmt::join(lines.begin(), lines.begin() + static_cast<std::ptrdiff_t>(shared), "; ")));
  }
  for (const Variant& variant : certificate.variants) {
    const std::vector<std::string> own(variant.reading.begin() + static_cast<std::ptrdiff_t>(shared),
                                       variant.reading.end());
    if (!own.empty()) notes.push_back(fmt::format("Table of {}: {}.", variant.name, fmt::join(own, "; ")));
    if (!variant.independence) continue;
    const Independence& checks = *variant.independence;
    const std::vector<std::string> found = checks.findings();
    const std::string rows = variant.groups ? "groups" : "rows";
    std::string text = fmt::format("{} of {}: ", variant.groups ? "Groups" : "Rows", variant.name);
    if (found.empty()) {
      text += "no sign of dependence was found";
    } else {
      text += fmt::format("not independent samples: {}", fmt::join(found, "; "));
    }
    text += fmt::format(" (false alarms: at most {:g})", Independence::level);
    if (!checks.order_checked) text += "; order not checked";
    const Independence::Repeats& repeats = checks.exact.comparable > 0 ? checks.exact : checks.rounded;
    if (repeats.comparable == 0 && checks.recurring.different == 0) {
      text += fmt::format("; repeats not checked: {} have too few digits", rows);
    } else if (repeats.comparable == 0) {
      text += fmt::format("; {} have few digits: only many repeats among the first {} would be seen", rows,
                          checks.recurring.compared);
    } else if (repeats.compared < variant.samples) {
      text += fmt::format("; repeats checked among the first {} {}", repeats.compared, rows);
    }
    notes.push_back(text + ".");
  }
  return notes;
}

DependenceCheck::DependenceCheck(std::vector<Index> steps, std::string number_is)
    : steps_(std::move(steps)), number_is_(std::move(number_is)) {
  const std::size_t looked_at = std::min(steps_.size(), most_columns);
  for (std::size_t i = 0; i < looked_at; ++i)
    columns_.push_back(looked_at == 1 ? 0 : i * (steps_.size() - 1) / (looked_at - 1));
  counts_.resize(looked_at > 1 ? looked_at + 1 : looked_at);
}

void DependenceCheck::add(Index row, const double* values) {
  constexpr int full = 12;
  constexpr int few = 5;
  require(row >= 0 && row <= most_counted, "rows: number {} is outside 0 .. {}", row, most_counted);
  std::array<std::int64_t, most_columns> places{};
  for (std::size_t i = 0; i < columns_.size(); ++i) places[i] = place_of(values[columns_[i]]);
  add_to_group(row, places.data());
  ++rows_;
  if (is_comparable(values, columns_, full)) {
    const std::uint64_t hash = hash_of(places.data(), columns_.size());
    if (row < Independence::exact_limit) exact_hashes_.push_back({row, hash});
    sample_.add(hash);
  }
  if (row < Independence::rounded_limit && is_comparable(values, columns_, few))
    rounded_hashes_.push_back({row, hash_of(places.data(), columns_.size())});
  if (row < Independence::rounded_limit && may_recur(values, columns_))
    recurring_hashes_.push_back({row, hash_of(places.data(), columns_.size())});
}

void DependenceCheck::add_to_group(Index row, const std::int64_t* places) {
  const auto within = static_cast<std::size_t>(row % Independence::group);
  if (row / Independence::group != open_number_) open(row / Independence::group);
  std::copy_n(places, columns_.size(), &open_.places[within * columns_.size()]);
  open_.filled |= 1U << within;
  if (open_.filled == all_rows) complete();
}

void DependenceCheck::open(Index number) {
  close();
  open_number_ = number;
  // Nothing is left of the group before: states have the same bytes whatever was added in which order.
  if (auto known = groups_.extract(number))
    open_ = std::move(known.mapped());
  else
    open_.places.assign(static_cast<std::size_t>(Independence::group) * columns_.size(), 0);
}

void DependenceCheck::close() {
  if (open_.filled != 0) groups_.emplace(open_number_, std::exchange(open_, {}));
  open_number_ = -1;
}

void DependenceCheck::complete() {
  compare_neighbours(open_);
  if (open_number_ % stride_ == 0) {
    close();
    ++complete_kept_;
    while (complete_kept_ > groups_kept) thin();
  }
  open_.filled = 0;
  open_number_ = -1;
}

void DependenceCheck::compare_neighbours(const Group& group) {
  const std::size_t columns = columns_.size();
  for (Index j = 0; j < triples_of_group; ++j) {
    const std::int64_t* a = &group.places[static_cast<std::size_t>(2 * j) * columns];
    const std::int64_t* b = a + columns;
    const std::int64_t* c = &group.places[static_cast<std::size_t>(2 * triples_of_group + j) * columns];
    int votes = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      const std::uint64_t near = distance(a[i], b[i]);
      const std::uint64_t far = distance(a[i], c[i]);
      const int vote = static_cast<int>(near < far) - static_cast<int>(near > far);
      counts_[i].more += static_cast<Index>(vote > 0);
      counts_[i].less += static_cast<Index>(vote < 0);
      votes += vote;
    }
    if (columns < 2) continue;
    counts_[columns].more += static_cast<Index>(votes > 0);
    counts_[columns].less += static_cast<Index>(votes < 0);
  }
}

void DependenceCheck::thin() {
  stride_ *= 2;
  complete_kept_ = 0;
  std::erase_if(groups_, [&](const auto& entry) {
    if (entry.second.filled != all_rows) return false;
    if (entry.first % stride_ != 0) return true;
    ++complete_kept_;
    return false;
  });
}

void DependenceCheck::merge(const DependenceCheck& other) {
  rows_ += other.rows_;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    counts_[i].more += other.counts_[i].more;
    counts_[i].less += other.counts_[i].less;
  }
  const auto append = [](auto& to, const auto& more) { to.insert(to.end(), more.begin(), more.end()); };
  append(exact_hashes_, other.exact_hashes_);
  append(rounded_hashes_, other.rounded_hashes_);
  append(recurring_hashes_, other.recurring_hashes_);
  sample_.merge(other.sample_);
  while (stride_ < other.stride_) thin();
  std::map<Index, Group> their_groups = other.groups_;
  if (other.open_.filled != 0) their_groups.emplace(other.open_number_, other.open_);
  for (const auto& [number, theirs] : their_groups) {
    if (theirs.filled == all_rows) {  // compared there
      if (number % stride_ != 0) continue;
      groups_.insert_or_assign(number, theirs);
      ++complete_kept_;
      continue;
    }
    for (Index row = 0; row < Independence::group; ++row) {
      if ((theirs.filled >> static_cast<unsigned>(row) & 1U) == 0) continue;
      add_to_group(number * Independence::group + row,
                   &theirs.places[static_cast<std::size_t>(row) * columns_.size()]);
    }
  }
  close();
  while (complete_kept_ > groups_kept) thin();
}

std::string DependenceCheck::state() const {
  if (open_.filled != 0) {
    DependenceCheck closed = *this;
    closed.close();
    return closed.state();
  }
  ByteWriter to;
  to.number(rows_);
  to.number(stride_);
  for (const Count& count : counts_) {
    to.number(count.more);
    to.number(count.less);
  }
  to.number(static_cast<Index>(groups_.size()));
  for (const auto& [number, group] : groups_) {
    to.number(number);
    to.number(group.filled);
    to.list(group.places);
  }
  for (const RowHashes* hashes : {&exact_hashes_, &rounded_hashes_, &recurring_hashes_}) {
    RowHashes in_order = *hashes;
    std::sort(in_order.begin(), in_order.end());
    std::vector<Index> rows;
    std::vector<std::uint64_t> of_rows;
    for (const RowHash& each : in_order) {
      rows.push_back(each.row);
      of_rows.push_back(each.hash);
    }
    to.list(rows);
    to.list(of_rows);
  }
  sample_.write_state(to);
  return to.take();
}

DependenceCheck DependenceCheck::from_state(std::vector<Index> steps, std::string_view bytes) {
  DependenceCheck check(std::move(steps));
  ByteReader from(bytes, "rows of a checkpoint");
  check.rows_ = from.number<Index>();
  check.stride_ = from.number<Index>();
  require(check.rows_ >= 0 && check.stride_ >= 1 &&
              std::has_single_bit(static_cast<std::uint64_t>(check.stride_)),
          "rows of a checkpoint: {} rows, every {}-th group", check.rows_, check.stride_);
  for (Count& count : check.counts_) {
    count.more = from.number<Index>();
    count.less = from.number<Index>();
    const Index most = check.rows_ / Independence::group * triples_of_group;
    require(count.more >= 0 && count.more <= most && count.less >= 0 && count.less <= most - count.more,
            "rows of a checkpoint: {} and {} comparisons", count.more, count.less);
  }
  const auto groups = from.number<Index>();
  const std::size_t numbers = static_cast<std::size_t>(Independence::group) * check.columns_.size();
  for (Index i = 0; i < groups; ++i) {
    const auto number = from.number<Index>();
    Group group;
    group.filled = from.number<std::uint32_t>();
    group.places = from.list<std::int64_t>();
    constexpr Index most_groups = std::numeric_limits<Index>::max() / Independence::group - 1;
    require(number >= 0 && number <= most_groups && group.filled > 0 && group.filled <= all_rows &&
                group.places.size() == numbers,
            "rows of a checkpoint: group {} is damaged", number);
    if (group.filled == all_rows) {
      ++check.complete_kept_;
      require(number % check.stride_ == 0, "rows of a checkpoint: group {} is not a {}-th", number,
              check.stride_);
    }
    require(check.groups_.emplace(number, std::move(group)).second, "rows of a checkpoint: group {} twice",
            number);
  }
  for (auto& [hashes, limit] : {std::pair(&check.exact_hashes_, Independence::exact_limit),
                                std::pair(&check.rounded_hashes_, Independence::rounded_limit),
                                std::pair(&check.recurring_hashes_, Independence::rounded_limit)}) {
    const std::vector<Index> rows = from.list<Index>();
    const std::vector<std::uint64_t> of_rows = from.list<std::uint64_t>();
    require(rows.size() == of_rows.size() && static_cast<Index>(rows.size()) <= check.rows_,
            "rows of a checkpoint: {} of {} rows are compared", of_rows.size(), rows.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      require(rows[i] >= 0 && rows[i] < limit && (i == 0 || rows[i - 1] < rows[i]),
              "rows of a checkpoint: row {} is compared", rows[i]);
      hashes->push_back({rows[i], of_rows[i]});
    }
  }
  check.sample_ = SmallestHashes::read_state(from);
  require(check.sample_.different() <= check.rows_, "rows of a checkpoint: {} of {} rows are different",
          check.sample_.different(), check.rows_);
  from.finish();
  return check;
}

namespace {

/// Numbers of groups, of each table; a power of two, so that a multiple of the stride in the table is one in
/// all.
constexpr Index groups_of_table = Index{1} << 36;
constexpr std::size_t most_tables = std::size_t{1} << 20;

}  // namespace

DependenceCheck DependenceCheck::of_tables(const std::vector<const DependenceCheck*>& tables) {
  require(!tables.empty() && tables.size() <= most_tables, "{} tables were counted apart", tables.size());
  if (tables.size() == 1) return *tables.front();
  DependenceCheck all(tables.front()->steps_, tables.front()->number_is_);
  all.tables_ = true;
  for (const DependenceCheck* table : tables) all.stride_ = std::max(all.stride_, table->stride_);
  for (std::size_t k = 0; k < tables.size(); ++k) {
    DependenceCheck table = *tables[k];
    table.close();
    const auto append = [&](RowHashes& to, const RowHashes& more, Index limit) {
      for (const RowHash& each : more)
        if (all.rows_ + each.row < limit) to.push_back({all.rows_ + each.row, each.hash});
    };
    append(all.exact_hashes_, table.exact_hashes_, Independence::exact_limit);
    append(all.rounded_hashes_, table.rounded_hashes_, Independence::rounded_limit);
    append(all.recurring_hashes_, table.recurring_hashes_, Independence::rounded_limit);
    all.sample_.merge(table.sample_);
    for (std::size_t i = 0; i < all.counts_.size(); ++i) {
      all.counts_[i].more += table.counts_[i].more;
      all.counts_[i].less += table.counts_[i].less;
    }
    for (auto& [number, group] : table.groups_) {
      if (group.filled != all_rows || number % all.stride_ != 0 || number >= groups_of_table) continue;
      all.groups_.emplace(static_cast<Index>(k) * groups_of_table + number, std::move(group));
      ++all.complete_kept_;
    }
    all.rows_ += table.rows_;
    all.order_ = all.order_ || table.rows_ >= Independence::group;
  }
  while (all.complete_kept_ > groups_kept) all.thin();
  return all;
}

void DependenceCheck::prune(const std::vector<DependenceCheck*>& tables) {
  Index stride = 1;
  for (DependenceCheck* table : tables) {
    table->close();
    stride = std::max(stride, table->stride_);
  }
  // A group is of use at a step if its number is a multiple of it; 0 is one of all. What is kept depends on
  // the groups alone, not on the order in which their tables came together.
  const auto too_many_kept = [&] {
    std::size_t kept = 0;
    bool others = false;
    for (DependenceCheck* table : tables) {
      while (table->stride_ < stride) table->thin();
      kept += table->complete_kept_;
      for (const auto& [number, group] : table->groups_)
        others = others || (number > 0 && group.filled == all_rows);
    }
    return kept > groups_kept && others;
  };
  while (too_many_kept()) stride *= 2;
  Index before = 0;
  for (DependenceCheck* table : tables) {
    const auto forget = [&](RowHashes& hashes, Index limit) {
      std::erase_if(hashes, [&](const RowHash& each) { return before + each.row >= limit; });
    };
    forget(table->exact_hashes_, Independence::exact_limit);
    forget(table->rounded_hashes_, Independence::rounded_limit);
    forget(table->recurring_hashes_, Independence::rounded_limit);
    before = std::min(before + table->rows_, Independence::exact_limit);
  }
  std::vector<SmallestHashes*> samples;
  for (DependenceCheck* table : tables) samples.push_back(&table->sample_);
  SmallestHashes::prune(samples);
}

std::string DependenceCheck::statistic(std::size_t index) const {
  if (index == columns_.size()) return "most columns";
  if (number_is_.empty()) return "the values";
  return fmt::format("{} {}", number_is_, steps_[columns_[index]]);
}

Independence::SignTest DependenceCheck::serial() const {
  Independence::SignTest best;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    keep_stronger(best, {static_cast<Index>(counts_.size()), statistic(i), counts_[i].more, counts_[i].less});
  }
  return best;
}

// Of every 2^k-th group, with the least k that leaves at most groups_kept of them: which ones depends on the
// number of rows alone, of tables on that of each.
std::vector<const std::int64_t*> DependenceCheck::rows_for_drift() const {
  const Index groups = rows_ / Independence::group;
  Index stride = 1;
  while (!tables_ && (groups + stride - 1) / stride > static_cast<Index>(groups_kept)) stride *= 2;
  std::vector<const std::int64_t*> rows;
  for (const auto& [number, group] : groups_) {
    if (group.filled != all_rows || number % stride != 0) continue;
    for (Index row = 0; row < Independence::group; ++row)
      rows.push_back(&group.places[static_cast<std::size_t>(row) * columns_.size()]);
  }
  return rows;
}

Independence::SignTest DependenceCheck::drift() const {
  const std::vector<const std::int64_t*> rows = rows_for_drift();
  const std::size_t columns = columns_.size();
  using Pair = std::pair<std::size_t, std::size_t>;
  std::vector<Pair> halves;
  std::vector<Pair> quarters;
  for (std::size_t i = 0; i < rows.size() / 2; ++i) halves.emplace_back(i, rows.size() / 2 + i);
  for (std::size_t i = 0; i < rows.size() / 4; ++i) {
    quarters.emplace_back(rows.size() / 4 + i, i);
    quarters.emplace_back(rows.size() - 1 - rows.size() / 4 - i, rows.size() - 1 - i);
  }
  Independence::SignTest best;
  const auto look = [&](const std::vector<Pair>& pairs, const char* what) {
    std::vector<Count> counts(counts_.size());
    for (const auto& [first, second] : pairs) {
      int votes = 0;
      for (std::size_t i = 0; i <= columns && i < counts.size(); ++i) {
        const int vote = i == columns ? votes
                                      : static_cast<int>(rows[second][i] > rows[first][i]) -
                                            static_cast<int>(rows[second][i] < rows[first][i]);
        counts[i].more += static_cast<Index>(vote > 0);
        counts[i].less += static_cast<Index>(vote < 0);
        votes += vote;
      }
    }
    for (std::size_t i = 0; i < counts.size(); ++i) {
      keep_stronger(best, {2 * static_cast<Index>(counts.size()), fmt::format("{}, {}", statistic(i), what),
                           counts[i].more, counts[i].less});
    }
  };
  look(halves, "second half against first");
  look(quarters, "outer quarters against inner");
  return best;
}

Independence DependenceCheck::result() const {
  Independence found;
  if (tables_) found.of = Independence::of_tables;
  found.order_checked = tables_ ? order_ : rows_ >= Independence::group;
  const auto hashes_of = [](const RowHashes& rows) {
    std::vector<std::uint64_t> hashes;
    hashes.reserve(rows.size());
    for (const RowHash& each : rows) hashes.push_back(each.hash);
    return hashes;
  };
  found.exact = repeats_of(hashes_of(exact_hashes_), rows_, Independence::exact_limit);
  found.rounded = repeats_of(hashes_of(rounded_hashes_), rows_, Independence::rounded_limit);
  found.recurring = recurring_of(hashes_of(recurring_hashes_), rows_);
  const Independence::Sampled sampled{rows_, sample_.different(), sample_.repeated()};
  if (rows_ > Independence::exact_limit && too_many(sampled) && !too_many(found.exact))
    found.sampled = sampled;
  found.serial = serial();
  found.drift = drift();
  return found;
}

}  // namespace surefoot::certify
