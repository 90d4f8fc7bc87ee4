#pragma once

#include "surefoot/certify/certificate.hpp"

#include <cstddef>
#include <map>
#include <utility>

namespace surefoot::certify {

/// Success rates that other claims of a certificate imply: a budget that settles says that its share is below
/// the tolerance at every later recorded step, and a band says it of every tolerance. What is shown of a
/// success rate is never less than that.
class ImpliedShares {
 public:
  explicit ImpliedShares(const Certificate& certificate);

  /// The larger of the claim's own bound and what is implied.
  [[nodiscard]] double at(const SuccessClaim& claim) const;

 private:
  using Place = std::pair<std::size_t, double>;  // variant, tolerance
  std::map<Place, std::map<Index, double>> at_step_;
  std::map<Place, std::map<Index, double>> from_step_;  // the larger share of this step and those before
};

}  // namespace surefoot::certify
