#include "surefoot/bounds/methods.hpp"

#include "surefoot/core/enum_names.hpp"

namespace surefoot::bounds {

namespace {

constexpr EnumNames<RiskMethod, 5> risk_names{{{RiskMethod::exact, "exact"},
                                               {RiskMethod::kl, "kl"},
                                               {RiskMethod::pinsker, "pinsker"},
                                               {RiskMethod::pac_bayes, "pac-bayes"},
                                               {RiskMethod::anytime, "anytime"}}};
constexpr EnumNames<QuantileMethod, 3> quantile_names{
    {{QuantileMethod::exact, "exact"}, {QuantileMethod::grid, "grid"}, {QuantileMethod::anytime, "anytime"}}};
constexpr EnumNames<BudgetMethod, 4> budget_names{{{BudgetMethod::settling, "settling"},
                                                   {BudgetMethod::every_step, "every-step"},
                                                   {BudgetMethod::first_hit, "first-hit"},
                                                   {BudgetMethod::paper, "paper"}}};
constexpr EnumNames<MeanMethod, 2> mean_names{{{MeanMethod::betting, "betting"}, {MeanMethod::kl, "kl"}}};

}  // namespace

std::string_view name(RiskMethod method) {
  return name_in(risk_names, method);
}
std::string_view name(QuantileMethod method) {
  return name_in(quantile_names, method);
}
std::string_view name(BudgetMethod method) {
  return name_in(budget_names, method);
}
std::string_view name(MeanMethod method) {
  return name_in(mean_names, method);
}
RiskMethod parse_risk_method(std::string_view text) {
  return value_in(risk_names, "risk method", text);
}
QuantileMethod parse_quantile_method(std::string_view text) {
  return value_in(quantile_names, "quantile method", text);
}
BudgetMethod parse_budget_method(std::string_view text) {
  return value_in(budget_names, "budget method", text);
}
MeanMethod parse_mean_method(std::string_view text) {
  return value_in(mean_names, "average method", text);
}

}  // namespace surefoot::bounds
