#pragma once

#include "surefoot/core/interruption.hpp"
#include "surefoot/worst_case/conditions.hpp"
#include "surefoot/worst_case/interior_point.hpp"

#include <optional>
#include <string>
#include <vector>

namespace surefoot::worst_case {

/// Empty if the multipliers prove that the metric is at most t (`multipliers.initial` times 2^-exponent; a
/// norm: its square) times the size of the start (a distance: its square); otherwise what is wrong. Nothing
/// is assumed of where they come from. The values must balance exactly, in integers; S is computed in balls
/// and shown to be positive semidefinite by a Cholesky decomposition that runs to its end after the radii and
/// the decomposition's own largest error were taken off the diagonal (S. Rump, "Verification of positive
/// definiteness", BIT 46, 2006).
std::string what_is_wrong(const Method& method, const Multipliers& multipliers);

/// The bound that t proves, rounded up: sqrt(t) dist0 for a norm, t dist0^2 for a gap; sqrt(t gap0) and t
/// gap0 where a gap is assumed. `start` is dist0 or gap0.
double proven_bound(const Method& method, const Multipliers& multipliers, double start);

/// A dual point in integers, balanced exactly by raising multipliers on paths to the solution; none if there
/// is no such path or a number is not finite.
std::optional<Multipliers> rounded(const Method& method, const std::vector<Pair>& pairs,
                                   const DualPoint& point);

struct ProveOptions {
  Index all_pairs_up_to = 250;  ///< up to so many pairs all are taken at once; else consecutive ones first
  int rounds = 8;               ///< of adding violated conditions
  double worth = 1e-8;          ///< relative improvement of t that another round must bring
  Interrupt interrupt;
};

/// Searches the smallest bound of a method and proves it; none if no multipliers were found that prove
/// anything.
std::optional<Multipliers> prove(const Method& method, const ProveOptions& options = {});

}  // namespace surefoot::worst_case
