#pragma once

#include <string_view>

namespace surefoot::bounds {

/// pac_bayes is of weights and counts together (certify/guarantee.hpp), the others of counts alone.
enum class RiskMethod { exact, kl, pinsker, pac_bayes };
enum class QuantileMethod { exact, grid };
enum class BudgetMethod { settling, first_hit, paper };

/// Names as they stand in options and certificates: "exact", "kl", "first-hit", ... ; parse throws InputError
/// listing the known names.
std::string_view name(RiskMethod method);
std::string_view name(QuantileMethod method);
std::string_view name(BudgetMethod method);
RiskMethod parse_risk_method(std::string_view text);
QuantileMethod parse_quantile_method(std::string_view text);
BudgetMethod parse_budget_method(std::string_view text);

}  // namespace surefoot::bounds
