#include "surefoot/certify/json_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace surefoot::certify {

namespace {

using AnyJson = nlohmann::ordered_json;

std::string dumped(const AnyJson& value) {
  return value.dump(-1, ' ', false, AnyJson::error_handler_t::replace);
}

bool stands_for_itself(char letter) {
  const auto byte = static_cast<unsigned char>(letter);
  return byte >= 0x20 && byte < 0x7F && letter != '"' && letter != '\\';
}

}  // namespace

struct JsonText::Tree {
  static void write(JsonText& text, const AnyJson& tree) {
    if (tree.is_object()) {
      text.open('{');
      for (const auto& [key, value] : tree.items()) {
        text.begin_member(key);
        write(text, value);
      }
      text.close('}');
    } else if (tree.is_array()) {
      text.open('[');
      for (const AnyJson& value : tree) {
        text.begin_item();
        write(text, value);
      }
      text.close(']');
    } else {
      text.token(dumped(tree));
    }
  }
};

void JsonText::json(const std::string& text) {
  Tree::write(*this, AnyJson::parse(text));
}

void JsonText::open(char bracket) {
  compact_ += bracket;
  indented_ += bracket;
  ++depth_;
  empty_ = true;
}

void JsonText::close(char bracket) {
  --depth_;
  if (!empty_) new_line();
  compact_ += bracket;
  indented_ += bracket;
  empty_ = false;
}

void JsonText::new_line() {
  indented_ += '\n';
  indented_.append(depth_, ' ');
}

void JsonText::begin_item() {
  if (!empty_) {
    compact_ += ',';
    indented_ += ',';
  }
  new_line();
  empty_ = false;
}

void JsonText::begin_member(std::string_view key) {
  begin_item();
  write(key);
  compact_ += ':';
  indented_ += ": ";
}

void JsonText::token(std::string_view text) {
  compact_ += text;
  indented_ += text;
}

void JsonText::whole(Index value) {
  const fmt::format_int digits(value);
  token({digits.data(), digits.size()});
}

void JsonText::write(double value) {
  if (!std::isfinite(value)) return token("null");
  // The digits of dump(), which are not always the fewest.
  std::array<char, 64> digits{};
  const char* end = nlohmann::detail::to_chars(digits.data(), digits.data() + digits.size(), value);
  token({digits.data(), static_cast<std::size_t>(end - digits.data())});
}

void JsonText::write(std::string_view text) {
  if (!std::all_of(text.begin(), text.end(), stands_for_itself)) return token(dumped(AnyJson(text)));
  for (std::string* out : {&compact_, &indented_}) {
    *out += '"';
    *out += text;
    *out += '"';
  }
}

}  // namespace surefoot::certify
