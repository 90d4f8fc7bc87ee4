#include "surefoot/certify/kinds/bands.hpp"

#include "surefoot/bounds/band.hpp"
#include "surefoot/certify/kinds/kind_of.hpp"
#include "surefoot/certify/nearly_equal.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/work_interrupt.hpp"

#include <array>
#include <charconv>
#include <map>
#include <mutex>
#include <span>
#include <tuple>

namespace surefoot::certify {
namespace {

constexpr std::size_t most_band_steps = 900;
constexpr Index bytes_per_variant = 900'000;
constexpr Index bytes_of_point = 18;  // "123456:1.2346e-05 "
constexpr Index bytes_of_claim = 260;

constexpr std::array usual_shares{0.25, 0.5,   0.75,  0.8,   0.9,    0.95,  0.98,
                                  0.99, 0.995, 0.998, 0.999, 0.9995, 0.9999};
constexpr std::array shown_shares{0.5, 0.9, 0.99};

std::string points_text(const std::vector<Index>& ranks, const runs::ValueStore& values) {
  std::string text;
  for (const Index rank : ranks) {
    const double value = five_digits_up(values.order_statistic(rank));
    if (!(value < infinity)) break;
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", rank, value);
  }
  return text;
}

/// Recorded steps of a variant that have bands.
std::vector<Index> band_steps_of(const Certificate& certificate, std::size_t variant) {
  std::vector<Index> claimed;
  for (const Index step : certificate.steps)
    if (records(certificate.variants[variant], step)) claimed.push_back(step);
  return band_steps(std::move(claimed));
}

class Bands final : public KindOf<Bands, BandClaim> {
 public:
  Bands() : KindOf(&Certificate::bands) {}

  [[nodiscard]] std::string_view name() const override { return "bands"; }
  [[nodiscard]] std::string_view part() const override { return "band"; }
  [[nodiscard]] std::string_view singular() const override { return "band"; }
  [[nodiscard]] std::string_view plural() const override { return "bands for any tolerance and share"; }
  [[nodiscard]] int place() const override { return 40; }
  [[nodiscard]] double free_share() const override { return 0.2; }

  template <class Visit, class Claim>
  static void each_field(Visit& visit, Claim& claim) {
    visit("variant", claim.variant);
    visit("step", claim.step);
    visit("of", claim.of);
    visit("samples", claim.samples);
    visit("delta", claim.delta);
    visit("level", claim.level);
    visit("points", claim.points, by_counting_again);
  }
  static auto key(const BandClaim& claim) { return std::make_tuple(claim.variant, claim.step, claim.of); }

  void prepare(const Options& options, runs::TallySpec& spec) const override {
    (options.scalar ? spec.keep_values : spec.keep_maxima) = true;
  }

  using ClaimKind::paid_claims;
  [[nodiscard]] Index paid_claims(const Options& options, const runs::TallySpec& spec) const override {
    return numbers_at_step(options.scalar) * static_cast<Index>(band_steps(claimed_steps(spec)).size());
  }

  void make(const Options& options, std::size_t variant, const runs::Tally& tally, double delta,
            Certificate& certificate) const override {
    const runs::TallySpec& spec = tally.spec();
    const std::vector<Index> steps = band_steps(claimed_steps(spec));
    const double level = bounds::band_level(tally.samples(), delta);
    const std::vector<Index> ranks = band_point_ranks(
        tally.samples(), level, numbers_at_step(options.scalar) * static_cast<Index>(steps.size()));
    for (std::size_t i = 0; i < spec.claim_columns.size(); ++i) {
      BandClaim claim;
      claim.variant = variant;
      claim.step = spec.steps[spec.claim_columns[i]];
      if (std::ranges::count(steps, claim.step) == 0) continue;
      claim.samples = tally.samples();
      claim.delta = delta;
      claim.level = level;
      for (const char* of : {band_at_step, band_onward}) {
        WorkInterrupt::check();
        if (options.scalar && of == band_onward) break;
        claim.of = of;
        claim.points = points_text(ranks, of == band_onward ? tally.maxima(i) : tally.values(i));
        add(certificate, claim);
      }
    }
  }

  [[nodiscard]] Index declared(const Certificate& certificate, Index) const override {
    Index all = 0;
    for (std::size_t v = 0; v < certificate.variants.size(); ++v)
      all += numbers_at_step(certificate.scalar) * static_cast<Index>(band_steps_of(certificate, v).size());
    return all;
  }

  void check_one(const BandClaim& claim, ClaimChecker& checker) const {
    const Certificate& certificate = checker.certificate();
    checker.check_step(claim.variant, claim.step);
    checker.expect(claim.of == band_at_step || (claim.of == band_onward && !certificate.scalar),
                   fmt::format("'{}' is neither the step nor what comes after it", claim.of));
    checker.expect(!checker.pac_bayes(), "there are no bands of drawn weights");
    checker.expect(certificate.simultaneous == Simultaneity::all, "bands hold together or not at all");
    const std::vector<Index> steps = band_steps_of(certificate, claim.variant);
    checker.expect(std::ranges::count(steps, claim.step) > 0, fmt::format("step {} has no band", claim.step));
    const double level = bounds::band_level(claim.samples, claim.delta);
    checker.expect(nearly_equal(level, claim.level),
                   fmt::format("{} samples and delta {} give level {}, not {}", claim.samples, claim.delta,
                               level, claim.level));
    const std::vector<BandPoint> points = points_of(claim);
    const std::vector<Index> ranks = band_point_ranks(
        claim.samples, claim.level, numbers_at_step(certificate.scalar) * static_cast<Index>(steps.size()));
    const bool first_ranks =
        points.size() <= ranks.size() &&
        std::ranges::equal(points, std::span(ranks).first(points.size()), {}, &BandPoint::rank);
    checker.expect(first_ranks, "its ranks are not those of a band");
    const Variant& variant = certificate.variants[claim.variant];
    const bool finite = points.empty() || points.back().rank <= claim.samples - variant.non_finite_runs ||
                        (claim.of == band_at_step && claim.step < variant.last_step);
    checker.expect(finite, "it is finite for runs that have diverged");
  }

  static std::string difference(const BandClaim& data, const BandClaim& claim) {
    if (data.step == claim.step && data.of == claim.of && data.points == claim.points) return "";
    return fmt::format("the values {} step {} are others", claim.of == band_onward ? "from" : "at",
                       data.step);
  }

  [[nodiscard]] bool says_nothing_somewhere(const Certificate&, const WorstCaseBounds&) const override {
    return false;  // a band has no share of its own that could be missing
  }

  /// Beside declared claims, none: bands are asked. Alone, the usual shares at the last step.
  [[nodiscard]] std::vector<std::string> clauses(const Certificate& certificate, std::size_t variant,
                                                 const WorstCaseBounds&, const Voice& voice,
                                                 bool) const override {
    std::vector<std::string> result;
    for (const ClaimKind* kind : claim_kinds())
      if (kind != this && kind->size(certificate) > 0) return result;
    const BandClaim* last = nullptr;
    for (const BandClaim& claim : claims(certificate))
      if (claim.variant == variant && claim.of == band_at_step &&
          (last == nullptr || last->step < claim.step))
        last = &claim;
    if (last == nullptr) return result;
    for (const double share : shown_shares) {
      const double value = value_of(*last, share);
      if (!(value < infinity)) continue;
      if (certificate.scalar)
        result.push_back(scalar_clause(certificate, voice, percent_label(share), upper_bound_value(value)));
      else
        result.push_back(fmt::format("{}, {}at least {} {} at or below {}", after_steps(last->step),
                                     voice.subject, percent_label(share), voice.problems,
                                     with_unit(certificate, upper_bound_value(value))));
    }
    return result;
  }

  [[nodiscard]] std::vector<std::string> meaning(const Certificate& certificate) const override {
    if (claims(certificate).empty()) return {};
    return {
        "Bands hold for every tolerance and every share at once, together with all other claims: what is asked of "
        "them may be chosen after looking (surefoot ask). How many samples there are may not."};
  }

  [[nodiscard]] std::vector<std::string> assumptions(const Certificate& certificate, int) const override {
    if (certificate.scalar)
      return {
          "Bands hold for all tolerances and shares at once, which may be chosen after looking; the number of "
          "samples was fixed before."};
    return {
        "Bands hold for all tolerances and shares at once, which may be chosen after looking; the steps and the "
        "number of samples were fixed before."};
  }

  [[nodiscard]] SectionWords section(const Certificate& certificate) const override {
    if (certificate.scalar)
      return {"Chosen after looking",
              fmt::format("Value of the {} for shares that may be chosen after looking",
                          metric_with_unit(certificate)),
              fmt::format("Value of the {} that the given share of new problems does not exceed (certified, "
                          "rounded up). Any share and any tolerance may be asked for.",
                          metric_with_unit(certificate)),
              {}};
    return {
        "Chosen after looking",
        fmt::format("Value of the {} for shares that may be chosen after looking",
                    metric_with_unit(certificate)),
        fmt::format("Value of the {} that the given share of new {} does not exceed, at the iteration and "
                    "from it on (certified, rounded up). Any share and any tolerance may be asked for.",
                    metric_with_unit(certificate), named_things(certificate)),
        {note_on_groups(certificate)}};
  }

  [[nodiscard]] TextTable table(const Certificate& certificate, std::size_t variant,
                                const std::vector<Index>& steps) const override {
    if (certificate.scalar) return scalar_bands(certificate);
    std::map<std::pair<Index, std::string>, const BandClaim*> at;
    for (const BandClaim& claim : claims(certificate))
      if (claim.variant == variant) at[{claim.step, claim.of}] = &claim;
    TextTable table;
    table.columns = {{"iterations"}};
    for (const double share : shown_shares)
      table.columns.push_back({percent_label(share), Align::right, "at this iteration"});
    for (const double share : shown_shares)
      table.columns.push_back({percent_label(share), Align::right, "from it on"});
    for (const Index step : steps) {
      std::vector<std::string> cells{count_label(step)};
      for (const char* of : {band_at_step, band_onward}) {
        const auto found = at.find({step, of});
        for (const double share : shown_shares)
          cells.push_back(found == at.end() ? std::string(nothing)
                                            : upper_bound_value(value_of(*found->second, share)));
      }
      table.add_row(std::move(cells));
    }
    return table;
  }

 private:
  /// A number per step, and the largest from there on; a scalar has no later ones.
  static Index numbers_at_step(bool scalar) { return scalar ? 1 : 2; }

  /// A row per variant.
  [[nodiscard]] TextTable scalar_bands(const Certificate& certificate) const {
    TextTable table;
    table.columns = {{"variant", Align::left}};
    for (const double share : shown_shares)
      table.columns.push_back({percent_label(share) + " of problems", Align::right});
    for (const BandClaim& claim : claims(certificate)) {
      std::vector<std::string> cells{short_name(certificate, claim.variant)};
      for (const double share : shown_shares) cells.push_back(upper_bound_value(value_of(claim, share)));
      table.add_row(std::move(cells));
    }
    return table;
  }

  static std::vector<Index> claimed_steps(const runs::TallySpec& spec) {
    std::vector<Index> steps;
    for (const std::size_t column : spec.claim_columns) steps.push_back(spec.steps[column]);
    return steps;
  }

  /// What the share does not exceed; infinite if nothing can be said.
  static double value_of(const BandClaim& claim, double share) {
    const Index rank = bounds::band_quantile_rank(claim.samples, share, claim.level);
    if (rank == 0) return infinity;
    for (const BandPoint& point : points_of(claim))
      if (point.rank >= rank) return point.value;
    return infinity;
  }
};

/// All ranks that are worth a point, or few of them.
std::vector<Index> chosen_ranks(Index samples, double level, bool few) {
  std::vector<Index> ranks;
  const auto add_share = [&](double share) {
    if (const Index rank = bounds::band_quantile_rank(samples, share, level)) ranks.push_back(rank);
  };
  for (const double share : usual_shares) add_share(share);
  if (!few)
    for (int percent = 1; percent < 100; ++percent) add_share(percent / 100.0);
  for (Index failures = 0; failures < samples;
       failures += few ? failures + 1 : std::max<Index>(1, failures / 10))
    if (const Index rank = bounds::band_rank_down(samples, samples - failures)) ranks.push_back(rank);
  std::ranges::sort(ranks);
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  return ranks;
}

}  // namespace

const ClaimKind& bands() {
  static const Bands kind;
  return kind;
}

std::vector<BandPoint> points_of(const BandClaim& claim) {
  std::vector<BandPoint> points;
  const char* at = claim.points.data();
  const char* end = at + claim.points.size();
  while (at != end) {
    BandPoint point;
    const auto rank = std::from_chars(at, end, point.rank);
    require(rank.ec == std::errc() && rank.ptr != end && *rank.ptr == ':',
            "points: '{}' is not a rank and a value",
            claim.points.substr(static_cast<std::size_t>(at - claim.points.data()), 40));
    const auto value = std::from_chars(rank.ptr + 1, end, point.value);
    const bool ends =
        value.ec == std::errc() && (value.ptr == end || (*value.ptr == ' ' && value.ptr + 1 != end));
    require(ends && std::isfinite(point.value), "points: the value of rank {} is not a number", point.rank);
    require(point.rank >= 1 &&
                (points.empty() || (points.back().rank < point.rank && points.back().value <= point.value)),
            "points: rank {} with value {} is out of order", point.rank, point.value);
    points.push_back(point);
    at = value.ptr == end ? end : value.ptr + 1;
  }
  return points;
}

std::vector<Index> band_steps(std::vector<Index> claimed) {
  if (claimed.size() <= most_band_steps) return claimed;
  std::vector<Index> steps;
  for (std::size_t i = 0; i < most_band_steps; ++i)
    steps.push_back(claimed[i * (claimed.size() - 1) / (most_band_steps - 1)]);
  return steps;
}

std::vector<Index> band_point_ranks(Index samples, double level, Index bands_of_variant) {
  // Every band of a certificate asks for the same ones.
  static std::mutex mutex;
  static std::map<std::tuple<Index, double, bool>, std::vector<Index>> known;
  const std::scoped_lock lock(mutex);
  const auto ranks = [&](bool few) -> const std::vector<Index>& {
    const auto [found, is_new] = known.try_emplace({samples, level, few});
    if (is_new) found->second = chosen_ranks(samples, level, few);
    return found->second;
  };
  const Index room =
      (bytes_per_variant / std::max<Index>(1, bands_of_variant) - bytes_of_claim) / bytes_of_point;
  return ranks(static_cast<Index>(ranks(false).size()) > room);
}

}  // namespace surefoot::certify
