#include "surefoot/core/time_left.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace surefoot {
namespace {

constexpr double trust_in_expectation = 0.1;  ///< counts as this share of the whole, done as expected
constexpr double overdue_share = 0.1;         ///< a part that is late takes this much of what it took so far

}  // namespace

TimeLeft::TimeLeft(std::vector<double> expected_seconds)
    : expected_(std::move(expected_seconds)),
      open_(expected_.size(), true),
      total_(std::accumulate(expected_.begin(), expected_.end(), 0.0)) {}

void TimeLeft::done(std::size_t part, double seconds) {
  open_.at(part) = false;
  expected_done_ += expected_[part];
  really_done_ += seconds;
}

void TimeLeft::left_out(std::size_t part) {
  open_.at(part) = false;
}

double TimeLeft::slowness() const {
  const double trusted = trust_in_expectation * total_;
  return trusted > 0 ? (really_done_ + trusted) / (expected_done_ + trusted) : 1;
}

double TimeLeft::seconds() const {
  double left = 0;
  for (std::size_t i = 0; i < expected_.size(); ++i) left += open_[i] ? slowness() * expected_[i] : 0;
  return left;
}

double TimeLeft::seconds(std::size_t current, double spent) const {
  if (!open_.at(current)) return seconds();
  const double whole = slowness() * expected_[current];
  return seconds() - whole + std::max(whole - spent, overdue_share * spent);
}

}  // namespace surefoot
