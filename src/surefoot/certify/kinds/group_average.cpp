#include "surefoot/certify/kinds/group_average.hpp"

#include "surefoot/certify/kinds/kind_of.hpp"
#include "surefoot/certify/kinds/share_histogram.hpp"
#include "surefoot/certify/kinds/tolerance_claims.hpp"
#include "surefoot/certify/nearly_equal.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/work_interrupt.hpp"

namespace surefoot::certify {
namespace {

constexpr std::size_t most_shares = 256;  // different ones in a claim

// Equal shares as one, rounded up to as many digits as leave few of them.
std::vector<bounds::GroupShare> few_shares(const std::vector<runs::ValueCount>& exact) {
  constexpr int all_digits = 52;
  constexpr int digits_by_step = 2;
  constexpr int most_rounded = 10;
  std::vector<bounds::GroupShare> shares;
  if (exact.empty()) return shares;
  for (int digits = all_digits; shares.empty() || (shares.size() > most_shares && digits >= 0);
       digits = std::min(most_rounded, digits - digits_by_step)) {
    shares.clear();
    for (const runs::ValueCount& each : exact) {
      const double share = runs::rounded_up(each.value, digits);
      if (shares.empty() || shares.back().share != share) shares.push_back({share, 0});
      shares.back().groups += each.count;
    }
  }
  return shares;
}

class GroupAverages final : public KindOf<GroupAverages, AverageClaim> {
 public:
  GroupAverages() : KindOf(&Certificate::average) {}

  [[nodiscard]] std::string_view name() const override { return "average"; }
  [[nodiscard]] std::string_view part() const override { return "group_average"; }
  [[nodiscard]] std::string_view singular() const override { return "average of groups"; }
  [[nodiscard]] std::string_view plural() const override { return "averages of groups"; }
  [[nodiscard]] bool claimed_of(Sampling sampling) const override { return sampling == Sampling::groups; }
  [[nodiscard]] bool by_default() const override { return true; }
  [[nodiscard]] int place() const override { return 35; }

  template <class Visit, class Claim>
  static void each_field(Visit& visit, Claim& claim) {
    visit("variant", claim.variant);
    visit("step", claim.step);
    visit("tolerance", claim.tolerance);
    visit("method", claim.method);
    visit("samples", claim.samples);
    visit("shares", claim.shares);
    visit("delta", claim.delta);
    visit("empirical", claim.empirical);
    visit("upper_bound", claim.upper_bound);
  }
  static auto key(const AverageClaim& claim) {
    return std::make_tuple(claim.variant, claim.step, claim.tolerance);
  }

  void prepare(const Options&, runs::TallySpec& spec) const override { spec.keep_shares = true; }

  using ClaimKind::paid_claims;
  [[nodiscard]] Index paid_claims(const Options& options, const runs::TallySpec& spec) const override {
    return static_cast<Index>(spec.claim_columns.size() * options.tolerances.size());
  }

  void make(const Options& options, std::size_t variant, const runs::Tally& tally, double delta,
            Certificate& certificate) const override {
    const runs::TallySpec& spec = tally.spec();
    std::vector<AverageClaim> made;
    for (std::size_t t = 0; t < options.tolerances.size(); ++t) {
      for (std::size_t i = 0; i < spec.claim_columns.size(); ++i) {
        WorkInterrupt::check();
        AverageClaim claim;
        claim.variant = variant;
        claim.step = spec.steps[spec.claim_columns[i]];
        claim.tolerance = options.tolerances[t];
        claim.method = options.average_method;
        claim.samples = tally.samples();
        const std::vector<bounds::GroupShare> shares =
            few_shares(tally.failed_shares(i, t).different_values());
        claim.shares = shares_text(shares);
        claim.delta = delta;
        claim.empirical = bounds::group_average_mean(shares);
        made.push_back(std::move(claim));
      }
    }
    ShareBounds bound;
    parallel_blocks(static_cast<Index>(made.size()), [&](Index i) {
      WorkInterrupt::check();
      AverageClaim& claim = made[static_cast<std::size_t>(i)];
      claim.upper_bound = bound(claim.shares, claim.samples, claim.delta, claim.method);
    });
    for (const AverageClaim& claim : made) add(certificate, claim);
  }

  [[nodiscard]] Index declared(const Certificate& certificate, Index at_steps) const override {
    return at_steps * static_cast<Index>(certificate.tolerances.size());
  }
  void restore(const Certificate& certificate, Options& options) const override {
    options.average_method = claims(certificate).front().method;
  }

  /// Every tick of a group is below the tolerance where its share is 0.
  [[nodiscard]] std::vector<CountBelow> counts_below(const Certificate& certificate) const override {
    std::vector<CountBelow> counts;
    for (const AverageClaim& claim : claims(certificate)) {
      Index groups = 0;
      try {
        const std::vector<bounds::GroupShare> shares = shares_of(claim);
        if (!shares.empty() && shares.front().share == 0) groups = shares.front().groups;
      } catch (const InputError&) {
        continue;  // found elsewhere
      }
      counts.push_back({claim.variant, claim.step, claim.tolerance, groups});
    }
    return counts;
  }

  void check_one(const AverageClaim& claim, ClaimChecker& checker) const {
    static ShareBounds bounds_of_claims;
    const Certificate& certificate = checker.certificate();
    checker.expect(claim.method == claims(certificate).front().method,
                   "its method is not that of the other claims");
    checker.check_step(claim.variant, claim.step);
    checker.check_tolerance(claim.tolerance);
    const std::vector<bounds::GroupShare> shares = shares_of(claim);
    Index groups = 0;
    for (const bounds::GroupShare& each : shares) groups += each.groups;
    checker.expect(groups == claim.samples,
                   fmt::format("shares of {} groups, there are {}", groups, claim.samples));
    if (shares.empty()) return;
    const double mean = bounds::group_average_mean(shares);
    checker.expect(nearly_equal(mean, claim.empirical),
                   fmt::format("the average share is {}, not {}", mean, claim.empirical));
    const double bound = bounds_of_claims(claim.shares, claim.samples, claim.delta, claim.method);
    checker.expect(nearly_equal(bound, claim.upper_bound),
                   fmt::format("the shares of {} groups give at most {}, not {}", claim.samples, bound,
                               claim.upper_bound));
  }

  static std::string difference(const AverageClaim& data, const AverageClaim& claim) {
    const bool same_claim = data.step == claim.step && data.tolerance == claim.tolerance;
    if (same_claim && data.shares == claim.shares) return "";
    return fmt::format(
        "shares of failed ticks at step {} and tolerance {} are others, {} on average, the "
        "certificate says {}",
        data.step, data.tolerance, data.empirical, claim.empirical);
  }

  [[nodiscard]] bool says_nothing_somewhere(const Certificate& certificate,
                                            const WorstCaseBounds&) const override {
    return std::ranges::any_of(claims(certificate),
                               [](const AverageClaim& claim) { return !(claim.upper_bound < 1); });
  }

  [[nodiscard]] std::vector<std::string> clauses(const Certificate& certificate, std::size_t variant,
                                                 const WorstCaseBounds&, const Voice& voice,
                                                 bool joined) const override {
    std::vector<std::string> result;
    const std::vector<const AverageClaim*> quoted =
        claims_to_quote(certificate, claims(certificate), variant);
    if (joined && !quoted.empty()) return {clause_of(certificate, quoted, voice)};
    for (const AverageClaim* claim : quoted) result.push_back(clause_of(certificate, {claim}, voice));
    return result;
  }

  [[nodiscard]] std::vector<std::string> meaning(const Certificate& certificate) const override {
    if (claims(certificate).empty()) return {};
    return {
        "\"On average over groups\": the expected share of failed ticks of a new group. Groups are weighed equally, "
        "not ticks: a group of ten ticks counts as much as one of ten thousand."};
  }
  [[nodiscard]] std::vector<std::string> assumptions(const Certificate&, int) const override {
    return {
        "An average of groups bounds the expected share of failed ticks of a new group: groups are weighed equally, "
        "not ticks."};
  }

  [[nodiscard]] SectionWords section(const Certificate&) const override {
    return {
        "Average of groups",
        "Share of the ticks of a group that is not below the tolerance, on average over groups",
        "Share of the ticks of a group that is not below the tolerance, on average over groups: observed (shares of "
        "groups rounded up), and at most this among new groups (certified, rounded up). Groups are weighed equally, "
        "not ticks.",
        {}};
  }

  [[nodiscard]] TextTable table(const Certificate& certificate, std::size_t variant,
                                const std::vector<Index>& steps) const override {
    return tolerance_table(certificate, claims(certificate), variant, steps);
  }

  [[nodiscard]] std::vector<CurveRow> curve(const Certificate& certificate,
                                            const WorstCaseBounds&) const override {
    std::vector<CurveRow> rows;
    for (const AverageClaim& claim : claims(certificate)) {
      const std::vector<bounds::GroupShare> shares = shares_of(claim);
      const Index clean = shares.empty() || shares.front().share > 0 ? 0 : shares.front().groups;
      rows.push_back({claim.variant, claim.step, claim.tolerance, claim.empirical, claim.upper_bound,
                      bounds::name(claim.method), claim.samples, claim.samples - clean, claim.delta,
                      claim.upper_bound});
    }
    return rows;
  }

 private:
  /// "after 60 iterations, on average over new groups (one per flight), the residual of at most 1.3 % of the
  /// ticks of a group is not below 1e-3 and 0.4 % not below 1e-2; every group counts the same, whatever its
  /// number of ticks".
  static std::string clause_of(const Certificate& certificate, const std::vector<const AverageClaim*>& quoted,
                               const Voice& voice) {
    std::vector<std::string> parts;
    for (const AverageClaim* claim : quoted)
      parts.push_back(fmt::format("{} {}not below {}", rate_text(claim->upper_bound),
                                  parts.empty() ? fmt::format("of the ticks of a group {} ", voice.are) : "",
                                  tolerance_text(certificate, claim->tolerance)));
    return fmt::format(
        "{}, on average over {}, {}at most {}; every group counts the same, whatever its number of ticks",
        after_steps(quoted.front()->step), voice.groups, voice.metric_of, listed(parts));
  }
};

}  // namespace

const ClaimKind& group_averages() {
  static const GroupAverages kind;
  return kind;
}

std::vector<bounds::GroupShare> shares_of(const AverageClaim& claim) {
  return shares_in(claim.shares, claim.samples);
}

}  // namespace surefoot::certify
