#include "surefoot/runs/metric.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace surefoot::runs {

using algorithms::ConstBatch;
using algorithms::Operator;
using algorithms::Quantity;
using algorithms::Workspace;

Metric fixed_point_residual() {
  Metric metric;
  metric.name = "fixed-point residual";
  metric.kind = Metric::Kind::residual;
  return metric;
}

Metric quantity(Quantity quantity) {
  Metric metric;
  metric.name = std::string(algorithms::to_string(quantity));
  metric.kind = Metric::Kind::quantity;
  metric.quantity = quantity;
  return metric;
}

Metric objective_gap(Solutions optima) {
  Metric metric;
  metric.name = "objective gap";
  metric.kind = Metric::Kind::objective_gap;
  metric.quantity = Quantity::objective;
  metric.reference = std::move(optima);
  metric.count = 1;
  return metric;
}

namespace {

Metric compared(std::string name, Metric::Kind kind, Solutions solutions, Index first, Index count) {
  require(solutions != nullptr, "{}: solutions are missing", name);
  Metric metric;
  metric.name = std::move(name);
  metric.kind = kind;
  metric.first = first;
  metric.count = count > 0 ? count : solutions->cols();
  metric.reference = std::move(solutions);
  return metric;
}

}  // namespace

Metric distance(Solutions solutions, Index first, Index count) {
  return compared("distance to the solution", Metric::Kind::distance, std::move(solutions), first, count);
}

Metric nmse(Solutions solutions, Index first, Index count) {
  Metric metric = compared("NMSE", Metric::Kind::nmse, std::move(solutions), first, count);
  metric.unit = "dB";
  return metric;
}

Metric block_distance(Solutions solutions, Index block, Index first, Index count) {
  Metric metric =
      compared("largest block distance", Metric::Kind::block_distance, std::move(solutions), first, count);
  require(block >= 1 && metric.count % block == 0, "block: is {}, must divide the {} compared entries", block,
          metric.count);
  metric.block = block;
  return metric;
}

Metric own_metric(std::string name, Metric::Own function, std::string unit) {
  require(static_cast<bool>(function), "{}: function is missing", name);
  Metric metric;
  metric.name = std::move(name);
  metric.unit = std::move(unit);
  metric.kind = Metric::Kind::own;
  metric.own = std::move(function);
  return metric;
}

namespace {

constexpr double lowest_decibels = -3000;

/// The larger of two, NaN if one is: unlike std::max, which passes over it.
double larger(double a, double b) {
  return a > b || std::isnan(a) ? a : b;
}

/// Whether a sum of squares, and the quotient of two such, has neither lost digits by underflow nor
/// overflowed; false for NaN.
bool is_ordinary(double squares) {
  return squares >= 1e-140 && squares <= 1e140;
}

/// || (entry_of(0), ..., entry_of(count - 1)) ||_2 of numbers of any size: squares of what they are to the
/// largest. NaN and infinity come through.
template <class Entry>
double scaled_norm(Index count, const Entry& entry_of) {
  double largest = 0;
  for (Index i = 0; i < count; ++i) largest = larger(largest, std::abs(entry_of(i)));
  if (largest == 0 || !std::isfinite(largest)) return largest;
  double squares = 0;
  for (Index i = 0; i < count; ++i) squares += (entry_of(i) / largest) * (entry_of(i) / largest);
  return largest * std::sqrt(squares);
}

}  // namespace

MetricRoom::MetricRoom(const Metric& metric, const Operator& op) : metric_(metric), op_(op) {
  const Index W = op.width();
  using Kind = Metric::Kind;
  if (metric.kind == Kind::quantity || metric.kind == Kind::objective_gap) {
    require(op.knows(metric.quantity), "{}: operator {} does not know it", metric.name, op.name());
  }
  if (metric.kind == Kind::own) {
    require(static_cast<bool>(metric.own), "{}: function is missing", metric.name);
    iterate_.resize(op.iterate_size() * W);
  }
  const bool compares =
      metric.kind == Kind::distance || metric.kind == Kind::nmse || metric.kind == Kind::block_distance;
  if (compares || metric.kind == Kind::objective_gap) {
    require(metric.reference != nullptr, "{}: reference is missing", metric.name);
    require(metric.reference->rows() == op.instances(), "{}: reference has {} rows, must have {} (instances)",
            metric.name, metric.reference->rows(), op.instances());
    require(metric.count >= 1 && metric.count <= metric.reference->cols(),
            "{}: {} compared entries, must be in 1 .. {} (columns of the reference)", metric.name,
            metric.count, metric.reference->cols());
    reference_.resize(metric.count * W);
    squares_.resize(W);
  }
  if (compares) {
    require(is_within(metric.first, metric.count, op.iterate_size()),
            "{}: {} entries from {} on must lie in an iterate of {}", metric.name, metric.count, metric.first,
            op.iterate_size());
    iterate_.resize(metric.count * W);
  }
}

void MetricRoom::load(Index first, Index count) {
  first_ = first;
  count_ = count;
  for (Index lane = 0; lane < op_.width(); ++lane) load_lane(lane, first + std::min(lane, count - 1));
}

void MetricRoom::load_lane(Index lane, Index instance) {
  if (reference_.size() == 0) return;
  const Index W = op_.width();
  const double* row = metric_.reference->data() + instance * metric_.reference->cols();
  double squares = 0;
  for (Index i = 0; i < metric_.count; ++i) {
    reference_[i * W + lane] = row[i];
    squares += row[i] * row[i];
  }
  squares_[lane] = squares;
}

void MetricRoom::evaluate(Index k, ConstBatch z, Workspace& workspace, double* value) {
  using Kind = Metric::Kind;
  const Index W = z.width;
  switch (metric_.kind) {
    case Kind::residual:
      break;
    case Kind::quantity:
      op_.measure(metric_.quantity, k, z, workspace, value);
      break;
    case Kind::objective_gap:
      op_.measure(Quantity::objective, k, z, workspace, value);
      for (Index lane = 0; lane < W; ++lane) value[lane] = std::abs(value[lane] - reference_[lane]);
      break;
    case Kind::own:
      op_.read(z, workspace, 0, op_.iterate_size(), iterate_.data());
      metric_.own({{iterate_.data(), op_.iterate_size(), W}, k, first_, count_}, value);
      break;
    case Kind::distance:
    case Kind::nmse:
    case Kind::block_distance:
      op_.read(z, workspace, metric_.first, metric_.count, iterate_.data());
      if (W % 4 == 0) {
        for (Index lane = 0; lane < W; lane += 4) compare<4>(lane, value);
      } else {
        for (Index lane = 0; lane < W; ++lane) compare<1>(lane, value);
      }
      break;
  }
}

// Lanes lane .. lane + L - 1 of a metric that compares with the reference.
template <int L>
void MetricRoom::compare(Index first_lane, double* value) const {
  const Index W = op_.width();
  const Index block = metric_.kind == Metric::Kind::block_distance ? metric_.block : metric_.count;
  double largest[L] = {};
  for (Index begin = 0; begin < metric_.count; begin += block) {
    double squares[L] = {};
    for (Index i = begin; i < begin + block; ++i) {
      const double* a = iterate_.data() + i * W + first_lane;
      const double* b = reference_.data() + i * W + first_lane;
      for (int lane = 0; lane < L; ++lane) squares[lane] += (a[lane] - b[lane]) * (a[lane] - b[lane]);
    }
    for (int lane = 0; lane < L; ++lane) largest[lane] = larger(largest[lane], squares[lane]);
  }
  for (int lane = 0; lane < L; ++lane) {
    value[first_lane + lane] = metric_.kind == Metric::Kind::nmse ? decibels(first_lane + lane, largest[lane])
                               : is_ordinary(largest[lane])       ? std::sqrt(largest[lane])
                                                            : largest_distance(first_lane + lane, block);
  }
}

double MetricRoom::decibels(Index lane, double squares) const {
  const double ratio =
      is_ordinary(squares) && is_ordinary(squares_[lane])
          ? 10 * std::log10(squares * (1 / squares_[lane]))
          : 20 * (std::log10(largest_distance(lane, metric_.count)) - std::log10(reference_norm(lane)));
  // NaN, as of 0/0, is no number below -3000.
  return ratio < lowest_decibels ? lowest_decibels : ratio;
}

double MetricRoom::largest_distance(Index lane, Index block) const {
  const Index W = op_.width();
  double largest = 0;
  for (Index begin = 0; begin < metric_.count; begin += block) {
    largest = larger(largest, scaled_norm(block, [&](Index i) {
                       return iterate_[(begin + i) * W + lane] - reference_[(begin + i) * W + lane];
                     }));
  }
  return largest;
}

double MetricRoom::reference_norm(Index lane) const {
  return scaled_norm(metric_.count, [&](Index i) { return reference_[i * op_.width() + lane]; });
}

}  // namespace surefoot::runs
