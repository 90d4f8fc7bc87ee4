#pragma once

#include "surefoot/core/error.hpp"
#include "surefoot/core/types.hpp"

#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace surefoot {

static_assert(std::endian::native == std::endian::little, "states are written as the machine holds them");

/// Numbers, texts and lists of numbers one after another, as the machine holds them.
class ByteWriter {
 public:
  template <class T>
  void number(T value) {
    static_assert(std::is_arithmetic_v<T>);
    bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  void text(std::string_view text) {
    number(static_cast<Index>(text.size()));
    bytes_.append(text);
  }
  /// The text that `write(*this)` writes, without a copy of it.
  template <class Write>
  void text_by(const Write& write) {
    const std::size_t at = bytes_.size();
    number(Index{0});
    write(*this);
    const auto size = static_cast<Index>(bytes_.size() - at - sizeof(Index));
    std::memcpy(bytes_.data() + at, &size, sizeof size);
  }
  template <class T>
  void list(const std::vector<T>& values) {
    list(values.data(), values.size());
  }
  template <class T>
  void list(const T* values, std::size_t size) {
    static_assert(std::is_arithmetic_v<T>);
    number(static_cast<Index>(size));
    bytes_.append(reinterpret_cast<const char*>(values), size * sizeof(T));
  }
  /// As they are, without their number.
  void bytes(std::string_view bytes) { bytes_.append(bytes); }
  [[nodiscard]] std::string take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

/// Reads what a ByteWriter wrote. Bytes that end early or hold more than is asked for throw InputError with
/// `name`; no memory is taken for a length that the bytes do not have.
class ByteReader {
 public:
  ByteReader(std::string_view bytes, std::string_view name) : rest_(bytes), name_(name) {}

  template <class T>
  T number() {
    static_assert(std::is_arithmetic_v<T>);
    T value{};
    std::memcpy(&value, take(1, sizeof value).data(), sizeof value);
    return value;
  }
  std::string text() { return std::string(text_view()); }
  /// As long as the bytes are there.
  std::string_view text_view() {
    const auto size = number<Index>();
    return take(size, 1);
  }
  template <class T>
  std::vector<T> list() {
    static_assert(std::is_arithmetic_v<T>);
    const auto size = number<Index>();
    const std::string_view bytes = take(size, sizeof(T));
    std::vector<T> values(static_cast<std::size_t>(size));
    if (size > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
    return values;
  }
  void finish() const { require(rest_.empty(), "{}: {} bytes too many", name_, rest_.size()); }

 private:
  std::string_view take(Index count, std::size_t each) {
    require(count >= 0 && static_cast<std::size_t>(count) <= rest_.size() / each,
            "{}: ends early, {} x {} bytes are asked for and {} left", name_, count, each, rest_.size());
    const std::string_view front = rest_.substr(0, static_cast<std::size_t>(count) * each);
    rest_.remove_prefix(front.size());
    return front;
  }

  std::string_view rest_;
  std::string name_;
};

}  // namespace surefoot
