#pragma once

#include "surefoot/algorithms/detail/equilibration.hpp"
#include "surefoot/algorithms/detail/osqp_stopping.hpp"
#include "surefoot/algorithms/osqp.hpp"

#include <type_traits>

namespace surefoot::algorithms {

// Constants of the solver.
inline constexpr double osqp_equality_width = 1e-4;
inline constexpr double osqp_infinite_bound = 1e30;
inline constexpr double osqp_loose_bound = osqp_infinite_bound * 1e-4;
inline constexpr Index osqp_most_lanes = 16;

enum class OsqpRow { loose, inequality, equality };
/// Of a row with these (scaled) bounds.
inline OsqpRow row_kind(double lower, double upper) {
  if (lower < -osqp_loose_bound && upper > osqp_loose_bound) return OsqpRow::loose;
  if (upper - lower < osqp_equality_width) return OsqpRow::equality;
  return OsqpRow::inequality;
}
inline double rho_of(OsqpRow kind, double rho, const OsqpOptions& options) {
  if (kind == OsqpRow::equality) return options.equality_factor * rho;
  return kind == OsqpRow::loose && options.loose_rho > 0 ? options.loose_rho : rho;
}

/// Data of a block in lane layout, and room to compute.
struct Osqp::Room final : Workspace {
  Buffer q, l, u;                // scaled
  Buffer units;                  // n + 2m: what turns a state into an iterate, if each instance's own
  Buffer cost;                   // one per lane
  SplittingSystem::Numbers own;  // if own
  // Before scaling, if own: lanes that stay as they are get the same bits again when others are loaded.
  Buffer raw_P, raw_A, raw_q;
  bool has_raw_matrices = false;  // those that all instances share
  LaneEquilibration scaling;
  Buffer difference;  // m: R w - y, not of the kkt kind
  Buffer x;           // n + m: x~, and the multipliers nu of the kkt kind
  Buffer scratch;
  Buffer ahead;  // n + 2m, made by the first vjp: the state after the step
  Buffer back;   // n: right-hand side of the transposed solve
  // With adaptive rho or a stopping test:
  SplittingSystem::Numbers varied;  // shared matrices with each lane's own rho
  bool is_varied = false;           // whether the lanes use it
  bool is_stale = false;            // lanes have been loaded since the last factors
  Buffer rho;                       // one per lane: of the factors
  Buffer before;                    // n + 2m: the iterate before the step
  Buffer residual;                  // one per lane
  // Of steps with settings of their own (rho and varied, too):
  Buffer alpha;                                            // one per lane; empty: that of the options
  const SplittingSystem::Numbers* step_factors = nullptr;  // that all lanes share; null: the family's
};

/// With factors and rho of lanes that share their matrices: those of the step, or of the family.
template <bool Own, bool Varied>
const SplittingSystem::Numbers& factors_of_step(const SplittingSystem::Numbers& numbers,
                                                const SplittingSystem::Numbers& varied,
                                                const SplittingSystem::Numbers* step_factors) {
  if constexpr (Own) return numbers;
  if constexpr (Varied) return varied;
  return step_factors != nullptr ? *step_factors : numbers;
}

template <class Call>
void Osqp::with_lanes(const Call& call) const {
  using Yes = std::true_type;
  using No = std::false_type;
  if (system_->kind() == SystemKind::dense) {
    const std::integral_constant<int, 16> W;
    scaled_ ? call(W, No{}, Yes{}) : call(W, No{}, No{});
  } else {
    const std::integral_constant<int, 8> W;
    if (system_->own()) {
      scaled_ ? call(W, Yes{}, Yes{}) : call(W, Yes{}, No{});
    } else {
      scaled_ ? call(W, No{}, Yes{}) : call(W, No{}, No{});
    }
  }
}

}  // namespace surefoot::algorithms
