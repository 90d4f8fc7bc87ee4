#include "surefoot/learning/loss.hpp"

#include "surefoot/core/error.hpp"

#include <cmath>

namespace surefoot::learning {

std::string_view to_string(LossKind kind) {
  switch (kind) {
    case LossKind::regression:
      return "regression";
    case LossKind::nmse:
      return "nmse";
    case LossKind::objective:
      return "objective";
    case LossKind::residual:
      return "residual";
  }
  return "";
}

LossKind parse_loss(std::string_view name) {
  for (const LossKind kind :
       {LossKind::regression, LossKind::nmse, LossKind::objective, LossKind::residual}) {
    if (to_string(kind) == name) return kind;
  }
  throw InputError(fmt::format("loss: '{}' is not regression, nmse, objective or residual", name));
}

void Loss::validate(Index steps) const {
  require(step_weights.empty() || static_cast<Index>(step_weights.size()) == steps,
          "step_weights: {} of them for {} steps", step_weights.size(), steps);
  for (const double value : step_weights)
    require(std::isfinite(value) && value >= 0, "step_weights: {} is negative or not finite", value);
  require(target || kind == LossKind::objective || kind == LossKind::residual,
          "loss: {} needs solutions to compare with", to_string(kind));
  require(steps > 0 || kind != LossKind::residual, "steps: a residual needs at least 1");
}

double Loss::weight(Index k, Index steps) const {
  if (step_weights.empty()) return k == steps ? 1.0 : 0.0;
  return step_weights[static_cast<std::size_t>(k - 1)];
}

}  // namespace surefoot::learning
