#pragma once

#include "surefoot/core/types.hpp"

#include <array>
#include <cstddef>
#include <span>

/// The tables of R. Sambharya and B. Stellato, "Data-driven performance guarantees for classical and learned
/// optimizers", as experiments/paper-tables has them: iterations until a share of problems is below a
/// tolerance.
namespace paper {

inline constexpr std::array<surefoot::Index, 3> sample_sizes{10, 100, 1000};
inline constexpr surefoot::Index none = -1;  ///< the paper has no such bound
inline constexpr double no_worst_case = 0;   ///< the paper has no such column

struct Row {
  int percent = 0;  ///< quantile
  double tolerance = 0;
  surefoot::Index observed = 0;
  double worst_case = no_worst_case;
  std::array<surefoot::Index, sample_sizes.size()> bounds{};  ///< from sample_sizes samples
};

using Table = std::span<const Row>;

Table robust_kalman_residual();
/// The largest distance of the 50 pairs that the first 100 numbers of the iterate are.
Table robust_kalman_pairs();
Table deblurring_residual();
/// Tolerances in ten natural logarithms.
Table deblurring_nmse();

/// Sparse coding after 10 steps: quantiles of the NMSE in dB.
struct CodingRow {
  int percent = 0;
  double ista = 0;
  double fista = 0;
  struct Model {
    double observed = 0;
    double bound = 0;
  };
  Model alista;
  Model tilista;
  Model glista;
  Model lista;
};
std::span<const CodingRow> sparse_coding();

/// Learned warm starts of an unconstrained QP: iterations as the paper counts them, one fewer than a trace
/// here.
struct WarmStartRow {
  int percent = 0;
  double tolerance = 0;
  surefoot::Index cold = 0;
  surefoot::Index nearest = 0;
  surefoot::Index observed = 0;
  surefoot::Index bound = 0;
};
inline constexpr surefoot::Index warm_start_shift = 1;
std::span<const WarmStartRow> unconstrained_qp();
/// The row of a quantile and tolerance; null if the paper has none.
const WarmStartRow* unconstrained_qp(double quantile, double tolerance);

/// Meta-learning after ten steps: quantiles of a metric.
struct MetaRow {
  int percent = 0;
  double pretrained = 0;
  double observed = 0;
  double bound = no_bound;
  static constexpr double no_bound = 0;  ///< the paper has none
};
/// The captions of the paper's two tables are swapped; here they are the right way round.
std::span<const MetaRow> maml_mse();
std::span<const MetaRow> maml_sup();

/// The paper's bound from this many samples; none if it has none for this number.
surefoot::Index bound_from(const Row& row, surefoot::Index samples);

}  // namespace paper
