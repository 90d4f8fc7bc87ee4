#pragma once

#include "surefoot/core/types.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace surefoot {
class ByteReader;
class ByteWriter;
}  // namespace surefoot

namespace surefoot::certify {

/// The smallest different hashes of any number of rows, and which of them came more than once: a sample of
/// the different rows, in bounded memory. It is a function of the hashes alone, in whatever order and parts
/// they come: a hash that is among the smallest of all is among the smallest of each part that it is in.
class SmallestHashes {
 public:
  static constexpr std::size_t most = 4096;

  void add(std::uint64_t hash) {
    if (hash > largest_) return;
    new_.push_back(hash);
    if (new_.size() >= most) settle();
  }
  void merge(const SmallestHashes& other);

  /// Different hashes that are kept, and those of them that came more than once.
  [[nodiscard]] Index different() const;
  [[nodiscard]] Index repeated() const;

  /// Forgets what is not among the smallest of all of them together.
  static void prune(const std::vector<SmallestHashes*>& parts);

  void write_state(ByteWriter& to) const;
  static SmallestHashes read_state(ByteReader& from);

 private:
  struct Kept {
    std::uint64_t hash = 0;
    bool again = false;
  };
  void settle();
  [[nodiscard]] SmallestHashes settled() const;
  void keep_smallest();

  std::vector<Kept> kept_;  ///< sorted
  std::vector<std::uint64_t> new_;
  std::uint64_t largest_ = std::numeric_limits<std::uint64_t>::max();  ///< that can still be kept
};

}  // namespace surefoot::certify
