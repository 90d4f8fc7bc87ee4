#include "surefoot/certify/kinds/success_rate.hpp"

#include "surefoot/bounds/risk.hpp"
#include "surefoot/certify/implied.hpp"
#include "surefoot/certify/kinds/kind_of.hpp"
#include "surefoot/certify/nearly_equal.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/series.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/work_interrupt.hpp"

#include <map>

namespace surefoot::certify {
namespace {

/// Claims at one variant's columns repeat few distinct failure counts: remember their bounds.
class SuccessBounds {
 public:
  SuccessBounds(Index samples, double delta, bounds::RiskMethod method)
      : samples_(samples), delta_(delta), method_(method) {}
  double operator()(Index failures) {
    const auto [entry, is_new] = known_.try_emplace(failures, 0.0);
    if (is_new) entry->second = bounds::success_lower_bound(failures, samples_, delta_, method_);
    return entry->second;
  }

 private:
  Index samples_;
  double delta_;
  bounds::RiskMethod method_;
  std::map<Index, double> known_;
};

class SuccessRates final : public KindOf<SuccessRates, SuccessClaim> {
 public:
  SuccessRates() : KindOf(&Certificate::success) {}

  [[nodiscard]] std::string_view name() const override { return "success"; }
  [[nodiscard]] std::string_view part() const override { return "success_rate"; }
  [[nodiscard]] std::string_view singular() const override { return "success rate"; }
  [[nodiscard]] std::string_view plural() const override { return "success rates"; }
  [[nodiscard]] bool by_default() const override { return true; }
  [[nodiscard]] bool can_hold_anytime() const override { return true; }
  [[nodiscard]] bool always_listed() const override { return true; }
  [[nodiscard]] int place() const override { return 20; }

  template <class Visit, class Claim>
  static void each_field(Visit& visit, Claim& claim) {
    visit("variant", claim.variant);
    visit("step", claim.step);
    visit("tolerance", claim.tolerance);
    visit("method", claim.method);
    visit("samples", claim.samples);
    visit("failures", claim.failures);
    visit("delta", claim.delta);
    visit("empirical", claim.empirical);
    visit("lower_bound", claim.lower_bound);
  }
  static auto key(const SuccessClaim& claim) {
    return std::make_tuple(claim.variant, claim.step, claim.tolerance);
  }

  using ClaimKind::paid_claims;
  [[nodiscard]] Index paid_claims(const Options& options, const runs::TallySpec& spec) const override {
    return static_cast<Index>(spec.claim_columns.size() * options.tolerances.size());
  }

  void make(const Options& options, std::size_t variant, const runs::Tally& tally, double delta,
            Certificate& certificate) const override {
    SuccessBounds lower_bound(tally.samples(), delta, options.risk_method);
    make_all(options, variant, tally, delta, options.risk_method, lower_bound, certificate);
  }

  [[nodiscard]] Index losses_of_one(const LossShape&) const override { return 1; }
  [[nodiscard]] Index losses_of_all(const LossShape& shape) const override {
    return checked_product("losses", shape.steps, shape.tolerances);
  }
  void make_learned(const Options& options, std::size_t variant, const runs::Tally& tally, LearnedRisk& risk,
                    double delta, Certificate& certificate) const override {
    const auto lower_bound = [&](Index failures) { return learned_success(risk(failures)); };
    make_all(options, variant, tally, delta, bounds::RiskMethod::pac_bayes, lower_bound, certificate);
  }

  [[nodiscard]] Index declared(const Certificate& certificate, Index at_steps) const override {
    return at_steps * static_cast<Index>(certificate.tolerances.size());
  }

  [[nodiscard]] std::vector<CountBelow> counts_below(const Certificate& certificate) const override {
    std::vector<CountBelow> counts;
    for (const SuccessClaim& claim : claims(certificate))
      counts.push_back({claim.variant, claim.step, claim.tolerance, claim.samples - claim.failures});
    return counts;
  }

  void check_one(const SuccessClaim& claim, ClaimChecker& checker) const {
    const Certificate& certificate = checker.certificate();
    if (checker.pac_bayes()) checker.check_union(claim.variant, claim.delta, 1);
    checker.expect((claim.method == bounds::RiskMethod::pac_bayes) == checker.pac_bayes(),
                   "its method does not fit the variant's guarantee");
    checker.expect(claim.method == claims(certificate).front().method,
                   "its method is not that of the other claims");
    checker.expect(claim.method == certificate.grid_method, "its method is not the declared one");
    checker.check_step(claim.variant, claim.step);
    const Variant& variant = certificate.variants[claim.variant];
    checker.expect(claim.step != variant.last_step || claim.failures >= variant.non_finite_runs,
                   "fewer runs have failed in the end than have diverged");
    checker.check_tolerance(claim.tolerance);
    const double empirical = share_of(claim.samples - claim.failures, claim.samples);
    checker.expect(nearly_equal(empirical, claim.empirical),
                   fmt::format("empirical success rate is {}, not {}", empirical, claim.empirical));
    const double bound =
        checker.success_bound(claim.variant, claim.failures, claim.samples, claim.delta, claim.method);
    checker.expect(nearly_equal(bound, claim.lower_bound),
                   fmt::format("{} failures in {} give at least {}, not {}", claim.failures, claim.samples,
                               bound, claim.lower_bound));
  }

  static std::string difference(const SuccessClaim& data, const SuccessClaim& claim) {
    const bool same_claim = data.step == claim.step && data.tolerance == claim.tolerance;
    if (same_claim && data.failures == claim.failures) return "";
    return fmt::format("{} failures at step {} and tolerance {}, the certificate says {}", data.failures,
                       data.step, data.tolerance, claim.failures);
  }

  [[nodiscard]] bool says_nothing_somewhere(const Certificate& certificate,
                                            const WorstCaseBounds& worst) const override {
    return std::ranges::any_of(claims(certificate),
                               [&](const SuccessClaim& claim) { return !(worst.better(claim) > 0); });
  }

  [[nodiscard]] std::vector<std::string> clauses(const Certificate& certificate, std::size_t variant,
                                                 const WorstCaseBounds& worst, const Voice& voice,
                                                 bool joined) const override {
    std::vector<std::string> result;
    if (certificate.steps.empty()) return result;
    const Quoted quoted(certificate);
    std::vector<const SuccessClaim*> rates =
        rates_to_quote(certificate, variant, std::ranges::max(certificate.steps), quoted);
    std::erase_if(rates,
                  [&](const SuccessClaim* claim) { return worst.better(*claim) != claim->lower_bound; });
    if (rates.empty()) return result;
    if (joined) return {clause_of(certificate, rates, voice, quoted)};
    for (const SuccessClaim* claim : rates) result.push_back(clause_of(certificate, {claim}, voice, quoted));
    return result;
  }

  [[nodiscard]] SectionWords section(const Certificate& certificate) const override {
    if (certificate.scalar)
      return {
          "Success rates",
          "Share of problems that do not exceed the tolerance",
          "Share of problems that do not exceed the tolerance: observed in the samples, and at least this among new "
          "problems (certified, rounded down).",
          {}};
    return {
        "Success rates",
        fmt::format("Share of {} below the tolerance", named_things(certificate)),
        fmt::format("Share of {} below the tolerance: observed in the samples, and at least this among new "
                    "{} (certified, rounded down).",
                    named_things(certificate), things(certificate)),
        {note_on_groups(certificate)}};
  }

  [[nodiscard]] TextTable table(const Certificate& certificate, std::size_t variant,
                                const std::vector<Index>& steps) const override {
    const auto label = [](const Certificate& of, const Series& series) {
      return fmt::format("{} {}", below_or_at_most(of), with_unit(of, exact_label(series.parameter)));
    };
    if (certificate.scalar)
      return scalar_table(certificate, success_series(certificate),
                          {label, observed_percent, lower_bound_percent});
    return step_table(certificate, success_series(certificate), variant, steps,
                      {label, observed_percent, lower_bound_percent});
  }

  [[nodiscard]] std::vector<CurveRow> curve(const Certificate& certificate,
                                            const WorstCaseBounds& worst) const override {
    std::vector<CurveRow> rows;
    for (const SuccessClaim& claim : claims(certificate))
      rows.push_back({claim.variant, claim.step, claim.tolerance, claim.empirical, claim.lower_bound,
                      bounds::name(claim.method), claim.samples, claim.failures, claim.delta,
                      worst.better(claim)});
    return rows;
  }

 private:
  /// The share that a sentence quotes.
  class Quoted {
   public:
    explicit Quoted(const Certificate& certificate) {
      if (certificate.wording > 2) implied_.emplace(certificate);
    }
    double operator()(const SuccessClaim& claim) const {
      return implied_ ? implied_->at(claim) : claim.lower_bound;
    }

   private:
    std::optional<ImpliedShares> implied_;
  };

  static double share_of(Index part, Index all) {
    return static_cast<double>(part) / static_cast<double>(all);
  }

  void make_all(const Options& options, std::size_t variant, const runs::Tally& tally, double delta,
                bounds::RiskMethod method, auto&& lower_bound, Certificate& certificate) const {
    for (std::size_t t = 0; t < options.tolerances.size(); ++t) {
      for (const std::size_t column : tally.spec().claim_columns) {
        WorkInterrupt::check();
        SuccessClaim claim;
        claim.variant = variant;
        claim.step = tally.spec().steps[column];
        claim.tolerance = options.tolerances[t];
        claim.method = method;
        claim.samples = tally.samples();
        claim.failures = tally.failures(column, t);
        claim.delta = delta;
        claim.empirical = share_of(claim.samples - claim.failures, claim.samples);
        claim.lower_bound = lower_bound(claim.failures);
        add(certificate, claim);
      }
    }
  }

  /// Success rates at a step, without those that a stricter tolerance with the same printed bound makes idle.
  [[nodiscard]] std::vector<const SuccessClaim*> rates_to_quote(const Certificate& certificate,
                                                                std::size_t variant, Index step,
                                                                const Quoted& quoted) const {
    const std::vector<double> tolerances = telling_values(certificate.tolerances, quoted_tolerances);
    std::vector<const SuccessClaim*> rates;
    for (const SuccessClaim& claim : claims(certificate)) {
      if (claim.variant == variant && claim.step == step && quoted(claim) >= least_quoted &&
          std::ranges::count(tolerances, claim.tolerance) > 0)
        rates.push_back(&claim);
    }
    const std::vector<const SuccessClaim*> all = rates;
    std::erase_if(rates, [&](const SuccessClaim* claim) {
      return std::ranges::any_of(all, [&](const SuccessClaim* other) {
        return other->tolerance < claim->tolerance &&
               lower_bound_percent(quoted(*other)) == lower_bound_percent(quoted(*claim));
      });
    });
    return rates;
  }

  /// "after 500 iterations, at least 99.3 % of problems are below 1e-2, 98.1 % below 1e-3 and 34.2 % below
  /// 1e-6".
  static std::string clause_of(const Certificate& certificate, const std::vector<const SuccessClaim*>& rates,
                               const Voice& voice, const Quoted& quoted) {
    std::vector<std::string> parts;
    parts.reserve(rates.size());
    for (const SuccessClaim* claim : rates) {
      parts.push_back(fmt::format("{} {}{} {}", lower_bound_percent(quoted(*claim)),
                                  parts.empty() ? voice.problems + ' ' : "", below_or_at_most(certificate),
                                  tolerance_text(certificate, claim->tolerance)));
    }
    if (certificate.scalar) return fmt::format("{}at least {}", voice.subject, listed(parts));
    return fmt::format("{}, {}at least {}", after_steps(certificate, rates.front()->step), voice.subject,
                       listed(parts));
  }
};

}  // namespace

const ClaimKind& success_rates() {
  static const SuccessRates kind;
  return kind;
}

std::vector<Series> success_series(const Certificate& certificate) {
  std::vector<Series> all = series_of(WorstCaseBounds(certificate), certificate.success,
                                      &SuccessClaim::tolerance, &SuccessClaim::lower_bound);
  const ImpliedShares implied(certificate);
  for (Series& series : all) {
    for (Series::Point& point : series.points) {
      SuccessClaim claim;
      claim.variant = series.variant;
      claim.tolerance = series.parameter;
      claim.step = point.step;
      claim.lower_bound = point.certified;
      point.certified = implied.at(claim);
    }
  }
  return all;
}

}  // namespace surefoot::certify
