#include "surefoot/certify/until.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/bounds/sample_size.hpp"
#include "surefoot/certify/ask.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace surefoot::certify {
namespace {

using When = ClaimText::When;

template <class T>
void declare_value(const char* option, bool given, T value, std::vector<T>& values, const std::string& text) {
  if (!given) values = {value};
  require(std::ranges::find(values, value) != values.end(), "--until '{}': {} is not among the {}", text,
          value, option);
}

}  // namespace

Until::Until(std::string_view text) : text_(text), claim_(parse_claim(text)) {
  if (claim_.strict) {
    kind_ = claim_.when == When::after ? "success" : "budget";
    return;
  }
  kind_ = "quantile";
  require(claim_.when != When::within,
          "--until '{}': 'at most' can be claimed after a step, not from one on; say 'below'", text_);
}

Options Until::declare(Options options, const Declared& declared) const {
  require(options.simultaneous == Simultaneity::all,
          "--until '{}': claims must hold together (simultaneous 'all')", text_);
  options.risk_method = bounds::RiskMethod::anytime;
  declare_value("kinds of claims", declared.kinds, std::string(kind_), options.kinds, text_);
  if (claim_.strict)
    declare_value("tolerances", declared.tolerances, claim_.value, options.tolerances, text_);
  if (kind_ != "success") declare_value("quantiles", declared.quantiles, share(), options.quantiles, text_);
  if (claim_.when == When::after && !options.all_steps)
    declare_value("steps", declared.steps, claim_.step, options.steps, text_);
  if (kind_ == "budget") {
    require(options.budget_method == bounds::BudgetMethod::settling,
            "--until '{}': the budget method must be settling", text_);
  }
  if (kind_ == "quantile") {
    require(options.quantile_method != bounds::QuantileMethod::grid,
            "--until '{}': the quantile method must be exact", text_);
  }
  options.validate();
  return options;
}

void Until::require_recorded(const std::vector<Index>& steps) const {
  if (claim_.when == When::unsaid) {
    require(claim_.strict || steps.size() == 1,
            "--until '{}': runs have steps {} .. {}; say after which ('at most ... after K')", text_,
            steps.front(), steps.back());
    return;
  }
  const bool known = claim_.when == When::after ? std::ranges::binary_search(steps, claim_.step)
                                                : steps.front() <= claim_.step && claim_.step <= steps.back();
  require(known, "--until '{}': step {} was not recorded; runs have {} .. {}", text_, claim_.step,
          steps.front(), steps.back());
}

bool Until::fails(const std::vector<Index>& steps, const double* values) const {
  // From the first infinity or NaN on a run has failed.
  const auto ends = [&](std::size_t column) {
    return std::any_of(values, values + column + 1, [](double value) { return !std::isfinite(value); });
  };
  const std::size_t last = steps.size() - 1;
  if (claim_.when == When::within || (claim_.when == When::unsaid && claim_.strict)) {
    // Settled by the last recorded step that is not after K; without K, by the last.
    const auto after =
        claim_.when == When::within ? std::upper_bound(steps.begin(), steps.end(), claim_.step) : steps.end();
    const auto from = static_cast<std::size_t>(after - steps.begin()) - 1;
    return ends(last) ||
           !std::all_of(values + from, values + last + 1, [&](double value) { return value < claim_.value; });
  }
  const std::size_t column =
      claim_.when == When::after
          ? static_cast<std::size_t>(std::lower_bound(steps.begin(), steps.end(), claim_.step) -
                                     steps.begin())
          : last;
  if (ends(column)) return true;
  return claim_.strict ? !(values[column] < claim_.value) : !(values[column] <= claim_.value);
}

bool Until::holds(const Certificate& certificate) const {
  ClaimText claim = claim_;
  if (claim.when == When::unsaid) {
    claim.when = claim.strict ? When::within : When::after;
    claim.step = certificate.variants.front().last_step;
  }
  const Facts facts(certificate);
  const Fact* best = facts.best_share(0, claim);
  return best != nullptr && best->share >= share();
}

double UntilLooks::certified() const {
  return runs_ == 0 ? 0.0
                    : bounds::success_lower_bound(failures_, runs_, delta_, bounds::RiskMethod::anytime);
}

Index UntilLooks::next_look() {
  if (known_for_ != failures_) {
    next_ = failures_ < bounds::max_samples ? bounds::samples_needed_looking(failures_, share_, delta_) : 0;
    if (next_ == 0) next_ = bounds::max_samples;
    known_for_ = failures_;
  }
  return std::max(next_, runs_ + 1);
}

std::string standing_of(const Until& until, UntilLooks& looks, bool holds) {
  const std::string share = lower_bound_percent(looks.certified());
  const std::string runs = fmt::format(
      "after {} runs, {} of them failed: {}", count_label(looks.runs()), count_label(looks.failures()),
      share == nothing ? "no share is certified" : fmt::format("at least {} is certified", share));
  if (holds) return fmt::format("\"{}\" holds {}", until.text(), runs);
  return fmt::format("UNDECIDED: \"{}\" does not hold {}; it would after {} runs if no more failed",
                     until.text(), runs, count_label(looks.next_look()));
}

}  // namespace surefoot::certify
