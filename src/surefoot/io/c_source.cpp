#include "surefoot/io/c_source.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/text.hpp"

#include <algorithm>
#include <cctype>

namespace surefoot::io {

void require_name_in_c(std::string_view name) {
  const auto fits = [](char letter) {
    return letter == '_' || std::isalnum(static_cast<unsigned char>(letter)) != 0;
  };
  require(!name.empty() && std::isdigit(static_cast<unsigned char>(name.front())) == 0 &&
              std::ranges::all_of(name, fits),
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
