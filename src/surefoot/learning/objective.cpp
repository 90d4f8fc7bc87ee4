#include "surefoot/learning/objective.hpp"

#include "surefoot/bounds/kl.hpp"
#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/types.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::learning {

namespace {

double sigmoid(double x) {
  return x >= 0 ? 1 / (1 + std::exp(-x)) : std::exp(x) / (1 + std::exp(x));
}

constexpr double smallest_loss = 1e-300;

}  // namespace

namespace {

constexpr EnumNames<SurrogateKind, 5> surrogate_names{{{SurrogateKind::logistic, "logistic"},
                                                       {SurrogateKind::logistic_mean, "logistic-mean"},
                                                       {SurrogateKind::tolerance, "tolerance"},
                                                       {SurrogateKind::logarithm, "logarithm"},
                                                       {SurrogateKind::identity, "identity"}}};

}  // namespace

std::string_view to_string(SurrogateKind kind) {
  return name_in(surrogate_names, kind);
}

SurrogateKind parse_surrogate(std::string_view name) {
  return value_in(surrogate_names, "surrogate", name);
}

bool is_risk(SurrogateKind kind) {
  return kind != SurrogateKind::logarithm && kind != SurrogateKind::identity;
}

void Surrogate::validate() const {
  require(std::isfinite(scale) && scale > 0, "surrogate scale: {} must be > 0", scale);
  require(std::isfinite(tolerance) && tolerance > 0, "surrogate tolerance: {} must be > 0", tolerance);
  require(std::isfinite(width) && width > 0, "surrogate width: {} must be > 0", width);
}

double Surrogate::value(double loss) const {
  switch (kind) {
    case SurrogateKind::logistic:
    case SurrogateKind::logistic_mean:
      return sigmoid(scale * loss);
    case SurrogateKind::tolerance:
      if (loss == infinity) return 1;
      return sigmoid(std::log(std::max(loss, smallest_loss) / tolerance) / width);
    case SurrogateKind::logarithm:
      return std::log(std::clamp(loss, smallest_loss, 1e300));
    case SurrogateKind::identity:
      return std::min(loss, 1e300);
  }
  return 0;
}

double Surrogate::derivative(double loss) const {
  if (loss == infinity) return 0;
  const double s = is_risk(kind) ? value(loss) : 0;
  switch (kind) {
    case SurrogateKind::logistic:
    case SurrogateKind::logistic_mean:
      return scale * s * (1 - s);
    case SurrogateKind::tolerance:
      return s * (1 - s) / (width * std::max(loss, smallest_loss));
    case SurrogateKind::logarithm:
      return 1 / std::max(loss, smallest_loss);
    case SurrogateKind::identity:
      return 1;
  }
  return 0;
}

namespace {

constexpr EnumNames<PenaltyKind, 3> penalty_names{{{PenaltyKind::none, "none"},
                                                   {PenaltyKind::one_sided, "one-sided"},
                                                   {PenaltyKind::two_sided, "two-sided"}}};

}  // namespace

std::string_view to_string(PenaltyKind kind) {
  return name_in(penalty_names, kind);
}

PenaltyKind parse_penalty(std::string_view name) {
  return value_in(penalty_names, "penalty", name);
}

void Penalty::validate() const {
  require(std::isfinite(weight) && weight >= 0, "penalty weight: {} must be >= 0", weight);
  require(std::isfinite(target) && target >= 0, "penalty target: {} must be >= 0", target);
}

ObjectiveValue training_objective(double risk, double regularizer, const Penalty& penalty) {
  constexpr double edge = 1e-6;
  const double q = std::clamp(risk, edge, 1 - edge);
  const double B = std::max(regularizer, 1e-12);
  ObjectiveValue result;
  result.value = bounds::kl_inverse(q, B);
  const double p = std::clamp(result.value, q + 1e-12, 1 - edge / 2);
  result.by_regularizer = p * (1 - p) / (p - q);
  result.by_risk = result.by_regularizer * (std::log(p / q) + std::log((1 - q) / (1 - p)));
  const double excess = regularizer - penalty.target;
  if (penalty.kind == PenaltyKind::two_sided || (penalty.kind == PenaltyKind::one_sided && excess > 0)) {
    result.value += penalty.weight * excess * excess;
    result.by_regularizer += 2 * penalty.weight * excess;
  }
  return result;
}

}  // namespace surefoot::learning
