#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/independence.hpp"
#include "surefoot/problems/matrix.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

/// The metric of the largest amount by which a state is outside its bounds, and the tolerance that only
/// rollouts without any violation are below.
inline constexpr std::string_view violation_of_bounds = "violation of the plant's bounds";
inline constexpr double no_violation = 1e-300;

/// A closed loop under several iteration limits: a row per rollout (runs/rollout_values.hpp), a column per
/// limit. Limits take the place of steps: success rates at every limit, and the smallest limit with a
/// guarantee, by tests from the largest limit down (method every-step of iteration budgets), for which the
/// limits must be declared before the rollouts are seen.
///
/// `ticks` are those of a rollout.
///
/// A number that is infinite or NaN fails under its own limit alone: a run that has failed at a step has
/// failed at later ones, and another limit is another run. It is counted as the largest double, which no
/// tolerance reaches, so that quantiles, which would state that number, are not claimed. The rest of
/// `options` is the user's: tolerances, shares (quantiles), delta, metric, title.
Certificate certify_rollouts(const problems::Table& values, const std::vector<Index>& limits, Index ticks,
                             Options options, Variant variant);

/// A tube of the states of rollouts that stop after `limit` iterations at every tick: for each state and tick
/// an upper and a lower end, each of which a share of new rollouts respects; all ends hold together. In
/// `states` a row is a rollout, and the states after tick t are columns t S .. t S + S - 1; the initial ones,
/// t = 0, have no ends. A state that is infinite or NaN is beyond both ends. Variants are each state and its
/// negative, whose upper end is the negative of the lower one.
Certificate certify_tube(const problems::Table& states, Index states_of_plant, Index limit, double share,
                         double delta, const Variant& variant);

/// The largest of 0.99, 0.95 and 0.9 that so many rollouts support for a tube, or else 0.5: of the numbers of
/// rollouts, states and ticks alone.
double share_of_tube(Index rollouts, Index states_of_plant, Index ticks, double delta);

/// Whether a table with a row for each tick of each rollout, one rollout after the other, is of independent
/// rollouts, as far as its rows show.
Independence independence_of_rollouts(const problems::Table& rows, Index rollouts);

/// What is wrong with the part `closed_loop` of a certificate, or the claims beside it; a line each.
std::vector<std::string> wrong_in_loop(const Certificate& certificate);

}  // namespace surefoot::certify
