#pragma once

#include "surefoot/bounds/methods.hpp"
#include "surefoot/core/types.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace surefoot::certify {

class ClaimKind;
struct Certificate;
struct Series;

/// The quantile-quantile of phi_step is at most upper_bound.
struct QuantileClaim {
  std::size_t variant = 0;
  Index step = 0;
  double quantile = 0;
  bounds::QuantileMethod method = bounds::QuantileMethod::exact;
  Index samples = 0;
  Index rank = 0;        ///< exact, anytime: the order statistic used, 0 if none exists
  Index below = 0;       ///< samples strictly below upper_bound
  Index at_most = 0;     ///< samples at most upper_bound
  double delta = 0;      ///< grid: of all its tolerances together
  double empirical = 0;  ///< the ceil(quantile * samples)-th smallest value
  double upper_bound = infinity;
};

/// Exact and anytime: an order statistic (bounds/quantile.hpp). Grid: the smallest tolerance of a declared
/// grid whose risk is at most 1 - quantile; one grid at a step serves every quantile there.
const ClaimKind& quantiles();

std::vector<Series> quantile_series(const Certificate& certificate);

/// The parameter of the series that holds the worst case among quantiles: all problems.
inline constexpr double every_problem = 1.0;
/// Of a variant, at the certificate's steps: certified, or, where it rests on an estimate, in the place of
/// what is observed. None if there is no worst case.
std::optional<Series> worst_case_series(const Certificate& certificate, std::size_t variant);

}  // namespace surefoot::certify
