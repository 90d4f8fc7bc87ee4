#include "surefoot/runs/tick_group.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::runs {

TickGroup::TickGroup(const TallySpec& spec)
    : largest_(spec.steps.size(), -infinity),
      failed_(spec.keep_shares ? spec.claim_columns.size() * spec.tolerances.size() : 0) {}

void TickGroup::add_tick(const TallySpec& spec, const double* values) {
  ++ticks_;
  std::size_t finite = 0;
  for (; finite < largest_.size() && std::isfinite(values[finite]); ++finite)
    largest_[finite] = std::max(largest_[finite], values[finite]);
  std::fill(largest_.begin() + static_cast<std::ptrdiff_t>(finite), largest_.end(), infinity);
  if (failed_.empty()) return;
  const std::size_t tolerances = spec.tolerances.size();
  for (std::size_t i = 0; i < spec.claim_columns.size(); ++i) {
    const std::size_t column = spec.claim_columns[i];
    const double value = column < finite ? values[column] : infinity;
    for (std::size_t t = 0; t < tolerances; ++t)
      failed_[i * tolerances + t] += value >= spec.tolerances[t] ? 1 : 0;
  }
}

double TickGroup::failed_share(std::size_t place) const {
  const auto failed = static_cast<double>(failed_.at(place));
  const auto ticks = static_cast<double>(ticks_);
  const double share = failed / ticks;
  return std::fma(share, ticks, -failed) < 0 ? std::nextafter(share, 1.0) : share;
}

std::size_t TickGroup::bytes(const TallySpec& spec) {
  constexpr std::size_t overhead = 2 * 16;  // of two allocations
  const std::size_t counts = spec.keep_shares ? spec.claim_columns.size() * spec.tolerances.size() : 0;
  return sizeof(TickGroup) + overhead + spec.steps.size() * sizeof(double) + counts * sizeof(Index);
}

void TickGroup::write_state(ByteWriter& to) const {
  to.number(ticks_);
  to.list(largest_);
  to.list(failed_);
}

TickGroup TickGroup::read_state(const TallySpec& spec, ByteReader& from) {
  TickGroup group(spec);
  group.ticks_ = from.number<Index>();
  std::vector<double> largest = from.list<double>();
  std::vector<Index> failed = from.list<Index>();
  require(
      group.ticks_ > 0 && largest.size() == group.largest_.size() && failed.size() == group.failed_.size() &&
          std::ranges::none_of(largest, [](double value) { return std::isnan(value); }) &&
          std::ranges::all_of(failed, [&](Index count) { return count >= 0 && count <= group.ticks_; }),
      "state of a group: {} ticks, {} columns and {} counts", group.ticks_, largest.size(), failed.size());
  group.largest_ = std::move(largest);
  group.failed_ = std::move(failed);
  return group;
}

}  // namespace surefoot::runs
