#include "surefoot/certify/classical.hpp"

#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/shift_part.hpp"
#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace surefoot::certify {

namespace {

using bounds::QuantileMethod;

constexpr EnumNames<Choice, 3> choice_names{
    {{Choice::both, "both"}, {Choice::before, "before"}, {Choice::after, "after"}}};

/// A kind, how many claims it makes in all and what is wanted for each of them.
struct KindShare {
  const ClaimKind* kind;
  std::string purpose;
  Index claims = 0;
  std::optional<double> wanted = std::nullopt;
  double delta_each = 0;
};

// Kinds with a wanted delta are served first. Of what is left, free kinds take their part, and the others
// share equally the rest; alone, either takes all.
void share_by_union(const Options& options, std::vector<KindShare>& kinds) {
  bounds::ConfidenceBudget budget(options.delta);
  Index without = 0;
  double free = 0;
  for (KindShare& kind : kinds) {
    if (kind.wanted) {
      budget.take(kind.purpose, kind.claims, *kind.wanted);
      kind.delta_each = *kind.wanted;
    } else {
      without += kind.kind->free_share() > 0 ? 0 : 1;
      free += kind.kind->free_share();
    }
  }
  const double left = 1.0 - budget.spent() / budget.total();
  require((without == 0 && free == 0) || left > 0.0,
          "confidence budget: nothing of {} is left for the other kinds of claims", options.delta);
  for (KindShare& kind : kinds) {
    if (kind.wanted) continue;
    const double own = kind.kind->free_share();
    const double part =
        own > 0 ? left * (without == 0 ? own / free : own) : left * (1 - free) / static_cast<double>(without);
    kind.delta_each = budget.take_fraction(kind.purpose, kind.claims, part);
  }
}

// How many claims of each kind there are decides the delta of each.
std::vector<KindShare> share_out(const Options& options, const std::vector<runs::TallySpec>& specs,
                                 const Certificate& certificate) {
  std::vector<KindShare> kinds;
  for (const ClaimKind* kind : claim_kinds()) {
    if (!options.claims(kind->name())) continue;
    KindShare share{kind, kind->purpose(certificate)};
    for (const runs::TallySpec& spec : specs) share.claims += kind->paid_claims(options, spec);
    const auto wanted = options.kind_delta.find(kind->name());
    if (wanted != options.kind_delta.end()) share.wanted = wanted->second;
    if (share.claims > 0) kinds.push_back(share);
  }
  require(!kinds.empty(), "nothing is claimed: all kinds of claims are off or empty");
  if (options.simultaneous == Simultaneity::all) {
    share_by_union(options, kinds);
  } else {
    for (KindShare& kind : kinds) {
      kind.delta_each = kind.wanted.value_or(options.delta);
      require(kind.delta_each <= options.delta,
              "confidence budget: delta {} for each of the {} overspends {}", kind.delta_each, kind.purpose,
              options.delta);
    }
  }
  return kinds;
}

/// Of a certificate without claims: what shares are called depends on the grid alone.
Certificate declarations_of(const Options& options) {
  Certificate certificate;
  certificate.title = options.title;
  certificate.metric = options.metric;
  certificate.unit = options.unit;
  certificate.scalar = options.scalar;
  certificate.delta = options.delta;
  certificate.simultaneous = options.simultaneous;
  certificate.steps = options.steps;
  certificate.tolerances = options.tolerances;
  certificate.quantiles = options.quantiles;
  certificate.grid = options.grid;
  certificate.grid_method = options.risk_method;
  certificate.value_limit = options.value_limit;
  certificate.version = version;
  return certificate;
}

}  // namespace

std::string_view name(Choice choice) {
  return name_in(choice_names, choice);
}
Choice parse_choice(std::string_view text) {
  return value_in(choice_names, "choose", text);
}

bool Options::claims(std::string_view kind) const {
  return std::ranges::count(kinds, kind) > 0;
}

Options options_of(const Certificate& certificate) {
  Options options;
  options.scalar = certificate.scalar;
  options.delta = certificate.delta;
  options.simultaneous = certificate.simultaneous;
  options.sampling = sampling_of(certificate);
  options.kinds.clear();
  for (const ClaimKind* kind : claim_kinds()) {
    if (kind->size(certificate) == 0) continue;
    options.kinds.emplace_back(kind->name());
    kind->restore(certificate, options);
  }
  options.tolerances = certificate.tolerances;
  options.quantiles = certificate.quantiles;
  options.steps = certificate.steps;
  options.risk_method = certificate.grid_method;
  options.grid = certificate.grid;
  options.quantile_method = certificate.grid.empty() ? QuantileMethod::exact : QuantileMethod::grid;
  options.value_limit = certificate.value_limit;
  return options;
}

std::vector<double> default_quantiles(bool scalar) {
  if (scalar) return {0.5, 0.8, 0.9, 0.95, 0.99, 0.999};
  return {0.5, 0.9, 0.99};
}

std::vector<double> supported_quantiles(const Options& options, const std::vector<runs::TallySpec>& specs,
                                        const std::vector<Index>& samples) {
  Options fewer = options;
  const bool claimed = options.claims(quantiles().name()) || options.claims(iteration_budgets().name());
  // Claims that hold at every number of runs cannot depend on that number, nor can their shares of delta.
  if (!options.default_quantiles || !claimed || options.anytime()) return options.quantiles;
  // The largest asks for most: without it the others get more, so one at a time.
  for (; fewer.quantiles.size() > 1; fewer.quantiles.pop_back()) {
    const double largest = fewer.quantiles.back();
    for (const KindShare& share : share_out(fewer, specs, declarations_of(fewer)))
      for (const Index runs : samples)
        if (share.kind->supports(fewer, largest, runs, share.delta_each)) return fewer.quantiles;
  }
  return fewer.quantiles;
}

Options options_to_append(const Certificate& certificate) {
  require(
      holds_anytime(certificate),
      "append: the claims of this certificate hold at the one number of runs that was fixed beforehand; only "
      "claims that were declared to hold at every number of runs (--anytime) may get more");
  require(
      certificate.run == "null",
      "append: the runs of this certificate were made by surefoot or recorded with how they were made; rows of "
      "a table cannot be added to them");
  require(certificate.worst_case == "null",
          "append: this certificate has a worst case; certify all tables together instead");
  require(
      sampling_of(certificate) == Sampling::problems,
      "append: a group whose ticks are in two tables would count twice; certify all tables of groups together "
      "instead");
  for (const Variant& variant : certificate.variants) {
    require(
        !variant.selection,
        "append: {} was counted from a table of text (--scalar, --value); certify all lines together instead",
        variant.name);
    require(
        !variant.provenance,
        "append: the ledger of looks knows {} as one set of samples; certify without --ledger where runs are to "
        "be added",
        variant.name);
    require(!variant.sha256.empty(), "append: the certificate does not say which table {} was counted from",
            variant.name);
  }
  Options options = options_of(certificate);
  options.title = certificate.title;
  options.metric = certificate.metric;
  options.unit = certificate.unit;
  options.shift = certificate.shift;
  for (const ClaimKind* kind : claim_kinds())
    if (kind->size(certificate) > 0) options.kind_delta[std::string(kind->name())] = kind->delta(certificate);
  return options;
}

void require_continues(const Certificate& before, const Certificate& after) {
  const auto same_delta = [&](const ClaimKind* kind) {
    return kind->size(before) == kind->size(after) && kind->delta(before) == kind->delta(after);
  };
  bool same = before.steps == after.steps && before.tolerances == after.tolerances &&
              before.quantiles == after.quantiles && before.grid == after.grid &&
              before.delta == after.delta && before.simultaneous == after.simultaneous &&
              before.grid_method == after.grid_method && before.variants.size() == after.variants.size() &&
              std::ranges::all_of(claim_kinds(), same_delta);
  for (std::size_t i = 0; same && i < before.variants.size(); ++i) {
    const Variant& first = before.variants[i];
    const Variant& then = after.variants[i];
    same = first.sha256 == then.sha256 && first.appended.size() < then.appended.size() &&
           std::equal(first.appended.begin(), first.appended.end(), then.appended.begin()) &&
           first.samples < then.samples && first.columns == then.columns &&
           first.first_step == then.first_step && first.last_step == then.last_step &&
           first.recorded_steps == then.recorded_steps;
  }
  require(same, "append: the tables are not read as they were when the certificate was made");
}

std::vector<double> default_tolerances(const std::string& unit) {
  if (unit == "dB") return {-40, -30, -20, -10};
  return {1e-4, 1e-3, 1e-2, 1e-1};
}

std::vector<Index> default_steps(const std::vector<Index>& recorded) {
  if (recorded.size() <= default_step_count) return recorded;
  std::vector<Index> chosen;
  const double span = std::log(static_cast<double>(recorded.size()));
  for (std::size_t i = 0; i < default_step_count; ++i) {
    const double fraction = static_cast<double>(i) / static_cast<double>(default_step_count - 1);
    const auto column = static_cast<std::size_t>(std::llround(std::exp(span * fraction))) - 1;
    const Index step = recorded[std::min(column, recorded.size() - 1)];
    if (chosen.empty() || chosen.back() < step) chosen.push_back(step);
  }
  return chosen;
}

void Options::validate() const {
  require_name("title", title);
  require_name("metric", metric);
  require_name("unit", unit);
  if (scalar) {
    require(kinds == default_kinds() || !claims(iteration_budgets().name()),
            "claims: a scalar has no iterations, so there are no iteration budgets of it");
    require(quantile_method == QuantileMethod::exact,
            "quantile_method: quantiles of scalars are exact, there is no grid for them");
    require(steps.empty() || steps == std::vector<Index>{scalar_step},
            "steps: a scalar has no steps; leave them out");
  }
  require(choose != Choice::after || simultaneous == Simultaneity::all,
          "choose: 'after' needs claims that hold together (simultaneous 'all')");
  require(!anytime() || choose == Choice::before,
          "choose: '{}' makes bands, which are for a number of runs that was fixed beforehand; what holds at "
          "every number of runs (anytime) is chosen 'before'",
          name(choose));
  for (const std::string& kind : kinds)
    require(
        !anytime() || claim_kind(kind).can_hold_anytime(),
        "claims: '{}' holds for a number of runs that was fixed beforehand, not at every number (anytime)",
        kind);
  require(!anytime() || budget_method != bounds::BudgetMethod::paper,
          "budget method: 'paper' is for a number of runs that was fixed beforehand, not for anytime");
  require(quantile_method != QuantileMethod::anytime || anytime(),
          "quantile method: 'anytime' needs the risk method 'anytime'");
  require(delta > 0.0 && delta < 1.0, "delta: {} is outside (0, 1)", delta);
  require(range || (thresholds.empty() && cvar.empty()),
          "range: thresholds and levels of CVaR need it; say --range 0,R (in Python range=(0, R))");
  if (range || claims(means().name())) declared_range(*this);
  require(!anytime() || !range || average_method == bounds::MeanMethod::betting,
          "average method: 'kl' is for a number of runs that was fixed beforehand, not for anytime");
  require_name("group", group);
  for (const std::string& kind : kinds) claim_kind(kind);
  for (const auto& [kind, wanted] : kind_delta) {
    claim_kind(kind);
    require(wanted > 0.0 && wanted < 1.0, "delta: {} is outside (0, 1)", wanted);
  }
  for (std::size_t i = 0; i < quantiles.size(); ++i) {
    require(quantiles[i] > 0.0 && quantiles[i] < 1.0, "quantiles: {} is outside (0, 1)", quantiles[i]);
    require(i == 0 || quantiles[i - 1] < quantiles[i],
            "quantiles: {} does not come after {}; the list must increase", quantiles[i], quantiles[i - 1]);
  }
  for (std::size_t i = 1; i < steps.size(); ++i) {
    require(steps[i - 1] < steps[i], "steps: {} does not come after {}; the list must increase", steps[i],
            steps[i - 1]);
  }
}

void Options::require_claimable() const {
  require(!range || sampling != Sampling::sequence,
          "range: means are of new problems, not of the past of a log (sequence)");
  require(!shift || sampling != Sampling::sequence,
          "shift: claims of a log (sequence) are of its past, whatever distribution made it");
  for (const std::string& kind : kinds) claim_kind(kind).require_claimed_of(sampling);
  require(choose != Choice::after || claim_kind("bands").claimed_of(sampling),
          "choose: 'after' is of bands, which are not claimed of a log (sequence)");
  require(sampling != Sampling::sequence ||
              (risk_method == bounds::RiskMethod::exact && quantile_method == QuantileMethod::exact),
          "methods of success rates and quantiles: these are not claimed of a log (sequence)");
}

Options resolved(Options options, const std::vector<std::vector<Index>>& recorded_steps) {
  options.validate();
  if (options.scalar && options.kinds == default_kinds())
    std::erase(options.kinds, iteration_budgets().name());
  if (options.quantile_method == QuantileMethod::anytime) options.quantile_method = QuantileMethod::exact;
  options.require_claimable();
  if (options.sampling == Sampling::sequence) options.quantiles.clear();  // nothing is claimed of them
  if (options.choose == Choice::after) options.kinds.clear();
  if (options.range && !options.claims(means().name())) options.kinds.emplace_back(means().name());
  if (options.choose != Choice::before && options.simultaneous == Simultaneity::all &&
      claim_kind("bands").claimed_of(options.sampling) && !options.claims("bands"))
    options.kinds.emplace_back("bands");
  if (options.tolerances.empty() && !options.scalar) options.tolerances = default_tolerances(options.unit);
  if (options.quantiles.empty() && options.sampling != Sampling::sequence) {
    options.quantiles = default_quantiles(options.scalar);
    options.default_quantiles = true;
  }
  if (options.quantile_method == QuantileMethod::grid && options.grid.empty()) {
    options.grid = options.unit == "dB" ? bounds::decibel_grid() : bounds::residual_grid();
  }
  if (options.quantile_method == QuantileMethod::exact) options.grid.clear();
  if (options.steps.empty()) {
    std::vector<Index> recorded;
    for (const std::vector<Index>& steps : recorded_steps)
      recorded.insert(recorded.end(), steps.begin(), steps.end());
    std::sort(recorded.begin(), recorded.end());
    recorded.erase(std::unique(recorded.begin(), recorded.end()), recorded.end());
    options.steps = options.all_steps ? recorded : default_steps(recorded);
    return options;
  }
  for (const Index step : options.steps) {
    const bool known =
        std::any_of(recorded_steps.begin(), recorded_steps.end(), [&](const std::vector<Index>& steps) {
          return std::binary_search(steps.begin(), steps.end(), step);
        });
    require(known, "steps: step {} was not recorded; the table has {} .. {}", step,
            recorded_steps.front().front(), recorded_steps.front().back());
  }
  return options;
}

runs::TallySpec tally_spec(const Options& options, std::vector<Index> steps) {
  runs::TallySpec spec;
  spec.steps = std::move(steps);
  spec.tolerances = options.tolerances;
  spec.scalar = options.scalar;
  spec.value_limit = options.value_limit;
  for (const Index step : options.steps) {
    const auto found = std::lower_bound(spec.steps.begin(), spec.steps.end(), step);
    if (found != spec.steps.end() && *found == step) {
      spec.claim_columns.push_back(static_cast<std::size_t>(found - spec.steps.begin()));
    }
  }
  spec.keep_values = false;
  spec.grouped = options.sampling == Sampling::groups;
  for (const ClaimKind* kind : claim_kinds())
    if (options.claims(kind->name())) kind->prepare(options, spec);
  spec.validate();
  return spec;
}

double delta_of_claims(const Options& options, const runs::TallySpec& spec, std::string_view kind) {
  Certificate none;
  none.grid = options.grid;
  for (const KindShare& share : share_out(options, {spec}, none))
    if (share.kind->name() == kind) return share.delta_each;
  throw InputError(fmt::format("claims: there are none of the kind '{}'", kind));
}

Certificate certify(const Options& given, const std::vector<Counted>& variants) {
  require(!variants.empty(), "there is no variant to certify");
  std::vector<runs::TallySpec> specs;
  std::vector<Index> samples;
  for (const Counted& variant : variants) {
    require_name("names", variant.variant.name);
    specs.push_back(variant.tally.spec());
    samples.push_back(variant.tally.samples());
  }
  Options options = given;
  options.quantiles = supported_quantiles(given, specs, samples);
  Certificate certificate = declarations_of(options);
  const std::vector<KindShare> kinds = share_out(options, specs, certificate);
  for (const KindShare& kind : kinds)
    certificate.shares.push_back({kind.purpose, kind.claims, kind.delta_each});
  for (std::size_t i = 0; i < variants.size(); ++i) {
    const runs::Tally& tally = variants[i].tally;
    Variant variant = variants[i].variant;
    variant.samples = tally.samples();
    set_recorded_steps(variant, tally.spec().steps);
    variant.non_finite_runs = tally.non_finite_runs();
    variant.values_rounded_up = tally.values_rounded_up();
    if (options.sampling == Sampling::groups)
      variant.groups = Groups{options.group, tally.ticks(), tally.fewest_ticks(), tally.most_ticks()};
    certificate.variants.push_back(variant);
    for (const KindShare& share : kinds) share.kind->make(options, i, tally, share.delta_each, certificate);
  }
  if (options.shift) add_shift(certificate, *options.shift);
  certificate.assumptions = assumptions_of(certificate);
  return certificate;
}

}  // namespace surefoot::certify
