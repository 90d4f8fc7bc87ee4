#include "surefoot/certify/kinds/sequence.hpp"

#include "surefoot/bounds/anytime.hpp"
#include "surefoot/certify/kinds/kind_of.hpp"
#include "surefoot/certify/kinds/tolerance_claims.hpp"
#include "surefoot/certify/nearly_equal.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/work_interrupt.hpp"

#include <map>

namespace surefoot::certify {
namespace {

/// Bounds of counts that come again and again.
class SequenceBounds {
 public:
  double operator()(Index failures, Index samples, double delta) {
    const auto [entry, is_new] = known_.try_emplace({failures, samples, delta}, 1.0);
    if (is_new) entry->second = bounds::sequence_upper(failures, samples, delta);
    return entry->second;
  }

 private:
  std::map<std::tuple<Index, Index, double>, double> known_;
};

class Sequences final : public KindOf<Sequences, SequenceClaim> {
 public:
  Sequences() : KindOf(&Certificate::sequence) {}

  [[nodiscard]] std::string_view name() const override { return "sequence"; }
  [[nodiscard]] std::string_view part() const override { return "sequence"; }
  [[nodiscard]] std::string_view singular() const override { return "average over the log"; }
  [[nodiscard]] std::string_view plural() const override { return "averages over the log"; }
  [[nodiscard]] bool claimed_of(Sampling sampling) const override { return sampling == Sampling::sequence; }
  [[nodiscard]] bool by_default() const override { return true; }
  [[nodiscard]] int place() const override { return 38; }

  template <class Visit, class Claim>
  static void each_field(Visit& visit, Claim& claim) {
    visit("variant", claim.variant);
    visit("step", claim.step);
    visit("tolerance", claim.tolerance);
    visit("samples", claim.samples);
    visit("failures", claim.failures);
    visit("delta", claim.delta);
    visit("empirical", claim.empirical);
    visit("upper_bound", claim.upper_bound);
  }
  static auto key(const SequenceClaim& claim) {
    return std::make_tuple(claim.variant, claim.step, claim.tolerance);
  }

  using ClaimKind::paid_claims;
  [[nodiscard]] Index paid_claims(const Options& options, const runs::TallySpec& spec) const override {
    return static_cast<Index>(spec.claim_columns.size() * options.tolerances.size());
  }

  void make(const Options& options, std::size_t variant, const runs::Tally& tally, double delta,
            Certificate& certificate) const override {
    SequenceBounds bound;
    for (std::size_t t = 0; t < options.tolerances.size(); ++t) {
      for (const std::size_t column : tally.spec().claim_columns) {
        WorkInterrupt::check();
        SequenceClaim claim;
        claim.variant = variant;
        claim.step = tally.spec().steps[column];
        claim.tolerance = options.tolerances[t];
        claim.samples = tally.samples();
        claim.failures = tally.failures(column, t);
        claim.delta = delta;
        claim.empirical = share_of(claim);
        claim.upper_bound = bound(claim.failures, claim.samples, delta);
        add(certificate, claim);
      }
    }
  }

  [[nodiscard]] Index declared(const Certificate& certificate, Index at_steps) const override {
    return at_steps * static_cast<Index>(certificate.tolerances.size());
  }

  [[nodiscard]] std::vector<CountBelow> counts_below(const Certificate& certificate) const override {
    std::vector<CountBelow> counts;
    for (const SequenceClaim& claim : claims(certificate))
      counts.push_back({claim.variant, claim.step, claim.tolerance, claim.samples - claim.failures});
    return counts;
  }

  void check_one(const SequenceClaim& claim, ClaimChecker& checker) const {
    checker.check_step(claim.variant, claim.step);
    checker.check_tolerance(claim.tolerance);
    const Variant& variant = checker.certificate().variants[claim.variant];
    checker.expect(claim.step != variant.last_step || claim.failures >= variant.non_finite_runs,
                   "fewer ticks have failed in the end than have diverged");
    checker.expect(nearly_equal(share_of(claim), claim.empirical),
                   fmt::format("the share of failed ticks is {}, not {}", share_of(claim), claim.empirical));
    const double bound = bounds::sequence_upper(claim.failures, claim.samples, claim.delta);
    checker.expect(nearly_equal(bound, claim.upper_bound),
                   fmt::format("{} failures in {} ticks give at most {}, not {}", claim.failures,
                               claim.samples, bound, claim.upper_bound));
  }

  static std::string difference(const SequenceClaim& data, const SequenceClaim& claim) {
    const bool same_claim = data.step == claim.step && data.tolerance == claim.tolerance;
    if (same_claim && data.failures == claim.failures) return "";
    return fmt::format("{} ticks fail at step {} and tolerance {}, the certificate says {}", data.failures,
                       data.step, data.tolerance, claim.failures);
  }

  [[nodiscard]] bool says_nothing_somewhere(const Certificate& certificate,
                                            const WorstCaseBounds&) const override {
    return std::ranges::any_of(claims(certificate),
                               [](const SequenceClaim& claim) { return !(claim.upper_bound < 1); });
  }

  /// "in the 12,000 ticks of this log the probability, given the ticks before, that the residual of a tick is
  /// not below 1e-3 after 40 iterations was at most 0.8 % on average".
  [[nodiscard]] std::vector<std::string> clauses(const Certificate& certificate, std::size_t variant,
                                                 const WorstCaseBounds&, const Voice&, bool) const override {
    std::vector<std::string> result;
    for (const SequenceClaim* claim : claims_to_quote(certificate, claims(certificate), variant))
      result.push_back(fmt::format(
          "in the {} ticks of this log the probability, given the ticks before, that the {} of a tick is not below "
          "{} {} was at most {} on average",
          count_label(claim->samples), certificate.metric, tolerance_text(certificate, claim->tolerance),
          after_steps(claim->step), rate_text(claim->upper_bound)));
    return result;
  }

  [[nodiscard]] std::vector<std::string> meaning(const Certificate& certificate) const override {
    if (claims(certificate).empty()) return {};
    return {
        "Ticks may depend on each other in any way. Every tick had a probability to fail, given all that came before "
        "it; what is bounded is the average of these probabilities over the ticks that were recorded.",
        "It holds at every length of the log at once: the log may be looked at as it grows, and ended at any "
        "time."};
  }
  [[nodiscard]] std::vector<std::string> limits(const Certificate& certificate) const override {
    if (claims(certificate).empty()) return {};
    return {
        "Nothing about another log, and nothing about the ticks to come: it is a statement about the past of this "
        "log.",
        "Nothing about shares, quantiles or iteration budgets of new problems: these need independent samples."};
  }

  [[nodiscard]] SectionWords section(const Certificate&) const override {
    return {
        "Average over the log",
        "Average probability that a tick was not below the tolerance, given the ticks before",
        "Share of ticks that were not below the tolerance, and the average over the log of their probability, given "
        "the ticks before: at most this (certified, rounded up). It is about the past of this log.",
        {}};
  }

  [[nodiscard]] TextTable table(const Certificate& certificate, std::size_t variant,
                                const std::vector<Index>& steps) const override {
    return tolerance_table(certificate, claims(certificate), variant, steps);
  }

  [[nodiscard]] std::vector<CurveRow> curve(const Certificate& certificate,
                                            const WorstCaseBounds&) const override {
    std::vector<CurveRow> rows;
    for (const SequenceClaim& claim : claims(certificate))
      rows.push_back({claim.variant, claim.step, claim.tolerance, claim.empirical, claim.upper_bound,
                      "mixture", claim.samples, claim.failures, claim.delta, claim.upper_bound});
    return rows;
  }

 private:
  static double share_of(const SequenceClaim& claim) {
    return static_cast<double>(claim.failures) / static_cast<double>(claim.samples);
  }
};

}  // namespace

const ClaimKind& sequences() {
  static const Sequences kind;
  return kind;
}

}  // namespace surefoot::certify
