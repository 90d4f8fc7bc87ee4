#include "surefoot/io/csv_reader.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/part.hpp"
#include "surefoot/io/csv_text.hpp"
#include "surefoot/io/npy.hpp"
#include "surefoot/io/number.hpp"
#include "surefoot/io/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <iterator>
#include <limits>
#include <utility>

namespace surefoot::io {

namespace {

constexpr std::size_t chunks_per_block = 32;
// Memory for a byte of text: two buffers of it, and the numbers of one, 8 bytes for at least 2 of text, in
// chunks and as one block. Of the first line: a buffer, as it grows, and for every cell where it lies and its
// label.
constexpr std::size_t bytes_by_numbers = 10;
constexpr std::size_t bytes_by_labels = 36;

// Cuts the front line off `text`; the line comes without its LF or CRLF.
std::string_view take_line(std::string_view& text) {
  const std::size_t end = std::min(text.find('\n'), text.size());
  std::string_view line = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Where a text at the front of `cells` ends, before the separator or at the end; null: its quotes do not.
const char* text_end(const char* at, const char* end, char separator) {
  if (at == end || *at != '"') return std::find(at, end, separator);
  for (++at; at != end; ++at) {
    if (*at != '"') continue;
    if (at + 1 == end || at[1] != '"') return at + 1;
    ++at;
  }
  return nullptr;
}

bool is_number(std::string_view cell) {
  double ignored = 0;
  return parse_number(cell, ignored);
}

bool is_label(std::string_view cell) {
  return !cell.empty() && !is_number(cell);
}

constexpr std::size_t first_line_bytes = std::size_t{64} << 10U;

}  // namespace

Index count_lines(const std::string& path, Index begin, Index end, Index enough) {
  const auto source = open_part_of_file(path, begin, end);
  std::vector<char> text(std::size_t{1} << 20U);
  Index lines = 0;
  bool ended = true;
  while (lines < enough) {
    const std::size_t got = source->read(text.data(), text.size());
    if (got == 0) break;
    lines += std::count(text.data(), text.data() + got, '\n');
    ended = text[got - 1] == '\n';
  }
  return lines + (ended ? 0 : 1);
}

Index next_line(const std::string& path, Index place, Index end) {
  const auto source = open_part_of_file(path, place - 1, end);
  std::vector<char> text(first_line_bytes);
  for (Index before = place - 1; before < end;) {
    const std::size_t got = source->read(text.data(), text.size());
    const std::size_t line_end = std::string_view(text.data(), got).find('\n');
    if (line_end != std::string_view::npos) return before + static_cast<Index>(line_end) + 1;
    before += static_cast<Index>(got);
  }
  return end;
}

CsvReader::CsvReader(std::unique_ptr<ByteSource> source, const TableOptions& options)
    : source_(std::move(source)), options_(options) {
  open_first_line();
}

CsvReader::CsvReader(std::unique_ptr<ByteSource> whole, const std::string& path, Rows rows, int part,
                     int parts, const TableOptions& options)
    : source_(std::move(whole)), options_(options) {
  options_.block_bytes = std::min(options.block_bytes, first_line_bytes);
  open_first_line();
  options_ = options;
  const Part bytes = part_of(rows.end_byte - rows.first_byte, part, parts);
  const auto line_at = [&](Index place) {
    return place == 0 ? rows.first_byte : next_line(path, rows.first_byte + place, rows.end_byte);
  };
  part_of_ = path;
  part_begin_ = line_at(bytes.first);
  part_end_ = line_at(bytes.end());
  source_ = open_part_of_file(path, part_begin_, part_end_);
  line_ = 1;
  first_lines_ = std::max(Index{0}, searched_lines - count_lines(path, 0, part_begin_, searched_lines));
  current_ = {};
  load(current_, {});
}

void CsvReader::open_first_line() {
  require(!source_->peek(1).empty(), "{}: the file is empty", source_->name());
  Index first_byte = 0;
  if (source_->peek(3) == "\xEF\xBB\xBF") {
    std::string mark(3, '\0');
    source_->read(mark.data(), mark.size());
    require(!source_->peek(1).empty(), "{}: the file is empty", source_->name());
    first_byte = static_cast<Index>(mark.size());
  }
  const bool plain = source_->remaining().has_value() && source_->bytes_total() > 0;
  load(current_, {});
  check(current_);
  read_first_line();
  first_byte += static_cast<Index>(current_.begin);
  if (plain) rows_in_file_ = Rows{first_byte, source_->bytes_total()};
}

Index CsvReader::lines_before() const {
  return part_of_.empty() ? 0 : count_lines(part_of_, 0, part_begin_);
}

Index CsvReader::rows_in_part() const {
  return count_lines(part_of_, part_begin_, part_end_);
}

Index CsvReader::blank_line_at_end() const {
  return blank_line_ == 0 ? 0 : lines_before() + blank_line_;
}

void CsvReader::fail(Index line, std::string_view complaint) const {
  throw InputError(fmt::format("{}:{}: {}", source_->name(), lines_before() + line, complaint));
}

// Fills the buffer with `carried` and what follows it in the source, up to at least one complete line.
void CsvReader::load(Buffer& buffer, std::string_view carried) {
  buffer.begin = 0;
  buffer.complete = 0;
  buffer.size = carried.size();
  if (buffer.bytes.size() < carried.size()) buffer.bytes.resize(carried.size());
  std::copy(carried.begin(), carried.end(), buffer.bytes.begin());
  try {
    while (buffer.complete == 0 && !buffer.last && !buffer.line_too_long) fill(buffer);
  } catch (...) {
    buffer.failure = std::current_exception();
  }
}

std::size_t CsvReader::longest_line() const {
  const std::size_t memory = options_.memory_bytes > 0 ? options_.memory_bytes : default_memory_bytes();
  const std::size_t by_text = columns_ == 0 ? bytes_by_labels : bytes_by_text();
  const std::size_t room = std::max(options_.block_bytes, memory / by_text);
  return std::min({options_.max_line_bytes, room, line_limit_ > 0 ? line_limit_ : room});
}

std::size_t CsvReader::bytes_by_text() const {
  if (text_of_.empty()) return bytes_by_numbers;
  // Of each text where it lies, its string, and its letters once more; a row has two bytes per cell at least.
  constexpr std::size_t letters = 2;
  constexpr std::size_t text = sizeof(std::string) + sizeof(std::string_view);
  const std::size_t row = 2 * text_of_.size();
  return bytes_by_numbers + letters + (text * options_.text_columns.size() + row - 1) / row;
}

std::size_t CsvReader::memory_to_come(const RowBlock& block) const {
  std::size_t rest = options_.block_bytes;
  if (const auto left = source_->remaining()) rest = std::min(rest, static_cast<std::size_t>(*left) + 1);
  const std::size_t text = std::max({current_.bytes.size(), upcoming_.bytes.size(), rest, line_limit_});
  std::size_t held = current_.bytes.capacity() + upcoming_.bytes.capacity();
  held += block.values.capacity() * sizeof(double);
  for (const Chunk& chunk : chunks_) held += chunk.values.capacity() * sizeof(double);
  return bytes_by_text() * text - std::min(held, bytes_by_text() * text);
}

// Never holds more than the longest line allowed and its end, so a longer line is always noticed.
void CsvReader::fill(Buffer& buffer) {
  const std::size_t most = longest_line() + 1;
  std::size_t wanted = std::min(std::max(options_.block_bytes, buffer.size), most - buffer.size);
  // One byte more than there should be, so that the end is noticed.
  if (const auto rest = source_->remaining()) wanted = std::min(wanted, static_cast<std::size_t>(*rest) + 1);
  if (buffer.bytes.size() < buffer.size + wanted) {
    buffer.bytes.reserve(buffer.size + wanted);
    buffer.bytes.resize(buffer.size + wanted);
  }
  const std::size_t got = source_->read(buffer.bytes.data() + buffer.size, wanted);
  buffer.size += got;
  buffer.last = got < wanted;
  const std::size_t line_end = std::string_view(buffer.bytes.data(), buffer.size).rfind('\n');
  buffer.complete = buffer.last ? buffer.size : line_end == std::string_view::npos ? 0 : line_end + 1;
  buffer.line_too_long = buffer.complete == 0 && buffer.size == most;
}

void CsvReader::check(const Buffer& buffer) const {
  if (buffer.failure) std::rethrow_exception(buffer.failure);
  if (!buffer.line_too_long) return;
  const std::size_t longest = longest_line();
  if (longest == options_.max_line_bytes)
    fail(line_, fmt::format("the line is longer than {} bytes", longest));
  throw ResourceError(fmt::format(
      "{}:{}: the line is longer than {} bytes, {}", source_->name(), lines_before() + line_, longest,
      options_.memory_bytes > 0 ? "for which --memory-limit leaves room" : "for which there is memory"));
}

void CsvReader::read_first_line() {
  std::string_view text(current_.bytes.data(), current_.complete);
  const std::string_view line = take_line(text);
  if (const std::string complaint = encoding_complaint(line); !complaint.empty()) fail(1, complaint);
  if (trim(line).empty()) fail(1, "the first line is blank");
  separator_ = detect_separator(line);
  const std::vector<std::string_view> cells = split_cells(line, separator_);
  cells_ = static_cast<Index>(cells.size());
  columns_ = cells_;
  // Lines after the first have as many cells, and no cell needs more bytes.
  constexpr std::size_t longest_cell = 32;
  if (options_.memory_bytes > 0)
    line_limit_ = std::max({options_.block_bytes, current_.bytes.size(), longest_cell * cells.size()});
  if (!options_.text_columns.empty()) find_text_columns(cells);
  // An empty first cell stands above the index column that pandas writes.
  const bool indexed = cells.size() > 1 && trim(cells.front()).empty();
  const std::vector<std::string_view> labels = without_texts(cells);
  const bool any_label = std::any_of(labels.begin(), labels.end(), is_label);
  if (!indexed && !any_label && text_of_.empty()) return;
  if (indexed || any_label) require_header(labels);
  header_.reserve(labels.size());
  for (const std::string_view label : labels) header_.push_back(unquoted(label));
  current_.begin = current_.complete - text.size();
  ++line_;
}

void CsvReader::find_text_columns(const std::vector<std::string_view>& cells) {
  constexpr std::size_t most_named = 12;
  std::vector<std::string> labels;
  for (const std::string_view cell : cells) labels.push_back(unquoted(cell));
  text_of_.assign(cells.size(), no_text);
  for (std::size_t i = 0; i < options_.text_columns.size(); ++i) {
    const std::string& wanted = options_.text_columns[i];
    const auto found = std::find(labels.begin(), labels.end(), wanted);
    if (found == labels.end()) {
      const bool any = std::any_of(cells.begin(), cells.end(), is_label);
      std::string names;
      for (std::size_t n = 0; n < std::min(most_named, labels.size()); ++n)
        names += fmt::format("{}'{}'", names.empty() ? "" : ", ", excerpt(labels[n]));
      if (labels.size() > most_named) names += fmt::format(", ... ({} in all)", labels.size());
      fail(1,
           any ? fmt::format("there is no column '{}'; the columns are {}", excerpt(wanted), names)
               : fmt::format("there is no column '{}': the line has no labels ({})", excerpt(wanted), names));
    }
    if (std::find(found + 1, labels.end(), wanted) != labels.end())
      fail(1, fmt::format("two columns are called '{}'", excerpt(wanted)));
    text_of_[static_cast<std::size_t>(found - labels.begin())] = i;
  }
  columns_ = std::count(text_of_.begin(), text_of_.end(), no_text);
  if (columns_ == 0) fail(1, "there is no column of numbers");
}

// Of a line with as many cells as the first, those that are numbers.
std::vector<std::string_view> CsvReader::without_texts(std::vector<std::string_view> cells) const {
  if (text_of_.empty() || cells.size() != text_of_.size()) return cells;
  std::vector<std::string_view> numbers;
  for (std::size_t i = 0; i < cells.size(); ++i)
    if (text_of_[i] == no_text) numbers.push_back(cells[i]);
  return numbers;
}

// A first row in which a run failed ("0.5,timeout,timeout") must not be lost as a header.
void CsvReader::require_header(const std::vector<std::string_view>& cells) const {
  std::vector<std::string_view> labels;
  labels.reserve(cells.size());
  std::copy_if(cells.begin(), cells.end(), std::back_inserter(labels),
               [](std::string_view cell) { return !cell.empty() && !is_number(cell); });
  std::sort(labels.begin(), labels.end());
  const auto stands_twice = [&](std::string_view label) {
    const auto [first, end] = std::equal_range(labels.begin(), labels.end(), label);
    return end - first > 1;
  };
  double last = -1;
  bool any_number = false;
  bool steps = !is_number(cells.front());
  for (std::size_t i = 0; i < cells.size(); ++i) {
    double value = 0;
    const bool number = parse_number(cells[i], value);
    any_number = any_number || number;
    steps = steps && (i == 0 || (number && value > last && value == std::floor(value)));
    if (number) last = value;
    if (!number && !cells[i].empty() && stands_twice(cells[i])) {
      fail(1, fmt::format(
                  "'{}' stands twice: neither a row of numbers nor a header; write inf where a run failed",
                  excerpt(cells[i])));
    }
  }
  const auto failed = std::find_if(cells.begin(), cells.end(), means_failure);
  if ((!any_number || steps) && failed != cells.end()) {
    fail(1, fmt::format("'{}' says that a run failed: write inf there, or another label if it is one",
                        excerpt(*failed)));
  }
  if (!any_number || steps) return;
  const auto label = std::find_if_not(cells.begin(), cells.end(), is_number);
  const auto number = std::find_if(cells.begin(), cells.end(), is_number);
  fail(1,
       fmt::format(
           "'{}' is no number and '{}' is no label: neither a row of numbers nor a header; write inf where "
           "a run failed",
           excerpt(*label), excerpt(*number)));
}

bool CsvReader::next(RowBlock& block) {
  block.rows = 0;
  while (block.rows == 0) {
    check(current_);
    if (current_.begin == current_.complete && current_.last) break;
    split_into_chunks();
    const std::string_view carried(current_.bytes.data() + current_.complete,
                                   current_.size - current_.complete);
    const Index loads = current_.last ? 0 : 1;
    parallel_blocks(loads + static_cast<Index>(chunks_used_), [&](Index task) {
      if (task < loads) return load(upcoming_, carried);
      parse(chunks_[static_cast<std::size_t>(task - loads)]);
    });
    gather(block);
    go_on_to_upcoming();
  }
  require(rows_delivered_ > 0 || !part_of_.empty(), "{}: there is a header line but no row after it",
          source_->name());
  return block.rows > 0;
}

void CsvReader::go_on_to_upcoming() {
  if (current_.last) {
    current_.begin = current_.complete;
  } else {
    std::swap(current_, upcoming_);
  }
}

void CsvReader::skip(Index rows) {
  const Index end = rows_delivered_ + rows;
  while (rows_delivered_ < end) {
    check(current_);
    std::string_view text(current_.bytes.data() + current_.begin, current_.complete - current_.begin);
    require(!text.empty() || !current_.last, "{}: ends after {} rows, {} were there before", source_->name(),
            rows_delivered_, end);
    for (; rows_delivered_ < end && !text.empty(); ++rows_delivered_, ++line_) take_line(text);
    current_.begin = current_.complete - text.size();
    if (!text.empty()) continue;
    if (!current_.last) {
      load(upcoming_, {current_.bytes.data() + current_.complete, current_.size - current_.complete});
    }
    go_on_to_upcoming();
  }
}

void CsvReader::split_into_chunks() {
  std::string_view text(current_.bytes.data() + current_.begin, current_.complete - current_.begin);
  // A small table is one chunk and wakes no other thread.
  const std::size_t target = std::max(text.size(), options_.block_bytes) / chunks_per_block + 1;
  chunks_used_ = 0;
  while (!text.empty()) {
    const std::size_t line_end = text.find('\n', std::min(target, text.size()) - 1);
    const std::size_t bytes = std::min(line_end, text.size() - 1) + 1;
    if (chunks_.size() == chunks_used_) chunks_.emplace_back();
    chunks_[chunks_used_++].text = text.substr(0, bytes);
    text.remove_prefix(bytes);
  }
}

void CsvReader::parse(Chunk& chunk) const {
  chunk.rows = 0;
  chunk.trailing_blank = -1;
  chunk.bad_line = -1;
  const auto columns = static_cast<std::size_t>(columns_);
  chunk.texts.clear();
  std::size_t used = 0;
  std::string_view text = chunk.text;
  for (chunk.lines = 0; !text.empty(); ++chunk.lines) {
    const std::string_view line = take_line(text);
    // A row has at least one byte per cell and the separators between: shorter lines cost no memory.
    const bool possible = line.size() >= 2 * static_cast<std::size_t>(cells_) - 1;
    if (possible && chunk.values.size() < used + columns) {
      const std::size_t most = used + columns + text.size() / 2;  // cells of the lines that are left
      const std::size_t size = std::min(std::max(used + columns, 2 * chunk.values.size()), most);
      chunk.values.reserve(size);
      chunk.values.resize(size);
    }
    if (possible && chunk.trailing_blank < 0 &&
        parse_row(line.data(), line.data() + line.size(), chunk.values.data() + used, chunk)) {
      used += columns;
      ++chunk.rows;
      continue;
    }
    if (trim(line).empty()) {
      if (chunk.trailing_blank < 0) chunk.trailing_blank = chunk.lines;
      continue;
    }
    const bool after_blank = chunk.trailing_blank >= 0;
    chunk.bad_line = after_blank ? chunk.trailing_blank : chunk.lines;
    chunk.complaint = after_blank ? "blank line inside the table" : diagnose(line);
    return;
  }
}

bool CsvReader::parse_row(const char* begin, const char* end, double* out, Chunk& chunk) const {
  const std::size_t texts_before = chunk.texts.size();
  if (!text_of_.empty()) chunk.texts.resize(texts_before + options_.text_columns.size());
  const char separator = separator_;
  const auto skip_blanks = [end, separator](const char* at) {
    while (at != end && (*at == ' ' || (*at == '\t' && separator != '\t'))) ++at;
    return at;
  };
  const char* at = begin;
  for (Index cell = 0; cell < cells_; ++cell) {
    if (cell > 0) {
      if (at == end || *at != separator) break;
      ++at;
    }
    const std::size_t text = text_of_.empty() ? no_text : text_of_[static_cast<std::size_t>(cell)];
    const char* first = skip_blanks(at);
    at = text == no_text ? parse_double(first, end, *out++) : text_end(first, end, separator);
    if (at == nullptr) break;
    if (text != no_text) {
      const std::string_view words = trim(std::string_view(first, static_cast<std::size_t>(at - first)));
      if (words.empty() || words == "\"\"" || !encoding_complaint(words).empty()) break;
      chunk.texts[texts_before + text] = words;
    }
    at = skip_blanks(at);
    if (cell + 1 == cells_ && at == end) return true;
  }
  chunk.texts.resize(texts_before);
  return false;
}

// What is wrong with a line that is not a row.
std::string CsvReader::diagnose(std::string_view line) const {
  if (std::string complaint = encoding_complaint(line); !complaint.empty()) return complaint;
  if (!text_of_.empty() && std::count(line.begin(), line.end(), '"') % 2 != 0)
    return fmt::format("a quote is opened and not closed in '{}'", excerpt(line));
  // Quotes have a meaning only where there are texts.
  const std::vector<std::string_view> quoted =
      text_of_.empty() ? std::vector<std::string_view>{} : split_cells(line, separator_);
  const Index cells = text_of_.empty() ? 1 + std::count(line.begin(), line.end(), separator_)
                                       : static_cast<Index>(quoted.size());
  if (cells != cells_) {
    return fmt::format("expected {} cells, found {}: '{}'", cells_, cells, excerpt(line));
  }
  std::string_view rest = line;
  for (Index column = 1; column <= cells_; ++column) {
    const auto index = static_cast<std::size_t>(column - 1);
    const std::size_t end = std::min(rest.find(separator_), rest.size());
    const std::string_view cell = text_of_.empty() ? trim(rest.substr(0, end)) : quoted[index];
    double ignored = 0;
    if (!text_of_.empty() && text_of_[index] != no_text) {
      const std::string& label = options_.text_columns[text_of_[index]];
      if (cell.empty() || cell == "\"\"")
        return fmt::format("column {} ('{}'): empty cell in '{}'", column, excerpt(label), excerpt(line));
      if (cell.front() == '"' &&
          text_end(cell.data(), cell.data() + cell.size(), separator_) != cell.data() + cell.size())
        return fmt::format("column {} ('{}'): '{}' goes on after its quotes", column, excerpt(label),
                           excerpt(cell));
      continue;
    }
    if (cell.empty()) return fmt::format("column {}: empty cell in '{}'", column, excerpt(line));
    if (!parse_number(cell, ignored)) {
      const bool words = columns_ == 1 && cell.find(' ') != std::string_view::npos;
      return fmt::format("column {}: '{}' is not a number{}", column, excerpt(cell),
                         words ? " (cells are separated by a comma, a semicolon or a tab)" : "");
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return "this is not a row of numbers";
}

// Which of the chunk's lines, up to the first bad one, has numbers with decimal commas; -1 if none. The first
// lines of a file are enough: of such numbers one in ten has a zero after the comma. Line 1 may be labels
// that are filled up with zeros.
Index CsvReader::line_with_decimal_commas(const Chunk& chunk) const {
  if (separator_ != ',') return -1;
  std::string_view text = chunk.text;
  const Index last = chunk.bad_line < 0 ? chunk.lines - 1 : chunk.bad_line;
  for (Index line = 0; line <= last && line_ + line <= first_lines_; ++line) {
    const std::string_view cells = take_line(text);
    const bool labels = line_ + line == 1 && first_lines_ == searched_lines;
    if (!labels && has_decimal_comma(without_texts(split_cells(cells, separator_)))) return line;
  }
  return -1;
}

void CsvReader::account_for(const Chunk& chunk) {
  const bool has_text = chunk.rows > 0 || chunk.bad_line >= 0;
  if (has_text && blank_line_ > 0) fail(blank_line_, "blank line inside the table");
  if (const Index line = line_with_decimal_commas(chunk); line >= 0) {
    std::string_view text = chunk.text;
    for (Index i = 0; i < line; ++i) take_line(text);
    fail(line_ + line,
         fmt::format("'{}' has decimal commas; write 0.05, or separate cells by semicolons or tabs "
                     "and write points",
                     excerpt(take_line(text))));
  }
  if (chunk.bad_line >= 0) fail(line_ + chunk.bad_line, chunk.complaint);
  if (chunk.trailing_blank >= 0 && blank_line_ == 0) blank_line_ = line_ + chunk.trailing_blank;
  line_ += chunk.lines;
}

// A serial copy: it costs less than waking the threads a second time for each block.
void CsvReader::gather(RowBlock& block) {
  for (std::size_t i = 0; i < chunks_used_; ++i) {
    account_for(chunks_[i]);
    block.rows += chunks_[i].rows;
  }
  block.first_row = rows_delivered_;
  rows_delivered_ += block.rows;
  block.values.resize(static_cast<std::size_t>(block.rows * columns_));
  auto out = block.values.begin();
  block.texts.clear();
  for (std::size_t i = 0; i < chunks_used_; ++i) {
    out = std::copy_n(chunks_[i].values.begin(), chunks_[i].rows * columns_, out);
    for (const std::string_view words : chunks_[i].texts) block.texts.push_back(unquoted(words));
  }
}

}  // namespace surefoot::io
