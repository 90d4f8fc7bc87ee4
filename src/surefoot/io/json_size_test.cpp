#include "surefoot/io/json_size.hpp"

#include "surefoot/io/byte_source.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace surefoot::io {
namespace {

struct Heap {
  std::size_t now = 0;
  std::size_t most = 0;
};
Heap heap;  // NOLINT(cppcoreguidelines-avoid-non-const-global-variables): of the allocator below

// As malloc places them: 8 bytes before, in steps of 16.
std::size_t placed(std::size_t bytes) {
  constexpr std::size_t least = 32;
  return std::max(least, (bytes + 8 + 15) / 16 * 16);
}

template <class T>
struct Counted : std::allocator<T> {
  Counted() = default;
  template <class U>
  Counted(const Counted<U>&) {}  // NOLINT(google-explicit-constructor): allocators are converted
  template <class U>
  struct rebind {
    using other = Counted<U>;
  };
  T* allocate(std::size_t count) {
    heap.now += placed(count * sizeof(T));
    heap.most = std::max(heap.most, heap.now);
    return std::allocator<T>::allocate(count);
  }
  void deallocate(T* place, std::size_t count) {
    heap.now -= placed(count * sizeof(T));
    std::allocator<T>::deallocate(place, count);
  }
};

using Text = std::basic_string<char, std::char_traits<char>, Counted<char>>;
using Tree = nlohmann::basic_json<nlohmann::ordered_map, std::vector, Text, bool, std::int64_t, std::uint64_t,
                                  double, Counted>;

std::size_t peak_of_tree(const std::string& text) {
  heap = {};
  const Tree tree = Tree::parse(text);
  EXPECT_FALSE(tree.is_discarded());
  return heap.most;
}

std::string list_of(const std::string& item, int count) {
  std::string text = "[" + item;
  for (int i = 1; i < count; ++i) text += "," + item;
  return text + "]";
}

double bytes_of(const std::string& text) {
  return json_tree_bytes(*memory_bytes("text", text));
}

// Numbers of items just above a power of two, where vectors have just grown, and others.
TEST(JsonSize, IsAboveWhatTheTreeTakesAndNotByMuch) {
  std::string fields = "{\"k0\":0";
  for (int i = 1; i < 1025; ++i) fields += fmt::format(",\"k{}\":{}", i, i);
  fields += "}";
  const std::string claim =
      R"({"variant": 0, "step": 12, "tolerance": 0.001, "method": "exact", "samples": 1000, "failures": 3,
          "delta": 1.25e-05, "empirical": 0.997, "lower_bound": 0.98})";
  std::vector<std::string> texts{fields,
                                 "{\"" + std::string(5000, 'x') + "\": \"" + std::string(70000, 'y') + "\"}"};
  for (const int count : {1000, 1025, 4097, 6000}) {
    for (const std::string& item :
         {std::string("0"), std::string("[]"), std::string("{}"), std::string("\"\""), std::string("\"a\""),
          std::string("[[0]]"), std::string("{\"\":\"\"}"), std::string("\"") + std::string(40, 'z') + '"',
          std::string(R"("a \" , [ { : \\")"), claim, std::string("[1, 2, 3, 4, 5]")}) {
      texts.push_back(list_of(item, count));
    }
  }
  for (const std::string& text : texts) {
    const auto measured = static_cast<double>(peak_of_tree(text));
    EXPECT_LE(measured, bytes_of(text)) << text.substr(0, 60);
    EXPECT_LE(bytes_of(text), 4 * measured) << text.substr(0, 60);
  }
}

TEST(JsonSize, IsTheSameInPartsAndOfAnyText) {
  const std::string text = list_of(R"({"a": "b\"c", "d": [1, {}]})", 20000);  // more than a block
  EXPECT_NEAR(bytes_of(text), 20000.0 / 10000.0 * bytes_of(list_of(R"({"a": "b\"c", "d": [1, {}]})", 10000)),
              1e-3 * bytes_of(text));
  for (const char* broken : {"", "\"", "\\", "]]]]", "::::", "\"\"\"\"", ",,,,"})
    EXPECT_GE(bytes_of(broken), -1e4);
}

}  // namespace
}  // namespace surefoot::io
