#pragma once

#include "surefoot/core/types.hpp"

namespace surefoot {

/// Consecutive items.
struct Part {
  Index first = 0;
  Index count = 0;
  [[nodiscard]] Index end() const { return first + count; }
};

/// Part `part` of `parts` of items 0 .. items-1: they follow each other, and their sizes differ by one at
/// most.
inline Part part_of(Index items, Index part, Index parts) {
  // items x of / parts without overflow
  const auto begin = [&](Index of) { return items / parts * of + items % parts * of / parts; };
  return {begin(part), begin(part + 1) - begin(part)};
}

}  // namespace surefoot
