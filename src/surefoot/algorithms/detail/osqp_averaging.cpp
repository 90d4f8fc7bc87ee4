#include "surefoot/algorithms/detail/osqp_averaging.hpp"

#include "surefoot/core/error.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::algorithms {

using problems::Vector;

namespace {

/// s = (x, w + y), rho = sigma = 1.
class OsqpMap final : public AveragedMap {
 public:
  explicit OsqpMap(const Osqp& op) : op_(op) {}

  [[nodiscard]] double averagedness() const override { return op_.options().alpha / 2; }
  [[nodiscard]] std::string variables() const override { return "the Euclidean norm of (x, w + y)"; }
  [[nodiscard]] Index size() const override { return n() + m(); }
  void coordinates(Index /*instance*/, const double* iterate, double* s) const override {
    std::copy_n(iterate, n(), s);
    for (Index i = 0; i < m(); ++i) s[n() + i] = iterate[n() + i] + iterate[n() + m() + i];
  }
  [[nodiscard]] bool fits(Index instance, const double* iterate) const override {
    return OsqpAveraging(op_.problem(), instance, op_.options()).consistent(iterate);
  }

 private:
  [[nodiscard]] Index n() const { return op_.problem().variables(); }
  [[nodiscard]] Index m() const { return op_.problem().constraints(); }
  const Osqp& op_;
};

}  // namespace

DeclaredMap Osqp::declared_map() const {
  if (options_.adaptive_rho)
    return {nullptr, "with adaptive rho it is another map after each change; with --preset paper it is one"};
  if (options_.stop) return {nullptr, "with --stop steps after the end repeat the last point"};
  if (scaled_)
    return {nullptr,
            "scaled OSQP is not known to be averaged in the user's units; with --preset paper it is"};
  for (Index i = 0; i < instances_; ++i) {
    if (OsqpAveraging(problem_, i, options_).euclidean_factor() != 1.0)
      return {nullptr,
              "its residual is that of an averaged map only with rho = sigma = 1, as in --preset paper"};
  }
  return {std::make_shared<OsqpMap>(*this)};
}

OsqpAveraging::OsqpAveraging(const problems::Qp& problem, Index instance, const OsqpOptions& options)
    : averagedness_(options.alpha / 2), sigma_(options.sigma), n_(problem.variables()) {
  options.validate();
  require(options.scaling == 0, "scaling: is {}, must be 0: equilibrated OSQP is averaged in other units",
          options.scaling);
  require(instance >= 0 && instance < problem.instances(), "instance: {} is outside 0 .. {}", instance,
          problem.instances() - 1);
  const Index m = problem.constraints();
  lower_ = Eigen::Map<const Vector>(problems::table_row(problem.l, instance), m);
  upper_ = Eigen::Map<const Vector>(problems::table_row(problem.u, instance), m);
  rho_.resize(m);
  for (Index i = 0; i < m; ++i) rho_[i] = row_rho(lower_[i], upper_[i], options);
}

double OsqpAveraging::distance(const double* z, const double* other) const {
  const Index m = rho_.size();
  double squares = 0;
  for (Index i = 0; i < n_; ++i) squares += sigma_ * (z[i] - other[i]) * (z[i] - other[i]);
  for (Index i = 0; i < m; ++i) {
    const double dy = z[n_ + i] - other[n_ + i];
    const double dv = z[n_ + m + i] - other[n_ + m + i] + dy / rho_[i];
    squares += rho_[i] * dv * dv;
  }
  return std::sqrt(squares);
}

double OsqpAveraging::step_norm(const double* z, const double* other) const {
  const Index m = rho_.size();
  double squares = 0;
  for (Index i = 0; i < n_; ++i) squares += sigma_ * (z[i] - other[i]) * (z[i] - other[i]);
  for (Index i = 0; i < m; ++i) {
    const double dy = z[n_ + i] - other[n_ + i];
    const double dw = z[n_ + m + i] - other[n_ + m + i];
    squares += rho_[i] * dw * dw + dy * dy / rho_[i];
  }
  return std::sqrt(squares);
}

double OsqpAveraging::euclidean_factor() const {
  double largest = 1 / sigma_;
  for (const double rho : rho_) largest = std::max({largest, rho, 1 / rho});
  return std::sqrt(largest);
}

bool OsqpAveraging::consistent(const double* z) const {
  const Index m = rho_.size();
  for (Index i = 0; i < m; ++i) {
    const double y = z[n_ + i];
    const double w = z[n_ + m + i];
    const double clipped = std::min(upper_[i], std::max(lower_[i], w + y / rho_[i]));
    if (!(std::abs(clipped - w) <= 1e-12 * (1 + std::abs(w) + std::abs(y / rho_[i])))) return false;
  }
  return true;
}

}  // namespace surefoot::algorithms
