#pragma once

#include "surefoot/certify/certificate.hpp"

#include <boost/math/distributions/binomial.hpp>
#include <boost/math/distributions/normal.hpp>

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace surefoot::test {

/// Certificates with realistic curves, made by formula: at step k, log10 of the residual is normal with mean
/// start - rate k and a spread that grows. No data and no other room is needed.
struct SyntheticOptions {
  int variants = 2;
  Index steps = 100;
  Index samples = 1000;
  bool decibel = false;
  certify::Simultaneity simultaneous = certify::Simultaneity::all;
  bool paper_budgets = false;
};

class SyntheticCertificate {
 public:
  explicit SyntheticCertificate(const SyntheticOptions& options) : options_(options) {
    describe();
    share();
    for (std::size_t v = 0; v < certificate_.variants.size(); ++v) claim(v);
  }

  [[nodiscard]] certify::Certificate get() const { return certificate_; }

 private:
  static constexpr double delta = 0.01;

  [[nodiscard]] double scale() const { return options_.decibel ? 10.0 : 1.0; }

  /// The value of the metric whose log10 is z.
  [[nodiscard]] double value(double z) const { return options_.decibel ? scale() * z : std::pow(10.0, z); }
  [[nodiscard]] double log_of(double v) const { return options_.decibel ? v / scale() : std::log10(v); }

  [[nodiscard]] static double mean(std::size_t variant, double share_of_horizon) {
    return 1.0 - (5.0 + 1.2 * static_cast<double>(variant)) * share_of_horizon;
  }
  [[nodiscard]] static double spread(double share_of_horizon) { return 0.25 + 0.45 * share_of_horizon; }

  void describe() {
    certificate_.title = "Robust Kalman filter, SCS";
    certificate_.metric = options_.decibel ? "NMSE" : "fixed-point residual";
    certificate_.unit = options_.decibel ? "dB" : "";
    certificate_.delta = delta;
    certificate_.simultaneous = options_.simultaneous;
    certificate_.tolerances =
        options_.decibel ? std::vector{-10.0, -20.0, -30.0, -40.0} : std::vector{1e-1, 1e-2, 1e-3, 1e-4};
    certificate_.quantiles = {0.5, 0.9, 0.99};
    for (Index k = 1; k <= options_.steps; ++k) certificate_.steps.push_back(k);
    const std::vector<std::string> names{"cold start", "warm start", "nearest neighbour", "learned start"};
    for (int v = 0; v < options_.variants; ++v) {
      const std::string& name = names[static_cast<std::size_t>(v) % names.size()];
      certificate_.variants.push_back({name, "results/" + name + ".csv",
                                       "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
                                       options_.samples, options_.steps, 1, options_.steps, v == 0 ? 3 : 0,
                                       v == 1});
    }
    certificate_.assumptions = {"the samples are independent draws of the distribution of problems",
                                "no sample was used to build or tune the optimizer"};
    certificate_.version = "0.1.0";
  }

  void share() {
    const Index variants = options_.variants;
    const Index success = variants * options_.steps * 4;
    const Index quantile = variants * options_.steps * 3;
    const Index budget = variants * 12;
    const bool all = options_.simultaneous == certify::Simultaneity::all;
    const auto each = [&](double part, Index claims) {
      return all ? part / static_cast<double>(claims) : delta;
    };
    certificate_.shares = {{"success rates", success, each(0.004, success)},
                           {"quantiles", quantile, each(0.003, quantile)},
                           {"iteration budgets", budget, each(0.003, budget)}};
  }

  void claim(std::size_t v) {
    for (const Index k : certificate_.steps) {
      for (const double tolerance : certificate_.tolerances) claim_success(v, k, tolerance);
      for (const double quantile : certificate_.quantiles) claim_quantile(v, k, quantile);
    }
    for (const double tolerance : certificate_.tolerances) {
      for (const double quantile : certificate_.quantiles) {
        claim_budget(v, tolerance, quantile, bounds::BudgetMethod::settling);
        if (options_.paper_budgets) claim_budget(v, tolerance, quantile, bounds::BudgetMethod::paper);
      }
    }
  }

  [[nodiscard]] double horizon_share(Index k) const {
    return static_cast<double>(k) / static_cast<double>(options_.steps);
  }

  [[nodiscard]] double success_probability(std::size_t v, Index k, double tolerance) const {
    const double at = horizon_share(k);
    return boost::math::cdf(boost::math::normal(mean(v, at), spread(at)), log_of(tolerance));
  }

  void claim_success(std::size_t v, Index k, double tolerance) {
    using boost::math::binomial;
    const double n = static_cast<double>(options_.samples);
    certify::SuccessClaim c;
    c.variant = v;
    c.step = k;
    c.tolerance = tolerance;
    c.samples = options_.samples;
    c.failures = std::llround(n * (1 - success_probability(v, k, tolerance)));
    c.delta = certificate_.shares[0].delta_each;
    c.empirical = 1 - static_cast<double>(c.failures) / n;
    c.lower_bound = c.failures == c.samples
                        ? 0
                        : 1 - binomial::find_upper_bound_on_p(n, static_cast<double>(c.failures), c.delta);
    certificate_.success.push_back(c);
  }

  [[nodiscard]] Index rank(double quantile, double share_delta) {
    const auto [found, is_new] = ranks_.try_emplace({quantile, share_delta}, 0);
    if (!is_new) return found->second;
    const boost::math::binomial law(static_cast<double>(options_.samples), quantile);
    const auto suffices = [&](Index r) {
      return boost::math::cdf(law, static_cast<double>(r - 1)) >= 1 - share_delta;
    };
    Index low = 0;
    Index high = options_.samples;
    if (!suffices(high)) return 0;
    while (high - low > 1) {
      const Index middle = low + (high - low) / 2;
      (suffices(middle) ? high : low) = middle;
    }
    return found->second = high;
  }

  [[nodiscard]] double order_statistic(std::size_t v, Index k, Index r) const {
    const double at = horizon_share(k);
    const double place = (static_cast<double>(r) - 0.5) / static_cast<double>(options_.samples);
    return value(boost::math::quantile(boost::math::normal(mean(v, at), spread(at)), place));
  }

  void claim_quantile(std::size_t v, Index k, double quantile) {
    certify::QuantileClaim c;
    c.variant = v;
    c.step = k;
    c.quantile = quantile;
    c.samples = options_.samples;
    c.delta = certificate_.shares[1].delta_each;
    c.rank = rank(quantile, c.delta);
    c.empirical = order_statistic(
        v, k, static_cast<Index>(std::ceil(quantile * static_cast<double>(options_.samples))));
    if (c.rank > 0) c.upper_bound = order_statistic(v, k, c.rank);
    certificate_.quantile.push_back(c);
  }

  [[nodiscard]] std::optional<Index> first_step(std::size_t v, double tolerance, double share) const {
    for (const Index k : certificate_.steps) {
      if (success_probability(v, k, tolerance) >= share) return k;
    }
    return std::nullopt;
  }

  void claim_budget(std::size_t v, double tolerance, double quantile, bounds::BudgetMethod method) {
    certify::BudgetClaim c;
    c.variant = v;
    c.tolerance = tolerance;
    c.quantile = quantile;
    c.method = method;
    c.samples = options_.samples;
    c.delta = certificate_.shares[2].delta_each;
    c.rank = rank(quantile, c.delta);
    c.empirical = first_step(v, tolerance, quantile);
    const double share = static_cast<double>(c.rank) / static_cast<double>(options_.samples);
    if (c.rank > 0) c.steps = first_step(v, tolerance, share);
    certificate_.budget.push_back(c);
  }

  SyntheticOptions options_;
  certify::Certificate certificate_;
  std::map<std::pair<double, double>, Index> ranks_;
};

inline certify::Certificate synthetic_certificate(const SyntheticOptions& options = {}) {
  return SyntheticCertificate(options).get();
}

}  // namespace surefoot::test
