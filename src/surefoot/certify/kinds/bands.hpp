#pragma once

#include "surefoot/core/types.hpp"

#include <cstddef>
#include <string>
#include <vector>

namespace surefoot::certify {

class ClaimKind;
struct Certificate;
struct Variant;

/// A band of a number X per problem, which is phi_step, or V_step = the largest phi from that step on: for
/// all v at once, P(X <= v) >= L_r(level) if r of the samples are at most v, and P(X < v) likewise
/// (bounds/band.hpp). So v and the share may be chosen after looking.
struct BandClaim {
  std::size_t variant = 0;
  Index step = 0;
  std::string of;  ///< "step": phi_step; "onward": V_step
  Index samples = 0;
  double delta = 0;
  double level = 0;  ///< band_level(samples, delta)
  /// "r:v r:v ...": at least r of the samples are at most v, the r-th smallest rounded up to five digits. The
  /// ranks are the first of band_point_ranks(); the others are infinite.
  std::string points;
};

inline constexpr const char* band_at_step = "step";
inline constexpr const char* band_onward = "onward";

/// One per step of --steps and number: claims of all tolerances, shares and budgets.
const ClaimKind& bands();

struct BandPoint {
  Index rank = 0;
  double value = 0;
};
/// InputError if they are no points: ranks and values that increase.
std::vector<BandPoint> points_of(const BandClaim& claim);

/// Ranks that a band of a certificate with so many bands per variant speaks of, increasing: those that usual
/// shares need, and those of few failures. They depend on sizes alone, and there are as many as a megabyte
/// has room for.
std::vector<Index> band_point_ranks(Index samples, double level, Index bands_of_variant);

/// Of the steps that are claimed, those that have bands: all, or every few where there are more than 900.
std::vector<Index> band_steps(std::vector<Index> claimed);

}  // namespace surefoot::certify
