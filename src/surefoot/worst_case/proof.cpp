#include "surefoot/worst_case/proof.hpp"

#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/worst_case/ball.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>
#include <set>

namespace surefoot::worst_case {

namespace {

using Real = Ball::Real;

// The sum of all multipliers stays below, so that no sum of them overflows.
constexpr double largest_sum = 0x1p61;

// What each call's value lacks: c - sum_p y_p b_p, times 2^exponent.
std::vector<std::int64_t> imbalance(const Method& method, const Multipliers& multipliers) {
  std::vector<std::int64_t> lack(method.calls().size(), 0);
  const auto unit = static_cast<std::int64_t>(std::ldexp(1.0, multipliers.exponent));
  for (const std::size_t call : method.measured_values()) lack[call] += unit;
  for (const std::size_t call : method.assumed_values()) lack[call] -= multipliers.initial;
  for (const Multipliers::OfPair& item : multipliers.pairs) {
    if (!class_of(method, item.pair).has_values()) continue;
    if (item.pair.j != Pair::solution) lack[static_cast<std::size_t>(item.pair.j)] -= item.multiplier;
    if (item.pair.i != Pair::solution) lack[static_cast<std::size_t>(item.pair.i)] += item.multiplier;
  }
  return lack;
}

double sum_of(const Multipliers& multipliers) {
  double sum = static_cast<double>(multipliers.initial) + std::ldexp(1.0, multipliers.exponent);
  for (const Multipliers::OfPair& item : multipliers.pairs) sum += static_cast<double>(item.multiplier);
  return sum;
}

// Rows and columns times powers of two, so that the diagonal is near 1.
std::vector<int> scaling(const std::vector<Ball>& matrix, std::size_t n) {
  std::vector<int> exponents;
  for (std::size_t i = 0; i < n; ++i) {
    int exponent = 0;
    std::frexp(matrix[i * n + i].middle(), &exponent);
    exponents.push_back(-exponent / 2);
  }
  return exponents;
}

// Overwrites the lower triangle by its Cholesky factor; false: a pivot is not positive.
bool decompose(std::vector<Real>& a, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    Real* const row = a.data() + i * n;
    for (std::size_t j = 0; j <= i; ++j) {
      const Real* const other = a.data() + j * n;
      Real sum = row[j];
      for (std::size_t k = 0; k < j; ++k) sum -= row[k] * other[k];
      if (j < i) {
        row[j] = sum / other[j];
      } else {
        if (!(sum > 0) || !std::isfinite(sum)) return false;
        row[i] = std::sqrt(sum);
      }
    }
  }
  return true;
}

// Let A be the middles with the row sums of the radii off the diagonal: S - A is positive semidefinite. If
// Cholesky of A - c ends, then A - c + E is positive semidefinite for an |E_ij| <= phi sqrt(a_ii a_jj), whose
// norm is at most phi tr(A); c is twice that.
bool is_positive_semidefinite(const std::vector<Ball>& matrix, std::size_t n) {
  constexpr Real u = Ball::unit_roundoff;
  for (std::size_t i = 0; i < n; ++i) {
    if (!(matrix[i * n + i].middle() > 0)) return false;
  }
  const std::vector<int> exponents = scaling(matrix, n);
  std::vector<Real> a(n * n);
  Real trace = 0;
  for (std::size_t i = 0; i < n; ++i) {
    Real radii = 0;
    for (std::size_t j = 0; j < n; ++j) {
      const int exponent = exponents[i] + exponents[j];
      a[i * n + j] = std::ldexp(matrix[i * n + j].middle(), exponent);
      radii += std::ldexp(matrix[i * n + j].radius(), exponent);
    }
    radii *= 1 + 2 * static_cast<Real>(n + 2) * u;
    a[i * n + i] -= radii + 4 * u * std::abs(a[i * n + i]);
    trace += std::abs(a[i * n + i]);
  }
  const Real steps = static_cast<Real>(n + 2) * u;
  const Real phi = steps / (1 - 2 * steps);
  const Real underflow = std::sqrt(std::numeric_limits<Real>::min());
  const Real margin = 2 * phi * trace * (1 + 2 * steps) + underflow;
  for (std::size_t i = 0; i < n; ++i) a[i * n + i] -= margin + 4 * u * std::abs(a[i * n + i]);
  return decompose(a, n);
}

// The conditions to begin with: neighbours, with the solution, and for operators with the first call.
std::vector<Pair> first_pairs(const Method& method, const std::vector<Pair>& all) {
  std::vector<Index> place(method.calls().size());  // among the calls of its oracle
  std::vector<Index> calls_of(method.classes().size(), 0);
  for (std::size_t e = 0; e < place.size(); ++e) place[e] = calls_of[method.calls()[e].oracle]++;
  std::vector<Pair> chosen;
  for (const Pair& pair : all) {
    const bool with_solution = pair.i == Pair::solution || pair.j == Pair::solution;
    const auto at = [&](Index call) { return place[static_cast<std::size_t>(call)]; };
    if (with_solution || std::abs(at(pair.i) - at(pair.j)) == 1 ||
        (at(pair.i) == 0 && !class_of(method, pair).has_values()))
      chosen.push_back(pair);
  }
  return chosen;
}

double t_of(const Multipliers& multipliers) {
  return std::ldexp(static_cast<double>(multipliers.initial), -multipliers.exponent);
}

// The smallest t that an iterate proves; the last ones are the smallest.
std::optional<Multipliers> proven(const Method& method, const std::vector<Pair>& pairs,
                                  const InteriorPoint& solved) {
  for (auto point = solved.iterates.rbegin(); point != solved.iterates.rend(); ++point) {
    std::optional<Multipliers> multipliers = rounded(method, pairs, *point);
    if (multipliers && what_is_wrong(method, *multipliers).empty()) return multipliers;
  }
  return std::nullopt;
}

}  // namespace

std::string what_is_wrong(const Method& method, const Multipliers& multipliers) {
  method.validate();
  if (multipliers.exponent < 0 || multipliers.exponent > 60)
    return fmt::format("the exponent {} is outside 0..60", multipliers.exponent);
  if (multipliers.initial < 0) return "the multiplier of the start is negative";
  std::set<Pair> seen;
  for (const Multipliers::OfPair& item : multipliers.pairs) {
    const std::string at = fmt::format("multiplier of ({}, {})", item.pair.i, item.pair.j);
    if (!is_pair(method, item.pair)) return at + ": the method has no such condition";
    if (item.multiplier < 0) return at + " is negative";
    if (!seen.insert(item.pair).second) return at + " is given twice";
  }
  if (!(sum_of(multipliers) < largest_sum)) return "the multipliers are too large";
  const std::vector<std::int64_t> lack = imbalance(method, multipliers);
  for (std::size_t call = 0; call < lack.size(); ++call) {
    if (lack[call] != 0) return fmt::format("the value of call {} does not balance", call);
  }
  if (!is_positive_semidefinite(slack_matrix<Ball>(method, multipliers), method.dimension()))
    return "the slack matrix is not shown to be positive semidefinite";
  return {};
}

double proven_bound(const Method& method, const Multipliers& multipliers, double start) {
  require(start >= 0.0 && start < infinity, "start: {} is negative or not finite", start);
  const double t = bounds::up(t_of(multipliers));
  const bool norm = !method.measured().empty();
  if (method.initial() == Initial::distance)
    return norm ? bounds::up(bounds::up(std::sqrt(t)) * start) : bounds::up(bounds::up(t * start) * start);
  return norm ? bounds::up(std::sqrt(bounds::up(t * start))) : bounds::up(t * start);
}

std::optional<Multipliers> rounded(const Method& method, const std::vector<Pair>& pairs,
                                   const DualPoint& point) {
  double sum = point.initial + 1.0;
  for (const double y : point.pairs) {
    if (!(y >= 0.0)) return std::nullopt;
    sum += y;
  }
  if (!(point.initial >= 0.0) || !(sum < 0x1p60)) return std::nullopt;
  Multipliers result;
  result.exponent = std::clamp(59 - std::ilogb(sum), 0, 60);
  const auto whole = [&](double y) { return static_cast<std::int64_t>(std::ldexp(y, result.exponent)); };
  result.initial = whole(point.initial) + 1;
  for (std::size_t p = 0; p < pairs.size(); ++p) result.pairs.push_back({pairs[p], whole(point.pairs[p])});

  // Raising the multipliers along a path of pairs (*, a), (a, b), ..., (z, call) raises the value of the call
  // alone.
  const std::vector<std::int64_t> lack = imbalance(method, result);
  const auto size = static_cast<Index>(method.calls().size());
  std::vector<std::vector<std::int64_t*>> into(static_cast<std::size_t>(size) + 1);
  std::vector<std::vector<Index>> from(static_cast<std::size_t>(size) + 1);
  const auto node = [](Index call) { return static_cast<std::size_t>(call + 1); };
  for (Multipliers::OfPair& item : result.pairs) {
    if (!class_of(method, item.pair).has_values()) continue;
    into[node(item.pair.j)].push_back(&item.multiplier);
    from[node(item.pair.j)].push_back(item.pair.i);
  }
  if (method.assumed_values().size() == 1) {
    const auto first = static_cast<Index>(method.assumed_values()[0]);
    into[node(first)].push_back(&result.initial);
    from[node(first)].push_back(Pair::solution);
  }
  // next[a]: the edge out of `a` on a shortest path to `target`.
  const auto raise_path = [&](Index source, Index target, std::int64_t amount) {
    std::map<Index, std::pair<Index, std::int64_t*>> next{{target, {target, nullptr}}};
    std::deque<Index> open{target};
    while (!open.empty() && !next.contains(source)) {
      const Index at = open.front();
      open.pop_front();
      for (std::size_t k = 0; k < from[node(at)].size(); ++k) {
        if (next.emplace(from[node(at)][k], std::pair{at, into[node(at)][k]}).second)
          open.push_back(from[node(at)][k]);
      }
    }
    if (!next.contains(source)) return false;
    for (Index at = source; at != target; at = next.at(at).first) *next.at(at).second += amount;
    return true;
  };
  for (Index call = 0; call < size; ++call) {
    const std::int64_t missing = lack[static_cast<std::size_t>(call)];
    if (missing > 0 && !raise_path(Pair::solution, call, missing)) return std::nullopt;
    if (missing < 0 && !raise_path(call, Pair::solution, -missing)) return std::nullopt;
  }
  return result;
}

std::optional<Multipliers> prove(const Method& method, const ProveOptions& options) {
  const std::vector<Pair> all = all_pairs(method);
  std::vector<Pair> pairs =
      static_cast<Index>(all.size()) <= options.all_pairs_up_to ? all : first_pairs(method, all);
  std::optional<Multipliers> best;
  for (int round = 0; round < options.rounds; ++round) {
    std::vector<Pair> others;
    std::set_difference(all.begin(), all.end(), pairs.begin(), pairs.end(), std::back_inserter(others));
    const InteriorPoint solved = solve(method, pairs, others, options.interrupt);
    const std::optional<Multipliers> found = proven(method, pairs, solved);
    const bool better = found && (!best || t_of(*found) < t_of(*best));
    const bool much_better = better && (!best || t_of(*found) < t_of(*best) * (1.0 - options.worth));
    if (better) best = found;
    if (others.empty() || (round > 0 && !much_better)) break;
    // The worst of those that the primal iterate violates.
    std::vector<std::pair<double, Pair>> violated;
    for (std::size_t k = 0; k < others.size(); ++k) {
      if (solved.violations[k] > 1e-7) violated.emplace_back(solved.violations[k], others[k]);
    }
    if (violated.empty()) break;
    std::sort(violated.begin(), violated.end(), std::greater<>());
    violated.resize(std::min(violated.size(), 2 * method.dimension()));
    for (const auto& [amount, pair] : violated) pairs.push_back(pair);
    std::sort(pairs.begin(), pairs.end());
  }
  return best;
}

}  // namespace surefoot::worst_case
