#pragma once

#include "surefoot/problems/cone_program.hpp"

#include <cstdint>

namespace surefoot::families {

struct RobustKalmanOptions {
  Index horizon = 50;                ///< T
  double damping = 0.05;             ///< gamma
  double dt = 0.5;                   ///< time step
  double mu = 2;                     ///< weight of the penalty
  double rho = 2;                    ///< threshold of the penalty
  double noise = 0.1;                ///< standard deviation of w_t and v_t
  double outlier_probability = 0.1;  ///< that v_t is an outlier
  double outlier_noise = 0.5;        ///< its standard deviation
  /// The penalty of the paper's experiments, mu rho z^2 + 2 mu u, or Huber's, mu z^2 + 2 mu rho u.
  bool true_huber = false;

  void validate() const;
};

/// Robust Kalman filtering of a vehicle: states x_t in R^4 (position, velocity), x_{t+1} = A x_t + B w_t,
/// observed positions y_t = C x_t + v_t, t = 0 .. T-1; the parameter is (y_0, ..., y_{T-1}). As a
/// second-order cone program
///   minimize sum_t ||w_t||^2 + mu rho z_t^2 + 2 mu u_t
///   subject to x_{t+1} = A x_t + B w_t, C x_t + v_t = y_t, u_t + z_t = s_t, z_t <= rho, u_t >= 0, ||v_t|| <=
///   s_t.
/// Variables by blocks (x: 4T, w: 2T, s: T, v: 2T, u: T, z: T); rows in the order above: 4(T-1), 2T, T (zero
/// cone), T, T (nonnegative), T cones of dimension 3. Only b varies. R. Sambharya, B. Stellato, "Data-driven
/// performance guarantees for classical and learned optimizers".
class RobustKalman {
 public:
  explicit RobustKalman(RobustKalmanOptions options = {});

  [[nodiscard]] const RobustKalmanOptions& options() const { return options_; }
  [[nodiscard]] Index state_entries() const { return 4 * options_.horizon; }

  struct Samples {
    problems::Table observations;  ///< N x 2T: y_0, y_1, ... per row
    problems::Table states;        ///< N x 4T: the true trajectory, from x_0 = 0
  };
  /// Samples first .. first + count - 1; sample i depends on (seed, i) only.
  [[nodiscard]] Samples draw(std::uint64_t seed, Index count, Index first = 0) const;

  /// The cone programs of given observations (N x 2T).
  [[nodiscard]] problems::ConeProgram problem(const problems::Table& observations) const;

 private:
  RobustKalmanOptions options_;
  problems::Matrix A_;
  problems::Matrix B_;
};

}  // namespace surefoot::families
