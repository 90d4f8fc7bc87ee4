#include "surefoot/worst_case/method.hpp"

#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace surefoot::worst_case {

namespace {

using Kind = Class::Kind;
constexpr EnumNames<Kind, 5> kind_names{{{Kind::averaged, "averaged"},
                                         {Kind::lipschitz, "lipschitz"},
                                         {Kind::monotone, "monotone"},
                                         {Kind::cocoercive, "cocoercive"},
                                         {Kind::function, "function"}}};
constexpr EnumNames<Initial, 2> initial_names{{{Initial::distance, "distance"}, {Initial::gap, "gap"}}};

template <class Combine>
Vector& combined(Vector& a, const Vector& b, const Combine& combine) {
  a.outputs.resize(std::max(a.outputs.size(), b.outputs.size()));
  a.start = combine(a.start, b.start);
  for (std::size_t i = 0; i < b.outputs.size(); ++i) a.outputs[i] = combine(a.outputs[i], b.outputs[i]);
  return a;
}

// Weights that are to add up to 1 do so up to their rounding; the point is the one with weights that do.
Vector as_point(Vector vector) {
  if (std::abs(vector.start - 1.0) < 1e-12) vector.start = 1.0;
  return vector;
}

bool is_zero_from(const std::vector<double>& values, std::size_t first) {
  return std::all_of(values.begin() + static_cast<std::ptrdiff_t>(std::min(first, values.size())),
                     values.end(), [](double value) { return value == 0.0; });
}

}  // namespace

Vector& Vector::operator+=(const Vector& other) {
  return combined(*this, other, [](double x, double y) { return x + y; });
}

Vector& Vector::operator-=(const Vector& other) {
  return combined(*this, other, [](double x, double y) { return x - y; });
}

Vector& Vector::operator*=(double factor) {
  start *= factor;
  for (double& value : outputs) value *= factor;
  return *this;
}

bool operator==(const Vector& a, const Vector& b) {
  const std::size_t both = std::min(a.outputs.size(), b.outputs.size());
  return a.start == b.start &&
         std::equal(a.outputs.begin(), a.outputs.begin() + static_cast<std::ptrdiff_t>(both),
                    b.outputs.begin()) &&
         is_zero_from(a.outputs, both) && is_zero_from(b.outputs, both);
}

void Class::validate() const {
  switch (kind) {
    case Kind::averaged:
      return require(a > 0.0 && a <= 1.0, "alpha: {} is outside (0, 1]", a);
    case Kind::lipschitz:
      return require(a >= 0.0 && a < infinity, "factor: {} is negative or not finite", a);
    case Kind::monotone:
      return require(a >= 0.0 && a < infinity, "mu: {} is negative or not finite", a);
    case Kind::cocoercive:
      return require(a > 0.0 && a < infinity, "beta: {} is not positive and finite", a);
    case Kind::function:
      require(a >= 0.0 && a < infinity, "mu: {} is negative or not finite", a);
      require(b > 0.0, "L: {} is not positive", b);
      return require(a < b, "mu: {} is not below L = {}, as interpolation needs", a, b);
  }
}

std::string_view name(Class::Kind kind) {
  return name_in(kind_names, kind);
}

Class::Kind parse_kind(std::string_view text) {
  return value_in(kind_names, "class", text);
}

std::string_view name(Initial initial) {
  return name_in(initial_names, initial);
}

Initial parse_initial(std::string_view text) {
  return value_in(initial_names, "initial", text);
}

void Method::check(const Vector& vector, double start, const char* what) const {
  require(vector.start == start, "{}: z^0 has coefficient {} in it, not {}", what, vector.start, start);
  require(is_zero_from(vector.outputs, calls_.size()), "{}: it uses an oracle call that was not made", what);
  require(
      std::all_of(vector.outputs.begin(), vector.outputs.end(), [](double x) { return std::isfinite(x); }),
      "{}: a coefficient is not finite", what);
}

Method::Method(Parts parts) : initial_(parts.initial) {
  for (const Class& what : parts.classes) add(what);
  for (auto& [oracle, point] : parts.calls) {
    require(point.outputs.size() <= calls_.size() + 1, "call {}: its point uses later calls", calls_.size());
    Vector before = point;
    before.outputs.resize(std::min(before.outputs.size(), calls_.size()));
    Vector output = next_output(oracle, before);
    calls_.push_back({oracle, std::move(point), std::move(output)});
    check(calls_.back().point, 1.0, "point");
  }
  const auto check_values = [&](const std::vector<std::size_t>& list, bool at_start) {
    std::vector<bool> seen(classes_.size(), false);
    for (const std::size_t call : list) {
      require(call < calls_.size() && classes_[calls_[call].oracle].has_values(),
              "method: call {} is not the value of a function", call);
      require(!seen[calls_[call].oracle], "method: a function is counted twice");
      seen[calls_[call].oracle] = true;
      require(calls_[call].point == (at_start ? start() : calls_[list[0]].point),
              "method: values at different points make no gap");
    }
    require(list.empty() || std::find(seen.begin(), seen.end(), false) == seen.end(),
            "method: a function is left out of the gap");
  };
  check_values(parts.measured_values, false);
  check_values(parts.assumed_values, true);
  require(parts.assumed_values.empty() == (initial_ == Initial::distance),
          "method: values at the start are assumed if and only if a gap is");
  require(parts.measured.empty() || (parts.measured.size() == 1 && parts.measured_values.empty()),
          "method: it measures one norm or one gap");
  for (const Vector& vector : parts.measured) measure_norm(vector);
  measured_values_ = std::move(parts.measured_values);
  assumed_values_ = std::move(parts.assumed_values);
  validate();
}

std::size_t Method::add(const Class& what) {
  what.validate();
  classes_.push_back(what);
  return classes_.size() - 1;
}

Vector Method::next_output(std::size_t oracle, const Vector& point) const {
  require(oracle < classes_.size(), "oracle: {} is not one of the {} declared", oracle, classes_.size());
  check(point, 1.0, "point");
  Vector output;
  output.outputs.resize(calls_.size() + 1);
  output.outputs.back() = 1.0;
  return output;
}

std::size_t Method::find(std::size_t oracle, const Vector& point) const {
  const auto found = std::find_if(calls_.begin(), calls_.end(), [&](const Call& made) {
    return made.oracle == oracle && made.point == point;
  });
  return static_cast<std::size_t>(found - calls_.begin());
}

Vector Method::call(std::size_t oracle, const Vector& where) {
  const Vector point = as_point(where);
  Vector output = next_output(oracle, point);
  const std::size_t earlier = find(oracle, point);
  if (earlier < calls_.size() && classes_[oracle].is_single_valued()) return calls_[earlier].output;
  calls_.push_back({oracle, point, output});
  return output;
}

Method::Step Method::implicit(std::size_t oracle, const Vector& v, double step) {
  require(step > 0.0 && step < infinity, "step: {} is not positive and finite", step);
  const Vector from = as_point(v);
  Vector output = next_output(oracle, from);
  Vector point = from - step * output;
  calls_.push_back({oracle, point, output});
  return {std::move(point), std::move(output)};
}

std::vector<std::size_t> Method::values_at(const Vector& point) {
  std::vector<std::size_t> found;
  for (std::size_t oracle = 0; oracle < classes_.size(); ++oracle) {
    require(classes_[oracle].has_values(), "gap: {} operators have no values", name(classes_[oracle].kind));
    found.push_back(find(oracle, point));
    if (found.back() == calls_.size()) call(oracle, point);
  }
  require(!found.empty(), "gap: there is no function");
  return found;
}

void Method::measure_norm(const Vector& vector) {
  check(vector, vector.start, "metric");
  measured_ = {vector};
  measured_values_.clear();
}

void Method::measure_gap(const Vector& point) {
  measured_values_ = values_at(as_point(point));
  measured_.clear();
}

void Method::assume_gap() {
  assumed_values_ = values_at(start());
  initial_ = Initial::gap;
}

bool Method::has_start() const {
  return initial_ == Initial::distance ||
         std::any_of(classes_.begin(), classes_.end(),
                     [](const Class& what) { return what.has_values() && what.a > 0.0; });
}

std::vector<double> Method::coordinates(const Vector& vector) const {
  std::vector<double> result;
  result.reserve(dimension());
  if (has_start()) result.push_back(vector.start);
  result.insert(result.end(), vector.outputs.begin(), vector.outputs.end());
  result.resize(dimension());
  return result;
}

void Method::validate() const {
  require(!classes_.empty(), "method: there is no operator or function");
  require(!measured_.empty() || !measured_values_.empty(), "method: nothing is measured");
  // An operator or a function that was declared after a gap was asked for is not in that gap.
  for (const auto* values : {&measured_values_, &assumed_values_})
    require(values->empty() || values->size() == classes_.size(),
            "gap: it leaves out what was declared later");
  if (has_start()) return;
  for (const Vector& vector : measured_)
    require(vector.start == 0.0, "metric: without strong convexity a gap at the start bounds no distance");
}

bool is_pair(const Method& method, const Pair& pair) {
  const auto size = static_cast<Index>(method.calls().size());
  const auto known = [&](Index call) { return call == Pair::solution || (call >= 0 && call < size); };
  if (!known(pair.i) || !known(pair.j) || pair.i == pair.j) return false;
  const auto oracle = [&](Index call) { return method.calls()[static_cast<std::size_t>(call)].oracle; };
  const bool with_solution = pair.i == Pair::solution || pair.j == Pair::solution;
  if (!with_solution && oracle(pair.i) != oracle(pair.j)) return false;
  const Class& what = method.classes()[oracle(std::max(pair.i, pair.j))];
  if (!what.has_values()) return pair.j == Pair::solution || (pair.i != Pair::solution && pair.i < pair.j);
  return method.has_start() || pair.i != Pair::solution;
}

std::vector<Pair> all_pairs(const Method& method) {
  std::vector<Pair> pairs;
  const auto size = static_cast<Index>(method.calls().size());
  for (Index i = -1; i < size; ++i) {
    for (Index j = -1; j < size; ++j) {
      if (is_pair(method, {i, j})) pairs.push_back({i, j});
    }
  }
  return pairs;
}

}  // namespace surefoot::worst_case
