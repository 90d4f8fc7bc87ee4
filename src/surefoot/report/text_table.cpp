#include "surefoot/report/text_table.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace surefoot::report {
namespace {

constexpr std::string_view gap = "  ";
constexpr std::string_view group_gap = "   ";
constexpr std::size_t latex_note_width = 100;

std::string padded(const std::string& text, std::size_t width, Align align) {
  const std::size_t used = display_width(text);
  const std::string blanks(width > used ? width - used : 0, ' ');
  return align == Align::left ? text + blanks : blanks + text;
}

std::string centred(const std::string& text, std::size_t width) {
  const std::size_t used = display_width(text);
  const std::size_t left = width > used ? (width - used) / 2 : 0;
  return padded(std::string(left, ' ') + text, width, Align::left);
}

std::string_view gap_before(const std::vector<ColumnGroup>& groups, std::size_t column) {
  if (column == 0) return "";
  const bool opens = std::ranges::any_of(
      groups, [column](const ColumnGroup& g) { return g.begin == column || g.end == column; });
  return opens ? group_gap : gap;
}

std::size_t group_width(const std::vector<std::size_t>& widths, const ColumnGroup& group) {
  std::size_t width = gap.size() * (group.end - group.begin - 1);
  for (std::size_t j = group.begin; j < group.end; ++j) width += widths[j];
  return width;
}

std::vector<std::size_t> column_widths(const TextTable& table) {
  std::vector<std::size_t> widths;
  for (const Column& column : table.columns) widths.push_back(display_width(printable(column.header)));
  for (const auto& row : table.rows) {
    for (std::size_t j = 0; j < row.size(); ++j) {
      widths[j] = std::max(widths[j], display_width(printable(row[j])));
    }
  }
  for (const ColumnGroup& group : column_groups(table)) {
    const std::size_t needed = display_width(printable(group.name));
    const std::size_t width = group_width(widths, group);
    if (!group.name.empty() && needed > width) widths[group.begin] += needed - width;
  }
  return widths;
}

std::string without_trailing_blanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

/// The layout of one table as text, line by line.
class Lines {
 public:
  explicit Lines(const TextTable& table)
      : table_(table), groups_(column_groups(table)), widths_(column_widths(table)) {}

  [[nodiscard]] bool has_groups() const {
    return std::ranges::any_of(groups_, [](const ColumnGroup& g) { return !g.name.empty(); });
  }

  [[nodiscard]] std::string groups() const {
    std::string line;
    for (const ColumnGroup& group : groups_) {
      line += gap_before(groups_, group.begin);
      line += centred(printable(group.name), group_width(widths_, group));
    }
    return without_trailing_blanks(line);
  }

  [[nodiscard]] std::string cells(auto&& cell_of) const {
    std::string line;
    for (std::size_t j = 0; j < table_.columns.size(); ++j) {
      line += gap_before(groups_, j);
      line += padded(printable(cell_of(j)), widths_[j], table_.columns[j].align);
    }
    return without_trailing_blanks(line);
  }

  [[nodiscard]] std::string rule() const {
    return cells([this](std::size_t j) { return std::string(widths_[j], '-'); });
  }

  [[nodiscard]] std::size_t width() const { return rule().size(); }

 private:
  const TextTable& table_;
  std::vector<ColumnGroup> groups_;
  std::vector<std::size_t> widths_;
};

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string>
      lines;  // not by a stream, which would end early and say nothing where memory is short
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::string markdown_header(const Column& column) {
  return markdown_escaped(column.group.empty() ? column.header : column.group + ": " + column.header);
}

/// "1.5e-3" as mantissa and exponent; empty if the text is no such number.
std::string latex_power(std::string_view text) {
  const std::size_t e = text.find('e');
  if (e == 0 || e == std::string_view::npos || e + 1 == text.size()) return "";
  const std::string_view mantissa = text.substr(0, e);
  const std::string_view exponent = text.substr(e + 1);
  if (mantissa.find_first_not_of("-.0123456789") != std::string_view::npos) return "";
  if (exponent.find_first_not_of("-0123456789") != std::string_view::npos) return "";
  return mantissa == "1" ? fmt::format("$10^{{{}}}$", exponent)
                         : fmt::format("${} \\cdot 10^{{{}}}$", mantissa, exponent);
}

std::string latex_cell(const std::string& cell) {
  if (cell == nothing) return "--";
  const std::string power = latex_power(cell);
  if (!power.empty()) return power;
  const bool number = !cell.empty() && cell.find_first_not_of("-.0123456789") == std::string::npos;
  return number && cell.front() == '-' ? fmt::format("${}$", cell) : latex_escaped(cell);
}

/// Headings over several columns, each with a rule below it.
std::string latex_groups(const std::vector<ColumnGroup>& groups) {
  std::string line;
  std::string rules;
  for (const ColumnGroup& group : groups) {
    if (group.begin > 0) line += " & ";
    line += fmt::format("\\multicolumn{{{}}}{{c}}{{{}}}", group.end - group.begin, latex_escaped(group.name));
    if (!group.name.empty()) rules += fmt::format("\\cline{{{}-{}}} ", group.begin + 1, group.end);
  }
  return line + " \\\\ " + rules + "\n";
}

std::string html_alignment(const Column& column) {
  return column.align == Align::left ? " class=\"left\"" : "";
}

std::string html_head(const TextTable& table) {
  const auto groups = column_groups(table);
  const bool grouped = std::ranges::any_of(groups, [](const ColumnGroup& g) { return !g.name.empty(); });
  std::string top;
  std::string bottom;
  for (const ColumnGroup& group : groups) {
    if (grouped && !group.name.empty()) {
      top += fmt::format("<th scope=\"colgroup\" colspan=\"{}\" class=\"group\">{}</th>",
                         group.end - group.begin, html_escaped(group.name));
    }
    for (std::size_t j = group.begin; j < group.end; ++j) {
      const Column& column = table.columns[j];
      const bool tall = grouped && group.name.empty();
      std::string& row = tall ? top : bottom;
      row += fmt::format("<th scope=\"col\"{}{}>{}</th>", tall ? " rowspan=\"2\"" : "",
                         html_alignment(column), html_escaped(column.header));
    }
  }
  return grouped ? "<tr>" + top + "</tr>\n<tr>" + bottom + "</tr>\n" : "<tr>" + bottom + "</tr>\n";
}

std::string html_cell(const TextTable& table, std::size_t j, const std::string& cell) {
  if (j < table.key_columns) {
    return fmt::format("<th scope=\"row\"{}>{}</th>", html_alignment(table.columns[j]), html_escaped(cell));
  }
  if (cell == nothing) return "<td class=\"none\" title=\"no guarantee\">-</td>";
  return fmt::format("<td{}>{}</td>", html_alignment(table.columns[j]), html_escaped(cell));
}

/// The key columns and the chosen groups of the table.
TextTable part_of(const TextTable& table, const std::vector<ColumnGroup>& chosen) {
  std::vector<std::size_t> kept(table.key_columns);
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  for (const ColumnGroup& group : chosen) {
    for (std::size_t j = group.begin; j < group.end; ++j) kept.push_back(j);
  }
  TextTable part;
  part.key_columns = table.key_columns;
  for (const std::size_t j : kept) part.columns.push_back(table.columns[j]);
  for (const auto& row : table.rows) {
    auto& cells = part.rows.emplace_back();
    for (const std::size_t j : kept) cells.push_back(row[j]);
  }
  return part;
}

std::vector<TextTable> split_evenly(const TextTable& table, const std::vector<ColumnGroup>& groups,
                                    std::size_t parts) {
  std::vector<TextTable> result;
  for (std::size_t part = 0; part < parts; ++part) {
    const auto begin = static_cast<std::ptrdiff_t>(part * groups.size() / parts);
    const auto end = static_cast<std::ptrdiff_t>((part + 1) * groups.size() / parts);
    result.push_back(part_of(table, {groups.begin() + begin, groups.begin() + end}));
  }
  return result;
}

}  // namespace

std::vector<ColumnGroup> column_groups(const TextTable& table) {
  std::vector<ColumnGroup> groups;
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const std::string& name = table.columns[j].group;
    const bool joins = !groups.empty() && groups.back().name == name && j != table.key_columns;
    if (joins) {
      groups.back().end = j + 1;
    } else {
      groups.push_back({j, j + 1, name});
    }
  }
  return groups;
}

std::string to_text(const TextTable& table, std::string_view indent) {
  const Lines lines(table);
  std::string text;
  const auto add = [&](const std::string& line) { text += std::string(indent) + line + '\n'; };
  if (lines.has_groups()) add(lines.groups());
  add(lines.cells([&](std::size_t j) { return table.columns[j].header; }));
  add(lines.rule());
  for (const auto& row : table.rows) add(lines.cells([&](std::size_t j) { return row[j]; }));
  return text;
}

std::string to_markdown(const TextTable& table) {
  std::string text = "|";
  for (const Column& column : table.columns) text += fmt::format(" {} |", markdown_header(column));
  text += "\n|";
  for (const Column& column : table.columns) text += column.align == Align::left ? ":---|" : "---:|";
  text += '\n';
  for (const auto& row : table.rows) {
    text += '|';
    for (const std::string& cell : row) text += fmt::format(" {} |", markdown_escaped(cell));
    text += '\n';
  }
  for (const std::string& note : table.notes) text += fmt::format("\n{}\n", markdown_escaped(note));
  return text;
}

std::string to_latex(const TextTable& table) {
  std::string text = "\\begin{tabular}{";
  for (const Column& column : table.columns) text += column.align == Align::left ? 'l' : 'r';
  text += "}\n\\hline\n";
  const std::vector<ColumnGroup> groups = column_groups(table);
  if (std::ranges::any_of(groups, [](const ColumnGroup& g) { return !g.name.empty(); }))
    text += latex_groups(groups);
  const auto add_line = [&](auto&& cell_of) {
    for (std::size_t j = 0; j < table.columns.size(); ++j) text += (j > 0 ? " & " : "") + cell_of(j);
    text += " \\\\\n";
  };
  add_line([&](std::size_t j) { return latex_escaped(table.columns[j].header); });
  text += "\\hline\n";
  for (const auto& row : table.rows) add_line([&](std::size_t j) { return latex_cell(row[j]); });
  text += "\\hline\n";
  for (const std::string& note : table.notes) {
    for (const std::string& line : lines_of(wrapped(note, latex_note_width)))
      text += fmt::format("\\multicolumn{{{}}}{{l}}{{{}}} \\\\\n", table.columns.size(), latex_escaped(line));
  }
  return text + "\\end{tabular}\n";
}

std::string to_html(const TextTable& table) {
  std::string html = "<table>\n<thead>\n" + html_head(table) + "</thead>\n<tbody>\n";
  for (const auto& row : table.rows) {
    html += "<tr>";
    for (std::size_t j = 0; j < row.size(); ++j) html += html_cell(table, j, row[j]);
    html += "</tr>\n";
  }
  return html + "</tbody>\n</table>\n";
}

std::vector<TextTable> split_to_width(const TextTable& table, std::size_t width) {
  std::vector<ColumnGroup> groups = column_groups(table);
  std::erase_if(groups, [&](const ColumnGroup& g) { return g.begin < table.key_columns; });
  for (std::size_t parts = 1; parts < groups.size(); ++parts) {
    auto split = split_evenly(table, groups, parts);
    if (std::ranges::all_of(split, [&](const TextTable& t) { return Lines(t).width() <= width; })) {
      return split;
    }
  }
  return groups.size() <= 1 ? std::vector{table} : split_evenly(table, groups, groups.size());
}

}  // namespace surefoot::report
