#pragma once

#include "surefoot/bounds/methods.hpp"
#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/guarantee.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

namespace surefoot::certify {

/// What verify() and the kinds of claims use to check a certificate: findings with the place they are of, and
/// bounds that come again and again.
class ClaimChecker {
 public:
  ClaimChecker(const Certificate& certificate, Verification& result);

  /// The place that the next findings are of.
  void at(std::string place) { place_ = std::move(place); }
  void finding(const std::string& text);
  void expect(bool condition, const std::string& text) {
    if (!condition) finding(text);
  }

  /// A claim holds if its check neither throws nor finds anything.
  template <class Check>
  void claim(std::string place, const Check& run) {
    at(std::move(place));
    const std::size_t before = result_.findings.size();
    ++result_.claims;
    try {
      run();
    } catch (const InputError& error) {
      finding(error.what());
    }
    if (result_.findings.size() == before) ++result_.claims_that_hold;
  }

  [[nodiscard]] const Certificate& certificate() const { return certificate_; }
  /// Whether claims rest on PAC-Bayes.
  [[nodiscard]] bool pac_bayes() const { return pac_bayes_; }
  [[nodiscard]] const PacBayes& guarantee(std::size_t variant) const;

  /// Variant, samples and delta; false if there is no such variant and nothing else can be checked.
  bool check_common(std::size_t variant, Index samples, double delta, double delta_of_kind);
  void check_step(std::size_t variant, Index step);
  void check_tolerance(double tolerance);
  void check_quantile(double quantile);
  /// The delta of a PAC-Bayes claim is what its losses, prior means and candidates cost.
  void check_union(std::size_t variant, double delta, Index losses);

  /// Risk of claims by methods grid and paper, and by PAC-Bayes.
  [[nodiscard]] double risk_of(std::size_t variant, Index failures, Index samples, double delta) const;
  double success_bound(std::size_t variant, Index failures, Index samples, double delta,
                       bounds::RiskMethod method);
  Index rank_of(Index samples, double quantile, double delta);

 private:
  const Certificate& certificate_;
  Verification& result_;
  bool pac_bayes_;
  std::string place_;
  std::map<std::tuple<Index, Index, double, bounds::RiskMethod>, double> success_bounds_;
  std::map<std::tuple<Index, double, double>, Index> ranks_;
};

}  // namespace surefoot::certify
