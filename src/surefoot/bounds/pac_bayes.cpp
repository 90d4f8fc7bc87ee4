#include "surefoot/bounds/pac_bayes.hpp"

#include "surefoot/bounds/kl.hpp"
#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"

#include <numbers>

namespace surefoot::bounds {

namespace {

// exp(t) - 1 - t >= 0, without cancellation near 0.
double exp_minus_linear(double t) {
  if (std::abs(t) > 0.2) return std::expm1(t) - t;
  double series = 0;
  for (int n = 14; n >= 3; --n) series = (series + 1.0) * t / n;
  return 0.5 * t * t * (1.0 + series);
}

void check_share(double delta, const char* name) {
  require(delta > 0.0 && delta < 1.0, "{}: {} is outside (0, 1)", name, delta);
}

// Above the rounding of terms in doubles and of their compensated sum.
constexpr double outward = 1.0 + 1e-13;

// A sum of nonnegative terms whose error does not grow with their number, in any width of long double (A.
// Neumaier, 1974).
class Sum {
 public:
  void add(long double term) {
    const long double next = sum_ + term;
    lost_ += std::abs(sum_) >= std::abs(term) ? (sum_ - next) + term : (term - next) + sum_;
    sum_ = next;
  }
  [[nodiscard]] long double value() const { return sum_ + lost_; }

 private:
  long double sum_ = 0;
  long double lost_ = 0;
};

}  // namespace

void GaussianPair::validate() const {
  require(log_variance.size() == mean.size(), "log_variance: {} entries for {} weights", log_variance.size(),
          mean.size());
  require(prior_mean.size() == mean.size(), "prior_mean: {} entries for {} weights", prior_mean.size(),
          mean.size());
  require(static_cast<Index>(group_size.size()) == prior_log_variance.size(),
          "prior_log_variance: {} entries for {} groups", prior_log_variance.size(), group_size.size());
  Index weights = 0;
  for (const Index size : group_size) {
    require(size >= 1, "group_size: {} is below 1", size);
    weights += size;
  }
  require(weights == mean.size(), "group_size: groups hold {} weights of {}", weights, mean.size());
}

double PriorGrid::position(double log_lambda_value) const {
  return b * (std::log(lambda_max) - log_lambda_value);
}

double PriorGrid::log_lambda(Index a) const {
  require(a >= 1, "prior grid: a = {} is below 1", a);
  return std::log(lambda_max) - static_cast<double>(a) / b;
}

Index PriorGrid::nearest(double log_lambda_value) const {
  return std::max<Index>(1, std::llround(position(log_lambda_value)));
}

double gaussian_kl(const GaussianPair& pair) {
  pair.validate();
  Sum sum;
  Index weight = 0;
  for (std::size_t j = 0; j < pair.group_size.size(); ++j) {
    const double nu = pair.prior_log_variance[static_cast<Index>(j)];
    const double inverse_lambda = std::exp(-nu);
    for (const Index end = weight + pair.group_size[j]; weight < end; ++weight) {
      const double shift = pair.mean[weight] - pair.prior_mean[weight];
      sum.add(exp_minus_linear(pair.log_variance[weight] - nu) + shift * shift * inverse_lambda);
    }
  }
  return static_cast<double>(0.5L * sum.value()) * outward;
}

namespace {

// (1/N) [ KL + sum of the groups' terms + log(2 sqrt(N)/delta) ] from KL and the positions a_j.
template <class Positions>
double regularizer_from(double kl, const Positions& positions, Index samples, double delta) {
  require(samples >= 8, "samples: {} is below 8", samples);
  check_share(delta, "delta");
  const double n = static_cast<double>(samples);
  long double sum = kl;
  for (const auto a : positions) {
    sum += 2.0L * std::log(static_cast<long double>(a)) +
           std::log(std::numbers::pi_v<long double> * std::numbers::pi_v<long double> / 6);
  }
  sum += std::log(2.0L) + 0.5L * std::log(static_cast<long double>(n)) -
         std::log(static_cast<long double>(delta));
  return up(static_cast<double>(sum / n) * outward);
}

}  // namespace

double regularizer(const GaussianPair& pair, const PriorGrid& grid, Index samples, double delta) {
  std::vector<double> positions;
  positions.reserve(static_cast<std::size_t>(pair.prior_log_variance.size()));
  for (const double nu : pair.prior_log_variance) {
    positions.push_back(grid.position(nu));
    require(positions.back() > 0.0, "prior variance: {} is not below lambda_max = {}", std::exp(nu),
            grid.lambda_max);
  }
  return regularizer_from(gaussian_kl(pair), positions, samples, delta);
}

double regularizer(double kl, const std::vector<Index>& positions, Index samples, double delta) {
  require(kl >= 0.0, "KL: {} is negative or not a number", kl);
  for (const Index a : positions) require(a >= 1, "prior grid: a = {} is below 1", a);
  return regularizer_from(kl, positions, samples, delta);
}

double regularizer_from_sums(const std::function<GroupSums(Index group)>& sums_of,
                             const Eigen::VectorXd& prior_log_variance, const PriorGrid& grid, Index samples,
                             double delta, Eigen::VectorXd& d_nu) {
  const double n = static_cast<double>(samples);
  double total = std::log(2.0) + 0.5 * std::log(n) - std::log(delta);
  for (Index j = 0; j < prior_log_variance.size(); ++j) {
    const GroupSums sums = sums_of(j);
    const double nu = prior_log_variance[j];
    const double inverse_lambda = std::exp(-nu);
    const double a = grid.position(nu);
    const double shifts = inverse_lambda * sums.shifts;
    double& by_nu = d_nu[j];
    by_nu = -0.5 * shifts - 2 * grid.b / a;
    total += 0.5 * shifts + 2 * std::log(a) + std::log(std::numbers::pi * std::numbers::pi / 6);
    if (!sums.tied) {
      const double variances = inverse_lambda * sums.variances;
      total += 0.5 * (variances - sums.weights + sums.weights * nu - sums.log_variances);
      by_nu += 0.5 * (sums.weights - variances);
    }
    by_nu /= n;
  }
  return total / n;
}

Regularizer regularizer_with_gradient(const GaussianPair& pair, const PriorGrid& grid, Index samples,
                                      double delta) {
  Regularizer result;
  result.value = regularizer(pair, grid, samples, delta);
  const double factor = 1 / static_cast<double>(samples);
  result.d_mean.resize(pair.mean.size());
  result.d_log_variance.resize(pair.mean.size());
  result.d_prior_log_variance.resize(pair.prior_log_variance.size());
  Index weight = 0;
  const auto differentiate = [&](Index j) {
    GroupSums sums;
    const Index size = pair.group_size[static_cast<std::size_t>(j)];
    sums.weights = static_cast<double>(size);
    const double inverse_lambda = std::exp(-pair.prior_log_variance[j]);
    for (const Index end = weight + size; weight < end; ++weight) {
      const double shift = pair.mean[weight] - pair.prior_mean[weight];
      const double variance = std::exp(pair.log_variance[weight]);
      result.d_mean[weight] = kl_by_mean(factor, shift, inverse_lambda);
      result.d_log_variance[weight] = kl_by_log_variance(factor, variance, inverse_lambda);
      sums.shifts += shift * shift;
      sums.variances += variance;
      sums.log_variances += pair.log_variance[weight];
    }
    return sums;
  };
  regularizer_from_sums(differentiate, pair.prior_log_variance, grid, samples, delta,
                        result.d_prior_log_variance);
  return result;
}

bool is_on_grid(const GaussianPair& pair, const PriorGrid& grid) {
  return std::all_of(pair.prior_log_variance.begin(), pair.prior_log_variance.end(),
                     [&](double nu) { return std::abs(nu - grid.log_lambda(grid.nearest(nu))) <= 1e-12; });
}

double pac_bayes_risk(double expected_empirical_risk, double regularizer_value) {
  return kl_inverse(expected_empirical_risk, regularizer_value);
}

double calibrated_risk_paper(double average_failure_share, Index weight_draws, double omega) {
  require(weight_draws >= 1, "weight draws: {} is below 1", weight_draws);
  check_share(omega, "omega");
  const double c = up((std::log(2.0) - std::log(omega)) / static_cast<double>(weight_draws), 4);
  return kl_inverse(average_failure_share, c);
}

namespace {

// failures / runs, rounded up.
double failure_share(Index failures, Index runs) {
  require(runs >= 1, "runs: {} is below 1", runs);
  require(failures >= 0 && failures <= runs, "failures: {} is outside 0 .. {}", failures, runs);
  const double share = static_cast<double>(failures) / static_cast<double>(runs);
  return failures == 0 || failures == runs ? share : std::min(1.0, up(share));
}

}  // namespace

double calibrated_risk_paper(Index failures, Index runs, Index weight_draws, double omega) {
  return calibrated_risk_paper(failure_share(failures, runs), weight_draws, omega);
}

double calibrated_risk(Index failures, Index runs, double omega) {
  const double share = failure_share(failures, runs);
  check_share(omega, "omega");
  return kl_inverse(share, up(-std::log(omega) / static_cast<double>(runs), 4));
}

double network_norm_bound(const std::vector<LayerNorms>& layers, double input_norm, double delta) {
  require(!layers.empty(), "layers: there is none");
  require(input_norm >= 0.0, "input_norm: {} is negative or not a number", input_norm);
  check_share(delta, "delta");
  const double depth = static_cast<double>(layers.size());
  double norm = input_norm;
  for (const LayerNorms& layer : layers) {
    require(layer.inputs >= 1 && layer.outputs >= 1, "layer: {} x {} is empty", layer.outputs, layer.inputs);
    const double sides = static_cast<double>(layer.inputs + layer.outputs + 1);
    const double tau = std::sqrt(2.0 * layer.variance_sum * std::log(depth * sides / delta));
    norm = up((layer.weight_norm + layer.bias_norm + tau) * (norm + 1.0), 8);
  }
  return norm;
}

}  // namespace surefoot::bounds
