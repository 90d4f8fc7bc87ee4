#include "surefoot/report/text.hpp"

#include "surefoot/io/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace surefoot::report {
namespace {

/// The next blank, but "98.1 %" is one word.
std::size_t end_of_word(std::string_view text, std::size_t begin) {
  std::size_t end = text.find(' ', begin);
  if (end != std::string_view::npos && text.substr(end, 2) == " %") end = text.find(' ', end + 1);
  return std::min(end, text.size());
}

std::string with_escapes(std::string_view text, auto&& escape_of) {
  std::string result;
  for (const char c : printable(text)) {
    const std::string_view escape = escape_of(c);
    if (escape.empty()) {
      result += c;
    } else {
      result += escape;
    }
  }
  return result;
}

/// Without what needs a package: of letters beyond ASCII those of Latin-1 that every font has.
std::string known_to_latex(std::string_view text) {
  constexpr std::uint32_t latin_first = 0xC0;
  constexpr std::uint32_t latin_last = 0xFF;
  constexpr std::array<std::uint32_t, 6> of_other_fonts{0xD0, 0xD7, 0xDE, 0xF0, 0xF7, 0xFE};
  constexpr std::array<std::pair<std::uint32_t, std::string_view>, 5> as_ascii{
      {{0x2013, "--"}, {0x2014, "---"}, {0x2019, "'"}, {0x2026, "..."}, {0x2212, "-"}}};
  std::string result;
  const std::string clean = printable(text);
  for (std::string_view rest = clean; !rest.empty();) {
    const CodePoint point = decode_utf8(rest);
    const std::string_view letter = rest.substr(0, point.bytes);
    rest.remove_prefix(point.bytes);
    const auto* written =
        std::ranges::find(as_ascii, point.value, &std::pair<std::uint32_t, std::string_view>::first);
    if (written != as_ascii.end()) {
      result += written->second;
    } else {
      const bool known = point.bytes == 1 || (point.value >= latin_first && point.value <= latin_last &&
                                              std::ranges::count(of_other_fonts, point.value) == 0);
      result += known ? letter : "?";
    }
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) {
  return single_line(text);
}

std::string wrapped(std::string_view text, std::size_t width, std::string_view first, std::string_view rest) {
  const std::string clean = printable(text);
  std::string result;
  std::string line(first);
  bool fresh = true;
  for (std::size_t begin = 0; begin < clean.size();) {
    const std::size_t end = end_of_word(clean, begin);
    const std::string_view word = std::string_view(clean).substr(begin, end - begin);
    begin = end + 1;
    if (word.empty()) continue;
    if (!fresh && display_width(line) + 1 + display_width(word) > width) {
      result += line + '\n';
      line = rest;
      fresh = true;
    }
    if (!fresh) line += ' ';
    const std::size_t used = display_width(line);
    line += shortened(word, width > used ? width - used : 1);
    fresh = false;
  }
  return result + line + '\n';
}

std::string html_escaped(std::string_view text) {
  return with_escapes(text, [](char c) -> std::string_view {
    switch (c) {
      case '&':
        return "&amp;";
      case '<':
        return "&lt;";
      case '>':
        return "&gt;";
      case '"':
        return "&quot;";
      case '\'':
        return "&#39;";
      default:
        return {};
    }
  });
}

std::string markdown_escaped(std::string_view text) {
  return with_escapes(text, [](char c) -> std::string_view {
    switch (c) {
      case '|':
        return "\\|";
      case '\\':
        return "\\\\";
      case '`':
        return "\\`";
      case '*':
        return "\\*";
      case '_':
        return "\\_";
      case '[':
        return "\\[";
      case '<':
        return "&lt;";
      case '&':
        return "&amp;";
      default:
        return {};
    }
  });
}

std::string latex_escaped(std::string_view text) {
  std::string result;
  for (const char letter : known_to_latex(text)) {
    switch (letter) {
      case '\\':
        result += "\\textbackslash{}";
        break;
      case '~':
        result += "\\textasciitilde{}";
        break;
      case '^':
        result += "\\textasciicircum{}";
        break;
      case '<':
        result += "\\textless{}";
        break;
      case '>':
        result += "\\textgreater{}";
        break;
      case '|':
        result += "\\textbar{}";
        break;
      case '"':
        result += "{''}";
        break;
      case '[':  // after \\ they would be arguments
      case ']':
      case '*':
        result += {'{', letter, '}'};
        break;
      case '{':
      case '}':
      case '$':
      case '&':
      case '#':
      case '%':
      case '_':
        result += '\\';
        [[fallthrough]];
      default:
        result += letter;
    }
  }
  return result;
}

std::string csv_quoted(std::string_view text) {
  std::string clean = printable(text);
  // Spreadsheets compute what begins so, but for numbers and a sign alone; after an apostrophe it is a text
  // to them.
  const std::size_t begin = clean.find_first_not_of(' ');
  double number = 0;
  if (begin != std::string::npos && std::string_view("=+-@").find(clean[begin]) != std::string_view::npos &&
      clean.size() > 1 && !io::parse_number(clean, number))
    clean.insert(0, 1, '\'');
  if (clean.find_first_of(",\"") == std::string::npos) return clean;
  return '"' + with_escapes(clean, [](char c) -> std::string_view { return c == '"' ? "\"\"" : ""; }) + '"';
}

std::string gnuplot_quoted(std::string_view text) {
  // Not every command of gnuplot takes '' for an apostrophe; between other quotes codes stand for what acts.
  if (text.find('\'') == std::string_view::npos) return '\'' + printable(text) + '\'';
  return '"' +
         with_escapes(text,
                      [](char c) -> std::string_view {
                        switch (c) {
                          case '\'':
                            return "\\047";
                          case '"':
                            return "\\042";
                          case '`':
                            return "\\140";
                          case '\\':
                            return "\\134";
                          default:
                            return {};
                        }
                      }) +
         '"';
}

std::string shell_path(std::string_view path) {
  return shell_quoted((path.starts_with('-') ? "./" : "") + std::string(path));
}

std::string shell_quoted(std::string_view text) {
  constexpr std::string_view plain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./+:=@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) return std::string(text);
  return '\'' + with_escapes(text, [](char c) -> std::string_view { return c == '\'' ? "'\\''" : ""; }) +
         '\'';
}

}  // namespace surefoot::report
