#include "surefoot/families/robust_kalman.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/families/sample_set.hpp"

#include <cmath>
#include <vector>

namespace surefoot::families {

using problems::ConeProgram;
using problems::Matrix;
using problems::SparseMatrix;
using problems::Table;
using problems::Vector;

void RobustKalmanOptions::validate() const {
  require(horizon >= 2 && horizon <= 100000, "horizon: is {}, must be in 2 .. 100000", horizon);
  require(std::isfinite(damping), "damping: is {}, must be finite", damping);
  require(std::isfinite(dt) && dt > 0, "dt: is {}, must be > 0", dt);
  require(std::isfinite(mu) && mu > 0, "mu: is {}, must be > 0", mu);
  require(std::isfinite(rho) && rho > 0, "rho: is {}, must be > 0", rho);
  require(std::isfinite(noise) && noise >= 0, "noise: is {}, must be >= 0", noise);
  require(outlier_probability >= 0 && outlier_probability <= 1,
          "outlier_probability: is {}, must be in 0 .. 1", outlier_probability);
  require(std::isfinite(outlier_noise) && outlier_noise >= 0, "outlier_noise: is {}, must be >= 0",
          outlier_noise);
}

RobustKalman::RobustKalman(RobustKalmanOptions options)
    : options_(options), A_(Matrix::Identity(4, 4)), B_(Matrix::Zero(4, 2)) {
  options_.validate();
  const double dt = options_.dt;
  const double gamma = options_.damping;
  for (Index axis = 0; axis < 2; ++axis) {
    A_(axis, axis + 2) = (1 - gamma / 2 * dt) * dt;
    A_(axis + 2, axis + 2) = 1 - gamma * dt;
    B_(axis, axis) = dt * dt / 2;
    B_(axis + 2, axis) = dt;
  }
}

RobustKalman::Samples RobustKalman::draw(std::uint64_t seed, Index count, Index first) const {
  require_samples(count, first);
  const Index T = options_.horizon;
  Samples samples{Table(count, 2 * T), Table(count, 4 * T)};
  for (Index i = 0; i < count; ++i) {
    RandomStream stream(seed, "robust-kalman", static_cast<std::uint64_t>(first + i));
    Eigen::Vector4d state = Eigen::Vector4d::Zero();
    for (Index t = 0; t < T; ++t) {
      const bool outlier = stream.uniform() < options_.outlier_probability;
      const double deviation = outlier ? options_.outlier_noise : options_.noise;
      for (Index axis = 0; axis < 2; ++axis) {
        samples.observations(i, 2 * t + axis) = state[axis] + deviation * stream.normal();
      }
      for (Index entry = 0; entry < 4; ++entry) samples.states(i, 4 * t + entry) = state[entry];
      Eigen::Vector2d input;
      for (Index axis = 0; axis < 2; ++axis) input[axis] = options_.noise * stream.normal();
      state = (A_ * state + B_ * input).eval();
    }
  }
  return samples;
}

ConeProgram RobustKalman::problem(const Table& observations) const {
  const auto T = static_cast<int>(options_.horizon);
  require(observations.cols() == 2 * T, "observations: has {} columns, must have {} (2 per time)",
          observations.cols(), 2 * T);
  const int x = 0;
  const int w = 4 * T;
  const int s = w + 2 * T;
  const int v = s + T;
  const int u = v + 2 * T;
  const int z = u + T;
  const int n = z + T;
  const double z_weight = options_.true_huber ? options_.mu : options_.mu * options_.rho;
  const double u_weight = options_.true_huber ? 2 * options_.mu * options_.rho : 2 * options_.mu;

  ConeProgram problem;
  std::vector<Eigen::Triplet<double, int>> P;
  std::vector<Eigen::Triplet<double, int>> A;
  for (int i = 0; i < 2 * T; ++i) P.emplace_back(w + i, w + i, 2.0);
  for (int t = 0; t < T; ++t) P.emplace_back(z + t, z + t, 2 * z_weight);
  int row = 0;
  for (int t = 0; t + 1 < T; ++t) {
    for (int i = 0; i < 4; ++i, ++row) {
      A.emplace_back(row, x + 4 * (t + 1) + i, 1.0);
      for (int j = 0; j < 4; ++j) {
        if (A_(i, j) != 0) A.emplace_back(row, x + 4 * t + j, -A_(i, j));
      }
      for (int j = 0; j < 2; ++j) {
        if (B_(i, j) != 0) A.emplace_back(row, w + 2 * t + j, -B_(i, j));
      }
    }
  }
  const int observed = row;
  for (int i = 0; i < 2 * T; ++i, ++row) {
    A.emplace_back(row, x + 4 * (i / 2) + i % 2, 1.0);
    A.emplace_back(row, v + i, 1.0);
  }
  for (int t = 0; t < T; ++t, ++row) {
    A.emplace_back(row, u + t, 1.0);
    A.emplace_back(row, z + t, 1.0);
    A.emplace_back(row, s + t, -1.0);
  }
  problem.cones.zero = row;
  const int bounded = row;
  for (int t = 0; t < T; ++t, ++row) A.emplace_back(row, z + t, 1.0);
  for (int t = 0; t < T; ++t, ++row) A.emplace_back(row, u + t, -1.0);
  problem.cones.nonnegative = 2 * T;
  for (int t = 0; t < T; ++t) {
    A.emplace_back(row++, s + t, -1.0);
    A.emplace_back(row++, v + 2 * t, -1.0);
    A.emplace_back(row++, v + 2 * t + 1, -1.0);
    problem.cones.second_order.push_back(3);
  }
  problem.P.emplace_back(n, n);
  problem.P[0].setFromTriplets(P.begin(), P.end());
  problem.A.emplace_back(row, n);
  problem.A[0].setFromTriplets(A.begin(), A.end());
  problem.c = Table::Zero(1, n);
  problem.c.row(0).segment(u, T).setConstant(u_weight);
  problem.b = Table::Zero(observations.rows(), row);
  problem.b.middleCols(observed, 2 * T) = observations;
  problem.b.middleCols(bounded, T).setConstant(options_.rho);
  return problem;
}

}  // namespace surefoot::families
