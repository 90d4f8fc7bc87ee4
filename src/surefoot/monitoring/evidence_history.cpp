#include "surefoot/monitoring/evidence_history.hpp"

#include "surefoot/core/error.hpp"

#include <algorithm>
#include <utility>

namespace surefoot::monitoring {

void EvidenceHistory::add(double evidence) {
  if (largest_.empty() || in_last_ == width_) {
    if (largest_.size() == most) {
      for (std::size_t i = 0; i < most / 2; ++i) largest_[i] = std::max(largest_[2 * i], largest_[2 * i + 1]);
      largest_.resize(most / 2);
      width_ *= 2;
    }
    largest_.push_back(evidence);
    in_last_ = 1;
    return;
  }
  largest_.back() = std::max(largest_.back(), evidence);
  ++in_last_;
}

void EvidenceHistory::write(ByteWriter& to) const {
  to.number(width_);
  to.number(in_last_);
  to.list(largest_);
}

void EvidenceHistory::read(ByteReader& from) {
  const auto width = from.number<Index>();
  const auto in_last = from.number<Index>();
  std::vector<double> largest = from.list<double>();
  require(width >= 1 && in_last >= 0 && in_last <= width && largest.size() <= most,
          "state: a course of evidence that cannot be");
  width_ = width;
  in_last_ = in_last;
  largest_ = std::move(largest);
}

}  // namespace surefoot::monitoring
