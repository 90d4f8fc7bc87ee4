#include "surefoot/certify/kinds/iteration_budget.hpp"

#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/certify/kinds/kind_of.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/series.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/work_interrupt.hpp"

#include <map>

namespace surefoot::certify {
namespace {

using bounds::BudgetMethod;

bool is_covered(const BudgetClaim& claim) {
  return claim.method != BudgetMethod::paper;
}

bool has_budgets(const Certificate& certificate, BudgetMethod method) {
  return std::ranges::any_of(certificate.budget, [method](const auto& c) { return c.method == method; });
}

/// What a budget by each method says, to the letter of a wording.
struct BudgetTexts {
  const char* settling;
  const char* every_step;
  const char* first_hit;
  const char* paper;
};

constexpr BudgetTexts first_wording{
    .settling =
        "An iteration budget says that the metric is below the tolerance at every recorded step from then "
        "on, up to the last.",
    .every_step =
        "An iteration budget says that at every recorded step from then on, up to the last, at least that "
        "share of problems is below the tolerance; not always the same ones.",
    .first_hit =
        "An iteration budget says that the metric has been below the tolerance at least once by that step; "
        "it may have risen again.",
    .paper =
        "Iteration budgets by method 'paper' choose the step after seeing the bounds. The stated confidence "
        "does not cover that choice: they are given for comparison only."};

constexpr BudgetTexts second_wording = [] {
  BudgetTexts texts = first_wording;
  texts.settling =
      "An iteration budget says that the metric is below the tolerance at every recorded step from then on, "
      "up to the last recorded one; it says nothing about later steps.";
  texts.every_step =
      "An iteration budget says that at every recorded step from then on, up to the last recorded one, at "
      "least that share of problems is below the tolerance; not always the same ones.";
  return texts;
}();

const char* text_of(BudgetMethod method, int wording) {
  const BudgetTexts& texts = wording == 1 ? first_wording : second_wording;
  switch (method) {
    case BudgetMethod::settling:
      return texts.settling;
    case BudgetMethod::every_step:
      return texts.every_step;
    case BudgetMethod::first_hit:
      return texts.first_hit;
    case BudgetMethod::paper:
      return texts.paper;
  }
  return "";
}

/// Runs that have reached the tolerance in the sense of the method, by column.
std::vector<Index> reached_counts(const runs::Tally& tally, std::size_t tolerance, BudgetMethod method) {
  if (method == BudgetMethod::settling) return tally.settled(tolerance);
  if (method == BudgetMethod::first_hit) return tally.hit(tolerance);
  std::vector<Index> successes(tally.spec().steps.size());
  for (std::size_t column = 0; column < successes.size(); ++column) {
    successes[column] = tally.samples() - tally.failures(column, tolerance);
  }
  if (method == BudgetMethod::every_step) return bounds::fewest_from_here_on(std::move(successes));
  return successes;
}

bounds::IterationBudget find_budget(const std::vector<Index>& reached, const BudgetClaim& claim,
                                    bounds::RiskMethod method) {
  if (claim.method != BudgetMethod::paper) {
    return bounds::time_quantile_budget(reached, claim.samples, claim.quantile, claim.delta, method);
  }
  std::vector<Index> failures(reached);
  for (Index& count : failures) count = claim.samples - count;
  return bounds::paper_budget(failures, claim.samples, claim.quantile, claim.delta, method);
}

/// The only place that says how long a claim lasts: up to the last recorded iteration, and nothing where none
/// was recorded after it.
std::string lasting(const Certificate& certificate, const BudgetClaim& claim, const Voice& voice) {
  const Variant& variant = certificate.variants.at(claim.variant);
  if (!claim.steps || *claim.steps >= variant.last_step) return "";
  const std::string horizon = horizon_words(certificate, variant.last_step);
  if (claim.method == BudgetMethod::settling)
    return fmt::format(" and {} {}", voice.stay, staying(has_gaps(variant), horizon));
  if (claim.method == BudgetMethod::every_step) return lasting_every_step(certificate, horizon);
  return "";
}

std::string clause_of(const Certificate& certificate, const BudgetClaim& claim, const Voice& voice) {
  const std::string share = percent_label(claim.quantile);
  const std::string tolerance = tolerance_text(certificate, claim.tolerance);
  if (claim.method == BudgetMethod::first_hit) {
    return fmt::format("{}at least {} {} below {} at least once {}", voice.subject, share, voice.have_been,
                       tolerance, after_steps(certificate, *claim.steps));
  }
  return fmt::format("{}at least {} {} below {} {}{}", voice.subject, share, voice.problems, tolerance,
                     after_steps(certificate, *claim.steps), lasting(certificate, claim, voice));
}

/// The covered budget of the largest quantile that says something, and more than the worst case does.
const BudgetClaim* best_budget(const Certificate& certificate, const WorstCaseBounds& worst,
                               std::size_t variant, double tolerance) {
  const BudgetClaim* best = nullptr;
  for (const BudgetClaim& claim : certificate.budget) {
    const bool fits = claim.variant == variant && claim.tolerance == tolerance && is_covered(claim) &&
                      worst.better(claim) == claim.steps;
    if (fits && claim.steps && (best == nullptr || claim.quantile > best->quantile)) best = &claim;
  }
  return best;
}

/// The covered budget of the largest share, then of the fewest steps, of any variant.
const BudgetClaim* best_budget(const Certificate& certificate, const WorstCaseBounds& worst,
                               double tolerance) {
  const BudgetClaim* best = nullptr;
  for (std::size_t variant = 0; variant < certificate.variants.size(); ++variant) {
    const BudgetClaim* own = best_budget(certificate, worst, variant, tolerance);
    if (own == nullptr) continue;
    if (best == nullptr || own->quantile > best->quantile ||
        (own->quantile == best->quantile && *own->steps < *best->steps))
      best = own;
  }
  return best;
}

/// Method paper: marked, as it stands under "certified" without being so.
std::string certified_iterations(const BudgetClaim& claim, const WorstCaseBounds& worst) {
  const std::optional<Index> better = worst.better(claim);
  if (better != claim.steps) return marked(count_label(*better), true);
  if (!claim.steps) return std::string(nothing);
  return count_label(*claim.steps) + (is_covered(claim) ? "" : "*");
}

std::string observed_iterations(const std::optional<Index>& steps) {
  return steps ? count_label(*steps) : "not reached";
}

std::string method_label(BudgetMethod method) {
  return std::string(bounds::name(method)) + (method == BudgetMethod::paper ? "*" : "");
}

/// Several methods, or one that needs its mark.
bool tells_methods(const Certificate& certificate) {
  return std::ranges::any_of(certificate.budget, [&](const BudgetClaim& claim) {
    return !is_covered(claim) || claim.method != certificate.budget.front().method;
  });
}

using BudgetRow = std::tuple<std::size_t, double, BudgetMethod>;

/// Claims by the place of their tolerance, quantile and method, then by variant.
std::map<BudgetRow, std::map<std::size_t, const BudgetClaim*>> budget_rows(const Certificate& certificate) {
  std::map<BudgetRow, std::map<std::size_t, const BudgetClaim*>> rows;
  std::map<double, std::size_t> places;
  for (const BudgetClaim& claim : certificate.budget) {
    if (std::isnan(claim.tolerance) || std::isnan(claim.quantile)) continue;
    const std::size_t place = places.try_emplace(claim.tolerance, places.size()).first->second;
    rows[{place, claim.quantile, claim.method}][claim.variant] = &claim;
  }
  return rows;
}

class IterationBudgets final : public KindOf<IterationBudgets, BudgetClaim> {
 public:
  IterationBudgets() : KindOf(&Certificate::budget) {}

  [[nodiscard]] std::string_view name() const override { return "budget"; }
  [[nodiscard]] std::string_view part() const override { return "iteration_budget"; }
  [[nodiscard]] std::string_view singular() const override { return "iteration budget"; }
  [[nodiscard]] std::string_view plural() const override { return "iteration budgets"; }
  [[nodiscard]] bool by_default() const override { return true; }
  [[nodiscard]] bool can_hold_anytime() const override { return true; }
  [[nodiscard]] bool always_listed() const override { return true; }
  [[nodiscard]] std::string_view section_id() const override { return "iterations"; }
  [[nodiscard]] int place() const override { return 10; }

  template <class Visit, class Claim>
  static void each_field(Visit& visit, Claim& claim) {
    visit("variant", claim.variant);
    visit("tolerance", claim.tolerance);
    visit("quantile", claim.quantile);
    visit("method", claim.method);
    visit.derived("covered_by_confidence", is_covered(claim));
    visit("samples", claim.samples);
    visit("rank", claim.rank);
    visit("reached", claim.reached, by_counting_again);
    visit("reached_before", claim.reached_before, by_counting_again);
    visit("delta", claim.delta);
    visit("empirical", claim.empirical, by_counting_again);
    visit("steps", claim.steps, by_counting_again);
  }
  static auto key(const BudgetClaim& claim) {
    return std::make_tuple(claim.variant, claim.tolerance, claim.quantile);
  }

  [[nodiscard]] bool supports(const Options& options, double share, Index runs, double delta) const override {
    if (options.budget_method == BudgetMethod::paper)
      return bounds::covers(bounds::risk_upper_bound(0, runs, delta, options.risk_method), share);
    return bounds::order_statistic_rank(runs, share, delta) > 0;
  }

  using ClaimKind::paid_claims;
  [[nodiscard]] Index paid_claims(const Options& options, const runs::TallySpec&) const override {
    return static_cast<Index>(options.tolerances.size() * options.quantiles.size());
  }

  void make(const Options& options, std::size_t variant, const runs::Tally& tally, double delta,
            Certificate& certificate) const override {
    const auto find = [&](const std::vector<Index>& reached, BudgetClaim& claim) {
      const bounds::IterationBudget budget = find_budget(reached, claim, options.risk_method);
      claim.rank = budget.rank;
      return budget.column;
    };
    make_all(options, variant, tally, delta, options.budget_method, find, certificate);
  }

  [[nodiscard]] Index losses_of_one(const LossShape& shape) const override { return shape.columns; }
  [[nodiscard]] Index losses_of_all(const LossShape& shape) const override {
    return checked_product("losses", shape.tolerances, shape.columns);
  }
  void make_learned(const Options& options, std::size_t variant, const runs::Tally& tally, LearnedRisk& risk,
                    double delta, Certificate& certificate) const override {
    const auto find = [&](const std::vector<Index>& settled,
                          const BudgetClaim& claim) -> std::optional<std::size_t> {
      const auto found = std::ranges::find_if(
          settled, [&](Index count) { return bounds::covers(risk(claim.samples - count), claim.quantile); });
      if (found == settled.end()) return std::nullopt;
      return static_cast<std::size_t>(found - settled.begin());
    };
    make_all(options, variant, tally, delta, BudgetMethod::settling, find, certificate);
  }

  [[nodiscard]] Index declared(const Certificate& certificate, Index) const override {
    return static_cast<Index>(certificate.variants.size() * certificate.tolerances.size() *
                              certificate.quantiles.size());
  }
  void restore(const Certificate& certificate, Options& options) const override {
    if (!claims(certificate).empty()) options.budget_method = claims(certificate).front().method;
  }

  void check_one(const BudgetClaim& claim, ClaimChecker& checker) const {
    const Certificate& certificate = checker.certificate();
    checker.expect(claim.method == claims(certificate).front().method,
                   "its method is not that of the other claims");
    checker.expect(!claim.steps || records(certificate.variants[claim.variant], *claim.steps),
                   fmt::format("step {} was not recorded", claim.steps.value_or(0)));
    checker.expect(claim.method != BudgetMethod::paper || !holds_anytime(certificate),
                   "method paper is for a number of runs that was fixed beforehand");
    checker.check_tolerance(claim.tolerance);
    checker.check_quantile(claim.quantile);
    checker.expect(0 <= claim.reached && claim.reached <= claim.samples && claim.reached_before >= 0 &&
                       claim.reached_before <= claim.samples,
                   fmt::format("counts {} and {} do not fit {} samples", claim.reached, claim.reached_before,
                               claim.samples));
    if (claim.method == BudgetMethod::paper) {
      check_paper(claim, checker);
    } else if (checker.pac_bayes()) {
      check_learned(claim, checker);
    } else {
      check_rank(claim, checker);
    }
  }

  static std::string difference(const BudgetClaim& data, const BudgetClaim& claim) {
    const bool same_claim = data.tolerance == claim.tolerance && data.quantile == claim.quantile;
    if (same_claim && data.steps == claim.steps && data.reached == claim.reached &&
        data.reached_before == claim.reached_before && data.empirical == claim.empirical) {
      return "";
    }
    return fmt::format("tolerance {} and quantile {} come out differently", data.tolerance, data.quantile);
  }

  [[nodiscard]] bool says_nothing_somewhere(const Certificate& certificate,
                                            const WorstCaseBounds& worst) const override {
    return std::ranges::any_of(claims(certificate),
                               [&](const BudgetClaim& claim) { return !worst.better(claim); });
  }

  [[nodiscard]] std::vector<std::string> clauses(const Certificate& certificate, std::size_t variant,
                                                 const WorstCaseBounds& worst, const Voice& voice,
                                                 bool) const override {
    std::vector<std::string> result;
    for (const double tolerance : telling_values(certificate.tolerances, quoted_tolerances)) {
      const BudgetClaim* budget = best_budget(certificate, worst, variant, tolerance);
      if (budget != nullptr) result.push_back(clause_of(certificate, *budget, voice));
    }
    return result;
  }

  /// At a tolerance in the middle of those that have one.
  [[nodiscard]] std::optional<QuotedClause> best_clause(const Certificate& certificate,
                                                        const WorstCaseBounds& worst,
                                                        const Voice& voice) const override {
    std::vector<const BudgetClaim*> budgets;
    for (const double tolerance : certificate.tolerances) {
      if (const BudgetClaim* claim = best_budget(certificate, worst, tolerance)) budgets.push_back(claim);
    }
    if (budgets.empty()) return std::nullopt;
    const BudgetClaim& claim = *budgets[budgets.size() / 2];
    return QuotedClause{claim.variant, clause_of(certificate, claim, voice)};
  }

  [[nodiscard]] std::vector<std::string> meaning(const Certificate& certificate) const override {
    std::vector<std::string> lines;
    const std::string settling = note_on_settling(certificate);
    if (!settling.empty()) lines.push_back(settling);
    if (has_budgets(certificate, BudgetMethod::every_step) && certificate.loop) {
      lines.push_back(fmt::format(
          "The smallest limit: with it, and with each larger one that was run, {}, that share of {} is "
          "below the tolerance, not always the same ones. Nothing is said of limits that were not run.",
          horizon_words(certificate), things(certificate)));
    } else if (has_budgets(certificate, BudgetMethod::every_step)) {
      lines.push_back(
          fmt::format("Iterations needed by method every-step: at each recorded iteration from then on, {}, "
                      "that share of {} is below the tolerance, not always the same ones.",
                      horizon_words(certificate), things(certificate)));
    }
    if (has_budgets(certificate, BudgetMethod::first_hit)) {
      lines.emplace_back(
          "Iterations needed by method first-hit: below the tolerance at least once by then. A run may "
          "rise again afterwards.");
    }
    return lines;
  }
  [[nodiscard]] std::vector<std::string> limits(const Certificate& certificate) const override {
    const std::string note = note_on_paper_budgets(certificate);
    return note.empty() ? std::vector<std::string>{} : std::vector<std::string>{note};
  }
  [[nodiscard]] std::vector<std::string> assumptions(const Certificate& certificate,
                                                     int wording) const override {
    if (certificate.loop)
      return {
          "Limits were tested from the largest down to the first that fails, each with the whole probability of its "
          "claim (a fixed sequence of tests, which pays for the choice among them): that share of rollouts is below "
          "the tolerance with the smallest limit and with each larger one that was run; not always the same ones."};
    return {text_of(claims(certificate).front().method, wording)};
  }

  [[nodiscard]] SectionWords section(const Certificate& certificate) const override {
    const std::string meaning = budget_meaning(certificate);
    if (certificate.loop)
      return {
          "Smallest limit",
          fmt::format("Smallest limit with which the share of {} is {}", named_things(certificate), meaning),
          fmt::format(
              "Iterations of a tick, at most, with which the given share of {} is {}: observed in the "
              "samples, and certified for new {}.",
              named_things(certificate), meaning, things(certificate)),
          {},
          true};
    return {"Iterations needed",
            fmt::format("Iterations needed until the share of {} is {}", named_things(certificate), meaning),
            fmt::format("Iterations until the given share of {} is {}: observed in the samples, and "
                        "certified for new {}.",
                        named_things(certificate), meaning, things(certificate)),
            {note_on_settling(certificate), note_on_paper_budgets(certificate), note_on_groups(certificate)},
            true};
  }

  /// A row per tolerance, share of problems and method, a pair of columns per variant.
  [[nodiscard]] bool table_per_variant() const override { return false; }
  [[nodiscard]] TextTable table(const Certificate& certificate, std::size_t,
                                const std::vector<Index>&) const override {
    const bool with_methods = tells_methods(certificate);
    TextTable table;
    table.columns = {{"below", Align::right}, {"share", Align::right}};
    if (with_methods) table.columns.push_back({"method", Align::left});
    table.key_columns = table.columns.size();
    table.notes = {
        fmt::format("{} the share is {}.",
                    certificate.loop ? "Limit of iterations of a tick with which" : "Iterations until",
                    budget_meaning(certificate))};
    add_note(table, note_on_paper_budgets(certificate));
    add_note(table, note_on_dependence(certificate));
    add_note(table, note_on_worst_case(certificate));
    const WorstCaseBounds worst(certificate);
    for (std::size_t v = 0; v < certificate.variants.size(); ++v)
      add_observed_and_certified(table, short_name(certificate, v));
    for (const auto& [row, of_row] : budget_rows(certificate)) {
      const BudgetClaim& first = *of_row.begin()->second;
      std::vector<std::string> cells{with_unit(certificate, exact_label(first.tolerance)),
                                     percent_label(first.quantile)};
      if (with_methods) cells.push_back(method_label(first.method));
      for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
        const auto found = of_row.find(v);
        const bool has = found != of_row.end();
        cells.push_back(has ? observed_iterations(found->second->empirical) : std::string(nothing));
        cells.push_back(has ? certified_iterations(*found->second, worst) : std::string(nothing));
      }
      table.add_row(std::move(cells));
    }
    return table;
  }

 private:
  /// find(reached, claim): the column of the budget, if there is one.
  void make_all(const Options& options, std::size_t variant, const runs::Tally& tally, double delta,
                BudgetMethod method, const auto& find, Certificate& certificate) const {
    const std::vector<Index>& steps = tally.spec().steps;
    for (std::size_t t = 0; t < options.tolerances.size(); ++t) {
      const std::vector<Index> reached = reached_counts(tally, t, method);
      for (const double quantile : options.quantiles) {
        WorkInterrupt::check();
        BudgetClaim claim;
        claim.variant = variant;
        claim.tolerance = options.tolerances[t];
        claim.quantile = quantile;
        claim.method = method;
        claim.samples = tally.samples();
        claim.delta = delta;
        const std::optional<std::size_t> found = find(reached, claim);
        const std::size_t column = found.value_or(steps.size() - 1);
        claim.reached = reached[column];
        claim.reached_before = found ? (column > 0 ? reached[column - 1] : 0) : reached[column];
        if (found) claim.steps = steps[column];
        const Index enough = bounds::empirical_rank(claim.samples, quantile);
        const auto first = std::ranges::find_if(reached, [&](Index count) { return count >= enough; });
        if (first != reached.end())
          claim.empirical = steps[static_cast<std::size_t>(first - reached.begin())];
        add(certificate, claim);
      }
    }
  }

  static void check_paper(const BudgetClaim& claim, ClaimChecker& checker) {
    checker.expect(claim.rank == 0, "a budget by method paper has no order statistic");
    if (!claim.steps) return;
    const double risk = bounds::risk_upper_bound(claim.samples - claim.reached, claim.samples, claim.delta,
                                                 checker.certificate().grid_method);
    checker.expect(bounds::covers(risk, claim.quantile),
                   fmt::format("{} of {} give a risk of {}, not at most 1 - {}", claim.reached, claim.samples,
                               risk, claim.quantile));
  }

  static void check_rank(const BudgetClaim& claim, ClaimChecker& checker) {
    const Index rank = checker.rank_of(claim.samples, claim.quantile, claim.delta);
    checker.expect(rank == claim.rank,
                   fmt::format("the order statistic must be {}, not {}", rank, claim.rank));
    const bool reached = rank > 0 && claim.reached >= rank && claim.reached_before < rank;
    if (claim.steps) {
      checker.expect(reached,
                     fmt::format("{} of {} reach it by step {} and {} before: that is not the {}-th",
                                 claim.reached, claim.samples, *claim.steps, claim.reached_before, rank));
    } else {
      checker.expect(rank == 0 || claim.reached < rank, "no budget is stated although the counts give one");
    }
  }

  static void check_learned(const BudgetClaim& claim, ClaimChecker& checker) {
    checker.expect(claim.method == BudgetMethod::settling && claim.rank == 0,
                   "budgets by PAC-Bayes settle and have no rank");
    checker.check_union(claim.variant, claim.delta, checker.certificate().variants[claim.variant].columns);
    const auto enough = [&](Index reached) {
      return bounds::covers(
          checker.risk_of(claim.variant, claim.samples - reached, claim.samples, claim.delta),
          claim.quantile);
    };
    if (claim.steps) {
      checker.expect(enough(claim.reached), fmt::format("{} of {} that reach it by step {} are not enough",
                                                        claim.reached, claim.samples, *claim.steps));
      checker.expect(!enough(claim.reached_before), "an earlier step would do");
    } else {
      checker.expect(!enough(claim.reached), "no budget is stated although the counts give one");
    }
  }
};

}  // namespace

const ClaimKind& iteration_budgets() {
  static const IterationBudgets kind;
  return kind;
}

std::string quotable(const Certificate& certificate, const BudgetClaim& claim) {
  const std::string observed = observed_iterations(claim.empirical);
  const std::string& variant = certificate.variants.at(claim.variant).name;
  const std::string of = certificate.variants.size() > 1 ? " for " + variant : "";
  if (const WorstCaseBounds worst(certificate); worst.better(claim) != claim.steps) {
    return fmt::format(
        "I{}, the {} of every problem is below {} after {} iterations and ever after (observed{}: {}).",
        worst_case_condition(certificate).substr(1), certificate.metric,
        tolerance_text(certificate, claim.tolerance), count_label(*worst.better(claim)), of, observed);
  }
  if (!claim.steps && certificate.loop) {
    return fmt::format(
        "No guarantee{} that the {} of {} of {} is below {} with any limit that was run (observed: {}).", of,
        certificate.metric, percent_label(claim.quantile), named_things(certificate),
        with_unit(certificate, exact_label(claim.tolerance)), observed);
  }
  if (!claim.steps) {
    return fmt::format(
        "No guarantee{} that the {} of {} of {} gets below {} within the recorded "
        "iterations (observed: {}).",
        of, certificate.metric, percent_label(claim.quantile), named_things(certificate),
        with_unit(certificate, exact_label(claim.tolerance)), observed);
  }
  const std::string opening = is_covered(claim)
                                  ? opening_of(certificate, claim.variant)
                                  : fmt::format("Not covered by the confidence, for comparison only{}: ", of);
  return conditioned(certificate,
                     fmt::format("{}{} (observed: {}).", opening,
                                 clause_of(certificate, claim, standing_alone(certificate)), observed));
}

std::string note_on_settling(const Certificate& certificate) {
  if (!has_budgets(certificate, BudgetMethod::settling)) return "";
  if (records_one_step(certificate)) {
    return "Only one iteration was recorded: \"iterations needed\" speak of that one alone.";
  }
  return fmt::format(
      "\"Stay below it\" and \"iterations needed\" mean: below the tolerance at every recorded iteration "
      "from then on, {}. Nothing is said of later iterations.",
      horizon_words(certificate));
}

std::string note_on_paper_budgets(const Certificate& certificate) {
  if (!has_budgets(certificate, BudgetMethod::paper)) return "";
  return "Iterations marked * (method paper) are not covered by the confidence: the iteration is picked "
         "after seeing the bounds. They are listed for comparison only.";
}

std::string budget_meaning(const Certificate& certificate) {
  const char* below = "below the tolerance";
  if (records_one_step(certificate)) return below;
  if (has_budgets(certificate, BudgetMethod::settling))
    return fmt::format(
        "{} and stays {}", below,
        staying(std::ranges::any_of(certificate.variants, has_gaps), horizon_words(certificate)));
  if (has_budgets(certificate, BudgetMethod::every_step) && certificate.loop)
    return below + lasting_every_step(certificate, horizon_words(certificate));
  if (has_budgets(certificate, BudgetMethod::every_step))
    return fmt::format("{}, then and at each later recorded iteration ({})", below,
                       horizon_words(certificate));
  return has_budgets(certificate, BudgetMethod::first_hit) ? fmt::format("{} at least once", below) : below;
}

}  // namespace surefoot::certify
