#include "surefoot/io/c_source.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/text.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace surefoot::io {

namespace {

constexpr std::array<std::string_view, 37> keywords{
    "auto",     "break",  "case",   "char",     "const",     "continue", "default",  "do",
    "double",   "else",   "enum",   "extern",   "float",     "for",      "goto",     "if",
    "inline",   "int",    "long",   "register", "restrict",  "return",   "short",    "signed",
    "sizeof",   "static", "struct", "switch",   "typedef",   "union",    "unsigned", "void",
    "volatile", "while",  "_Bool",  "_Complex", "_Imaginary"};

}  // namespace

void require_name_in_c(std::string_view name) {
  const auto fits = [](char letter) {
    return letter == '_' || std::isalnum(static_cast<unsigned char>(letter)) != 0;
  };
  require(!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
              std::ranges::all_of(name, fits) && std::ranges::find(keywords, name) == keywords.end(),
          "name: '{}' is not a name in C", excerpt(std::string(name)));
}

std::string c_comment_line(std::string_view text) {
  std::string line;
  for (const char letter : text) {
    const bool ends_comment = letter == '/' && !line.empty() && line.back() == '*';
    const bool plain = letter >= ' ' && letter != '\x7f' && letter != '\\';
    line += ends_comment ? ' ' : (plain ? letter : '?');
  }
  return line;
}

}  // namespace surefoot::io
