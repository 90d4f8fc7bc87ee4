#include "surefoot/monitoring/conformal.hpp"

#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include <surefoot/monitor.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace surefoot::monitoring {
namespace {

constexpr double bet_margin = 1 - 0x1p-40;  // p is rounded by 2^-52, a set has probability 2^-10 and more

double without_nan(double value) {
  return std::isnan(value) ? infinity : value;
}

std::vector<double> edges_of(const std::vector<double>& reference) {
  std::vector<double> sorted;
  for (std::size_t i = 0; i < reference.size(); i += 2) sorted.push_back(without_nan(reference[i]));
  std::ranges::sort(sorted);
  std::vector<double> edges;
  const std::size_t cells = std::min(ConformalRanks::most_cells, sorted.size() + 1);
  for (std::size_t i = 1; i < cells; ++i) {
    const double edge = sorted[(i * sorted.size() + cells - 1) / cells - 1];
    if (edges.empty() || edge > edges.back()) edges.push_back(edge);
  }
  return edges;
}

}  // namespace

ConformalRanks::ConformalRanks(std::vector<double> reference, std::uint64_t seed) : seed_(seed) {
  require(reference.size() >= fewest_values, "reference: {} values are too few, {} are needed",
          reference.size(), fewest_values);
  edges_ = edges_of(reference);
  tree_.assign(edges_.size() + 2, 0);
  for (std::size_t i = 1; i < reference.size(); i += 2) add(cell_of(reference[i]));
}

std::size_t ConformalRanks::cell_of(double value) const {
  return static_cast<std::size_t>(std::ranges::lower_bound(edges_, without_nan(value)) - edges_.begin());
}

Index ConformalRanks::up_to(std::size_t cell) const {
  Index sum = 0;
  for (std::size_t i = cell + 1; i > 0; i &= i - 1) sum += tree_[i];
  return sum;
}

void ConformalRanks::add(std::size_t cell) {
  for (std::size_t i = cell + 1; i < tree_.size(); i += i & (~i + 1)) ++tree_[i];
  ++count_;
}

double ConformalRanks::next(double value) {
  const std::size_t cell = cell_of(value);
  const Index below_or_same = up_to(cell);
  const Index same = below_or_same - (cell > 0 ? up_to(cell - 1) : 0);
  RandomStream random(seed_, "ties of ranks", static_cast<std::uint64_t>(drawn_));
  ++drawn_;
  const double p =
      (static_cast<double>(count_ - below_or_same) + random.uniform() * static_cast<double>(1 + same)) /
      static_cast<double>(1 + count_);
  add(cell);
  return p;
}

void ConformalRanks::write(ByteWriter& to) const {
  to.list(tree_);
  to.number(count_);
  to.number(drawn_);
}

void ConformalRanks::read(ByteReader& from) {
  std::vector<Index> tree = from.list<Index>();
  const auto count = from.number<Index>();
  const auto drawn = from.number<Index>();
  require(tree.size() == tree_.size(), "state: counts of another reference");
  for (const Index each : tree) require(each >= 0 && each <= count, "state: counts that cannot be");
  require(drawn >= 0 && drawn <= count && count < std::numeric_limits<Index>::max() / 2,
          "state: counts that cannot be");
  tree_ = std::move(tree);
  count_ = count;
  drawn_ = drawn;
}

RankEvidence::RankEvidence(bool is_test)
    : is_test_(is_test), evidence_(rank_bets.size()), scale_(rank_bets.size()) {
  for (std::size_t i = 0; i < rank_bets.size(); ++i) {
    const RankBet& bet = rank_bets[i];
    const double probability = bet.high - bet.low;
    const double denominator = 1 + (bet.odds - 1) * probability;
    ratios_[i] = {bet.odds / denominator * bet_margin, 1 / denominator * bet_margin};
  }
  restart();
}

void RankEvidence::restart() {
  const double begin = is_test_ ? 1 : 0;
  std::ranges::fill(evidence_, begin);
  std::ranges::fill(scale_, 0);
  value_ = begin;
}

void RankEvidence::advance(double p) {
  double sum = 0;
  for (std::size_t i = 0; i < rank_bets.size(); ++i) {
    const bool inside = p > rank_bets[i].low && p <= rank_bets[i].high;
    double& evidence = evidence_[i];
    evidence = (is_test_ ? evidence : 1 + evidence) * (inside ? ratios_[i].inside : ratios_[i].outside);
    if (evidence > SUREFOOT_MONITOR_LARGEST) {
      const bool scaled = scale_[i] < 0;
      evidence = scaled ? evidence * SUREFOOT_MONITOR_SMALLEST : SUREFOOT_MONITOR_LARGEST;
      scale_[i] += scaled ? 1 : 0;
    } else if (is_test_ && evidence < SUREFOOT_MONITOR_SMALLEST) {
      evidence *= SUREFOOT_MONITOR_LARGEST;
      --scale_[i];
    }
    if (scale_[i] == 0) sum += evidence;
  }
  value_ = bounds::down(sum / static_cast<double>(rank_bets.size()), static_cast<int>(rank_bets.size()));
}

void RankEvidence::write(ByteWriter& to) const {
  to.list(evidence_);
  to.list(scale_);
  to.number(value_);
}

void RankEvidence::read(ByteReader& from) {
  std::vector<double> evidence = from.list<double>();
  std::vector<std::int64_t> scale = from.list<std::int64_t>();
  require(evidence.size() == evidence_.size() && scale.size() == scale_.size(), "state: other bets");
  for (const double each : evidence)
    require(each >= 0 && each <= SUREFOOT_MONITOR_LARGEST, "state: evidence that cannot be");
  for (const std::int64_t each : scale) require(each <= 0, "state: evidence that cannot be");
  evidence_ = std::move(evidence);
  scale_ = std::move(scale);
  value_ = from.number<double>();
}

}  // namespace surefoot::monitoring
