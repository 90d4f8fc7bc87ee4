#pragma once

#include "surefoot/core/types.hpp"

#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

/// JSON, written as it goes without a tree of it: compact, and with a line for every value. Both are byte for
/// byte what nlohmann::ordered_json::dump() makes of the same values, so that a digest of the compact text is
/// that of the parsed tree. Infinity and NaN are null; texts become valid UTF-8.
class JsonText {
 public:
  /// {"key": value, ...} of key, value, key, value, ... A value is a number, a text, a truth, a list of them,
  /// an optional (null without a value), or a function of the JsonText that writes it.
  template <class... Members>
  void object(const Members&... pairs) {
    open('{');
    members(pairs...);
    close('}');
  }
  /// More members of the object that is open.
  template <class Value, class... More>
  void members(std::string_view key, const Value& value, const More&... more) {
    begin_member(key);
    write(value);
    if constexpr (sizeof...(more) > 0) members(more...);
  }

  /// [..] with an item for each of `values`, written by write_item(text, value).
  template <class T, class WriteItem>
  void list(const std::vector<T>& values, const WriteItem& write_item) {
    open('[');
    for (const T& value : values) {
      begin_item();
      write_item(*this, value);
    }
    close(']');
  }

  /// Any JSON, parsed and written again; `text` must be JSON.
  void json(const std::string& text);

  void open(char bracket);
  void close(char bracket);

  [[nodiscard]] const std::string& compact() const { return compact_; }
  [[nodiscard]] const std::string& indented() const { return indented_; }

 private:
  struct Tree;

  template <class T>
  void write(const std::vector<T>& values) {
    list(values, [](JsonText& text, const T& value) { text.write(value); });
  }
  template <class T>
  void write(const std::optional<T>& value) {
    if (value) {
      write(*value);
    } else {
      token("null");
    }
  }
  template <std::invocable<JsonText&> Write>
  void write(const Write& write_value) {
    write_value(*this);
  }
  template <std::integral Number>
  void write(Number value) {
    if constexpr (std::same_as<Number, bool>) {
      token(value ? "true" : "false");
    } else {
      whole(static_cast<Index>(value));
    }
  }
  void write(double value);
  void write(std::string_view text);
  void write(const std::string& text) { write(std::string_view(text)); }
  void write(const char* text) { write(std::string_view(text)); }

  void whole(Index value);
  void token(std::string_view text);
  void begin_item();
  void begin_member(std::string_view key);
  void new_line();

  std::string compact_;
  std::string indented_;
  std::size_t depth_ = 0;
  bool empty_ = true;  // the innermost object or list has nothing yet
};

}  // namespace surefoot::certify
