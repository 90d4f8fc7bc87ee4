#pragma once

#include "surefoot/core/part.hpp"
#include "surefoot/core/types.hpp"

#include <map>
#include <optional>
#include <vector>

namespace surefoot {

class ByteReader;
class ByteWriter;

/// A set of whole numbers >= 0 as ranges: small where it consists of long ones.
class IndexRanges {
 public:
  void add(Index first, Index count = 1);
  [[nodiscard]] bool contains(Index first, Index count = 1) const;
  [[nodiscard]] Index size() const { return size_; }
  /// The ranges, in their order; they do not touch.
  [[nodiscard]] std::vector<Part> parts() const;
  /// The first range of numbers that both have.
  [[nodiscard]] std::optional<Part> first_common(const IndexRanges& other) const;

  void write_state(ByteWriter& to) const;
  /// InputError if the ranges are not in order, or beyond most_counted.
  static IndexRanges read_state(ByteReader& from);

 private:
  std::map<Index, Index> ends_;  // by the first number of each range; ranges do not touch
  Index size_ = 0;
};

}  // namespace surefoot
