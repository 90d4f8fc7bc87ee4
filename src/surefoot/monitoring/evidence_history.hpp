#pragma once

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/types.hpp"

#include <cstddef>
#include <vector>

namespace surefoot::monitoring {

/// The course of evidence in bounded memory: the largest of every `width` solves, where the width doubles
/// whenever there are 1,024 of them.
class EvidenceHistory {
 public:
  static constexpr std::size_t most = 1024;

  void add(double evidence);
  [[nodiscard]] Index width() const { return width_; }
  /// Place i is of solves i * width + 1 to (i + 1) * width; the last may be of fewer.
  [[nodiscard]] const std::vector<double>& largest() const { return largest_; }

  void write(ByteWriter& to) const;
  void read(ByteReader& from);

 private:
  Index width_ = 1;
  Index in_last_ = 0;  ///< solves of the last place
  std::vector<double> largest_;
};

}  // namespace surefoot::monitoring
