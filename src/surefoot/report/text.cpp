#include "surefoot/report/text.hpp"

#include "surefoot/io/text.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace surefoot::report {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  ///< 0: not valid UTF-8
};

std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

bool is_scalar_value(std::uint32_t value, std::size_t bytes) {
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  return value >= smallest[bytes] && value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
}

CodePoint decode(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t bytes = sequence_length(lead);
  if (bytes == 0 || bytes > text.size()) return {};
  std::uint32_t value = bytes == 1 ? lead : lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80) return {};
    value = (value << 6U) | (byte & 0x3FU);
  }
  if (!is_scalar_value(value, bytes)) return {};
  return {value, bytes};
}

bool within(std::uint32_t value, std::uint32_t first, std::uint32_t last) {
  return value >= first && value <= last;
}

bool is_blank(std::uint32_t c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029;
}

bool is_unprintable(std::uint32_t c) {
  return c < 0x20 || within(c, 0x7F, 0x9F) || within(c, 0x202A, 0x202E) || within(c, 0x2066, 0x2069) ||
         c == 0xFFFE || c == 0xFFFF;
}

bool is_combining(std::uint32_t c) {
  return within(c, 0x300, 0x36F) || within(c, 0x200B, 0x200F) || within(c, 0xFE00, 0xFE0F);
}

bool is_wide(std::uint32_t c) {
  return within(c, 0x1100, 0x115F) || within(c, 0x2E80, 0xA4CF) || within(c, 0xAC00, 0xD7A3) ||
         within(c, 0xF900, 0xFAFF) || within(c, 0xFF00, 0xFF60) || within(c, 0x1F300, 0x1FAFF) ||
         within(c, 0x20000, 0x3FFFD);
}

std::size_t columns_of(std::uint32_t c) {
  if (is_combining(c)) return 0;
  return is_wide(c) ? 2 : 1;
}

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
    const CodePoint point = decode(rest);
    const std::string_view letter = rest.substr(0, point.bytes);
    rest.remove_prefix(point.bytes);
    const auto* written =
        std::ranges::find(as_ascii, point.value, &std::pair<std::uint32_t, std::string_view>::first);
    if (written != as_ascii.end()) {
      result += written->second;
    } else {
      const bool known = point.bytes == 1 || (within(point.value, latin_first, latin_last) &&
                                              std::ranges::count(of_other_fonts, point.value) == 0);
      result += known ? letter : "?";
    }
  }
  return result;
}

}  // namespace

std::string printable(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode(text);
    const std::size_t bytes = point.bytes == 0 ? 1 : point.bytes;
    if (point.bytes != 0 && is_blank(point.value)) {
      result += ' ';
    } else if (point.bytes == 0 || is_unprintable(point.value)) {
      result += replacement;
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return result;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = decode(text);
    width += point.bytes == 0 ? 1 : columns_of(point.value);
    text.remove_prefix(point.bytes == 0 ? 1 : point.bytes);
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t width) {
  std::string clean = printable(text);
  if (display_width(clean) <= width) return clean;
  std::string result;
  std::size_t used = 1;
  for (std::string_view rest = clean; !rest.empty();) {
    const CodePoint point = decode(rest);
    used += columns_of(point.value);
    if (used > width) break;
    result += rest.substr(0, point.bytes);
    rest.remove_prefix(point.bytes);
  }
  return result + "\u2026";
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
