#include "surefoot/io/json_size.hpp"

#include "surefoot/core/types.hpp"
#include "surefoot/io/byte_source.hpp"

#include <algorithm>
#include <string_view>
#include <vector>

namespace surefoot::io {

namespace {

/// What a text of JSON has of each kind.
class JsonCounts {
 public:
  void add(std::string_view text) {
    for (const char c : text) {
      if (in_text_) {
        add_to_text(c);
      } else {
        add_outside(c);
      }
    }
  }

  [[nodiscard]] double tree_bytes() const {
    constexpr double growth = 3;
    constexpr double value = 16;
    constexpr double field = 48;
    constexpr double list = 48;          // and its place on the heap
    constexpr double text = 64;          // of the string, without its letters
    constexpr double long_letters = 32;  // what the heap adds
    constexpr double reading = 4;        // what a text is read into, as it grows, and a copy
    const auto number = [](Index count) { return static_cast<double>(count); };
    return growth * (field * number(fields_) + value * number(1 + values_ - fields_)) +
           list * number(lists_) + text * number(texts_ - fields_) + long_letters * number(long_texts_) +
           number(letters_) + reading * number(longest_);
  }

 private:
  void add_to_text(char c) {
    constexpr Index shortest_on_heap = 16;
    if (escaped_) {
      escaped_ = false;
    } else if (c == '\\') {
      escaped_ = true;
    } else if (c == '"') {
      in_text_ = false;
      if (length_ >= shortest_on_heap) {
        ++long_texts_;
        letters_ += length_;
      }
      longest_ = std::max(longest_, length_);
      return;
    }
    ++length_;
  }

  void add_outside(char c) {
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') return;
    if (opened_ && c != ']' && c != '}') ++values_;
    opened_ = c == '[' || c == '{';
    if (opened_) ++lists_;
    if (c == ',') ++values_;
    if (c == ':') ++fields_;
    if (c != '"') return;
    in_text_ = true;
    length_ = 0;
    ++texts_;
  }

  Index values_ = 0;  ///< in lists and objects
  Index fields_ = 0;
  Index lists_ = 0;  ///< and objects
  Index texts_ = 0;  ///< names of fields too
  Index long_texts_ = 0;
  Index letters_ = 0;
  Index length_ = 0;
  Index longest_ = 0;
  bool in_text_ = false;
  bool escaped_ = false;
  bool opened_ = false;
};

}  // namespace

double json_tree_bytes(ByteSource& source) {
  std::vector<char> block(std::size_t{1} << 16U);
  JsonCounts counts;
  while (const std::size_t got = source.read(block.data(), block.size())) counts.add({block.data(), got});
  return counts.tree_bytes();
}

}  // namespace surefoot::io
