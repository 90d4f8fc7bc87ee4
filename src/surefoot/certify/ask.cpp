#include "surefoot/certify/ask.hpp"

#include "surefoot/bounds/band.hpp"
#include "surefoot/bounds/sample_size.hpp"
#include "surefoot/certify/independence.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace surefoot::certify {
namespace {

using When = ClaimText::When;
using bounds::BudgetMethod;

/// Whether the fact speaks of the steps that the claim does.
bool covers_steps(const Variant& variant, const Fact& fact, const ClaimText& claim) {
  if (claim.step > variant.last_step || fact.step > claim.step) return false;
  if (claim.when == When::within) return fact.of == Fact::Of::onward;
  return fact.step == claim.step || (fact.of != Fact::Of::step && records(variant, claim.step));
}

/// Whether X below (or at most) the fact's value is below (or at most) the claim's.
bool covers_value(const Fact& fact, const ClaimText& claim) {
  return claim.strict && !fact.strict ? fact.value < claim.value : fact.value <= claim.value;
}

/// Points of a band as facts; their shares come again in every band of the variant.
class BandFacts {
 public:
  void add(const BandClaim& claim, std::vector<Fact>& facts) {
    for (const BandPoint& point : points_of(claim)) {
      const auto [share, is_new] = shares_.try_emplace({claim.samples, point.rank, claim.level}, 0.0);
      if (is_new) share->second = bounds::band_share(claim.samples, point.rank, claim.level);
      facts.push_back(
          {claim.variant, claim.step, claim.of == band_onward ? Fact::Of::onward : Fact::Of::step, false,
           point.value, share->second,
           fmt::format("{} of {} samples are at most {}{}; level {} of a band with delta {}",
                       count_label(point.rank), count_label(claim.samples), upper_bound_value(point.value),
                       claim.of == band_onward ? " from there on" : "", lower_bound_value(claim.level),
                       lower_bound_value(claim.delta))});
    }
  }

 private:
  std::map<std::tuple<Index, Index, double>, double> shares_;
};

/// "the residual of at least 95 % of new problems is below 3e-4 after 60 iterations and stays below it ...".
std::string clause_of(const Certificate& certificate, std::size_t variant, const ClaimText& claim,
                      const std::string& share) {
  const Voice voice = standing_alone(certificate);
  if (certificate.scalar)
    return fmt::format("{}at least {} {} {} {}", voice.subject, share, voice.problems,
                       claim.strict ? "below" : "at most", with_unit(certificate, exact_label(claim.value)));
  const Variant& of = certificate.variants[variant];
  std::string lasting;
  if (claim.when == When::within && claim.step < of.last_step) {
    const std::string horizon = horizon_words(certificate, of.last_step);
    lasting = certificate.loop ? lasting_every_step(certificate, horizon)
              : claim.strict   ? fmt::format(" and {} {}", voice.stay, staying(has_gaps(of), horizon))
                               : fmt::format(" and {} there {}({})", voice.stay,
                                           has_gaps(of) ? "at every recorded iteration " : "", horizon);
  }
  return fmt::format("{}at least {} {} {} {} {}{}", voice.subject, share, voice.problems,
                     claim.strict ? "below" : "at or below", with_unit(certificate, exact_label(claim.value)),
                     after_steps(certificate, claim.step), lasting);
}

std::string sentence_of(const Certificate& certificate, std::size_t variant, const ClaimText& claim,
                        const std::string& share) {
  return conditioned(certificate, fmt::format("{}{}.", opening_of(certificate, variant),
                                              clause_of(certificate, variant, claim, share)));
}

class Asked {
 public:
  Asked(const Certificate& certificate, const Facts& facts, std::size_t variant)
      : certificate_(certificate), facts_(facts) {
    answer_.variant = variant;
  }

  Answer operator()(ClaimText claim) {
    const Variant& variant = certificate_.variants[answer_.variant];
    answer_.claim = claim;
    if (certificate_.scalar) {
      // Nothing to say of steps: its one column is what "after" its step means.
      const Fact* best = facts_.best_share(answer_.variant, at_its_column(claim));
      if (best == nullptr || !(best->share > 0) || best->share < claim.share.value_or(0)) {
        add_what_holds(claim, best);
        return answer_;
      }
      const std::string share = claim.share ? percent_label(*claim.share) : lower_bound_percent(best->share);
      if (!claim.share) claim.share = best->share;
      return certified(claim, *best, share);
    }
    if (claim.when == When::unsaid && claim.share) {
      if (const Fact* fact = facts_.best_step(answer_.variant, claim)) {
        claim.when = When::within;
        claim.step = fact->step;
        return certified(claim, *fact, percent_label(*claim.share));
      }
    }
    if (claim.when == When::unsaid) {
      claim.when = When::within;
      claim.step = variant.last_step;
    }
    const Fact* best = facts_.best_share(answer_.variant, claim);
    if (best != nullptr && best->share > 0 && (!claim.share || best->share >= *claim.share)) {
      const std::string share = claim.share ? percent_label(*claim.share) : lower_bound_percent(best->share);
      if (!claim.share) claim.share = best->share;
      return certified(claim, *best, share);
    }
    if (claim.step > variant.last_step)
      answer_.but.push_back(
          fmt::format("nothing is recorded after iteration {}", count_label(variant.last_step)));
    else if (claim.when == When::after && !records(variant, claim.step))
      answer_.but.push_back(fmt::format("iteration {} was not recorded", count_label(claim.step)));
    else
      add_what_holds(claim, best);
    return answer_;
  }

 private:
  static ClaimText at_its_column(ClaimText claim) {
    claim.when = When::after;
    claim.step = scalar_step;
    return claim;
  }

  Answer certified(const ClaimText& claim, const Fact& fact, const std::string& share) {
    answer_.holds = true;
    answer_.claim = claim;
    answer_.sentence = sentence_of(certificate_, answer_.variant, claim, share);
    answer_.proof = fact.proof;
    return answer_;
  }

  void add_what_holds(const ClaimText& claim, const Fact* best) {
    if (best != nullptr && lower_bound_percent(best->share) != nothing)
      answer_.but.push_back(
          clause_of(certificate_, answer_.variant, claim, lower_bound_percent(best->share)));
    if (!claim.share) return;
    const std::string share = percent_label(*claim.share);
    if (const Fact* fact =
            facts_.best_value(answer_.variant, certificate_.scalar ? at_its_column(claim) : claim)) {
      ClaimText other = claim;
      other.strict = fact->strict;
      other.value = fact->value;
      answer_.but.push_back(clause_of(certificate_, answer_.variant, other, share));
    }
    if (const Fact* fact = facts_.best_step(answer_.variant, claim)) {
      ClaimText other = claim;
      other.when = When::within;
      other.step = fact->step;
      answer_.but.push_back(clause_of(certificate_, answer_.variant, other, share));
    }
    for (const BandClaim& band : certificate_.bands) {
      if (band.variant != answer_.variant) continue;
      const Index needed = bounds::samples_needed(0, *claim.share, band.level);
      if (needed > band.samples)
        answer_.but.push_back(fmt::format(
            "a share of {} needs {} {} without failure, these are {}", share, count_label(needed),
            sampling_of(certificate_) == Sampling::groups ? "groups" : "runs", count_label(band.samples)));
      break;
    }
  }

  const Certificate& certificate_;
  const Facts& facts_;
  Answer answer_;
};

}  // namespace

Facts::Facts(const Certificate& certificate) : certificate_(certificate) {
  for (const SuccessClaim& claim : certificate.success) {
    all_.push_back({claim.variant, claim.step, Fact::Of::step, !certificate.scalar, claim.tolerance,
                    claim.lower_bound,
                    fmt::format("{} failures in {} samples, delta {}", count_label(claim.failures),
                                count_label(claim.samples), lower_bound_value(claim.delta))});
  }
  for (const QuantileClaim& claim : certificate.quantile) {
    if (!(claim.upper_bound < infinity)) continue;
    all_.push_back({claim.variant, claim.step, Fact::Of::step, false, claim.upper_bound, claim.quantile,
                    fmt::format("{} of {} samples are at most {}, delta {}", count_label(claim.at_most),
                                count_label(claim.samples), upper_bound_value(claim.upper_bound),
                                lower_bound_value(claim.delta))});
  }
  for (const BudgetClaim& claim : certificate.budget) {
    const bool settles = claim.method == BudgetMethod::settling;
    if (!claim.steps || !(settles || claim.method == BudgetMethod::every_step)) continue;
    all_.push_back({claim.variant, *claim.steps, settles ? Fact::Of::onward : Fact::Of::each_later, true,
                    claim.tolerance, claim.quantile,
                    fmt::format("{} of {} samples are below {} from there on, delta {}",
                                count_label(claim.reached), count_label(claim.samples),
                                exact_label(claim.tolerance), lower_bound_value(claim.delta))});
  }
  BandFacts of_bands;
  for (const BandClaim& claim : certificate.bands) of_bands.add(claim, all_);
}

const Fact* Facts::best_share(std::size_t variant, const ClaimText& claim) const {
  const Fact* best = nullptr;
  for (const Fact& fact : all_) {
    if (fact.variant != variant || !covers_value(fact, claim) ||
        !covers_steps(certificate_.variants[variant], fact, claim))
      continue;
    if (best == nullptr || fact.share > best->share) best = &fact;
  }
  return best;
}

const Fact* Facts::best_value(std::size_t variant, const ClaimText& claim) const {
  const Fact* best = nullptr;
  for (const Fact& fact : all_) {
    if (fact.variant != variant || !(fact.share >= claim.share.value_or(0)) ||
        !covers_steps(certificate_.variants[variant], fact, claim))
      continue;
    if (best == nullptr || fact.value < best->value) best = &fact;
  }
  return best;
}

const Fact* Facts::best_step(std::size_t variant, const ClaimText& claim) const {
  const Fact* best = nullptr;
  for (const Fact& fact : all_) {
    if (fact.variant != variant || fact.of != Fact::Of::onward || !covers_value(fact, claim) ||
        !(fact.share >= claim.share.value_or(0)))
      continue;
    if (best == nullptr || fact.step < best->step) best = &fact;
  }
  return best;
}

void require_claims_together(const Certificate& certificate) {
  require(
      certificate.simultaneous == Simultaneity::all,
      "ask: each claim of this certificate holds alone, so none may be picked after looking; certify with "
      "simultaneous 'all'");
  require(
      sampling_of(certificate) != Sampling::sequence,
      "ask: this certificate is of the past of one log (sequence); it has no share of new problems to ask for");
}

std::vector<Answer> ask(const Certificate& certificate, std::string_view claim, std::string_view variant) {
  const ClaimText parsed = parse_claim(claim, ShareIs::optional);
  require_claims_together(certificate);
  require(!certificate.scalar || parsed.when == When::unsaid,
          "ask: this certificate is of one number per problem and has no iterations: leave '{} {}' out",
          parsed.when == When::after ? "after" : "within", parsed.step);
  const Facts facts(certificate);
  std::vector<Answer> answers;
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    if (variant.empty() || certificate.variants[v].name == variant)
      answers.push_back(Asked(certificate, facts, v)(parsed));
  }
  require(!answers.empty(), "ask: there is no variant '{}'", io::printable(variant));
  return answers;
}

std::string to_text(const Certificate& certificate, const Answer& answer) {
  if (answer.holds) return fmt::format("{}\n  proof: {}\n", answer.sentence, answer.proof);
  const std::string of = certificate.variants.size() > 1
                             ? fmt::format(" for {}", certificate.variants[answer.variant].name)
                             : "";
  std::string text = fmt::format("not certified{}: {}\n", of, to_text(answer.claim));
  for (const std::string& other : answer.but) text += fmt::format("  but: {}\n", other);
  if (answer.but.empty()) text += "  no other claim about this value or this share is certified\n";
  return text;
}

}  // namespace surefoot::certify
