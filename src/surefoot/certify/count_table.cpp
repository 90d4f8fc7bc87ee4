#include "surefoot/certify/count_table.hpp"

#include "surefoot/certify/certificate.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/part.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/csv_reader.hpp"
#include "surefoot/io/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <future>
#include <numeric>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace surefoot::certify {

namespace {

/// What a label says: the words before its number, and the step.
struct LabelledStep {
  std::string_view words;
  Index step = 0;
};

bool is_digit(char c) {
  return std::isdigit(static_cast<unsigned char>(c)) != 0;
}

// What a label may call an iteration. Times, seeds, problems and quantiles are numbered as well.
constexpr std::array<std::string_view, 13> step_words{
    "k", "it", "iter", "iters", "iteration", "iterations", "step", "steps", "epoch", "epochs", "i", "n", "t"};

// The words before the number of a label, of step_words alone, in any case. A minus next to the number, even
// after a space, would be its sign.
bool means_a_step(std::string_view words) {
  constexpr std::string_view separators = "=_: [(-#";
  std::string word;
  const auto known = [&] {
    return word.empty() || std::find(step_words.begin(), step_words.end(), word) != step_words.end();
  };
  for (const char c : words) {
    if (separators.find(c) != std::string_view::npos) {
      if (!known()) return false;
      word.clear();
      continue;
    }
    word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  }
  const std::size_t last = words.find_last_not_of(' ');
  return known() && (last == std::string_view::npos || words[last] != '-');
}

// "10", "k=10", "iter_250", "k=1e3", "step[5]": words that mean a step, then a whole number. None if the
// label says anything else, or leaves a doubt: 0.1, -10 (or a hyphen?), 10^3, 1,000, 2x10, t=1.0 (a time?).
std::optional<LabelledStep> read_label(std::string_view label) {
  const auto first =
      static_cast<std::size_t>(std::find_if(label.begin(), label.end(), is_digit) - label.begin());
  const std::string_view words = label.substr(0, first);
  std::string_view number = label.substr(first);
  for (const auto& [open, close] : {std::pair('[', ']'), std::pair('(', ')')}) {
    const bool closed = number.ends_with(close);
    if (closed != (words.find(open) != std::string_view::npos)) return std::nullopt;
    if (closed) number.remove_suffix(1);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), value);
  const bool whole = error == std::errc() && end == number.data() + number.size() &&
                     value == std::floor(value) && value <= static_cast<double>(most_counted);
  // 12.0 is how pandas writes the number of a column; after a word it is a time.
  const bool as_real = !words.empty() && number.find('.') != std::string_view::npos;
  if (number.empty() || !whole || as_real || !means_a_step(words)) return std::nullopt;
  return LabelledStep{words, static_cast<Index>(value)};
}

/// Steps of labels, or what is wrong with them.
struct LabelledSteps {
  std::vector<Index> steps;
  std::string complaint;
};

LabelledSteps labelled_steps(const std::vector<std::string>& labels, std::size_t first) {
  LabelledSteps found;
  std::string_view words;
  for (std::size_t i = first; i < labels.size() && found.complaint.empty(); ++i) {
    const std::optional<LabelledStep> label = read_label(labels[i]);
    if (!label) {
      found.complaint = fmt::format("label '{}' says no step", io::printable(labels[i]));
    } else if (i > first && label->words != words) {
      found.complaint = fmt::format("labels '{}' and '{}' name different things",
                                    io::printable(labels[first]), io::printable(labels[i]));
    } else if (i > first && label->step <= found.steps.back()) {
      found.complaint = fmt::format("labels '{}' and '{}' do not increase", io::printable(labels[i - 1]),
                                    io::printable(labels[i]));
    } else {
      words = label->words;
      found.steps.push_back(label->step);
    }
  }
  return found;
}

std::vector<Index> steps_from(Index first, Index columns) {
  std::vector<Index> steps(static_cast<std::size_t>(columns));
  std::iota(steps.begin(), steps.end(), first);
  return steps;
}

bool is_whole(double value) {
  return value >= 0 && value <= static_cast<double>(most_counted) && value == std::floor(value);
}

// The whole numbers of a row if they increase, as steps do; empty otherwise.
std::vector<Index> increasing_numbers(const double* row, Index columns) {
  std::vector<Index> steps;
  for (Index i = 0; i < columns; ++i) {
    if (!is_whole(row[i]) || (i > 0 && !(row[i] > row[i - 1]))) return {};
    steps.push_back(static_cast<Index>(row[i]));
  }
  return steps;
}

// Rows in the parts of earlier processes, from the number in this one's.
Index rows_before(Index own) {
  ByteWriter to;
  to.number(own);
  Index before = 0;
  const std::vector<std::string> all = ranks().all_gather(to.take());
  for (int rank = 0; rank < ranks().rank(); ++rank)
    before += ByteReader(all[static_cast<std::size_t>(rank)], "rows of a part").number<Index>();
  return before;
}

// `first` is the first of the parts.
template <class Counts>
Counts sum_of(Counts first, const std::vector<Counts>& parts) {
  for (std::size_t part = 1; part < parts.size(); ++part) first.merge(parts[part]);
  return first;
}

}  // namespace

std::string unlabelled_columns(const std::vector<Index>& steps) {
  return fmt::format("no header line: the columns are steps {} .. {}", steps.front(), steps.back());
}

ColumnSteps steps_of_columns(const std::vector<std::string>& header, Index columns,
                             std::optional<Index> first_step) {
  require(first_step.value_or(1) >= 0 && first_step.value_or(1) <= most_counted,
          "first step: {} is outside 0 .. {}", first_step.value_or(1), most_counted);
  ColumnSteps result;
  result.steps = steps_from(first_step.value_or(1), columns);
  if (header.empty()) {
    result.reading.push_back(unlabelled_columns(result.steps));
    return result;
  }
  const auto label = [&](std::size_t i) { return io::printable(header[i]); };
  // A first label without a number before labels with: that column numbers the instances.
  const bool names_first = header.size() > 1 && std::ranges::none_of(header.front(), is_digit);
  LabelledSteps found = labelled_steps(header, names_first ? 1 : 0);
  if (found.complaint.empty()) {
    result.from = ColumnSteps::From::header;
    result.steps = std::move(found.steps);
    result.skipped = names_first ? 1 : 0;
    result.reading.push_back(fmt::format("the header line says the steps ('{}' .. '{}')",
                                         label(result.skipped), label(header.size() - 1)));
    if (names_first) {
      result.notice =
          fmt::format("the first column ('{}') numbers the instances and is not a step", label(0));
      result.reading.push_back(result.notice);
    }
    return result;
  }
  require(first_step.has_value(),
          "the header does not say increasing steps ('{}' .. '{}'): {}; label columns k=1, k=2, ... "
          "or give --first-step; if each line is one result, name the column of its numbers with --value",
          label(0), label(header.size() - 1), found.complaint);
  result.notice = fmt::format(
      "the header line ('{}' .. '{}') says no steps and is not a run; the columns are steps {} .. {} as the "
      "first step says",
      label(0), label(header.size() - 1), result.steps.front(), result.steps.back());
  result.reading.push_back(result.notice);
  return result;
}

std::vector<std::string> table_names(const std::vector<std::string>& files, const std::string& given) {
  std::vector<std::string> names;
  std::set<std::string> seen;
  if (!given.empty()) {
    names = io::split_list("--names", given);
    require(names.size() == files.size(), "--names: {} names for {} files", names.size(), files.size());
    seen.insert(names.begin(), names.end());
    require(seen.size() == names.size(), "--names: two variants have the same name");
  } else {
    for (const std::string& file : files) {
      std::string name = table_name(file);
      for (int copy = 2; seen.contains(name); ++copy) name = fmt::format("{} ({})", table_name(file), copy);
      seen.insert(name);
      names.push_back(name);
    }
  }
  for (const std::string& name : names) require_name("--names", name);
  return names;
}

std::string table_name(const std::string& path) {
  if (path == "-") return "stdin";
  std::string name = std::filesystem::path(path).filename().string();
  for (const char* ending : {".gz", ".csv", ".npy", ".txt", ".tsv"}) {
    const std::string end = ending;
    if (name.size() > end.size() && name.ends_with(end)) name.resize(name.size() - end.size());
  }
  return name;
}

RunTable::RunTable(const std::string& path, std::optional<Index> first_step, const io::TableOptions& options,
                   const std::string& group)
    : path_(path), options_(options) {
  if (!group.empty()) options_.text_columns = {group};
  if (ranks().first()) open(first_step);
  if (ranks().several()) share_columns();
}

void RunTable::open(std::optional<Index> first_step) {
  reader_ = io::TableReader::open(path_, options_);
  cells_ = reader_->columns();
  try {
    columns_ = steps_of_columns(reader_->header(), reader_->columns(), first_step);
  } catch (const InputError& error) {
    throw InputError(path_ + ": " + error.what());
  }
  const auto add_reading = [&](const std::string& words) { columns_.reading.push_back(words); };
  if (!options_.text_columns.empty())
    add_reading(fmt::format("the column '{}' names the group of each row",
                            io::printable(options_.text_columns.front())));
  if (const std::optional<Index> ticks = reader_->rows_per_group()) {
    ticks_per_group_ = *ticks;
    add_reading(
        fmt::format("three dimensions: {} groups of {} ticks, {} steps", *groups_said(), *ticks, cells_));
    columns_.notice += (columns_.notice.empty() ? "" : "; ") + columns_.reading.back();
  }
  const bool any = reader_->next(first_block_);
  if (!any) first_block_ = {};
  if (reader_->header().empty() && reader_->can_have_header()) look_for_steps_in_first_row(first_step);
}

// A row of whole numbers that are equally far apart before rows of other numbers is the header that pandas
// writes for columns 5, 10, 15. Where rows are whole numbers too, or there are two columns only, nobody can
// tell; nor where numbers grow otherwise, 1, 10, 100, as those of a run that diverges do.
void RunTable::look_for_steps_in_first_row(std::optional<Index> first_step) {
  io::RowBlock more;
  if (first_block_.rows == 1 && reader_->next(more)) {
    first_block_.rows += more.rows;
    first_block_.values.resize(static_cast<std::size_t>(cells_));
    first_block_.values.insert(first_block_.values.end(), more.values.begin(),
                               more.values.begin() + more.rows * cells_);
  }
  if (first_block_.rows < 2 || cells_ < 2) return;
  const double* row = first_block_.values.data();
  std::vector<Index> numbers = increasing_numbers(row, cells_);
  if (numbers.empty()) return;
  const bool others = std::any_of(row + cells_, row + 2 * cells_,
                                  [](double value) { return std::isfinite(value) && !is_whole(value); });
  bool even = true;
  for (std::size_t i = 2; i < numbers.size(); ++i)
    even = even && numbers[i] - numbers[i - 1] == numbers[1] - numbers[0];
  if (!others || !even || cells_ < 3) {
    require(
        first_step.has_value(),
        "{}: the first row ({} .. {}) may say the steps or be a run; if it says the steps, label the columns "
        "k={}, k={}, ...; give --first-step if it is a run",
        path_, numbers.front(), numbers.back(), numbers[0], numbers[1]);
    return;
  }
  columns_.from = ColumnSteps::From::first_row;
  columns_.notice = fmt::format("the first row ({} .. {}) says the steps and is not a run", numbers.front(),
                                numbers.back());
  columns_.reading = {columns_.notice};
  columns_.steps = std::move(numbers);
  label_rows_ = 1;
}

std::optional<Index> RunTable::groups_said() const {
  const std::optional<Index> rows = reader_ && ticks_per_group_ > 0 ? reader_->rows_said() : std::nullopt;
  return rows ? std::optional(*rows / ticks_per_group_) : std::nullopt;
}

std::optional<Index> RunTable::rows_at_most() const {
  if (!reader_) return std::nullopt;  // another process reads
  if (const std::optional<Index> said = reader_->rows_said()) return said;
  const std::optional<io::TableReader::Rows> rows = reader_->rows_in_file();
  if (!rows) return std::nullopt;
  constexpr Index cell_bytes = 2;  // a digit and what ends it
  return (rows->end_byte - rows->first_byte) / (cell_bytes * cells_) + 1;
}

std::optional<Index> RunTable::lines_at_most() const {
  const std::optional<Index> rows = rows_at_most();
  if (!rows || reader_->rows_said()) return rows;
  const io::TableReader::Rows lines = *reader_->rows_in_file();
  return std::min(*rows, io::count_lines(path_, lines.first_byte, lines.end_byte));
}

double RunTable::memory_to_come() const {
  return reader_ ? static_cast<double>(reader_->memory_to_come(first_block_)) : 0.0;
}

void RunTable::require_first_step(Index first_step) const {
  require(columns_.from != ColumnSteps::From::first_row,
          "{}: the first row ({} .. {}) looks like steps, and the first step is said to be {}; label columns "
          "k=1, k=2, ...",
          path_, columns_.steps.front(), columns_.steps.back(), first_step);
  require(columns_.from != ColumnSteps::From::header || columns_.steps.front() == first_step,
          "{}: the header line says that the first step is {}, and it is said to be {}", path_,
          columns_.steps.front(), first_step);
}

void RunTable::share_columns() {
  ByteWriter to;
  to.list(columns_.steps);
  to.number(columns_.skipped);
  to.number(static_cast<int>(columns_.from));
  to.number(label_rows_);
  to.text(columns_.notice);
  to.number(static_cast<Index>(columns_.reading.size()));
  for (const std::string& line : columns_.reading) to.text(line);
  io::TableReader::Rows rows;
  // Rows of a group may lie anywhere: the first process reads them all.
  const bool in_parts = reader_ && !grouped() && reader_->rows_in_file().has_value();
  if (in_parts) rows = *reader_->rows_in_file();
  // The row of labels is in no part.
  if (in_parts && label_rows_ > 0) rows.first_byte = io::next_line(path_, rows.first_byte + 1, rows.end_byte);
  to.number(in_parts);
  to.number(rows.first_byte);
  to.number(rows.end_byte);
  to.number(cells_);
  to.number(ticks_per_group_);
  const std::string shared = ranks().broadcast(to.take());
  ByteReader from(shared, "columns of a table");
  columns_.steps = from.list<Index>();
  columns_.skipped = from.number<std::size_t>();
  columns_.from = static_cast<ColumnSteps::From>(from.number<int>());
  label_rows_ = from.number<Index>();
  columns_.notice = from.text();
  columns_.reading.resize(static_cast<std::size_t>(from.number<Index>()));
  for (std::string& line : columns_.reading) line = from.text();
  const bool parts = from.number<unsigned char>() != 0;
  rows.first_byte = from.number<Index>();
  rows.end_byte = from.number<Index>();
  cells_ = from.number<Index>();
  ticks_per_group_ = from.number<Index>();
  if (parts) in_parts_ = rows;
}

void RunTable::add_rows(Counting& counting, const std::function<void(Index, Index)>& progress,
                        CountJournal* journal) {
  const auto parts = static_cast<Index>(counting.tallies.size());
  const std::optional<std::string> left = journal != nullptr ? journal->begin() : std::nullopt;
  if (left) go_on(counting, *left);
  const auto keep = [&] { journal->keep(state(counting)); };
  io::RowBlock block = std::move(first_block_);
  Index labels = in_parts_ || rows_counted_ > 0 ? 0 : label_rows_;
  for (bool more = block.rows > 0 || reader_->next(block); more; more = reader_->next(block)) {
    if (counting.groups) {
      add_to_groups(counting, block);
    } else {
      const double* rows = &block.values[static_cast<std::size_t>(labels * cells_) + columns_.skipped];
      const Index first = first_row_ + rows_counted_ - (in_parts_ || labels > 0 ? 0 : label_rows_);
      add_block(counting, parts, {first, block.rows - labels}, rows);
    }
    labels = 0;
    rows_counted_ += block.rows;
    if (progress) progress(reader_->bytes_read(), reader_->bytes_total());
    if (journal == nullptr) continue;
    try {
      journal->interrupt();
    } catch (const Interrupted&) {
      if (journal->keeps()) keep();
      throw;
    }
    if (journal->due()) keep();
  }
  if (journal != nullptr && journal->keeps()) journal->end(state(counting));
}

void RunTable::add_to_groups(Counting& counting, const io::RowBlock& block) const {
  constexpr Index header_lines = 1;
  for (Index i = 0; i < block.rows; ++i) {
    const double* values = &block.values[static_cast<std::size_t>(i * cells_) + columns_.skipped];
    const Index row = rows_counted_ + i;
    if (ticks_per_group_ > 0)
      counting.groups->add(row / ticks_per_group_, values);
    else
      counting.groups->add(block.texts[static_cast<std::size_t>(i)], row + 1 + header_lines, values);
  }
}

// Threads take whole groups of rows, and the first collector those at the ends, so that no group stays open
// for longer than a block.
void RunTable::add_block(Counting& counting, Index parts, Part rows, const double* values) const {
  constexpr Index group = Independence::group;
  const Index groups_begin = std::min(rows.end(), (rows.first + group - 1) / group * group);
  const Index groups_end = std::max(groups_begin, rows.end() / group * group);
  const auto row_at = [&](Index row) { return values + (row - rows.first) * cells_; };
  if (listener_)
    for (Index row = rows.first; row < rows.end(); ++row) listener_(row, row_at(row));
  parallel_blocks(parts, [&](Index part) {
    const auto index = static_cast<std::size_t>(part);
    const Part own = part_of(rows.count, part, parts);
    for (Index row = own.first; row < own.end(); ++row)
      counting.tallies[index].add_run(row_at(rows.first + row), rows.first + row);
    const Part groups = part_of((groups_end - groups_begin) / group, part, parts);
    for (Index row = groups_begin + groups.first * group; row < groups_begin + groups.end() * group; ++row)
      counting.checks[index].add(row, row_at(row));
  });
  for (Index row = rows.first; row < groups_begin; ++row) counting.checks.front().add(row, row_at(row));
  for (Index row = groups_end; row < rows.end(); ++row) counting.checks.front().add(row, row_at(row));
}

struct RunTable::Found {
  bool text = false;  // a row, or a line that is none
  Index blank_line = 0;
  std::string error;
};

// The error that a reader of the whole table would have met first, the same in every process.
void RunTable::require_whole(const Found& own) const {
  ByteWriter to;
  to.number(own.text);
  to.number(own.blank_line);
  to.text(own.error);
  Index blank_line = 0;
  for (const std::string& bytes : ranks().all_gather(to.take())) {
    ByteReader from(bytes, "part of a table");
    const bool text = from.number<unsigned char>() != 0;
    const auto blank = from.number<Index>();
    const std::string error = from.text();
    require(!text || blank_line == 0, "{}:{}: blank line inside the table", io::printable(path_), blank_line);
    if (!error.empty()) throw InputError(error);
    if (blank_line == 0) blank_line = blank;
  }
}

void RunTable::follow(Index rows) {
  require(rows >= 0 && rows <= most_counted, "first row: {} is outside 0 .. {}", rows, most_counted);
  rows_before_ = rows;
}

runs::Tally RunTable::count(const runs::TallySpec& spec, const std::function<void(Index, Index)>& progress,
                            CountJournal* journal) {
  const auto parts = static_cast<std::size_t>(threads());
  Counting counting{std::vector<runs::Tally>(parts, runs::Tally(spec)),
                    std::vector<DependenceCheck>(parts, DependenceCheck(spec.steps)), std::nullopt};
  require(spec.grouped == grouped(), "{}: {}", path_,
          grouped()
              ? "its rows belong to groups, which nobody counts"
              : "its rows do not say what group they belong to: a column (--group), or a third dimension");
  if (grouped()) counting.groups.emplace(spec, io::printable(path_), bytes_for_groups_);
  first_row_ = rows_before_;
  if (!in_parts_) {
    if (ranks().first()) {
      add_rows(counting, progress, journal);
      if (counting.groups) counting.groups->count(counting.tallies.front(), counting.checks.front());
      if (counting.groups && listener_) {
        group_names_ = counting.groups->names();
        for (std::size_t i = 0; i < group_names_.size(); ++i)
          listener_(static_cast<Index>(i), counting.groups->largest(i).data());
      }
      sha256_ = reader_->sha256();
    }
    return whole_of(std::move(counting));
  }
  std::future<std::string> digest;
  if (ranks().first()) digest = std::async(std::launch::async, [this] { return io::sha256_of_file(path_); });
  Found found;
  const auto attempt = [&](const std::function<void()>& work) {
    try {
      if (found.error.empty()) work();
    } catch (const InputError& error) {
      found.error = error.what();
    }
  };
  Index rows = 0;
  attempt([&] {
    first_block_ = {};
    reader_ = io::TableReader::open_part(path_, *in_parts_, ranks().rank(), ranks().count(), options_);
    rows = reader_->rows_in_part();
  });
  first_row_ += rows_before(rows);
  attempt([&] {
    add_rows(counting, progress, journal);
    found.blank_line = reader_->blank_line_at_end();
  });
  found.text = !found.error.empty() || std::ranges::any_of(counting.tallies, [](const runs::Tally& own) {
    return own.samples() > 0;
  });
  require_whole(found);
  runs::Tally whole = whole_of(std::move(counting));
  if (ranks().first()) sha256_ = digest.get();
  return whole;
}

runs::Tally RunTable::whole_of(Counting counting) {
  DependenceCheck check = sum_of(std::move(counting.checks.front()), counting.checks);
  runs::Tally whole = runs::sum_over_ranks(sum_of(std::move(counting.tallies.front()), counting.tallies));
  require(whole.samples() > 0, "{}: there is no run in the table", path_);
  if (ranks().several()) {
    const std::vector<Index>& steps = whole.spec().steps;
    check = DependenceCheck::from_state(
        steps, ranks().reduce(
                   [&] { return check.state(); },
                   [&](std::string_view bytes) { check.merge(DependenceCheck::from_state(steps, bytes)); }));
  }
  check_ = std::move(check);
  return whole;
}

Independence RunTable::independence() const {
  Independence found = check_->result();
  if (grouped()) found.of = Independence::of_groups;
  return found;
}

std::string RunTable::state(const Counting& counting) const {
  ByteWriter to;
  to.number(rows_counted_);
  to.number(reader_->bytes_read());
  to.text(reader_->sha256_so_far());
  if (counting.groups) {
    to.text(counting.groups->state());
    return to.take();
  }
  to.text(sum_of(counting.tallies.front(), counting.tallies).state());
  to.text(sum_of(counting.checks.front(), counting.checks).state());
  return to.take();
}

void RunTable::go_on(Counting& counting, const std::string& state) {
  ByteReader from(state, "counts of a checkpoint");
  rows_counted_ = from.number<Index>();
  const auto bytes = from.number<Index>();
  const std::string digest = from.text();
  if (counting.groups) {
    counting.groups->go_on(from.text());
    from.finish();
    require(rows_counted_ >= first_block_.rows && counting.groups->rows() == rows_counted_,
            "counts of a checkpoint: {} rows were read, {} are in groups", rows_counted_,
            counting.groups->rows());
    pass_over(bytes, digest);
    return;
  }
  const runs::TallySpec spec = counting.tallies.front().spec();
  runs::Tally tally = runs::Tally::from_state(spec, from.text());
  DependenceCheck check = DependenceCheck::from_state(spec.steps, from.text());
  from.finish();
  const Index labels = in_parts_ ? 0 : label_rows_;
  require(rows_counted_ >= first_block_.rows && tally.samples() == rows_counted_ - labels &&
              check.rows() == tally.samples(),
          "counts of a checkpoint: {} rows were read, {} runs counted, {} looked at", rows_counted_,
          tally.samples(), check.rows());
  pass_over(bytes, digest);
  counting.tallies.front() = std::move(tally);
  counting.checks.front() = std::move(check);
}

// Rows that were counted before, in so many bytes with that digest.
void RunTable::pass_over(Index bytes, const std::string& digest) {
  reader_->skip(rows_counted_ - first_block_.rows);
  first_block_ = {};
  require(reader_->bytes_read() == bytes && reader_->sha256_so_far() == digest,
          "{}: is not the table that the checkpoint has counted: its first {} bytes are others", path_,
          bytes);
}

void require_same_sampling(const Certificate& certificate, const RunTable& table) {
  const bool groups = sampling_of(certificate) == Sampling::groups;
  require(!table.grouped() || groups,
          "{}: has three dimensions (groups, ticks and steps), and the certificate is not of "
          "groups",
          table.path());
  require(
      table.grouped() || !groups,
      "{}: does not say to which group a row belongs: the certificate is of groups, from a third dimension, or from "
      "labels that were given beside an array (in Python verify(data, groups=...))",
      table.path());
}

}  // namespace surefoot::certify
