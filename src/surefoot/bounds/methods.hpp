#pragma once

#include <string_view>

namespace surefoot::bounds {

/// pac_bayes is of weights and counts together (certify/guarantee.hpp), the others of counts alone; anytime
/// holds at every number of runs at once (anytime.hpp), the others at one that was fixed beforehand.
enum class RiskMethod { exact, kl, pinsker, pac_bayes, anytime };
/// exact and anytime are order statistics.
enum class QuantileMethod { exact, grid, anytime };
enum class BudgetMethod { settling, every_step, first_hit, paper };
/// Of the mean of variables in [0, 1] (group_average.hpp).
enum class MeanMethod { betting, kl };

/// Names as they stand in options and certificates: "exact", "kl", "first-hit", ... ; parse throws InputError
/// listing the known names.
std::string_view name(RiskMethod method);
std::string_view name(QuantileMethod method);
std::string_view name(BudgetMethod method);
std::string_view name(MeanMethod method);
RiskMethod parse_risk_method(std::string_view text);
QuantileMethod parse_quantile_method(std::string_view text);
BudgetMethod parse_budget_method(std::string_view text);
MeanMethod parse_mean_method(std::string_view text);
inline void parse(std::string_view text, RiskMethod& method) {
  method = parse_risk_method(text);
}
inline void parse(std::string_view text, QuantileMethod& method) {
  method = parse_quantile_method(text);
}
inline void parse(std::string_view text, BudgetMethod& method) {
  method = parse_budget_method(text);
}
inline void parse(std::string_view text, MeanMethod& method) {
  method = parse_mean_method(text);
}

}  // namespace surefoot::bounds
