#include "surefoot/report/series.hpp"

#include "surefoot/certify/worst_case_part.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

namespace surefoot::report {
namespace {

/// Groups claims into series, in the order in which the series first appear.
template <class Claims, class Parameter, class Bound>
std::vector<Series> grouped(const certify::WorstCaseBounds& worst, const Claims& claims, Parameter parameter,
                            Bound bound) {
  std::vector<Series> result;
  std::map<std::tuple<std::size_t, double, std::string_view>, std::size_t> place;
  for (const auto& claim : claims) {
    if (std::isnan(claim.*parameter)) continue;
    const std::tuple key(claim.variant, claim.*parameter, bounds::name(claim.method));
    const auto [found, is_new] = place.try_emplace(key, result.size());
    if (is_new) result.push_back({claim.variant, claim.*parameter, std::get<2>(key), {}, false});
    const double better = worst.better(claim);
    result[found->second].points.push_back(
        {claim.step, claim.empirical, better, worst.used() && better != claim.*bound});
  }
  for (Series& series : result) std::ranges::stable_sort(series.points, {}, &Series::Point::step);
  return result;
}

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

const Series::Point* Series::at(Index step) const {
  const auto found = std::ranges::lower_bound(points, step, {}, &Point::step);
  return found == points.end() || found->step != step ? nullptr : &*found;
}

std::vector<Series> success_series(const certify::Certificate& certificate) {
  using Claim = certify::SuccessClaim;
  return grouped(certify::WorstCaseBounds(certificate), certificate.success, &Claim::tolerance,
                 &Claim::lower_bound);
}

std::vector<Series> quantile_series(const certify::Certificate& certificate) {
  using Claim = certify::QuantileClaim;
  return grouped(certify::WorstCaseBounds(certificate), certificate.quantile, &Claim::quantile,
                 &Claim::upper_bound);
}

std::optional<Series> worst_case_series(const certify::Certificate& certificate, std::size_t variant) {
  const certify::WorstCaseBounds worst(certificate);
  if (!worst.present() || certificate.quantile.empty()) return std::nullopt;
  Series series{variant, every_problem, bounds::name(certificate.quantile.front().method), {}, true};
  for (const Index step : certificate.steps) {
    const double bound = worst.at(step);
    series.points.push_back({step, worst.used() ? infinity : bound, worst.used() ? bound : infinity,
                             worst.used() && bound < infinity});
  }
  return series;
}

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
