#include "surefoot/core/index_ranges.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <iterator>
#include <vector>

namespace surefoot {

void IndexRanges::add(Index first, Index count) {
  if (count <= 0) return;
  Index end = first + count;
  auto place = ends_.upper_bound(first);
  if (place != ends_.begin() && std::prev(place)->second >= first) {
    --place;
    first = place->first;
  }
  while (place != ends_.end() && place->first <= end) {
    end = std::max(end, place->second);
    size_ -= place->second - place->first;
    place = ends_.erase(place);
  }
  ends_.emplace_hint(place, first, end);
  size_ += end - first;
}

bool IndexRanges::contains(Index first, Index count) const {
  const auto after = ends_.upper_bound(first);
  return after != ends_.begin() && std::prev(after)->second >= first + count;
}

std::vector<Part> IndexRanges::parts() const {
  std::vector<Part> all;
  for (const auto& [first, end] : ends_) all.push_back({first, end - first});
  return all;
}

std::optional<Part> IndexRanges::first_common(const IndexRanges& other) const {
  auto mine = ends_.begin();
  auto theirs = other.ends_.begin();
  while (mine != ends_.end() && theirs != other.ends_.end()) {
    const Index first = std::max(mine->first, theirs->first);
    const Index end = std::min(mine->second, theirs->second);
    if (first < end) return Part{first, end - first};
    ++(mine->second < theirs->second ? mine : theirs);
  }
  return std::nullopt;
}

void IndexRanges::write_state(ByteWriter& to) const {
  std::vector<Index> bounds;
  for (const auto& [first, end] : ends_) {
    bounds.push_back(first);
    bounds.push_back(end);
  }
  to.list(bounds);
}

IndexRanges IndexRanges::read_state(ByteReader& from) {
  const std::vector<Index> bounds = from.list<Index>();
  require(bounds.size() % 2 == 0, "ranges: {} bounds", bounds.size());
  IndexRanges ranges;
  for (std::size_t i = 0; i < bounds.size(); i += 2) {
    require(bounds[i] >= 0 && bounds[i] < bounds[i + 1] && (i == 0 || bounds[i - 1] < bounds[i]),
            "ranges: {} .. {} is not in order", bounds[i], bounds[i + 1]);
    require(bounds[i + 1] <= most_counted, "ranges: {} is beyond {}", bounds[i + 1], most_counted);
    ranges.add(bounds[i], bounds[i + 1] - bounds[i]);
  }
  return ranges;
}

}  // namespace surefoot
