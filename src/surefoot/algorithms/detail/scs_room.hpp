#pragma once

#include "surefoot/algorithms/adaptive_scs.hpp"
#include "surefoot/algorithms/detail/anderson.hpp"
#include "surefoot/algorithms/detail/scs_scaling.hpp"
#include "surefoot/algorithms/detail/scs_stopping.hpp"

#include <array>

namespace surefoot::algorithms {

/// The sum of term(i, sum) over i < count, in four parts that do not wait for each other.
template <int W, class Term>
[[gnu::always_inline]] inline Lanes<W> lane_sum(Index count, const Term& term) {
  using L = Lanes<W>;
  L parts[4] = {L(0.0), L(0.0), L(0.0), L(0.0)};
  Index i = 0;
  for (; i + 4 <= count; i += 4) {
    term(i, parts[0]);
    term(i + 1, parts[1]);
    term(i + 2, parts[2]);
    term(i + 3, parts[3]);
  }
  for (; i < count; ++i) term(i, parts[0]);
  return (parts[0] + parts[1]) + (parts[2] + parts[3]);
}

/// What the next step is to which lane. Lanes that run have made the same number of steps, up to multiples of
/// the acceleration's interval.
struct AdaptiveScs::Due {
  std::array<bool, W> ended{};       ///< stays as it is
  std::array<bool, W> tests{};       ///< at the interval
  std::array<bool, W> last{};        ///< the last iteration
  alignas(64) double first[W]{};     ///< 1: the first step
  alignas(64) double rescaled[W]{};  ///< 1: brought to the norm before the step
  Index ended_lanes = 0;
  bool any_first = false;
  bool any_rescaled = false;
  bool follows = false;  ///< factors may have to change
  bool watches = false;
  bool accelerates = false;  ///< not the lanes of a first step
  bool remembers = false;    ///< where the step begins
};

/// Data of a block in lane layout, and room to compute.
struct AdaptiveScs::Room final : Workspace {
  Buffer h;             // n + m: (c, b), normalised
  Buffer units;         // n + 2m: what turns u and s into x, y, s
  Buffer column_units;  // n: what turns Px and A'y into the problem's units
  Buffer product_unit;  // one per lane, as the next three
  Buffer size_b, size_c, size_A;
  SplittingSystem::Numbers own;
  // Before they are normalised, where lanes are loaded again: the others get the same bits again.
  Buffer raw_P, raw_A, raw_h;
  bool is_stale = false;  // lanes have been loaded since the last factors
  Index calls = 0;        // of the acceleration, by this block
  Buffer factored;        // 1 + m: scale and f of the factors
  Buffer weights;         // m: gamma_i gamma_j of semidefinite cones, R_ij^(-1/2)
  Buffer r;               // n + m: (R + M)^{-1} h
  Buffer Rr;              // n + m
  Buffer quadratic;       // one per lane: t + r'Rr
  Buffer p;               // n + m: p; rows of y then u~
  Buffer previous;        // n + m + 1: where the last step began
  Buffer kappa;           // one per lane
  Buffer Ax, gap;         // m
  Buffer scratch;         // n + m
  Buffer ratios;          // m, of one lane
  Buffer root;            // of one semidefinite cone
  Buffer before;          // the state, for lanes that have ended
  ScsScaling scaling;
  SemidefiniteRoom semidefinite;
  AndersonMemory memory;
};

}  // namespace surefoot::algorithms
