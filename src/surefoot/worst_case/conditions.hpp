#pragma once

#include "surefoot/worst_case/method.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

/// The interpolation conditions as quadratic forms, for any type of number: doubles for the solver, balls
/// (ball.hpp) for proofs, rational numbers for their test.
namespace surefoot::worst_case {

/// A symmetric matrix of size 2 or 3 between the vectors of pair_vectors().
template <class Number>
struct Core {
  std::size_t size = 0;
  std::array<std::array<Number, 3>, 3> entry{};
};

/// The condition is <core, Gram matrix of the pair's vectors> + f_j - f_i <= 0 (no values for operators).
/// Functions, vectors (g_j, dx, dg), d = i minus j, w = 1/(2(L - mu)):
///   <g_j, dx> + mu/2 |dx|^2 + w |dg - mu dx|^2 + f_j - f_i <= 0;
/// operators, vectors (dx, dg): the inequality of Class::Kind.
template <class Number>
Core<Number> core(const Class& what) {
  const auto number = [](double value) { return Number(value); };
  const Number zero = number(0.0);
  const Number one = number(1.0);
  const Number half = number(0.5);
  const Number a = number(what.a);
  const auto pairwise = [&](const Number& xx, const Number& xg, const Number& gg) {
    Core<Number> result{2, {}};
    result.entry[0] = {xx, xg, zero};
    result.entry[1] = {xg, gg, zero};
    result.entry[2] = {zero, zero, zero};
    return result;
  };
  switch (what.kind) {
    case Class::Kind::averaged:
      return pairwise(zero, half, half / a);
    case Class::Kind::lipschitz:
      return pairwise(one - a * a, one, one);
    case Class::Kind::monotone:
      return pairwise(a, zero - half, zero);
    case Class::Kind::cocoercive:
      return pairwise(zero, zero - half, a);
    case Class::Kind::function:
      break;
  }
  const bool smooth = what.b < infinity;
  const Number w = smooth ? half / (number(what.b) - a) : zero;
  Core<Number> result{smooth ? std::size_t{3} : std::size_t{2}, {}};
  result.entry[0] = {zero, half, zero};
  result.entry[1] = {half, half * a + w * a * a, zero - w * a};
  result.entry[2] = {zero, zero - w * a, w};
  return result;
}

/// A vector as a difference of two rows: 2e is the point of call e, 2e + 1 its output, -1 is zero.
struct Difference {
  Index plus = -1;
  Index minus = -1;
};

/// The vectors between which core() is the condition of a pair.
inline std::array<Difference, 3> pair_vectors(const Class& what, const Pair& pair) {
  const auto point = [](Index call) { return call == Pair::solution ? Index{-1} : 2 * call; };
  const auto output = [](Index call) { return call == Pair::solution ? Index{-1} : 2 * call + 1; };
  const Difference dx{point(pair.i), point(pair.j)};
  const Difference dg{output(pair.i), output(pair.j)};
  if (!what.has_values()) return {dx, dg, Difference{}};
  return {Difference{output(pair.j), -1}, dx, dg};
}

inline const Class& class_of(const Method& method, const Pair& pair) {
  return method.classes()[method.calls()[static_cast<std::size_t>(std::max(pair.i, pair.j))].oracle];
}

/// Multipliers of a proof: each is an integer times 2^-exponent.
struct Multipliers {
  struct OfPair {
    Pair pair;
    std::int64_t multiplier = 0;
    friend bool operator==(const OfPair&, const OfPair&) = default;
  };
  int exponent = 0;
  std::int64_t initial = 0;  ///< of the assumption on the start: t
  std::vector<OfPair> pairs;
  friend bool operator==(const Multipliers&, const Multipliers&) = default;
};

/// 2^exponent * S, row by row, where S = t E_0 + sum_p y_p A_p - C in the basis of the method, t and y the
/// multipliers: if S is positive semidefinite and the values balance, then metric <= t in units of the start.
template <class Number>
std::vector<Number> slack_matrix(const Method& method, const Multipliers& multipliers) {
  const std::size_t rows = 2 * method.calls().size();
  const std::size_t n = method.dimension();
  const Number zero(0.0);
  // In terms of points and outputs a condition has at most 36 entries: add up there, change basis once.
  std::vector<Number> form(rows * rows, zero);
  std::vector<Core<Number>> cores;
  for (const Class& what : method.classes()) cores.push_back(core<Number>(what));
  for (const Multipliers::OfPair& item : multipliers.pairs) {
    if (item.multiplier == 0) continue;
    const Class& what = class_of(method, item.pair);
    const Core<Number>& weights = cores[static_cast<std::size_t>(&what - method.classes().data())];
    const std::array<Difference, 3> vectors = pair_vectors(what, item.pair);
    const Number y(item.multiplier);
    for (std::size_t a = 0; a < weights.size; ++a) {
      for (std::size_t b = 0; b < weights.size; ++b) {
        if (weights.entry[a][b] == zero) continue;
        const Number weight = y * weights.entry[a][b];
        const auto add = [&](Index row, Index column, const Number& value) {
          if (row < 0 || column < 0) return;
          form[static_cast<std::size_t>(row) * rows + static_cast<std::size_t>(column)] += value;
        };
        add(vectors[a].plus, vectors[b].plus, weight);
        add(vectors[a].minus, vectors[b].minus, weight);
        add(vectors[a].plus, vectors[b].minus, zero - weight);
        add(vectors[a].minus, vectors[b].plus, zero - weight);
      }
    }
  }
  struct Entry {
    std::size_t index;
    Number value;
  };
  std::vector<std::vector<Entry>> basis(rows);  // what is not 0 of each point and output
  for (std::size_t row = 0; row < rows; ++row) {
    const Method::Call& call = method.calls()[row / 2];
    const std::vector<double> all = method.coordinates(row % 2 == 0 ? call.point : call.output);
    for (std::size_t k = 0; k < n; ++k) {
      if (all[k] != 0.0) basis[row].push_back({k, Number(all[k])});
    }
  }
  std::vector<Number> slack(n * n, zero);
  std::vector<Number> product(n, zero);
  for (std::size_t row = 0; row < rows; ++row) {
    std::fill(product.begin(), product.end(), zero);
    for (std::size_t column = 0; column < rows; ++column) {
      const Number& weight = form[row * rows + column];
      if (weight == zero) continue;
      for (const Entry& entry : basis[column]) product[entry.index] += weight * entry.value;
    }
    for (const Entry& entry : basis[row]) {
      for (std::size_t k = 0; k <= entry.index; ++k) slack[entry.index * n + k] += entry.value * product[k];
    }
  }
  if (method.initial() == Initial::distance) slack[0] += Number(multipliers.initial);
  const Number unit(std::ldexp(1.0, multipliers.exponent));
  for (const Vector& vector : method.measured()) {
    const std::vector<double> all = method.coordinates(vector);
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t k = 0; k <= i; ++k) slack[i * n + k] -= unit * Number(all[i]) * Number(all[k]);
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) slack[k * n + i] = slack[i * n + k];
  }
  return slack;
}

}  // namespace surefoot::worst_case
