#include "surefoot/worst_case/optimize_steps.hpp"

#include "surefoot/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

namespace surefoot::worst_case {

namespace {

constexpr Index most_optimized_steps = 8;
constexpr int searches = 3;  ///< each begins with a new simplex around the best point
constexpr double accuracy = 1e-7;

struct Vertex {
  std::vector<double> at;
  double value = infinity;
};

// Reflection, expansion, contraction and shrinking with the usual factors, until the values of the simplex
// agree.
class SimplexSearch {
 public:
  using Value = std::function<double(const std::vector<double>&)>;
  SimplexSearch(Value value, const std::vector<double>& start, double size) : value_(std::move(value)) {
    vertices_.push_back(evaluated(start));
    for (std::size_t i = 0; i < start.size(); ++i) {
      std::vector<double> moved = start;
      moved[i] += size * std::max(std::abs(moved[i]), 0.1);
      vertices_.push_back(evaluated(std::move(moved)));
    }
  }

  Vertex run() {
    const auto n = static_cast<int>(vertices_.size()) - 1;
    for (int round = 0; round < 200 * n; ++round) {
      std::stable_sort(vertices_.begin(), vertices_.end(),
                       [](const Vertex& a, const Vertex& b) { return a.value < b.value; });
      if (vertices_.back().value - vertices_.front().value < accuracy) break;
      move_worst();
    }
    return *std::min_element(vertices_.begin(), vertices_.end(),
                             [](const Vertex& a, const Vertex& b) { return a.value < b.value; });
  }

 private:
  Vertex evaluated(std::vector<double> at) const {
    const double value = value_(at);
    return {std::move(at), value};
  }
  // On the line from the worst vertex through the centre of the others.
  [[nodiscard]] Vertex on_line(double factor) const {
    const std::size_t n = vertices_.size() - 1;
    std::vector<double> at(vertices_.front().at.size());
    for (std::size_t j = 0; j < at.size(); ++j) {
      double centre = 0;
      for (std::size_t i = 0; i < n; ++i) centre += vertices_[i].at[j] / static_cast<double>(n);
      at[j] = centre + factor * (vertices_.back().at[j] - centre);
    }
    return evaluated(std::move(at));
  }
  void move_worst() {
    Vertex& worst = vertices_.back();
    const double best = vertices_.front().value;
    const double second = vertices_[vertices_.size() - 2].value;
    Vertex reflected = on_line(-1);
    if (reflected.value < best) {
      Vertex further = on_line(-2);
      worst = further.value < reflected.value ? std::move(further) : std::move(reflected);
      return;
    }
    if (reflected.value < second) {
      worst = std::move(reflected);
      return;
    }
    Vertex nearer = on_line(reflected.value < worst.value ? -0.5 : 0.5);
    if (nearer.value < std::min(reflected.value, worst.value)) {
      worst = std::move(nearer);
      return;
    }
    for (std::size_t i = 1; i < vertices_.size(); ++i) {
      std::vector<double> at = vertices_[i].at;
      for (std::size_t j = 0; j < at.size(); ++j) at[j] = 0.5 * (at[j] + vertices_.front().at[j]);
      vertices_[i] = evaluated(std::move(at));
    }
  }

  Value value_;
  std::vector<Vertex> vertices_;
};

double five_digits(double value) {
  if (value == 0.0) return value;
  const double digits = 4 - std::floor(std::log10(std::abs(value)));
  const double power = std::pow(10.0, std::abs(digits));
  // Divided by a power of ten, a whole number is the double that its decimals name.
  return digits >= 0 ? std::round(value * power) / power : std::round(value / power) * power;
}

}  // namespace

OptimizedSteps optimize_steps(Question question, const ProveOptions& options) {
  question = resolved(question);
  const NamedMethod& method = named_method(question.method);
  const auto has = [&](std::string_view name) {
    return std::find(method.parameters.begin(), method.parameters.end(), name) != method.parameters.end();
  };
  require(has("step"), "optimize: {} has no step sizes", question.method);
  require(question.steps >= 1 && question.steps <= most_optimized_steps,
          "optimize: {} steps are outside 1..{}", question.steps, most_optimized_steps);
  const auto count = static_cast<std::size_t>(question.steps);
  const bool momentum = question.parameters.momentum.has_value();
  std::vector<double> given = question.parameters.step;
  if (given.empty()) given.push_back(has("L") ? 1 / question.parameters.L : 1.0);
  given.resize(count, given.back());
  const std::vector<double> units = given;  // the search sees multiples of them
  std::vector<double> start(count, 1.0);
  if (momentum) start.push_back(*question.parameters.momentum);

  OptimizedSteps result;
  const auto asked = [&](const std::vector<double>& at) {
    Question one = question;
    one.parameters.step.assign(count, 0.0);
    for (std::size_t i = 0; i < count; ++i) one.parameters.step[i] = five_digits(at[i] * units[i]);
    if (momentum) one.parameters.momentum = five_digits(at[count]);
    return one;
  };
  const auto value = [&](const std::vector<double>& at) {
    ++result.evaluations;
    for (std::size_t i = 0; i < count; ++i)
      if (!(at[i] > 0.0)) return infinity;
    if (momentum && !(at[count] >= 0.0 && at[count] < 1.0)) return infinity;
    const Method built = build(asked(at));
    const std::optional<Multipliers> found = prove(built, options);
    const double bound = found ? proven_bound(built, *found, 1.0) : infinity;
    return bound < infinity ? std::log(std::max(bound, std::numeric_limits<double>::min())) : infinity;
  };
  Vertex best{start, value(start)};
  double size = 0.25;
  for (int search = 0; search < searches; ++search, size /= 2) {
    Vertex found = SimplexSearch(value, best.at, size).run();
    if (found.value < best.value) best = std::move(found);
  }
  require(best.value < infinity, "optimize: no bound is proven near the given steps");
  result.question = asked(best.at);
  const Method built = build(result.question);
  const std::optional<Multipliers> found = prove(built, options);
  require(found.has_value(), "optimize: no bound is proven for the steps that were found");
  result.bound = proven_bound(built, *found, 1.0);
  return result;
}

}  // namespace surefoot::worst_case
