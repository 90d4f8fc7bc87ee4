#include "surefoot/certify/implied.hpp"

#include "surefoot/bounds/band.hpp"

#include <algorithm>
#include <set>
#include <tuple>
#include <vector>

namespace surefoot::certify {

ImpliedShares::ImpliedShares(const Certificate& certificate) {
  std::map<std::size_t, std::set<double>> tolerances;
  for (const SuccessClaim& claim : certificate.success) tolerances[claim.variant].insert(claim.tolerance);
  const auto imply = [](std::map<Index, double>& shares, Index step, double share) {
    double& known = shares[step];
    known = std::max(known, share);
  };
  for (const BudgetClaim& claim : certificate.budget) {
    const bool lasts =
        claim.method == bounds::BudgetMethod::settling || claim.method == bounds::BudgetMethod::every_step;
    if (!claim.steps || !lasts) continue;
    for (const double tolerance : tolerances[claim.variant])
      if (claim.tolerance <= tolerance)
        imply(from_step_[{claim.variant, tolerance}], *claim.steps, claim.quantile);
  }
  if (certificate.scalar) {
    for (const QuantileClaim& claim : certificate.quantile)
      for (const double tolerance : tolerances[claim.variant])
        if (claim.upper_bound <= tolerance)
          imply(at_step_[{claim.variant, tolerance}], claim.step, claim.quantile);
  }
  std::map<std::tuple<Index, Index, double>, double> shares;
  for (const BandClaim& claim : certificate.bands) {
    if (tolerances[claim.variant].empty()) continue;
    const std::vector<BandPoint> points = points_of(claim);
    for (const double tolerance : tolerances[claim.variant]) {
      const auto after = certificate.scalar
                             ? std::ranges::upper_bound(points, tolerance, {}, &BandPoint::value)
                             : std::ranges::lower_bound(points, tolerance, {}, &BandPoint::value);
      if (after == points.begin()) continue;
      const Index rank = (after - 1)->rank;
      const auto [share, is_new] = shares.try_emplace({claim.samples, rank, claim.level}, 0.0);
      if (is_new) share->second = bounds::band_share(claim.samples, rank, claim.level);
      auto& into = claim.of == band_onward ? from_step_ : at_step_;
      imply(into[{claim.variant, tolerance}], claim.step, share->second);
    }
  }
  for (auto& [place, steps] : from_step_) {
    double largest = 0;
    for (auto& [step, share] : steps) share = largest = std::max(largest, share);
  }
}

double ImpliedShares::at(const SuccessClaim& claim) const {
  double share = claim.lower_bound;
  const Place place(claim.variant, claim.tolerance);
  if (const auto found = at_step_.find(place); found != at_step_.end()) {
    const auto step = found->second.find(claim.step);
    if (step != found->second.end()) share = std::max(share, step->second);
  }
  if (const auto found = from_step_.find(place); found != from_step_.end()) {
    const auto after = found->second.upper_bound(claim.step);
    if (after != found->second.begin()) share = std::max(share, std::prev(after)->second);
  }
  return share;
}

}  // namespace surefoot::certify
