#include "surefoot/bounds/methods.hpp"

#include "surefoot/core/error.hpp"

#include <fmt/ranges.h>

#include <array>
#include <utility>
#include <vector>

namespace surefoot::bounds {

namespace {

template <class Method, std::size_t N>
using Names = std::array<std::pair<Method, std::string_view>, N>;

constexpr Names<RiskMethod, 4> risk_names{{{RiskMethod::exact, "exact"},
                                           {RiskMethod::kl, "kl"},
                                           {RiskMethod::pinsker, "pinsker"},
                                           {RiskMethod::pac_bayes, "pac-bayes"}}};
constexpr Names<QuantileMethod, 2> quantile_names{
    {{QuantileMethod::exact, "exact"}, {QuantileMethod::grid, "grid"}}};
constexpr Names<BudgetMethod, 3> budget_names{{{BudgetMethod::settling, "settling"},
                                               {BudgetMethod::first_hit, "first-hit"},
                                               {BudgetMethod::paper, "paper"}}};

template <class Method, std::size_t N>
std::string_view name_in(const Names<Method, N>& names, Method method) {
  for (const auto& [value, text] : names) {
    if (value == method) return text;
  }
  return "?";
}

template <class Method, std::size_t N>
Method parse_in(const Names<Method, N>& names, std::string_view kind, std::string_view text) {
  std::vector<std::string_view> known;
  for (const auto& [value, known_text] : names) {
    if (known_text == text) return value;
    known.push_back(known_text);
  }
  throw InputError(fmt::format("{} method: '{}' is not one of {}", kind, text, fmt::join(known, ", ")));
}

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
RiskMethod parse_risk_method(std::string_view text) {
  return parse_in(risk_names, "risk", text);
}
QuantileMethod parse_quantile_method(std::string_view text) {
  return parse_in(quantile_names, "quantile", text);
}
BudgetMethod parse_budget_method(std::string_view text) {
  return parse_in(budget_names, "budget", text);
}

}  // namespace surefoot::bounds
