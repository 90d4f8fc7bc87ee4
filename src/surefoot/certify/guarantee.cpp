#include "surefoot/certify/guarantee.hpp"

#include "surefoot/bounds/pac_bayes.hpp"
#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"

namespace surefoot::certify {

namespace {

constexpr EnumNames<Design, 2> design_names{{{Design::stratified, "stratified"}, {Design::paper, "paper"}}};

}  // namespace

std::string_view name(Design design) {
  return name_in(design_names, design);
}

Design parse_design(std::string_view text) {
  return value_in(design_names, "design", text);
}

double learned_risk(const PacBayes& guarantee, Index failures) {
  const double expected =
      guarantee.design == Design::stratified
          ? bounds::calibrated_risk(failures, guarantee.runs, guarantee.omega_each)
          : bounds::calibrated_risk_paper(failures, guarantee.runs, guarantee.draws, guarantee.omega_each);
  return bounds::pac_bayes_risk(expected, guarantee.regularizer);
}

double LearnedRisk::operator()(Index failures) {
  const auto [entry, is_new] = known_.try_emplace(failures, 0.0);
  if (is_new) entry->second = learned_risk(guarantee_, failures);
  return entry->second;
}

double union_delta(const PacBayes& guarantee, Index losses) {
  const double each = static_cast<double>(guarantee.prior_means) * guarantee.delta_each +
                      static_cast<double>(guarantee.candidates) * guarantee.omega_each;
  return bounds::up(static_cast<double>(losses) * each, 4);
}

double learned_success(double risk) {
  return risk >= 1.0 ? 0.0 : std::max(0.0, bounds::down(1.0 - risk));
}

double regularizer_of(const PacBayes& guarantee) {
  return bounds::regularizer(guarantee.kl, guarantee.positions, guarantee.samples, guarantee.delta_each);
}

}  // namespace surefoot::certify
