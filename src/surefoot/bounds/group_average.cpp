#include "surefoot/bounds/group_average.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/kl.hpp"
#include "surefoot/bounds/root.hpp"
#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"

#include <limits>

namespace surefoot::bounds {

namespace {

Index checked_groups(const std::vector<GroupShare>& shares, double delta) {
  require(delta > 0.0 && delta < 1.0, "delta: {} is outside (0, 1)", delta);
  Index groups = 0;
  for (const GroupShare& share : shares) {
    require(share.share >= 0.0 && share.share <= 1.0, "share: {} is outside [0, 1]", share.share);
    require(share.groups >= 1 && share.groups <= max_samples - groups,
            "groups: {} of share {} are not in 1 .. {} together with the others", share.groups, share.share,
            max_samples);
    groups += share.groups;
  }
  require(groups >= 1, "groups: there is none");
  return groups;
}

double mean_of(const std::vector<GroupShare>& shares, Index groups) {
  long double sum = 0;
  for (const GroupShare& share : shares)
    sum += static_cast<long double>(share.share) * static_cast<long double>(share.groups);
  return static_cast<double>(sum / static_cast<long double>(groups));
}

}  // namespace

double group_average_mean(const std::vector<GroupShare>& shares) {
  constexpr double any_delta = 0.5;
  return std::min(1.0, mean_of(shares, checked_groups(shares, any_delta)));
}

double group_average_upper(const std::vector<GroupShare>& shares, double delta, MeanMethod method) {
  return method == MeanMethod::kl ? group_average_kl(shares, delta) : group_average_betting(shares, delta);
}

double group_average_kl(const std::vector<GroupShare>& shares, double delta) {
  const Index groups = checked_groups(shares, delta);
  const double mean = mean_of(shares, groups);
  // The sum has an error of as many ulps as it has terms.
  const double upper = std::min(1.0, up(mean * (1 + static_cast<double>(shares.size()) * 1e-18)));
  return kl_inverse(upper, up(-std::log(delta) / static_cast<double>(groups), 2));
}

double group_average_betting(const std::vector<GroupShare>& shares, double delta, Index bets) {
  const Index groups = checked_groups(shares, delta);
  require(bets >= 0 && bets <= 1'000'000, "bets: {} is outside 0 .. 1000000", bets);
  if (bets == 0)
    bets = std::max<Index>(64, static_cast<Index>(std::ceil(4 * std::sqrt(static_cast<double>(groups)))));
  // A factor has an error of a few ulps, and tan(v phi) <= 2 J more where cos is near its zero.
  const double error = 1e-13 + static_cast<double>(groups) * std::numeric_limits<double>::epsilon() *
                                   (64 + 4 * static_cast<double>(bets));
  const double target = -std::log(delta) + std::log(static_cast<double>(bets)) + error;
  std::vector<double> logs(static_cast<std::size_t>(bets));
  const auto log_wealth = [&](double m) {
    const double phi = std::asin(std::sqrt(m));
    double largest = -infinity;
    for (Index j = 0; j < bets; ++j) {
      const double v = (static_cast<double>(j) + 0.5) / static_cast<double>(bets);
      const double below = std::pow(std::cos(v * phi), 2) / (1 - m);
      const double above = std::pow(std::sin(v * phi), 2) / m;
      double log_product = 0;
      for (const GroupShare& share : shares)
        log_product +=
            static_cast<double>(share.groups) * std::log((1 - share.share) * below + share.share * above);
      logs[static_cast<std::size_t>(j)] = log_product;
      largest = std::max(largest, log_product);
    }
    if (largest == infinity) return infinity;
    double sum = 0;
    for (const double log_product : logs) sum += std::exp(log_product - largest);
    return largest + std::log(sum) - target;
  };
  // At the mean of Y every product is at most 1: log is concave, and the factor of the mean is 1.
  const double mean = mean_of(shares, groups);
  return mean < 1 ? root_from_above(log_wealth, mean, std::log(static_cast<double>(bets)) - target) : 1.0;
}

}  // namespace surefoot::bounds
