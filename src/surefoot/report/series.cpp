#include "surefoot/report/series.hpp"

#include "surefoot/certify/worst_case_part.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace surefoot::report {
namespace {

Index first_positive(const std::vector<Index>& steps) {
  const auto found = std::ranges::find_if(steps, [](Index step) { return step > 0; });
  return found == steps.end() ? 0 : *found;
}

/// Where the i-th of count marks lies between the first and the last step.
double mark(const std::vector<Index>& steps, bool logarithmic, std::size_t i, std::size_t count) {
  const double share = static_cast<double>(i) / static_cast<double>(count - 1);
  const auto last = static_cast<double>(steps.back());
  if (logarithmic) {
    const auto first = static_cast<double>(first_positive(steps));
    return first * std::pow(last / first, share);
  }
  const auto first = static_cast<double>(steps.front());
  return first + share * (last - first);
}

Index nearest(const std::vector<Index>& steps, double value) {
  return *std::ranges::min_element(
      steps, {}, [value](Index step) { return std::abs(static_cast<double>(step) - value); });
}

}  // namespace

std::vector<Series::Point> best_success(const certify::Certificate& certificate, double tolerance,
                                        std::optional<std::size_t> variant) {
  std::map<Index, Series::Point> points;
  for (const certify::SuccessClaim& claim : certificate.success) {
    if (claim.tolerance != tolerance || (variant && claim.variant != *variant)) continue;
    const Series::Point point{claim.step, claim.empirical, claim.lower_bound, false};
    const auto [found, is_new] = points.try_emplace(claim.step, point);
    if (!is_new && point.certified > found->second.certified) found->second = point;
  }
  std::vector<Series::Point> curve;
  for (const auto& [step, point] : points) curve.push_back(point);
  return curve;
}

bool acts_early(const certify::Certificate& certificate) {
  const std::vector<Index>& steps = certificate.steps;
  const Index first = first_positive(steps);
  if (first == 0 || steps.back() <= 100 * first) return false;
  return certificate.success.empty() ||
         std::ranges::any_of(certificate.success, [&](const certify::SuccessClaim& claim) {
           return claim.empirical >= 0.5 && claim.step <= steps.back() / 10;
         });
}

std::vector<Index> telling_steps(const certify::Certificate& certificate, std::size_t count) {
  const std::vector<Index>& steps = certificate.steps;
  if (steps.size() <= count || count < 2) return steps;
  const bool logarithmic = acts_early(certificate);
  std::vector<Index> chosen{steps.front()};
  for (std::size_t i = 0; i < count; ++i) {
    const Index step = nearest(steps, mark(steps, logarithmic, i, count));
    if (step > chosen.back()) chosen.push_back(step);
  }
  return chosen;
}

}  // namespace surefoot::report
