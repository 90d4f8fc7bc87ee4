#include "surefoot/certify/kinds/mean.hpp"

#include "surefoot/bounds/rounding.hpp"
#include "surefoot/certify/kinds/kind_of.hpp"
#include "surefoot/certify/kinds/share_histogram.hpp"
#include "surefoot/certify/nearly_equal.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/series.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/work_interrupt.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace surefoot::certify {
namespace {

constexpr std::size_t most_shares_of_mean = 128;  // different ones in a claim
constexpr std::size_t many_values = 4096;         // beyond it, values are rounded up before they are merged
constexpr int digits_of_many = 10;                // binary ones
constexpr std::array usual_thresholds{0.001, 0.01, 0.03, 0.1, 0.3};  // of the range
constexpr std::array usual_levels{0.9, 0.99};

double cvar_of_threshold(const MeanClaim& claim, double level) {
  if (level == 0) return bounds::up(claim.threshold + claim.upper_bound);
  return bounds::up(claim.threshold + bounds::up(claim.upper_bound / bounds::down(1 - level)));
}

/// (value - threshold)_+ / (range - threshold), rounded up, of values in [0, range].
std::vector<bounds::GroupShare> excess_shares(const std::vector<runs::ValueCount>& values, double threshold,
                                              double range) {
  std::vector<bounds::GroupShare> shares;
  for (const runs::ValueCount& each : values) {
    const double value = std::min(
        range, values.size() > many_values ? runs::rounded_up(each.value, digits_of_many) : each.value);
    const double share =
        value > threshold
            ? std::min(1.0, bounds::up(bounds::up(value - threshold) / bounds::down(range - threshold)))
            : 0.0;
    if (shares.empty() || shares.back().share != share) shares.push_back({share, 0});
    shares.back().groups += each.count;
  }
  return few_shares_of_mean(shares, most_shares_of_mean);
}

/// A share of the distance between threshold and range, as a value of the metric above the threshold.
double as_excess(double share, const MeanClaim& claim) {
  const double whole = claim.threshold == 0 ? claim.range : bounds::up(claim.range - claim.threshold);
  return share >= 1 ? whole : std::min(whole, bounds::up(share * whole));
}

bool says_something(const MeanClaim& claim) {
  return claim.upper_bound < claim.range - claim.threshold;
}

/// "10 %" of CVaR at level 0.9: 1 - 0.9 is not a tenth in binary.
std::string worst_share(double level) {
  constexpr double digits = 1e12;
  return percent_label(std::round((1 - level) * digits) / digits);
}

class Means final : public KindOf<Means, MeanClaim> {
 public:
  Means() : KindOf(&Certificate::mean) {}

  [[nodiscard]] std::string_view name() const override { return "mean"; }
  [[nodiscard]] std::string_view part() const override { return "mean_excess"; }
  [[nodiscard]] std::string_view singular() const override { return "mean"; }
  [[nodiscard]] std::string_view plural() const override { return "means"; }
  [[nodiscard]] bool can_hold_anytime() const override { return true; }
  [[nodiscard]] int place() const override { return 33; }

  template <class Visit, class Claim>
  static void each_field(Visit& visit, Claim& claim) {
    visit("variant", claim.variant);
    visit("step", claim.step);
    visit("threshold", claim.threshold);
    visit("range", claim.range);
    visit("method", claim.method);
    visit("samples", claim.samples);
    visit("shares", claim.shares);
    visit("delta", claim.delta);
    visit("empirical", claim.empirical);
    visit("upper_bound", claim.upper_bound);
  }
  /// By the declared levels of CVaR, what this claim gives, also where the range says more: a changed level
  /// is then found.
  template <class Visit>
  static void derive(Visit& visit, const Certificate& certificate, const MeanClaim& claim) {
    std::vector<double> bounds;
    if (certificate.range)
      for (const double level : certificate.range->levels) bounds.push_back(cvar_of_threshold(claim, level));
    visit.derived("cvar", bounds);
  }
  static auto key(const MeanClaim& claim) {
    return std::make_tuple(claim.variant, claim.step, claim.threshold);
  }

  void prepare(const Options& options, runs::TallySpec& spec) const override {
    spec.keep_values = true;
    spec.ranges.assign(spec.claim_columns.size(), declared_range(options).upper);
  }

  using ClaimKind::paid_claims;
  [[nodiscard]] Index paid_claims(const Options& options, const runs::TallySpec& spec) const override {
    return static_cast<Index>(spec.claim_columns.size() * declared_range(options).thresholds.size());
  }

  void make(const Options& options, std::size_t variant, const runs::Tally& tally, double delta,
            Certificate& certificate) const override {
    certificate.range = declared_range(options);
    if (const std::optional<runs::OutsideRange>& outside = tally.outside()) {
      const std::string name =
          variant < certificate.variants.size() ? certificate.variants[variant].name : "";
      throw InputError(fmt::format("range: {} {}{} is {}{}, outside the stated 0 .. {}",
                                   options.scalar || !tally.spec().grouped ? "row" : "group",
                                   outside->row + 1, name.empty() ? "" : " of " + name, outside->value,
                                   options.scalar ? "" : " " + after_steps(outside->step), outside->range));
    }
    const runs::TallySpec& spec = tally.spec();
    std::vector<MeanClaim> made;
    std::vector<std::vector<runs::ValueCount>> values;
    for (std::size_t i = 0; i < spec.claim_columns.size(); ++i)
      values.push_back(tally.values(i).different_values());
    for (const double threshold : certificate.range->thresholds) {
      for (const std::size_t column : spec.claim_columns) {
        MeanClaim claim;
        claim.variant = variant;
        claim.step = spec.steps[column];
        claim.threshold = threshold;
        claim.range = certificate.range->upper;
        claim.method = options.average_method;
        claim.samples = tally.samples();
        claim.delta = delta;
        made.push_back(std::move(claim));
      }
    }
    ShareBounds bound;
    parallel_blocks(static_cast<Index>(made.size()), [&](Index i) {
      WorkInterrupt::check();
      MeanClaim& claim = made[static_cast<std::size_t>(i)];
      const std::vector<bounds::GroupShare> shares =
          excess_shares(values[static_cast<std::size_t>(i) % values.size()], claim.threshold, claim.range);
      claim.shares = shares_text(shares);
      claim.empirical = as_excess(bounds::group_average_mean(shares), claim);
      claim.upper_bound =
          as_excess(bound(claim.shares, claim.samples, claim.delta, claim.method, options.anytime()), claim);
    });
    for (const MeanClaim& claim : made) add(certificate, claim);
  }

  [[nodiscard]] Index declared(const Certificate& certificate, Index at_steps) const override {
    return certificate.range ? at_steps * static_cast<Index>(certificate.range->thresholds.size()) : 0;
  }
  void restore(const Certificate& certificate, Options& options) const override {
    options.average_method = claims(certificate).front().method;
    if (!certificate.range) return;
    options.range = certificate.range->upper;
    options.thresholds = certificate.range->thresholds;
    options.cvar = certificate.range->levels;
  }

  void check_one(const MeanClaim& claim, ClaimChecker& checker) const {
    static ShareBounds bounds_of_claims;
    const Certificate& certificate = checker.certificate();
    checker.check_step(claim.variant, claim.step);
    checker.expect(claim.method == claims(certificate).front().method,
                   "its method is not that of the other claims");
    const bool declared = certificate.range && claim.range == certificate.range->upper &&
                          std::ranges::count(certificate.range->thresholds, claim.threshold) > 0;
    checker.expect(declared, fmt::format("its range {} and threshold {} are not declared", claim.range,
                                         claim.threshold));
    if (!declared) return;
    const std::vector<bounds::GroupShare> shares = shares_in(claim.shares, claim.samples);
    Index samples = 0;
    for (const bounds::GroupShare& each : shares) samples += each.groups;
    checker.expect(samples == claim.samples,
                   fmt::format("shares of {} samples, there are {}", samples, claim.samples));
    if (shares.empty()) return;
    const double mean = as_excess(bounds::group_average_mean(shares), claim);
    checker.expect(nearly_equal(mean, claim.empirical),
                   fmt::format("the average is {}, not {}", mean, claim.empirical));
    const double bound = as_excess(
        bounds_of_claims(claim.shares, claim.samples, claim.delta, claim.method, holds_anytime(certificate)),
        claim);
    checker.expect(nearly_equal(bound, claim.upper_bound),
                   fmt::format("the shares of {} samples give at most {}, not {}", claim.samples, bound,
                               claim.upper_bound));
  }

  static std::string difference(const MeanClaim& data, const MeanClaim& claim) {
    const bool same_claim = data.step == claim.step && data.threshold == claim.threshold;
    if (same_claim && data.shares == claim.shares) return "";
    return fmt::format("values above {} at step {} are others, {} on average, the certificate says {}",
                       data.threshold, data.step, data.empirical, claim.empirical);
  }

  [[nodiscard]] bool says_nothing_somewhere(const Certificate& certificate,
                                            const WorstCaseBounds&) const override {
    return std::ranges::any_of(claims(certificate),
                               [](const MeanClaim& claim) { return !says_something(claim); });
  }

  /// "if the residual of every problem lies within 0 .. 10, as the user states, after 60 iterations the
  /// residual is at most 0.0213 on average over new problems, at most 0.12 over the worst 10 % of them".
  [[nodiscard]] std::vector<std::string> clauses(const Certificate& certificate, std::size_t variant,
                                                 const WorstCaseBounds&, const Voice&, bool) const override {
    if (certificate.steps.empty() || !certificate.range) return {};
    const Index last = std::ranges::max(certificate.steps);
    const std::optional<double> mean = cvar_bound(certificate, variant, last, 0);
    if (!mean || !(*mean < certificate.range->upper)) return {};
    const bool groups = sampling_of(certificate) == Sampling::groups;
    // Samples cannot show the range: a sentence that is quoted alone says what it rests on.
    const std::string condition =
        range_is_proven(certificate)
            ? worst_case_condition(certificate)
            : fmt::format("if the {} of every problem lies within 0 .. {}, as the user states",
                          certificate.metric, with_unit(certificate, exact_label(certificate.range->upper)));
    std::string clause = fmt::format(
        "{}, {}the {} is at most {} on average over new {}", condition,
        certificate.scalar ? "" : after_steps(last) + ' ',
        groups ? fmt::format("largest {} of a group's ticks", certificate.metric) : certificate.metric,
        with_unit(certificate, upper_bound_value(*mean)), named_things(certificate));
    std::vector<std::string> tails;
    for (const double level : certificate.range->levels) {
      const double bound = *cvar_bound(certificate, variant, last, level);
      if (bound < certificate.range->upper)
        tails.push_back(fmt::format("{} over the worst {}{}",
                                    with_unit(certificate, upper_bound_value(bound)), worst_share(level),
                                    tails.empty() ? " of them" : ""));
    }
    if (!tails.empty()) clause += ", at most " + listed(tails);
    return {clause};
  }

  [[nodiscard]] std::vector<std::string> meaning(const Certificate& certificate) const override {
    if (claims(certificate).empty()) return {};
    return {
        "The mean over the worst share of problems is CVaR (conditional value at risk): CVaR at level 0.9 is the mean "
        "over the worst 10 % of them. It is bounded for every level at once, by the mean excess over "
        "thresholds that were declared."};
  }
  [[nodiscard]] std::vector<std::string> limits(const Certificate& certificate) const override {
    if (claims(certificate).empty()) return {};
    return {
        "Nothing about means if some problem leaves the stated range, however rare it is: one in a million may carry "
        "the mean, and the samples need not show it."};
  }
  [[nodiscard]] std::vector<std::string> assumptions(const Certificate& certificate, int) const override {
    if (claims(certificate).empty() || !certificate.range) return {};
    return {fmt::format("The {} of every problem lies within 0 .. {}{}, as {}: means and CVaR rest on it.",
                        certificate.metric, with_unit(certificate, exact_label(certificate.range->upper)),
                        certificate.scalar ? "" : " at the steps that are certified",
                        range_is_proven(certificate) ? "the worst case proves" : "stated by the user")};
  }

  [[nodiscard]] SectionWords section(const Certificate& certificate) const override {
    const std::string upper =
        certificate.range ? with_unit(certificate, exact_label(certificate.range->upper)) : "";
    return {
        "Mean and tail",
        fmt::format("Mean of the {}, and mean over the worst {} (CVaR)", metric_with_unit(certificate),
                    things(certificate)),
        fmt::format(
            "Mean of the {} over all {}, and over the worst share of them (CVaR): observed in the "
            "samples, whose values are rounded up to at most 128 different ones, and at most this among new {} (certified, rounded up), if all lie within the "
            "stated range 0 .. {}.",
            metric_with_unit(certificate), named_things(certificate), things(certificate), upper),
        {note_on_groups(certificate)}};
  }

  [[nodiscard]] TextTable table(const Certificate& certificate, std::size_t variant,
                                const std::vector<Index>& steps) const override {
    TextTable table;
    table.columns = {certificate.scalar ? Column{"variant", Align::left, ""} : Column{"iteration"}};
    add_note(table, note_on_dependence(certificate));
    if (!certificate.range) return table;
    std::vector<double> levels{0};
    levels.insert(levels.end(), certificate.range->levels.begin(), certificate.range->levels.end());
    for (const double level : levels)
      add_observed_and_certified(
          table, level == 0 ? fmt::format("all {}", things(certificate)) : "worst " + worst_share(level));
    const auto add_row = [&](std::size_t of, Index step, const std::string& label) {
      const MeanClaim* mean = mean_at(certificate, of, step);
      std::vector<std::string> cells{label};
      for (const double level : levels) {
        const std::optional<double> bound = cvar_bound(certificate, of, step, level);
        cells.push_back(mean != nullptr ? observed_value(observed_cvar(*mean, level)) : std::string(nothing));
        cells.push_back(bound && *bound < certificate.range->upper ? upper_bound_value(*bound)
                                                                   : std::string(nothing));
      }
      table.add_row(std::move(cells));
    };
    if (certificate.scalar) {
      for (std::size_t i = 0; i < certificate.variants.size(); ++i)
        add_row(i, scalar_step, short_name(certificate, i));
      return table;
    }
    for (const Index step : steps) add_row(variant, step, count_label(step));
    return table;
  }

  [[nodiscard]] std::vector<CurveRow> curve(const Certificate& certificate,
                                            const WorstCaseBounds&) const override {
    std::vector<CurveRow> rows;
    for (const MeanClaim& claim : claims(certificate)) {
      Index zero = 0;
      const std::vector<bounds::GroupShare> shares = shares_in(claim.shares, claim.samples);
      if (!shares.empty() && shares.front().share == 0) zero = shares.front().groups;
      rows.push_back({claim.variant, claim.step, claim.threshold, claim.empirical, claim.upper_bound,
                      bounds::name(claim.method), claim.samples, claim.samples - zero, claim.delta,
                      claim.upper_bound});
    }
    return rows;
  }

 private:
  [[nodiscard]] const MeanClaim* mean_at(const Certificate& certificate, std::size_t variant,
                                         Index step) const {
    const auto found = std::ranges::find_if(claims(certificate), [&](const MeanClaim& claim) {
      return claim.variant == variant && claim.step == step && claim.threshold == 0;
    });
    return found == claims(certificate).end() ? nullptr : &*found;
  }
};

template <class Value>
bool increases(const std::vector<Value>& values) {
  return std::ranges::adjacent_find(values, [](Value a, Value b) { return !(a < b); }) == values.end();
}

}  // namespace

const ClaimKind& means() {
  static const Means kind;
  return kind;
}

void MetricRange::validate() const {
  require(upper > 0 && std::isfinite(upper), "range: 0 .. {} is not a range; say 0,R with R > 0", upper);
  require(!thresholds.empty() && thresholds.front() == 0 && increases(thresholds),
          "thresholds: they must increase and begin with 0, the mean");
  for (const double threshold : thresholds)
    require(threshold >= 0 && threshold < upper, "thresholds: {} is outside 0 .. {}", threshold, upper);
  require(increases(levels), "cvar: levels must increase");
  for (const double level : levels)
    require(level > 0 && level < 1, "cvar: level {} is outside (0, 1)", level);
}

MetricRange declared_range(const Options& options) {
  require(options.range.has_value(),
          "claims: means ('mean') need the range of the metric: --range 0,R (in Python range=(0, R))");
  MetricRange range;
  range.upper = *options.range;
  range.thresholds = options.thresholds;
  if (range.thresholds.empty())
    for (const double share : usual_thresholds) range.thresholds.push_back(share * range.upper);
  if (range.thresholds.front() != 0) range.thresholds.insert(range.thresholds.begin(), 0.0);
  range.levels = options.cvar;
  if (range.levels.empty()) range.levels.assign(std::begin(usual_levels), std::end(usual_levels));
  range.validate();
  return range;
}

bool range_is_proven(const Certificate& certificate) {
  const WorstCaseBounds worst(certificate);
  return certificate.range && worst.used() && !certificate.mean.empty() &&
         std::ranges::all_of(certificate.mean,
                             [&](const MeanClaim& claim) { return worst.at(claim.step) <= claim.range; });
}

double cvar_bound(const MeanClaim& claim, double level) {
  return std::min(claim.range, cvar_of_threshold(claim, level));
}

std::optional<double> cvar_bound(const Certificate& certificate, std::size_t variant, Index step,
                                 double level) {
  std::optional<double> best;
  for (const MeanClaim& claim : certificate.mean) {
    if (claim.variant != variant || claim.step != step) continue;
    const double bound = level == 0 && claim.threshold == 0 ? claim.upper_bound : cvar_bound(claim, level);
    best = std::min(best.value_or(infinity), bound);
  }
  return best;
}

double observed_cvar(const MeanClaim& mean, double level) {
  const std::vector<bounds::GroupShare> shares = shares_in(mean.shares, mean.samples);
  const double tail = (1 - level) * static_cast<double>(mean.samples);
  double left = tail;
  double sum = 0;
  for (auto at = shares.rbegin(); at != shares.rend() && left > 0; ++at) {
    const double taken = std::min(left, static_cast<double>(at->groups));
    sum += taken * at->share;
    left -= taken;
  }
  return mean.range * sum / tail;
}

std::vector<std::string> wrong_in_range(const Certificate& certificate) {
  if (certificate.range.has_value() != !certificate.mean.empty())
    return {"range: it is declared where means are claimed, and nowhere else"};
  if (!certificate.range) return {};
  try {
    certificate.range->validate();
  } catch (const InputError& error) {
    return {error.what()};
  }
  return {};
}

}  // namespace surefoot::certify
