#include "surefoot/certify/kinds/quantile.hpp"

#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/certify/kinds/kind_of.hpp"
#include "surefoot/certify/nearly_equal.hpp"
#include "surefoot/certify/pac_bayes.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/series.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/work_interrupt.hpp"

#include <map>

namespace surefoot::certify {
namespace {

using bounds::QuantileMethod;

void fill_exact(QuantileClaim& claim, const runs::ValueStore& values, Index rank) {
  claim.rank = rank;
  claim.empirical = values.order_statistic(bounds::empirical_rank(claim.samples, claim.quantile));
  if (claim.rank > 0) claim.upper_bound = values.order_statistic(claim.rank);
  claim.below = values.count_below(claim.upper_bound);
  claim.at_most = values.count_at_most(claim.upper_bound);
}

/// The smallest tolerance of the grid below which the quantile was observed; failures fall along the grid.
double observed_on_grid(const QuantileClaim& claim, const std::vector<double>& grid,
                        const std::vector<Index>& failures) {
  const Index enough = bounds::empirical_rank(claim.samples, claim.quantile);
  const auto found =
      std::ranges::find_if(failures, [&](Index count) { return claim.samples - count >= enough; });
  return found == failures.end() ? infinity : grid[static_cast<std::size_t>(found - failures.begin())];
}

void fill_grid(QuantileClaim& claim, const std::vector<double>& grid, const std::vector<Index>& failures,
               std::optional<std::size_t> found) {
  claim.empirical = observed_on_grid(claim, grid, failures);
  if (found) claim.upper_bound = grid[*found];
  claim.below = claim.samples - failures[found.value_or(grid.size() - 1)];
  claim.at_most = claim.below;
}

class Quantiles final : public KindOf<Quantiles, QuantileClaim> {
 public:
  Quantiles() : KindOf(&Certificate::quantile) {}

  [[nodiscard]] std::string_view name() const override { return "quantile"; }
  [[nodiscard]] std::string_view part() const override { return "quantile"; }
  [[nodiscard]] std::string_view singular() const override { return "quantile"; }
  [[nodiscard]] std::string_view plural() const override { return "quantiles"; }
  [[nodiscard]] bool by_default() const override { return true; }
  [[nodiscard]] bool can_hold_anytime() const override { return true; }
  [[nodiscard]] bool always_listed() const override { return true; }
  [[nodiscard]] std::string_view section_id() const override { return "quantiles"; }
  [[nodiscard]] int place() const override { return 30; }

  template <class Visit, class Claim>
  static void each_field(Visit& visit, Claim& claim) {
    visit("variant", claim.variant);
    visit("step", claim.step);
    visit("quantile", claim.quantile);
    visit("method", claim.method);
    visit("samples", claim.samples);
    visit("rank", claim.rank);
    visit("below", claim.below, by_counting_again);
    visit("at_most", claim.at_most, by_counting_again);
    visit("delta", claim.delta);
    visit.or_infinite("empirical", claim.empirical, by_counting_again);
    visit.or_infinite("upper_bound", claim.upper_bound, by_counting_again);
  }
  static auto key(const QuantileClaim& claim) {
    return std::make_tuple(claim.variant, claim.step, claim.quantile);
  }

  void prepare(const Options& options, runs::TallySpec& spec) const override {
    spec.grid = options.grid;
    if (options.quantile_method != QuantileMethod::grid) spec.keep_values = true;
  }

  [[nodiscard]] Index paid_claims(const Options& options, const runs::TallySpec& spec) const override {
    const std::size_t per_step =
        options.quantile_method == QuantileMethod::grid ? 1 : options.quantiles.size();
    return static_cast<Index>(spec.claim_columns.size() * per_step);
  }

  [[nodiscard]] bool supports(const Options& options, double share, Index runs, double delta) const override {
    return options.quantile_method == QuantileMethod::grid ||
           bounds::order_statistic_rank(runs, share, delta) > 0;
  }

  void make(const Options& options, std::size_t variant, const runs::Tally& tally, double delta,
            Certificate& certificate) const override {
    const bool exact = options.quantile_method != QuantileMethod::grid;
    std::map<double, Index> ranks;
    const auto fill = [&](QuantileClaim& claim, std::size_t i) {
      if (exact) {
        const auto [rank, is_new] = ranks.try_emplace(claim.quantile, 0);
        if (is_new)
          rank->second = bounds::rank_of_method(claim.samples, claim.quantile, delta, options.risk_method);
        fill_exact(claim, tally.values(i), rank->second);
        return;
      }
      const std::vector<Index> failures = grid_failures(tally, i);
      fill_grid(claim, tally.spec().grid, failures,
                bounds::grid_quantile(failures, claim.samples, claim.quantile, delta, options.risk_method));
    };
    const bool anytime = exact && options.anytime();
    make_all(options, variant, tally, delta, anytime ? QuantileMethod::anytime : options.quantile_method,
             fill, certificate);
  }

  [[nodiscard]] Index losses_of_one(const LossShape& shape) const override { return shape.grid; }
  [[nodiscard]] Index losses_of_all(const LossShape& shape) const override {
    return checked_product("losses", shape.steps, shape.grid);
  }
  void make_learned(const Options& options, std::size_t variant, const runs::Tally& tally, LearnedRisk& risk,
                    double delta, Certificate& certificate) const override {
    const auto fill = [&](QuantileClaim& claim, std::size_t i) {
      const std::vector<Index> failures = grid_failures(tally, i);
      std::optional<std::size_t> found;
      for (std::size_t g = 0; g < failures.size() && !found; ++g)
        if (bounds::covers(risk(failures[g]), claim.quantile)) found = g;
      fill_grid(claim, tally.spec().grid, failures, found);
    };
    make_all(options, variant, tally, delta, QuantileMethod::grid, fill, certificate);
  }

  [[nodiscard]] std::string purpose(const Certificate& certificate) const override {
    return shares_grids(certificate) ? "quantiles (one grid per step)" : "quantiles";
  }
  [[nodiscard]] Index paid_claims(const Certificate& certificate) const override {
    if (!shares_grids(certificate)) return size(certificate);
    std::set<std::pair<std::size_t, Index>> places;
    for (const QuantileClaim& claim : claims(certificate)) places.insert({claim.variant, claim.step});
    return static_cast<Index>(places.size());
  }
  [[nodiscard]] Index declared(const Certificate& certificate, Index at_steps) const override {
    return at_steps * static_cast<Index>(certificate.quantiles.size());
  }

  void check_one(const QuantileClaim& claim, ClaimChecker& checker) const {
    checker.check_step(claim.variant, claim.step);
    checker.check_quantile(claim.quantile);
    checker.expect(0 <= claim.below && claim.below <= claim.at_most && claim.at_most <= claim.samples,
                   fmt::format("counts {} below and {} at most do not fit {} samples", claim.below,
                               claim.at_most, claim.samples));
    checker.expect((claim.method == QuantileMethod::grid) == !checker.certificate().grid.empty(),
                   "the quantile method does not fit the declared grid");
    checker.expect((claim.method == QuantileMethod::anytime) ==
                       (holds_anytime(checker.certificate()) && checker.certificate().grid.empty()),
                   "the quantile method does not fit the declared one");
    if (claim.method != QuantileMethod::grid) {
      check_exact(claim, checker);
    } else {
      check_grid(claim, checker);
    }
  }

  static std::string difference(const QuantileClaim& data, const QuantileClaim& claim) {
    const bool same_claim = data.step == claim.step && data.quantile == claim.quantile;
    if (same_claim && data.below == claim.below && data.at_most == claim.at_most &&
        data.upper_bound == claim.upper_bound && nearly_equal(data.empirical, claim.empirical)) {
      return "";
    }
    return fmt::format("quantile {} at step {} is bounded by {}, the certificate says {}", data.quantile,
                       data.step, data.upper_bound, claim.upper_bound);
  }

  [[nodiscard]] bool says_nothing_somewhere(const Certificate& certificate,
                                            const WorstCaseBounds& worst) const override {
    return std::ranges::any_of(claims(certificate),
                               [&](const QuantileClaim& claim) { return !(worst.better(claim) < infinity); });
  }

  [[nodiscard]] std::vector<std::string> clauses(const Certificate& certificate, std::size_t variant,
                                                 const WorstCaseBounds& worst, const Voice& voice,
                                                 bool) const override {
    if (certificate.steps.empty()) return {};
    if (certificate.scalar) return scalar_clauses(certificate, variant, voice);
    const QuantileClaim* claim = best_at(certificate, variant, std::ranges::max(certificate.steps));
    if (claim == nullptr || worst.better(*claim) != claim->upper_bound) return {};
    return {clause_of(certificate, *claim, voice)};
  }

  /// The bound of the largest share, then the smallest one, at the last step, of any variant.
  [[nodiscard]] std::optional<QuotedClause> best_clause(const Certificate& certificate,
                                                        const WorstCaseBounds&,
                                                        const Voice& voice) const override {
    const QuantileClaim* best = nullptr;
    if (certificate.steps.empty()) return std::nullopt;
    for (std::size_t variant = 0; variant < certificate.variants.size(); ++variant) {
      const QuantileClaim* own = best_at(certificate, variant, std::ranges::max(certificate.steps));
      if (own == nullptr) continue;
      if (best == nullptr || own->quantile > best->quantile ||
          (own->quantile == best->quantile && own->upper_bound < best->upper_bound))
        best = own;
    }
    if (best == nullptr) return std::nullopt;
    return QuotedClause{best->variant, clause_of(certificate, *best, voice)};
  }

  [[nodiscard]] std::vector<std::string> meaning(const Certificate& certificate) const override {
    if (std::ranges::none_of(certificate.variants, &Variant::values_rounded_up)) return {};
    return {
        "Values behind the quantiles were rounded up by at most 0.1 % to bound memory; their bounds are "
        "larger by as much and remain valid."};
  }

  [[nodiscard]] SectionWords section(const Certificate& certificate) const override {
    return {"Quantiles",
            fmt::format("Quantiles of the {}", metric_with_unit(certificate)),
            fmt::format("Value of the {} that the given share of {} does not exceed: observed in the "
                        "samples, and at most this among new {} (certified, rounded up).",
                        metric_with_unit(certificate), named_things(certificate), things(certificate)),
            {note_on_groups(certificate)}};
  }

  [[nodiscard]] TextTable table(const Certificate& certificate, std::size_t variant,
                                const std::vector<Index>& steps) const override {
    const auto label = [](const Certificate& of, const Series& series) {
      return fmt::format("{} of {}", percent_label(series.parameter), things(of));
    };
    if (certificate.scalar)
      return scalar_table(certificate, quantile_series(certificate),
                          {label, observed_value, upper_bound_value});
    TextTable table = step_table(certificate, quantile_series(certificate), variant, steps,
                                 {label, observed_value, upper_bound_value});
    const std::optional<Series> worst = worst_case_series(certificate, variant);
    if (!worst) return table;
    const bool used = WorstCaseBounds(certificate).used();
    table.columns.push_back(
        {used ? "certified" : "not certified", Align::right, worst_case_label(certificate)});
    for (std::size_t row = 0; row < table.rows.size(); ++row) {
      const Series::Point* point = worst->at(steps[row]);
      table.rows[row].push_back(point == nullptr
                                    ? std::string(nothing)
                                    : upper_bound_value(std::min(point->observed, point->certified)));
    }
    return table;
  }

  [[nodiscard]] std::vector<CurveRow> curve(const Certificate& certificate,
                                            const WorstCaseBounds& worst) const override {
    std::vector<CurveRow> rows;
    for (const QuantileClaim& claim : claims(certificate))
      rows.push_back({claim.variant, claim.step, claim.quantile, claim.empirical, claim.upper_bound,
                      bounds::name(claim.method), claim.samples, claim.rank, claim.delta,
                      worst.better(claim)});
    return rows;
  }

 private:
  static bool shares_grids(const Certificate& certificate) {
    return !certificate.grid.empty() && !is_pac_bayes(certificate);
  }

  static std::vector<Index> grid_failures(const runs::Tally& tally, std::size_t claim_column) {
    std::vector<Index> failures(tally.spec().grid.size());
    for (std::size_t i = 0; i < failures.size(); ++i) failures[i] = tally.grid_failures(claim_column, i);
    return failures;
  }

  /// fill(claim, i): the numbers of a claim at the i-th of the claim columns.
  void make_all(const Options& options, std::size_t variant, const runs::Tally& tally, double delta,
                QuantileMethod method, const auto& fill, Certificate& certificate) const {
    for (const double quantile : options.quantiles) {
      for (std::size_t i = 0; i < tally.spec().claim_columns.size(); ++i) {
        WorkInterrupt::check();
        QuantileClaim claim;
        claim.variant = variant;
        claim.step = tally.spec().steps[tally.spec().claim_columns[i]];
        claim.quantile = quantile;
        claim.method = method;
        claim.samples = tally.samples();
        claim.delta = delta;
        fill(claim, i);
        add(certificate, claim);
      }
    }
  }

  static void check_exact(const QuantileClaim& claim, ClaimChecker& checker) {
    const Index rank = checker.rank_of(claim.samples, claim.quantile, claim.delta);
    checker.expect(rank == claim.rank,
                   fmt::format("the order statistic must be {}, not {}", rank, claim.rank));
    if (rank == 0) {
      checker.expect(claim.upper_bound == infinity, "a bound is stated where none exists");
      return;
    }
    checker.expect(claim.below < rank && rank <= claim.at_most,
                   fmt::format("the stated value is not the {}-th smallest: {} are below, {} at most", rank,
                               claim.below, claim.at_most));
  }

  static void check_grid(const QuantileClaim& claim, ClaimChecker& checker) {
    const Certificate& certificate = checker.certificate();
    checker.expect(claim.rank == 0 && claim.below == claim.at_most,
                   "a quantile of a grid has no order statistic");
    if (checker.pac_bayes())
      checker.check_union(claim.variant, claim.delta, static_cast<Index>(certificate.grid.size()));
    if (claim.upper_bound == infinity) return;
    checker.expect(std::ranges::count(certificate.grid, claim.upper_bound) > 0,
                   fmt::format("{} is not a tolerance of the grid", claim.upper_bound));
    const double delta_each = bounds::grid_share(claim.delta, certificate.grid.size());
    const double risk =
        checker.risk_of(claim.variant, claim.samples - claim.below, claim.samples, delta_each);
    checker.expect(bounds::covers(risk, claim.quantile),
                   fmt::format("{} of {} below give a risk of {}, not at most 1 - {}", claim.below,
                               claim.samples, risk, claim.quantile));
  }

  /// The bound of the largest quantile at a step that says something.
  [[nodiscard]] const QuantileClaim* best_at(const Certificate& certificate, std::size_t variant,
                                             Index step) const {
    const QuantileClaim* best = nullptr;
    for (const QuantileClaim& claim : claims(certificate)) {
      if (claim.variant != variant || claim.step != step || !(claim.upper_bound < infinity)) continue;
      if (best == nullptr || claim.quantile >= best->quantile) best = &claim;
    }
    return best;
  }

  /// Every share that something is known of.
  [[nodiscard]] std::vector<std::string> scalar_clauses(const Certificate& certificate, std::size_t variant,
                                                        const Voice& voice) const {
    std::vector<std::string> result;
    for (const QuantileClaim& claim : claims(certificate))
      if (claim.variant == variant && claim.upper_bound < infinity)
        result.push_back(clause_of(certificate, claim, voice));
    return result;
  }

  static std::string clause_of(const Certificate& certificate, const QuantileClaim& claim,
                               const Voice& voice) {
    if (certificate.scalar)
      return scalar_clause(certificate, voice, percent_label(claim.quantile),
                           upper_bound_value(claim.upper_bound));
    return fmt::format("{}, {}at least {} {} at or below {}", after_steps(certificate, claim.step),
                       voice.subject, percent_label(claim.quantile), voice.problems,
                       with_unit(certificate, upper_bound_value(claim.upper_bound)));
  }
};

}  // namespace

const ClaimKind& quantiles() {
  static const Quantiles kind;
  return kind;
}

std::vector<Series> quantile_series(const Certificate& certificate) {
  return series_of(WorstCaseBounds(certificate), certificate.quantile, &QuantileClaim::quantile,
                   &QuantileClaim::upper_bound);
}

std::optional<Series> worst_case_series(const Certificate& certificate, std::size_t variant) {
  const WorstCaseBounds worst(certificate);
  if (!worst.present() || certificate.quantile.empty()) return std::nullopt;
  Series series{variant, every_problem, bounds::name(certificate.quantile.front().method), {}, true};
  for (const Index step : certificate.steps) {
    const double bound = worst.at(step);
    series.points.push_back({step, worst.used() ? infinity : bound, worst.used() ? bound : infinity,
                             worst.used() && bound < infinity});
  }
  return series;
}

}  // namespace surefoot::certify
