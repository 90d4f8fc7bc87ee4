#include "surefoot/certify/consistency.hpp"

#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"

#include <fmt/format.h>

#include <map>
#include <utility>

namespace surefoot::certify {

namespace {

using bounds::BudgetMethod;

class Ledger {
 public:
  explicit Ledger(const Certificate& certificate) : certificate_(certificate) {
    for (const ClaimKind* kind : claim_kinds()) {
      for (const CountBelow& count : kind->counts_below(certificate)) {
        if (count.variant >= certificate.variants.size()) continue;  // found elsewhere
        const auto [known, is_new] =
            at_step_[{count.variant, count.step}].try_emplace(count.tolerance, count.runs);
        expect(is_new || known->second == count.runs, count.variant,
               "at step {} {} runs are below {}, and {} by another claim", count.step, count.runs,
               count.tolerance, known->second);
        at_tolerance_[{count.variant, count.tolerance}][count.step] = count.runs;
      }
    }
  }

  std::vector<std::string> compare() {
    compare_success();
    compare_quantiles();
    compare_budgets();
    return std::move(findings_);
  }

 private:
  template <class... Args>
  void expect(bool condition, std::size_t variant, fmt::format_string<Args...> text, Args&&... args) {
    if (condition) return;
    findings_.push_back(fmt::format("contradiction in '{}': {}", certificate_.variants[variant].name,
                                    fmt::format(text, std::forward<Args>(args)...)));
  }

  void compare_success() {
    for (const auto& [place, counts] : at_step_) {
      const std::pair<const double, Index>* before = nullptr;
      for (const auto& entry : counts) {
        expect(before == nullptr || before->second <= entry.second, place.first,
               "at step {} {} runs are below {}, but {} below {}", place.second, entry.second, entry.first,
               before ? before->second : 0, before ? before->first : 0.0);
        before = &entry;
      }
    }
  }

  // `below` runs are below `value`, `at_most` at most: what success counts at the same step must say too.
  void compare_value(const QuantileClaim& claim, double value, Index below, Index at_most) {
    const auto counts = at_step_.find({claim.variant, claim.step});
    if (counts == at_step_.end()) return;
    for (const auto& [tolerance, successes] : counts->second) {
      // Successes are below a tolerance, of scalars at most it.
      const bool less = tolerance < value || (tolerance == value && !certificate_.scalar);
      const bool fits = less ? successes <= below : successes >= at_most;
      expect(fits, claim.variant, "quantile {} at step {} is put at {}, but {} runs are below {}",
             claim.quantile, claim.step, value, successes, tolerance);
    }
  }

  void compare_quantiles() {
    std::map<std::pair<std::size_t, Index>, std::map<double, const QuantileClaim*>> places;
    for (const QuantileClaim& claim : certificate_.quantile) {
      if (claim.variant >= certificate_.variants.size()) continue;
      if (certificate_.variants[claim.variant].values_rounded_up) continue;  // counts are of rounded values
      places[{claim.variant, claim.step}][claim.quantile] = &claim;
      if (claim.upper_bound < infinity) compare_value(claim, claim.upper_bound, claim.below, claim.at_most);
      if (claim.method != bounds::QuantileMethod::grid && claim.samples > 0 && claim.quantile > 0.0 &&
          claim.quantile < 1.0) {
        const Index rank = bounds::empirical_rank(claim.samples, claim.quantile);
        compare_value(claim, claim.empirical, rank - 1, rank);
      }
    }
    for (const auto& [place, claims] : places) {
      const QuantileClaim* lower = nullptr;
      for (const auto& [quantile, claim] : claims) {
        if (lower != nullptr) {
          const bool rising =
              lower->upper_bound <= claim->upper_bound && lower->empirical <= claim->empirical;
          expect(rising, place.first, "at step {} quantile {} is put above quantile {}", place.second,
                 lower->quantile, quantile);
          if (claim->upper_bound < infinity) {
            const bool counts = lower->upper_bound == claim->upper_bound
                                    ? lower->below == claim->below && lower->at_most == claim->at_most
                                    : lower->at_most <= claim->below;
            expect(counts, place.first, "at step {} the counts of quantiles {} and {} do not fit",
                   place.second, lower->quantile, quantile);
          }
        }
        lower = claim;
      }
    }
  }

  void compare_budget_with_counts(const BudgetClaim& claim) {
    const auto counts = at_tolerance_.find({claim.variant, claim.tolerance});
    if (counts == at_tolerance_.end()) return;
    const Index step = claim.steps.value_or(certificate_.variants[claim.variant].last_step);
    for (const auto& [recorded, successes] : counts->second) {
      bool fits = true;
      if (recorded == step && (claim.method == BudgetMethod::paper || !claim.steps))
        fits =
            claim.method == BudgetMethod::first_hit ? successes <= claim.reached : successes == claim.reached;
      else if (claim.method != BudgetMethod::first_hit && claim.method != BudgetMethod::paper &&
               recorded >= step)
        fits = successes >= claim.reached;
      else if (claim.method == BudgetMethod::first_hit && recorded <= step)
        fits = successes <= (recorded < step ? claim.reached_before : claim.reached);
      expect(fits, claim.variant, "{} runs reach {} by step {}, but {} are below it at step {}",
             claim.reached, claim.tolerance, step, successes, recorded);
    }
  }

  static bool later(const std::optional<Index>& a, const std::optional<Index>& b) {
    return b && (!a || *a > *b);
  }

  void compare_budgets() {
    std::map<std::pair<std::size_t, double>, std::map<double, const BudgetClaim*>> by_quantile;
    std::map<std::pair<std::size_t, double>, std::map<double, const BudgetClaim*>> by_tolerance;
    for (const BudgetClaim& claim : certificate_.budget) {
      if (claim.variant >= certificate_.variants.size()) continue;
      compare_budget_with_counts(claim);
      by_quantile[{claim.variant, claim.tolerance}][claim.quantile] = &claim;
      by_tolerance[{claim.variant, claim.quantile}][claim.tolerance] = &claim;
    }
    const auto compare = [&](const BudgetClaim& easier, const BudgetClaim& harder) {
      expect(!later(easier.steps, harder.steps) && !later(easier.empirical, harder.empirical), harder.variant,
             "more steps are stated for {} of the runs below {} than for {} below {}", easier.quantile,
             easier.tolerance, harder.quantile, harder.tolerance);
    };
    for (const auto& [place, claims] : by_quantile) {
      const BudgetClaim* before = nullptr;
      for (const auto& [quantile, claim] : claims) {
        if (before != nullptr) compare(*before, *claim);
        before = claim;
      }
    }
    for (const auto& [place, claims] : by_tolerance) {
      const BudgetClaim* before = nullptr;
      for (const auto& [tolerance, claim] : claims) {
        if (before != nullptr) compare(*claim, *before);
        before = claim;
      }
    }
  }

  const Certificate& certificate_;
  std::map<std::pair<std::size_t, Index>, std::map<double, Index>> at_step_;
  std::map<std::pair<std::size_t, double>, std::map<Index, Index>> at_tolerance_;
  std::vector<std::string> findings_;
};

}  // namespace

std::vector<std::string> contradictions(const Certificate& certificate) {
  return Ledger(certificate).compare();
}

}  // namespace surefoot::certify
