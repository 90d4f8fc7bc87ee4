#include "surefoot/io/csv_text.hpp"

#include "surefoot/io/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>

namespace surefoot::io {

namespace {

bool is_whole_text(std::string_view cell) {
  return !cell.empty() && cell.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

std::size_t cell_end(std::string_view line, char separator) {
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') quoted = !quoted;
    if (line[i] == separator && !quoted) return i;
  }
  return line.size();
}

char detect_separator(std::string_view line) {
  for (const char candidate : {'\t', ';'}) {
    if (cell_end(line, candidate) < line.size()) return candidate;
  }
  return ',';
}

std::vector<std::string_view> split_cells(std::string_view line, char separator) {
  std::vector<std::string_view> cells;
  cells.reserve(1 + static_cast<std::size_t>(std::count(line.begin(), line.end(), separator)));
  while (true) {
    const std::size_t end = cell_end(line, separator);
    cells.push_back(trim(line.substr(0, end)));
    if (end == line.size()) return cells;
    line.remove_prefix(end + 1);
  }
}

std::string unquoted(std::string_view label) {
  if (label.size() < 2 || label.front() != '"' || label.back() != '"') return std::string(label);
  label = label.substr(1, label.size() - 2);
  std::string text;
  for (std::size_t i = 0; i < label.size(); ++i) {
    text += label[i];
    if (label[i] == '"' && label.substr(i + 1).starts_with('"')) ++i;
  }
  return text;
}

bool means_failure(std::string_view cell) {
  constexpr std::array<std::string_view, 21> words{
      "timeout", "timedout", "tle",        "fail",     "fails",      "failed",    "failure",
      "error",   "diverged", "divergence", "unsolved", "infeasible", "unbounded", "crash",
      "crashed", "killed",   "oom",        "none",     "null",       "na",        "maxiter"};
  std::string plain;
  for (const char c : unquoted(cell)) {
    if (std::isalpha(static_cast<unsigned char>(c)) != 0)
      plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    else if (std::string_view(" _-/#<>").find(c) == std::string_view::npos)
      return false;
  }
  return std::find(words.begin(), words.end(), plain) != words.end();
}

bool has_decimal_comma(const std::vector<std::string_view>& cells) {
  for (std::size_t i = 1; i < cells.size(); ++i) {
    const std::string_view before = cells[i - 1].substr(cells[i - 1].starts_with('-') ? 1 : 0);
    if (is_whole_text(before) && is_whole_text(cells[i]) && cells[i].size() > 1 && cells[i][0] == '0')
      return true;
  }
  return false;
}

std::string encoding_complaint(std::string_view line) {
  if (line.find('\0') != std::string_view::npos) {
    return fmt::format("NUL byte in '{}': this is no text", excerpt(line));
  }
  if (!is_utf8(line)) return fmt::format("text is not UTF-8: '{}'", excerpt(line));
  return {};
}

}  // namespace surefoot::io
