#include "surefoot/certify/long_table.hpp"

#include "surefoot/certify/certificate.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/core/work_interrupt.hpp"
#include "surefoot/io/csv_reader.hpp"
#include "surefoot/io/csv_text.hpp"
#include "surefoot/io/record_reader.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <tuple>
#include <unordered_map>

namespace surefoot::certify {

namespace {

constexpr std::size_t most_listed = 12;

std::string lowered(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

bool is_one_of(std::string_view label, const auto& words) {
  return std::ranges::count(words, lowered(label)) > 0;
}

// A count of iterations is no step: "iterations" is not among them.
constexpr std::array<std::string_view, 4> step_labels{"step", "iteration", "iter", "k"};
// What the first column of a table may number.
constexpr std::array<std::string_view, 13> row_labels{
    "", "problem", "instance", "id", "index", "row", "sample", "seed", "case", "run", "nr", "no", "#"};

/// Texts and their numbers, in the order in which they come.
class Names {
 public:
  std::size_t number_of(const std::string& text) {
    const auto [found, is_new] = numbers_.try_emplace(text, texts_.size());
    if (is_new) texts_.push_back(&found->first);
    return found->second;
  }
  [[nodiscard]] const std::string& text(std::size_t number) const { return *texts_[number]; }
  [[nodiscard]] std::size_t size() const { return texts_.size(); }

 private:
  std::unordered_map<std::string, std::size_t> numbers_;
  std::vector<const std::string*> texts_;  ///< of the map, whose keys stay where they are
};

/// "column=text" of --where and --failed, and what it met.
struct Condition {
  std::string said;
  std::size_t column = 0;
  std::string text;
  bool met = false;
  std::set<std::string> others = {};  ///< some of the texts that it did not meet

  bool holds(const std::vector<std::string>& cells) {
    if (cells[column] == text) return met = true;
    if (!met && others.size() < most_listed) others.insert(cells[column]);
    return false;
  }
};

std::string quoted_list(const auto& texts) {
  std::vector<std::string> shown;
  for (const auto& text : texts) shown.push_back(fmt::format("'{}'", io::excerpt(text)));
  return fmt::format("{}", fmt::join(shown, ", "));
}

struct Entry {
  std::size_t part = 0;
  std::size_t row = 0;
  Index step = 0;
  Index line = 0;
  double value = 0;

  [[nodiscard]] auto place() const { return std::tuple(part, row, step); }
};

}  // namespace

LabelledMetric metric_of_label(std::string_view label) {
  for (const auto& [open, close] : {std::pair('(', ')'), std::pair('[', ']')}) {
    const std::size_t begin = label.rfind(open);
    if (!label.ends_with(close) || begin == std::string_view::npos) continue;
    const std::string_view name = io::trim(label.substr(0, begin));
    const std::string_view unit = io::trim(label.substr(begin + 1, label.size() - begin - 2));
    if (!name.empty() && !unit.empty()) return {std::string(name), std::string(unit)};
  }
  return {std::string(label), ""};
}

TableChoice TableChoice::of(const std::vector<Selection>& selections) {
  TableChoice choice;
  const Selection& first = selections.front();
  for (const Selection& selection : selections)
    if (std::ranges::count(choice.values, selection.value) == 0) choice.values.push_back(selection.value);
  choice.variants = first.variants;
  choice.rows = first.rows;
  choice.every_line = first.rows.empty();
  choice.steps = first.steps;
  choice.where = first.where;
  choice.failed = first.failed;
  choice.missing = first.missing;
  choice.scalar = first.steps.empty();
  return choice;
}

namespace {

/// Reads a LongTable.
class LongTableReader {
 public:
  LongTableReader(std::unique_ptr<io::ByteSource> source, const TableChoice& choice,
                  const io::TableOptions& options, LongTable::Content& table)
      : reader_(std::move(source), options), choice_(choice), table_(table), labels_(reader_.labels()) {
    name_columns();
  }

  void read(const LongTable::Progress& progress) {
    std::vector<std::string> cells;
    for (Index lines = 0; reader_.next(cells); ++lines) {
      if (lines % 1024 == 0) {
        WorkInterrupt::check();
        if (progress) progress(reader_.bytes_read(), reader_.bytes_total());
      }
      take(cells);
    }
    table_.sha256 = reader_.sha256();
    require_lines();
    finish();
  }

 private:
  template <class... Args>
  [[noreturn]] void refuse(fmt::format_string<Args...> text, Args&&... args) const {
    throw InputError(fmt::format("{}: {}", reader_.name(), fmt::format(text, std::forward<Args>(args)...)));
  }

  [[nodiscard]] std::string all_columns() const {
    return fmt::format("the columns are {}", quoted_list(labels_));
  }

  /// By its label, or its label without the unit.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view wanted) const {
    std::optional<std::size_t> found;
    for (const bool whole : {true, false}) {
      for (std::size_t i = 0; i < labels_.size(); ++i) {
        if (wanted != (whole ? labels_[i] : metric_of_label(labels_[i]).name)) continue;
        if (found) refuse("'{}' stands twice in the header", io::excerpt(wanted));
        found = i;
      }
      if (found) return found;
    }
    return found;
  }

  std::size_t column(std::string_view option, std::string_view wanted) {
    const std::optional<std::size_t> found = find(wanted);
    if (!found) refuse("{}: there is no column '{}'; {}", option, io::excerpt(wanted), all_columns());
    spoken_for_.insert(*found);
    return *found;
  }

  // A label may have "=" too: the first one after which the column is known.
  std::vector<Condition> conditions(std::string_view option, const std::vector<std::string>& texts) {
    std::vector<Condition> result;
    for (const std::string& said : texts) {
      std::size_t equal = said.find('=');
      if (equal == std::string::npos || equal == 0)
        refuse("{}: '{}' is not COLUMN=TEXT; {}", option, io::excerpt(said), all_columns());
      const std::size_t first = equal;
      while (equal != std::string::npos && !find(io::trim(said.substr(0, equal))))
        equal = said.find('=', equal + 1);
      if (equal == std::string::npos) equal = first;
      const std::string label(io::trim(std::string_view(said).substr(0, equal)));
      result.push_back(
          {said, column(option, label), std::string(io::trim(std::string_view(said).substr(equal + 1)))});
    }
    return result;
  }

  void name_columns() {
    const bool named = !choice_.values.empty();
    if (!named && !choice_.scalar)
      refuse("--value is missing: which column has the numbers? {}", all_columns());
    for (const std::string& value : choice_.values) values_.push_back(column("--value", value));
    for (std::size_t i = 0; i < values_.size(); ++i)
      if (std::ranges::count(values_, values_[i]) > 1)
        refuse("--value: '{}' is named twice", labels_[values_[i]]);
    if (!choice_.variants.empty()) variants_ = column("--variants", choice_.variants);
    const bool every_line = choice_.rows == TableChoice::each_line && !find(choice_.rows);
    rows_unsaid_ = choice_.rows.empty() && !choice_.every_line;
    if (!choice_.rows.empty() && !every_line) rows_ = column("--rows", choice_.rows);
    where_ = conditions("--where", choice_.where);
    failed_ = conditions("--failed", choice_.failed);
    name_steps();
    if (!named) take_all_columns();
    if (variants_ && values_.size() > 1)
      refuse("--variants: with '{}' there is one column of numbers; choose it with --value; {}",
             labels_[*variants_], all_columns());
    if (variants_ && rows_unsaid_)
      refuse(
          "--rows is missing: which column names the problem? ('{}': every line is a problem of its own); {}",
          TableChoice::each_line, all_columns());
    if (steps_ && !rows_) refuse("--rows is missing: which column names the problem? {}", all_columns());
    for (const std::size_t value : values_)
      if (value == variants_ || value == rows_ || value == steps_)
        refuse("--value: '{}' is said to be something else too", labels_[value]);
    name_metric();
    if (variants_) return;
    std::set<std::string> names;
    for (const std::size_t value : values_) names.insert(metric_of_label(labels_[value]).name);
    const bool short_names = names.size() == values_.size();
    for (const std::size_t value : values_) {
      const std::string& name = short_names ? metric_of_label(labels_[value]).name : labels_[value];
      LongTable::Part& part = add_part(values_.size() > 1 ? name : "");
      part.selection.value = labels_[value];
    }
  }

  void name_steps() {
    if (!choice_.steps.empty()) {
      if (choice_.scalar) refuse("--step-column: a scalar has no steps");
      steps_ = column("--step-column", choice_.steps);
    }
    for (std::size_t i = 0; i < labels_.size() && !steps_ && !choice_.scalar; ++i) {
      if (!is_one_of(labels_[i], step_labels) || spoken_for_.contains(i)) continue;
      steps_ = i;
      spoken_for_.insert(i);
      table_.notices.push_back(
          fmt::format("'{}' says the steps of traces (--scalar: it does not)", io::printable(labels_[i])));
    }
    table_.scalar = !steps_;
  }

  // Every column is a variant, but for a first one that numbers the rows.
  void take_all_columns() {
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (spoken_for_.contains(i)) continue;
      const bool numbers =
          i == 0 && labels_.size() > 1 && reader_.has_header() && is_one_of(labels_[i], row_labels);
      if (numbers)
        table_.notices.push_back(fmt::format(
            "the first column ('{}') numbers the problems and is not counted", io::printable(labels_[0])));
      else
        values_.push_back(i);
    }
    if (values_.empty()) refuse("there is no column of numbers; {}", all_columns());
    for (const std::size_t value : values_) {
      if (labels_[value].empty()) refuse("column {} has no label; {}", value + 1, all_columns());
      static_cast<void>(find(labels_[value]));  // refuses one that stands twice
    }
    spoken_for_.insert(values_.begin(), values_.end());
    counts_all_columns_ = values_.size() > 1;
  }

  void name_metric() {
    table_.metric = metric_of_label(labels_[values_.front()]);
    for (const std::size_t value : values_)
      if (metric_of_label(labels_[value]).unit != table_.metric.unit)
        refuse("'{}' and '{}' have different units: choose one of them with --value; {}",
               labels_[values_.front()], labels_[value], all_columns());
    if (values_.size() > 1 || !reader_.has_header()) table_.metric.name = "";
    if (!reader_.has_header()) table_.metric.unit = "";
  }

  LongTable::Part& add_part(std::string name) {
    LongTable::Part& part = table_.parts.emplace_back();
    part.name = std::move(name);
    part.selection.value = labels_[values_.front()];
    if (variants_) part.selection.variants = labels_[*variants_];
    if (rows_) part.selection.rows = labels_[*rows_];
    if (steps_) part.selection.steps = labels_[*steps_];
    part.selection.where = choice_.where;
    part.selection.failed = choice_.failed;
    part.selection.missing = choice_.missing;
    counted_.push_back(0);
    return part;
  }

  void take(const std::vector<std::string>& cells) {
    if (counts_all_columns_) require_no_decimal_commas(cells);
    bool selected = true;
    for (Condition& condition : where_) selected = condition.holds(cells) && selected;
    bool failed = false;
    for (Condition& condition : failed_) failed = condition.holds(cells) || failed;
    if (!selected) return;
    if (rows_unsaid_) require_numbers_elsewhere(cells);
    ++lines_;
    Entry entry;
    entry.line = reader_.line();
    if (steps_) entry.step = step_of(cells[*steps_]);
    std::size_t first_part = 0;
    if (variants_) {
      const std::string& text = cells[*variants_];
      if (text.empty()) reader_.fail(fmt::format("the cell of '{}' is empty", labels_[*variants_]));
      first_part = variant_names_.number_of(text);
      if (first_part == table_.parts.size()) add_part(text).selection.variant = text;
    }
    if (rows_ && cells[*rows_].empty())
      reader_.fail(fmt::format("the cell of '{}' is empty", labels_[*rows_]));
    const std::size_t problem = rows_ ? row_names_.number_of(cells[*rows_]) : 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      entry.part = first_part + i;
      LongTable::Part& part = table_.parts[entry.part];
      entry.row = rows_ ? problem : counted_[entry.part]++;
      entry.value = number_in(cells[values_[i]], labels_[values_[i]], failed, part.selection);
      if (rows_)
        entries_.push_back(entry);
      else
        part.values.push_back(entry.value);
    }
  }

  double number_in(const std::string& cell, const std::string& label, bool failed,
                   Selection& selection) const {
    if (failed) {
      ++selection.failed_lines;
      return infinity;
    }
    if (cell.empty()) {
      if (choice_.missing != Missing::failed)
        reader_.fail(fmt::format(
            "the cell of '{}' is empty; write inf where a run failed, or --missing failed", label));
      ++selection.missing_cells;
      return infinity;
    }
    const std::optional<io::Measured> measured = io::parse_measured(cell);
    if (!measured)
      reader_.fail(
          fmt::format("'{}' in '{}' is not a number; write inf where a run failed, or --failed \"{}={}\"",
                      io::excerpt(cell), label, label, io::excerpt(cell)));
    selection.censored += measured->censored ? 1 : 0;
    return measured->value;
  }

  [[nodiscard]] Index step_of(const std::string& cell) const {
    double step = 0;
    const bool whole = io::parse_number(cell, step) && step >= 0 &&
                       step <= static_cast<double>(most_counted) && step == std::floor(step);
    if (!whole) reader_.fail(fmt::format("'{}' in '{}' is not a step", io::excerpt(cell), labels_[*steps_]));
    return static_cast<Index>(step);
  }

  // Lines that differ in a text may be several results of one problem, which are not independent.
  void require_numbers_elsewhere(const std::vector<std::string>& cells) const {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (spoken_for_.contains(i) || cells[i].empty() || io::parse_measured(cells[i])) continue;
      reader_.fail(fmt::format(
          "'{}' in '{}' is a text: say what it is, --rows \"{}\" if it names the problem, --where to select lines, "
          "or --rows {} if every line is a problem of its own; {}",
          io::excerpt(cells[i]), labels_[i], labels_[i], TableChoice::each_line, all_columns()));
    }
  }

  void require_no_decimal_commas(const std::vector<std::string>& cells) const {
    std::vector<std::string_view> views(cells.begin(), cells.end());
    if (io::has_decimal_comma(views))
      reader_.fail(
          fmt::format("'{}' has decimal commas; write 0.05, or separate cells by semicolons or tabs and "
                      "write points",
                      io::excerpt(fmt::format("{}", fmt::join(cells, ",")))));
  }

  // A condition that meets nothing may be a slip of the pen, and would then call failures successes.
  void require_lines() {
    for (const Condition& condition : where_) {
      if (condition.met) continue;
      refuse("--where: no line has {}; '{}' is {}{}", condition.said, labels_[condition.column],
             quoted_list(condition.others), condition.others.size() == most_listed ? ", ..." : "");
    }
    if (lines_ == 0)
      refuse("{}", where_.empty() ? "there is a header line but no row after it"
                                  : "--where: no line has all of these");
    for (const Condition& condition : failed_) {
      if (condition.met) continue;
      for (const std::string& other : condition.others)
        if (lowered(other) == lowered(condition.text))
          refuse("--failed: no line has {}; '{}' is {}", condition.said, labels_[condition.column],
                 quoted_list(condition.others));
      table_.notices.push_back(fmt::format("no line has {}: by that nothing has failed; '{}' is {}{}",
                                           condition.said, io::printable(labels_[condition.column]),
                                           quoted_list(condition.others),
                                           condition.others.size() == most_listed ? ", ..." : ""));
    }
  }

  [[nodiscard]] std::string in_words(const Entry& entry) const {
    std::string text = fmt::format("{} '{}'", labels_[*rows_], io::excerpt(row_names_.text(entry.row)));
    if (variants_)
      text += fmt::format(" of {} '{}'", labels_[*variants_], io::excerpt(table_.parts[entry.part].name));
    if (steps_) text += fmt::format(" at {} {}", labels_[*steps_], entry.step);
    return text;
  }

  void finish() {
    if (!rows_) {
      table_.steps = {scalar_step};
      return note_what_was_found();
    }
    std::ranges::sort(entries_, [](const Entry& a, const Entry& b) {
      return std::tuple(a.place(), a.line) < std::tuple(b.place(), b.line);
    });
    const auto twice = std::ranges::adjacent_find(entries_, {}, &Entry::place);
    if (twice != entries_.end()) {
      std::vector<std::string> others;
      for (std::size_t i = 0; i < labels_.size(); ++i)
        if (!spoken_for_.contains(i)) others.push_back(labels_[i]);
      throw InputError(fmt::format("{}:{}: {} stands in line {} already{}{}", reader_.name(),
                                   (twice + 1)->line, in_words(*twice), twice->line,
                                   others.empty() ? "" : "; if they differ elsewhere, choose with --where: ",
                                   others.empty() ? "" : quoted_list(others)));
    }
    std::set<Index> steps;
    for (const Entry& entry : entries_) steps.insert(entry.step);
    table_.steps.assign(steps.begin(), steps.end());
    if (!steps_) table_.steps = {scalar_step};
    std::map<Index, std::size_t> place_of_step;
    for (std::size_t i = 0; i < table_.steps.size(); ++i) place_of_step[table_.steps[i]] = i;
    const std::size_t width = table_.steps.size();
    const double cells = static_cast<double>(row_names_.size()) * static_cast<double>(width) *
                         static_cast<double>(table_.parts.size());
    constexpr double most_cells_by_line = 64;
    if (cells > most_cells_by_line * static_cast<double>(entries_.size()))
      refuse("{} problems at {} steps and {} variants, but only {} numbers: most are missing",
             count_label(static_cast<Index>(row_names_.size())), count_label(static_cast<Index>(width)),
             table_.parts.size(), count_label(static_cast<Index>(entries_.size())));
    constexpr double hole = -1;  // no line
    std::vector<double> lines;
    auto entry = entries_.begin();
    for (std::size_t p = 0; p < table_.parts.size(); ++p) {
      LongTable::Part& part = table_.parts[p];
      part.values.assign(row_names_.size() * width, infinity);
      lines.assign(part.values.size(), hole);
      for (; entry != entries_.end() && entry->part == p; ++entry) {
        const std::size_t at = entry->row * width + place_of_step[entry->step];
        part.values[at] = entry->value;
        lines[at] = 1;
      }
      const auto missing = std::ranges::count(lines, hole);
      if (missing == 0) continue;
      const auto first = static_cast<std::size_t>(std::ranges::find(lines, hole) - lines.begin());
      if (choice_.missing == Missing::refuse)
        refuse(
            "{} of {} numbers of {} are missing, the first is {}; --missing failed counts them as failures",
            count_label(missing), count_label(static_cast<Index>(lines.size())),
            part.name.empty() ? part.selection.value : part.name,
            in_words({p, first / width, table_.steps[first % width], 0, 0}));
      part.selection.missing_cells += missing;
    }
    entries_ = {};
    note_what_was_found();
  }

  void note_what_was_found() {
    for (const LongTable::Part& part : table_.parts) {
      const std::string of = part.name.empty() ? "" : part.name + ": ";
      if (part.selection.censored > 0)
        table_.notices.push_back(
            fmt::format("{}{} of the numbers are given as \"> limit\" and count as infinite",
                        io::printable(of), count_label(part.selection.censored)));
      if (part.selection.missing_cells > 0)
        table_.notices.push_back(fmt::format("{}{} numbers are missing and count as infinite",
                                             io::printable(of), count_label(part.selection.missing_cells)));
    }
  }

  io::RecordReader reader_;
  const TableChoice& choice_;
  LongTable::Content& table_;
  const std::vector<std::string>& labels_;
  std::set<std::size_t> spoken_for_;  ///< columns that an option names
  std::vector<std::size_t> values_;
  std::optional<std::size_t> variants_;
  std::optional<std::size_t> rows_;
  std::optional<std::size_t> steps_;
  bool rows_unsaid_ = false;
  bool counts_all_columns_ = false;
  std::vector<Condition> where_;
  std::vector<Condition> failed_;
  Names variant_names_;
  Names row_names_;
  std::vector<std::size_t> counted_;  ///< rows of each part, where lines are rows
  std::vector<Entry> entries_;        ///< where problems have names
  Index lines_ = 0;
};

}  // namespace

LongTable::LongTable(const std::string& path, const TableChoice& choice, const io::TableOptions& options,
                     const Progress& progress)
    : LongTable(
          [&] {
            require(path != "-" || !ranks().several(),
                    "standard input: several processes read this table each; give a file");
            return io::open_raw_bytes(path);
          }(),
          choice, options, progress) {}

LongTable::LongTable(std::unique_ptr<io::ByteSource> source, const TableChoice& choice,
                     const io::TableOptions& options, const Progress& progress) {
  LongTableReader(std::move(source), choice, options, content_).read(progress);
}

TableView LongTable::view(std::size_t part) const {
  TableView view;
  view.data = reinterpret_cast<const std::byte*>(content_.parts.at(part).values.data());
  view.columns = static_cast<Index>(content_.steps.size());
  view.rows = static_cast<Index>(content_.parts[part].values.size()) / view.columns;
  view.column_bytes = static_cast<Index>(sizeof(double));
  view.row_bytes = view.columns * view.column_bytes;
  return view;
}

std::optional<double> LongTable::memory_of(const std::string& path, const TableChoice& choice) {
  std::error_code error;
  const auto size = std::filesystem::file_size(path, error);
  if (path == "-" || error) return std::nullopt;
  const auto source = io::open_raw_bytes(path);
  constexpr std::size_t first_line = std::size_t{64} << 10U;
  const std::string_view begin = source->peek(first_line);
  if (begin.starts_with("\x1f\x8b")) return std::nullopt;
  constexpr double copies = 3;  // as they grow
  if (begin.starts_with("\x93NUMPY")) return static_cast<double>(size) * copies;
  const std::string_view line = begin.substr(0, begin.find('\n'));
  const double columns = choice.values.empty()
                             ? static_cast<double>(io::split_cells(line, io::detect_separator(line)).size())
                             : static_cast<double>(choice.values.size());
  const auto lines = static_cast<double>(io::count_lines(path, 0, static_cast<Index>(size)));
  const bool named = !choice.rows.empty() && choice.rows != TableChoice::each_line;
  constexpr double name_of_problem = 160;  // and its place among the names
  return lines * columns * copies * (sizeof(double) + (named ? sizeof(Entry) : 0)) +
         (named ? lines * name_of_problem : 0);
}

}  // namespace surefoot::certify
