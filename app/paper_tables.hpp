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

/// The paper's bound from this many samples; none if it has none for this number.
surefoot::Index bound_from(const Row& row, surefoot::Index samples);

}  // namespace paper
