#pragma once

#include "surefoot/bounds/methods.hpp"
#include "surefoot/core/types.hpp"

#include <vector>

namespace surefoot::bounds {

/// Groups whose share of failures is `share`, in [0, 1].
struct GroupShare {
  double share = 0;
  Index groups = 1;
};

/// Upper bounds on E[Y] from the shares Y_1 .. Y_G in [0, 1] of independent and identically distributed
/// groups, each with probability at least 1 - delta, rounded up. Groups count equally, whatever their size.
/// What is rounded up before stays valid: E[Y] only grows.

/// kl_inv( mean of Y, log(1/delta)/G ) (W. Hoeffding 1963, for variables in [0, 1]). G is fixed beforehand.
double group_average_kl(const std::vector<GroupShare>& shares, double delta);

/// Betting: with m = sin^2 phi and v_j = (j - 1/2)/J,
///   E(m) = (1/J) sum_j prod_g [ (1-Y_g) cos^2(v_j phi)/cos^2 phi + Y_g sin^2(v_j phi)/sin^2 phi ]
/// has mean at most 1 if E[Y] >= m and increases with m: the root of E(m) = 1/delta. Tighter than kl where Y
/// varies little. `bets` is J; 0: max(64, ceil(4 sqrt G)). With a J that does not depend on G the bound is
/// valid at all G at once (J = 1024).
double group_average_betting(const std::vector<GroupShare>& shares, double delta, Index bets = 0);

/// By the method that was declared.
double group_average_upper(const std::vector<GroupShare>& shares, double delta, MeanMethod method);

/// The average of Y over the groups.
double group_average_mean(const std::vector<GroupShare>& shares);

}  // namespace surefoot::bounds
