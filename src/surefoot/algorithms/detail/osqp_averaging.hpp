#pragma once

#include "surefoot/algorithms/osqp.hpp"

namespace surefoot::algorithms {

/// In which variables and norm OSQP (algorithms/osqp.hpp, without scaling) is averaged, so that worst-case
/// rates (bounds/worst_case.hpp) may be stated of it.
///
/// With v = w + R^{-1} y, w = clip(v, l, u) and y = R (v - w), a step is Douglas-Rachford splitting in
/// s = (x, v): s+ = (1 - alpha/2) s + (alpha/2) N s with N nonexpansive in ||s||^2 = sigma |x|^2 + v'Rv. So s
/// is (alpha/2)-averaged, and since clip and its complement move no further than v does,
///   sigma |dx|^2 + dw'R dw + dy'R^{-1} dy <= sigma |dx|^2 + dv'R dv.
/// The rate therefore bounds step_norm(z^{k+1} - z^k) by the distance of z^0 to a solution in (x, v), if z^0
/// is consistent: w^0 = clip(w^0 + R^{-1} y^0, l, u). Every later z is; from an inconsistent start count from
/// z^1. The Euclidean fixed-point residual over (x, y, w) is at most euclidean_factor() times step_norm. With
/// the Euclidean ||z^0 - z*|| over (x, y, w) instead of distance() the bound is false: |w*|^2 + |y*|^2 may be
/// half of |w* + y*|^2.
class OsqpAveraging {
 public:
  /// Of one instance. Throws InputError if the options scale the problem.
  OsqpAveraging(const problems::Qp& problem, Index instance, const OsqpOptions& options);

  /// alpha/2, the averagedness of a step.
  [[nodiscard]] double averagedness() const { return averagedness_; }
  /// || (x, v) - (x', v') || of two iterates (x, y, w).
  [[nodiscard]] double distance(const double* z, const double* other) const;
  /// sqrt(sigma |dx|^2 + dw'R dw + dy'R^{-1} dy) of the difference of two iterates.
  [[nodiscard]] double step_norm(const double* z, const double* other) const;
  /// sqrt of the largest of 1/sigma, rho_i and 1/rho_i.
  [[nodiscard]] double euclidean_factor() const;
  /// Whether w = clip(w + R^{-1} y, l, u), to rounding.
  [[nodiscard]] bool consistent(const double* z) const;

 private:
  double averagedness_;
  double sigma_;
  problems::Vector rho_;
  problems::Vector lower_;
  problems::Vector upper_;
  Index n_;
};

}  // namespace surefoot::algorithms
