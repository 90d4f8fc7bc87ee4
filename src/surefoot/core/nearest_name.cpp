#include "surefoot/core/nearest_name.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace surefoot {

namespace {

constexpr std::size_t longest_compared = 64;

/// Optimal string alignment, row by row.
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before;
  std::vector<std::size_t> last(b.size() + 1);
  std::vector<std::size_t> now(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    now[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      now[j] = std::min({last[j] + 1, now[j - 1] + 1, last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (swapped) now[j] = std::min(now[j], before[j - 2] + 1);
    }
    before = std::exchange(last, now);
  }
  return last[b.size()];
}

}  // namespace

std::string nearest_name(std::string_view text, const std::vector<std::string>& names) {
  if (text.size() < 2 || text.size() > longest_compared) return "";
  std::size_t fewest = std::max<std::size_t>(1, text.size() / 3) + 1;
  std::string nearest;
  for (const std::string& name : names) {
    const std::size_t count = edits(text, name);
    if (count >= fewest) continue;
    fewest = count;
    nearest = name;
  }
  return nearest;
}

}  // namespace surefoot
