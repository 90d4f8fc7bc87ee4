#include "surefoot/learning/loss.hpp"

#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"

#include <cmath>

namespace surefoot::learning {

namespace {

constexpr EnumNames<LossKind, 5> loss_names{{{LossKind::regression, "regression"},
                                             {LossKind::nmse, "nmse"},
                                             {LossKind::objective, "objective"},
                                             {LossKind::optimality, "optimality"},
                                             {LossKind::residual, "residual"}}};

}  // namespace

std::string_view to_string(LossKind kind) {
  return name_in(loss_names, kind);
}

LossKind parse_loss(std::string_view name) {
  return value_in(loss_names, "loss", name);
}

bool is_measured(LossKind kind) {
  return kind == LossKind::objective || kind == LossKind::optimality;
}

bool compares_with_solutions(LossKind kind) {
  return !is_measured(kind) && kind != LossKind::residual;
}

void Loss::validate(Index steps) const {
  require(step_weights.empty() || static_cast<Index>(step_weights.size()) == steps,
          "step_weights: {} of them for {} steps", step_weights.size(), steps);
  for (const double value : step_weights)
    require(std::isfinite(value) && value >= 0, "step_weights: {} is negative or not finite", value);
  require(target || !compares_with_solutions(kind), "loss: {} needs solutions to compare with",
          to_string(kind));
  require(steps > 0 || kind != LossKind::residual, "steps: a residual needs at least 1");
}

double Loss::weight(Index k, Index steps) const {
  if (step_weights.empty()) return k == steps ? 1.0 : 0.0;
  return step_weights[static_cast<std::size_t>(k - 1)];
}

}  // namespace surefoot::learning
