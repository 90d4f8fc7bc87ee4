#include "surefoot/certify/kinds/claim_checker.hpp"

#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/certify/nearly_equal.hpp"
#include "surefoot/certify/pac_bayes.hpp"

#include <fmt/format.h>

namespace surefoot::certify {

namespace {

template <class T>
bool is_declared(const std::vector<T>& values, T value) {
  return std::ranges::count(values, value) > 0;
}

}  // namespace

ClaimChecker::ClaimChecker(const Certificate& certificate, Verification& result)
    : certificate_(certificate), result_(result), pac_bayes_(is_pac_bayes(certificate)) {}

void ClaimChecker::finding(const std::string& text) {
  result_.findings.push_back(place_ + ": " + text);
}

const PacBayes& ClaimChecker::guarantee(std::size_t variant) const {
  return *certificate_.variants[variant].pac_bayes;
}

bool ClaimChecker::check_common(std::size_t variant, Index samples, double delta, double delta_of_kind) {
  if (variant >= certificate_.variants.size()) {
    finding(fmt::format("variant {} does not exist", variant));
    return false;
  }
  const Variant& of = certificate_.variants[variant];
  const Index counted = of.pac_bayes ? of.pac_bayes->runs : of.samples;
  expect(samples == counted, fmt::format("samples {} are not the variant's {}", samples, counted));
  expect(delta <= certificate_.delta, fmt::format("delta {} is more than the total", delta));
  expect(delta == delta_of_kind,
         fmt::format("delta {} is not that of the other claims, {}", delta, delta_of_kind));
  return true;
}

void ClaimChecker::check_step(std::size_t variant, Index step) {
  expect(is_declared(certificate_.steps, step), fmt::format("step {} was not declared", step));
  expect(records(certificate_.variants[variant], step), fmt::format("step {} was not recorded", step));
}

void ClaimChecker::check_tolerance(double tolerance) {
  expect(is_declared(certificate_.tolerances, tolerance),
         fmt::format("tolerance {} was not declared", tolerance));
}

void ClaimChecker::check_quantile(double quantile) {
  expect(is_declared(certificate_.quantiles, quantile),
         fmt::format("quantile {} was not declared", quantile));
}

void ClaimChecker::check_union(std::size_t variant, double delta, Index losses) {
  const double cost = union_delta(guarantee(variant), losses);
  expect(nearly_equal(delta, cost), fmt::format("its losses cost a delta of {}, not {}", cost, delta));
}

double ClaimChecker::risk_of(std::size_t variant, Index failures, Index samples, double delta) const {
  if (pac_bayes_) return learned_risk(guarantee(variant), failures);
  return bounds::risk_upper_bound(failures, samples, delta, certificate_.grid_method);
}

double ClaimChecker::success_bound(std::size_t variant, Index failures, Index samples, double delta,
                                   bounds::RiskMethod method) {
  if (pac_bayes_) return learned_success(learned_risk(guarantee(variant), failures));
  const auto key = std::make_tuple(failures, samples, delta, method);
  const auto found = success_bounds_.find(key);
  if (found != success_bounds_.end()) return found->second;
  const double bound = bounds::success_lower_bound(failures, samples, delta, method);
  success_bounds_.emplace(key, bound);
  return bound;
}

Index ClaimChecker::rank_of(Index samples, double quantile, double delta) {
  const auto key = std::make_tuple(samples, quantile, delta);
  const auto found = ranks_.find(key);
  if (found != ranks_.end()) return found->second;
  const Index rank = bounds::rank_of_method(samples, quantile, delta, certificate_.grid_method);
  ranks_.emplace(key, rank);
  return rank;
}

}  // namespace surefoot::certify
