#pragma once

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/algorithms/detail/lanes.hpp"
#include "surefoot/problems/cone_program.hpp"

namespace surefoot::algorithms {

/// Projection of (t, v) on the second-order cone {||v|| <= t}, as (top, factor) with result
/// (top, factor * v); `norm` is ||v||.
template <int W>
[[gnu::always_inline]] inline void second_order_projection(const Lanes<W>& t, const Lanes<W>& norm,
                                                           Lanes<W>& top, Lanes<W>& factor) {
  const Lanes<W> mean = Lanes<W>(0.5) * (t + norm);
  // Inside: norm <= t. In the polar cone: norm <= -t, that is mean <= 0.
  const Lanes<W> zero(0.0);
  factor = where_greater(norm, t, where_greater(mean, zero, mean / norm, zero * mean), Lanes<W>(1.0));
  top = where_greater(norm, t, where_greater(mean, zero, mean, zero * mean), t);
}

/// Room for semidefinite projections: matrices of the largest order in lane layout.
struct SemidefiniteRoom {
  SemidefiniteRoom() = default;
  SemidefiniteRoom(const problems::Cones& cones, Index width);
  Buffer matrix;
  Buffer vectors;
  Buffer direction;  ///< made by the first derivative
  Buffer product;
};

/// Projects the k(k+1)/2 x W lanes at v (layout of problems::Cones) on the positive semidefinite cone of
/// order k, in place, by cyclic Jacobi rotations in all lanes together (G. Golub, C. Van Loan, "Matrix
/// computations", section 8.5). `smallest`, if not null, receives the smallest eigenvalue before it.
template <int W>
void project_semidefinite(Index order, double* v, SemidefiniteRoom& room, double* smallest = nullptr);

/// v (cones.rows() x width, in place) on the cone, or on its dual (the zero cone's dual is everything).
/// width is 8 or 16.
void project_cone(const problems::Cones& cones, double* v, Index width, SemidefiniteRoom& room);
void project_dual_cone(const problems::Cones& cones, double* v, Index width, SemidefiniteRoom& room);

/// The same of the cones of three rows alone, v (3 cones.triples() x width).
void project_dual_triples(const problems::Cones& cones, double* v, Index width);
/// u = w + R^{-1} Pi_K(-R w) for these, in place: the projection on the dual in the norm of R, which is the
/// same in the three rows of a cone. What SCS computes, whose tolerances are of -R w.
void project_dual_triples(const problems::Cones& cones, double* w, const double* R, Index width);

/// d (cones.rows() x width, in place) through the derivative of project_dual_cone at v. The derivative
/// of a projection is symmetric, so it serves both directions. With l_i the eigenvalues and V the
/// eigenvectors of a semidefinite v it is V (B o V'dV) V', B_ij = (l_i^+ - l_j^+) / (l_i - l_j) (J. Malick,
/// H. Sendov, "Clarke generalized Jacobian of the projection onto the cone of positive semidefinite
/// matrices", Set-Valued Analysis 14, 2006). Where the projection has a kink, one of its generalized
/// derivatives. Not for cones of three rows.
void project_dual_cone_vjp(const problems::Cones& cones, const double* v, double* d, Index width,
                           SemidefiniteRoom& room);

/// How far v is from the cone, one number per lane: the largest of |v| (zero), -v (nonnegative), ||v|| - t
/// (second order), -lambda_min (semidefinite), the distance (cones of three rows), and 0. v is overwritten.
void cone_violation(const problems::Cones& cones, double* v, Index width, SemidefiniteRoom& room,
                    double* violation);

}  // namespace surefoot::algorithms
