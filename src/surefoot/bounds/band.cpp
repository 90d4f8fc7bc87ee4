#include "surefoot/bounds/band.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/kl.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"

#include <limits>
#include <map>
#include <mutex>
#include <numeric>
#include <span>
#include <utility>

namespace surefoot::bounds {

namespace {

constexpr Index most_with_all_ranks = 10'000;
constexpr Index most_with_crossings = Index{1} << 20;
constexpr Index close_to_end = 100;

void check_band(Index samples, double level, const char* what) {
  require(samples >= 1 && samples <= max_samples, "samples: {} is outside 1 .. {}", samples, max_samples);
  require(level > 0.0 && level < 1.0, "{}: {} is outside (0, 1)", what, level);
}

long double log_poisson(long double mean, Index count) {
  const auto k = static_cast<long double>(count);
  return k * std::log(mean) - mean - std::lgamma(k + 1);
}

/// Consecutive values of a distribution on counts.
struct Masses {
  Index first = 0;
  std::vector<double> at;
};

/// Poisson probabilities of the counts first .. last, each to about 2 (last - first) + 20 half ulps: from the
/// largest one by ratios.
Masses poisson(double mean, Index first, Index last) {
  Masses masses{first, std::vector<double>(static_cast<std::size_t>(last - first + 1))};
  const Index mode = std::clamp(static_cast<Index>(mean), first, last);
  const auto at = [&](Index count) -> double& { return masses.at[static_cast<std::size_t>(count - first)]; };
  at(mode) = static_cast<double>(std::exp(log_poisson(mean, mode)));
  for (Index count = mode + 1; count <= last; ++count)
    at(count) = at(count - 1) * (mean / static_cast<double>(count));
  for (Index count = mode; count > first; --count)
    at(count - 1) = at(count) * (static_cast<double>(count) / mean);
  return masses;
}

/// Chernoff: P(Bin(n, p) >= count) for count >= n p, and <= count for count <= n p, is at most this.
double binomial_chernoff(Index count, Index n, double p) {
  if (count < 0 || count > n) return 0;
  if (count == 0 && p >= 1) return 0;
  const double exponent = static_cast<double>(n) * kl(static_cast<double>(count) / static_cast<double>(n), p);
  return std::exp(-exponent) * (1 + 1e-9);
}

/// The number of uniform points below t, while t goes through the boundaries b_1 < b_2 < ..., and how likely
/// it is that b_j has r_j points or more below it for some j: the sum over j of the probability that j is the
/// first. All terms are positive, so that small probabilities keep their digits. Counts are followed as
/// those of a Poisson process of rate N, whose increments do not depend on where they start, and each is
/// weighted by P(N points in all | count so far) / P(N points in all) where it is used.
///
/// What is left out is on the safe side: increments that are less likely than `negligible` count as
/// crossings, and counts below the window are moved up to its lower end, from where crossing is likelier.
class Crossing {
 public:
  Crossing(Index samples, double negligible, double deviations)
      : samples_(samples), negligible_(negligible), deviations_(deviations) {}

  double upper_bound(std::span<const Index> ranks, std::span<const double> boundaries) {
    counts_ = {0, {1.0}};
    double time = 0;
    for (std::size_t j = 0; j < ranks.size(); ++j) {
      advance(time, boundaries[j], ranks[j]);
      time = boundaries[j];
    }
    return std::min(1.0, up((crossed_ + lost_) * (1 + rounding_ + 1e-12)));
  }

 private:
  // P(N points | count at t) / P(N points) for the Poisson process.
  [[nodiscard]] double weight(double t, Index count) const {
    const auto n = static_cast<long double>(samples_);
    return static_cast<double>(std::exp(log_poisson(n * (1 - static_cast<long double>(t)), samples_ - count) -
                                        log_poisson(n, samples_)));
  }

  /// Increments from `time` to `boundary` that are not negligible, whatever the count is.
  [[nodiscard]] std::pair<Index, Index> increments(double time, double boundary) {
    const double p = (boundary - time) / (1 - time);
    const Index most_left = samples_ - counts_.first;
    const Index fewest_left = samples_ - (counts_.first + static_cast<Index>(counts_.at.size()) - 1);
    Index too_few = -1;  // P(<= too_few) is negligible for every count
    Index enough = static_cast<Index>(static_cast<double>(fewest_left) * p);
    while (enough - too_few > 1) {
      const Index middle = too_few + (enough - too_few) / 2;
      (binomial_chernoff(middle, fewest_left, p) <= negligible_ ? too_few : enough) = middle;
    }
    if (too_few >= 0) lost_ += negligible_;
    Index possible = static_cast<Index>(static_cast<double>(most_left) * p) + 1;
    Index too_many = most_left + 1;
    while (too_many - possible > 1) {
      const Index middle = possible + (too_many - possible) / 2;
      (binomial_chernoff(middle, most_left, p) <= negligible_ ? too_many : possible) = middle;
    }
    if (too_many <= most_left) lost_ += negligible_;
    return {too_few + 1, std::min(too_many - 1, most_left)};
  }

  void advance(double time, double boundary, Index rank) {
    const auto [fewest, most] = increments(time, boundary);
    const Masses kernel = poisson(static_cast<double>(samples_) * (boundary - time), fewest, most);
    rounding_ +=
        (4.0 * static_cast<double>(kernel.at.size()) + 40) * 0.5 * std::numeric_limits<double>::epsilon();
    const Index last = std::min(counts_.first + static_cast<Index>(counts_.at.size()) - 1 + most, samples_);
    next_.first = counts_.first + fewest;
    next_.at.assign(static_cast<std::size_t>(std::max<Index>(0, last - next_.first + 1)), 0.0);
    convolve(kernel);
    cross(boundary, rank);
    raise_low_counts(boundary);
    std::swap(counts_, next_);
  }

  // next(c) = sum over k of kernel(k) counts(c - k), four k at a time: zeros around the counts and behind the
  // kernel.
  void convolve(const Masses& kernel) {
    constexpr std::size_t at_once = 4;
    const std::size_t size = counts_.at.size();
    padded_.assign(size + 2 * (at_once - 1), 0.0);
    std::copy(counts_.at.begin(), counts_.at.end(), padded_.begin() + (at_once - 1));
    const std::size_t sums = next_.at.size();
    next_.at.resize(kernel.at.size() + size + 2 * at_once, 0.0);
    const auto factor = [&](std::size_t k) { return k < kernel.at.size() ? kernel.at[k] : 0.0; };
    for (std::size_t k = 0; k < std::min(kernel.at.size(), sums); k += at_once) {
      const double f0 = factor(k);
      const double f1 = factor(k + 1);
      const double f2 = factor(k + 2);
      const double f3 = factor(k + 3);
      const double* from = padded_.data();
      double* into = next_.at.data() + k;
      for (std::size_t c = 0; c < size + at_once - 1; ++c)
        into[c] += (f0 * from[c + 3] + f1 * from[c + 2]) + (f2 * from[c + 1] + f3 * from[c]);
    }
    next_.at.resize(sums);
  }

  // Takes counts of `rank` and more out of next_.
  void cross(double boundary, Index rank) {
    const Index kept = std::clamp<Index>(rank - next_.first, 0, static_cast<Index>(next_.at.size()));
    const Index first = next_.first + kept;
    double factor = weight(boundary, std::min(first, samples_));
    double sum = 0;
    for (Index count = first; count < next_.first + static_cast<Index>(next_.at.size()); ++count) {
      sum += next_.at[static_cast<std::size_t>(count - next_.first)] * factor;
      factor *= static_cast<double>(samples_ - count) / (static_cast<double>(samples_) * (1 - boundary));
    }
    crossed_ += sum;
    next_.at.resize(static_cast<std::size_t>(kept));
    if (next_.at.empty()) next_ = {rank - 1, {0.0}};
  }

  void raise_low_counts(double boundary) {
    const double n = static_cast<double>(samples_);
    const double spread = std::sqrt(n * boundary * (1 - boundary));
    const Index last = next_.first + static_cast<Index>(next_.at.size()) - 1;
    const Index lowest =
        std::min(static_cast<Index>(std::floor(n * boundary - deviations_ * (spread + 1))), last);
    if (lowest <= next_.first) return;
    const auto moved = static_cast<std::size_t>(lowest - next_.first);
    double factor = 1;  // weight(count) / weight(lowest)
    double sum = 0;
    for (std::size_t c = moved; c-- > 0;) {
      const Index count = next_.first + static_cast<Index>(c);
      factor *= n * (1 - boundary) / static_cast<double>(samples_ - count);
      sum += next_.at[c] * factor;
    }
    next_.at[moved] += sum;
    next_.at.erase(next_.at.begin(), next_.at.begin() + static_cast<std::ptrdiff_t>(moved));
    next_.first = lowest;
  }

  Index samples_;
  double negligible_;
  double deviations_;
  Masses counts_;
  Masses next_;
  std::vector<double> padded_;
  double crossed_ = 0;
  double lost_ = 0;
  double rounding_ = 0;
};

/// The search for a level: boundaries of one level are near those of the last one.
class LevelSearch {
 public:
  explicit LevelSearch(Index samples)
      : samples_(samples), ranks_(band_ranks(samples)), boundaries_(ranks_.size()) {}

  double crossing(double level) {
    for (std::size_t j = 0; j < ranks_.size(); ++j)
      boundaries_[j] = order_statistic_level(ranks_[j], samples_, level, boundaries_[j]);
    const bool all = samples_ <= most_with_all_ranks;
    const double negligible = (all ? 1e-13 : 1e-7) * level / static_cast<double>(ranks_.size());
    return Crossing(samples_, negligible, all ? 9 : 4).upper_bound(ranks_, boundaries_);
  }

  // log crossing is nearly a line in log level, of a slope a little below 1: secant steps.
  double level(double delta) {
    const double margin = samples_ <= most_with_all_ranks ? 2e-11 : 5e-4;
    double now =
        std::log(delta / (1 + static_cast<double>(samples_) / (1 + 0.02 * static_cast<double>(samples_))));
    double slope = 1;
    double before = 0;
    double before_log = 0;
    for (int round = 0; round < 40; ++round) {
      const double level = std::exp(now);
      const double probability = crossing(level);
      const double log_ratio = std::log(delta / probability);
      if (probability <= delta && log_ratio <= 2 * margin) return level;
      if (round > 0 && std::abs(now - before) > margin * 1e-3) {
        const double found = (log_ratio - before_log) / (before - now);
        if (found > 0.3 && found < 3) slope = found;
      }
      before = now;
      before_log = log_ratio;
      now = std::min(now + (log_ratio - margin) / slope, std::log(delta));
    }
    // Never seen: a level that is surely low enough.
    return delta / static_cast<double>(ranks_.size());
  }

 private:
  Index samples_;
  std::vector<Index> ranks_;
  std::vector<double> boundaries_;
};

}  // namespace

std::vector<Index> band_ranks(Index samples) {
  require(samples >= 1 && samples <= max_samples, "samples: {} is outside 1 .. {}", samples, max_samples);
  std::vector<Index> ranks;
  if (samples <= most_with_all_ranks) {
    ranks.resize(static_cast<std::size_t>(samples));
    std::iota(ranks.begin(), ranks.end(), Index{1});
    return ranks;
  }
  for (Index distance = 1; 2 * distance <= samples + 1;
       distance += distance < close_to_end ? 1 : 1 + (distance - close_to_end) / 50)
    ranks.push_back(distance);
  for (std::size_t i = ranks.size(); i-- > 0;) {
    const Index mirrored = samples + 1 - ranks[i];
    if (mirrored > ranks.back()) ranks.push_back(mirrored);
  }
  return ranks;
}

Index band_rank_down(Index samples, Index count) {
  require(count >= 0 && count <= samples, "count: {} is outside 0 .. {}", count, samples);
  if (samples <= most_with_all_ranks || count == 0) return count;
  const std::vector<Index> ranks = band_ranks(samples);
  const auto after = std::upper_bound(ranks.begin(), ranks.end(), count);
  return after == ranks.begin() ? 0 : *(after - 1);
}

double band_crossing_upper(Index samples, double level) {
  check_band(samples, level, "level");
  if (samples > most_with_crossings)
    return probability_up(static_cast<double>(band_ranks(samples).size()) * level, 1);
  return LevelSearch(samples).crossing(level);
}

double band_level(Index samples, double delta) {
  check_band(samples, delta, "delta");
  if (samples == 1) return delta;
  if (samples > most_with_crossings) return down(delta / static_cast<double>(band_ranks(samples).size()));
  // A certificate asks for the same one for each of its variants, and so does whoever verifies it.
  static std::mutex mutex;
  static std::map<std::pair<Index, double>, double> known;
  const std::scoped_lock lock(mutex);
  const std::pair<Index, double> asked(samples, delta);
  if (const auto found = known.find(asked); found != known.end()) return found->second;
  const double level = LevelSearch(samples).level(delta);
  known.emplace(asked, level);  // not before it is there: the search may run out of memory
  return level;
}

double band_share(Index samples, Index count, double level) {
  check_band(samples, level, "level");
  const Index rank = band_rank_down(samples, count);
  return rank == 0 ? 0.0 : success_lower_bound(samples - rank, samples, level, RiskMethod::exact);
}

Index band_quantile_rank(Index samples, double quantile, double level) {
  check_band(samples, level, "level");
  const Index rank = order_statistic_rank(samples, quantile, level);
  if (rank == 0 || samples <= most_with_all_ranks) return rank;
  const std::vector<Index> ranks = band_ranks(samples);
  return *std::lower_bound(ranks.begin(), ranks.end(), rank);  // the last one is N
}

}  // namespace surefoot::bounds
