#include "surefoot/certify/shift_part.hpp"

#include "surefoot/certify/ask.hpp"
#include "surefoot/certify/implied.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace surefoot::certify {
namespace {

using bounds::BudgetMethod;
using bounds::Divergence;

std::string_view words_of(Divergence divergence) {
  switch (divergence) {
    case Divergence::kl:
      return "KL";
    case Divergence::total_variation:
      return "total variation";
    case Divergence::chi_squared:
      return "chi^2";
    case Divergence::density_ratio:
      break;
  }
  return "density ratio";
}

/// "problem", "rollout", "group": what a draw from the distribution is.
std::string drawn_thing(const Certificate& certificate) {
  std::string name(things(certificate));
  name.pop_back();
  return name;
}

/// " (of a whole rollout)": laws of rollouts and of groups are compared, not those of their ticks.
std::string of_a_whole(const Certificate& certificate) {
  if (!certificate.loop && sampling_of(certificate) == Sampling::problems) return "";
  return fmt::format(" (of a whole {})", drawn_thing(certificate));
}

/// Down to a tenth of a percent, above 99 % to a thousandth.
double printed_share(double share) {
  const double units = share > 0.99 ? 1e5 : 1e3;
  const double whole = std::floor(share * units);
  return whole / units <= share ? whole / units : (whole - 1) / units;
}

double kept_share(double share, const bounds::Shift& shift) {
  const double left = printed_share(bounds::share_under_shift(share, shift));
  return left >= least_quoted ? left : 0.0;
}

/// "96.7%", as claims are written.
std::string written_share(double share) {
  std::string text = percent_label(share);
  std::erase(text, ' ');
  return text;
}

/// "99% below 1e-2 within 30".
std::string budget_text(const BudgetClaim& claim) {
  const std::string share = written_share(claim.quantile);
  const char* when = claim.method == BudgetMethod::settling
                         ? "within"
                         : (claim.method == BudgetMethod::first_hit ? "at least once within" : "after");
  return fmt::format("{} below {} {} {}", share, exact_label(claim.tolerance), when, *claim.steps);
}

class Collected {
 public:
  explicit Collected(double share) {
    require(share > 0.0 && share < 1.0, "tolerate: a share of {} is outside (0, 1)", share);
    tolerated_.share = share;
  }

  template <class Text>
  void add(std::size_t variant, double share, const Text& text) {
    if (!(share >= tolerated_.share)) {
      ++tolerated_.others;
      return;
    }
    // Differences from 1 are exact from 1/2 on; below it, what is proven is rounded up and what may be, down.
    const double risk = share >= 0.5 ? 1 - share : std::min(1.0, std::nextafter(1 - share, 2.0));
    const double allowed =
        tolerated_.share >= 0.5 ? 1 - tolerated_.share : std::nextafter(1 - tolerated_.share, 0.0);
    const auto margin = [&](Divergence divergence) {
      return bounds::shift_margin(risk, allowed, divergence);
    };
    const double kl = margin(Divergence::kl);
    tolerated_.survived.push_back({variant, text(), share, kl, margin(Divergence::total_variation),
                                   margin(Divergence::chi_squared), margin(Divergence::density_ratio),
                                   bounds::gaussian_mean_shift(kl)});
  }
  void add_none() { ++tolerated_.others; }

  Tolerated take() { return std::move(tolerated_); }

 private:
  Tolerated tolerated_;
};

void add_declared(const Certificate& certificate, std::size_t variant, Collected& all) {
  for (const SuccessClaim& claim : certificate.success) {
    if (claim.variant != variant) continue;
    all.add(variant, claim.lower_bound, [&] {
      return fmt::format("{} below {} after {}", written_share(printed_share(claim.lower_bound)),
                         exact_label(claim.tolerance), claim.step);
    });
  }
  for (const QuantileClaim& claim : certificate.quantile) {
    if (claim.variant != variant) continue;
    if (!(claim.upper_bound < infinity)) {
      all.add_none();
      continue;
    }
    all.add(variant, claim.quantile, [&] {
      return fmt::format("{} at most {} after {}", written_share(claim.quantile),
                         upper_bound_value(claim.upper_bound), claim.step);
    });
  }
  for (const BudgetClaim& claim : certificate.budget) {
    if (claim.variant != variant || claim.method == BudgetMethod::paper) continue;
    if (!claim.steps)
      all.add_none();
    else
      all.add(variant, claim.quantile, [&] { return budget_text(claim); });
  }
}

void add_asked(const Certificate& certificate, const Facts& facts, std::size_t variant, ClaimText claim,
               Collected& all) {
  if (claim.when == ClaimText::When::unsaid) {
    claim.when = ClaimText::When::within;
    claim.step = certificate.variants[variant].last_step;
  }
  const Fact* best = facts.best_share(variant, claim);
  if (best == nullptr) {
    all.add_none();
    return;
  }
  all.add(variant, best->share, [&] {
    claim.share = printed_share(best->share);
    return to_text(claim);
  });
}

std::string margin_text(double margin) {
  return margin == infinity ? "any" : lower_bound_value(margin);
}

}  // namespace

double promised_share(const SuccessClaim& claim) {
  return claim.lower_bound;
}
double promised_share(const QuantileClaim& claim) {
  return claim.quantile;
}
double promised_share(const BudgetClaim& claim) {
  return claim.quantile;
}

std::string shift_words(const Certificate& certificate) {
  if (!certificate.shift) return "";
  const bounds::Shift& shift = *certificate.shift;
  if (shift.divergence == Divergence::density_ratio)
    return fmt::format(
        "under any distribution{} whose density is at most {} times that of the one the {} were drawn from",
        of_a_whole(certificate), exact_label(shift.radius), things(certificate));
  return fmt::format("under any distribution{} within {} {} of the one the {} were drawn from",
                     of_a_whole(certificate), words_of(shift.divergence), exact_label(shift.radius),
                     things(certificate));
}

Certificate under_shift(const Certificate& certificate) {
  Certificate under;
  if (!certificate.shift) return under;
  const bounds::Shift& shift = *certificate.shift;
  under.metric = certificate.metric;
  under.unit = certificate.unit;
  under.scalar = certificate.scalar;
  under.loop = certificate.loop;
  under.grid_method = certificate.grid_method;
  under.delta = certificate.delta;
  under.simultaneous = certificate.simultaneous;
  under.steps = certificate.steps;
  under.tolerances = certificate.tolerances;
  under.variants = certificate.variants;
  under.wording = certificate.wording;
  const ImpliedShares implied(certificate);
  for (SuccessClaim claim : certificate.success) {
    const double share = certificate.wording > 2 ? implied.at(claim) : claim.lower_bound;
    claim.lower_bound = kept_share(share, shift);
    under.success.push_back(claim);
  }
  for (QuantileClaim claim : certificate.quantile) {
    claim.quantile = kept_share(claim.quantile, shift);
    if (claim.quantile > 0) under.quantile.push_back(claim);
  }
  for (BudgetClaim claim : certificate.budget) {
    claim.quantile = kept_share(claim.quantile, shift);
    if (claim.quantile > 0) under.budget.push_back(claim);
  }
  return under;
}

std::optional<std::string> shift_assumption(const Certificate& certificate) {
  if (!certificate.shift) return std::nullopt;
  const bounds::Shift& shift = *certificate.shift;
  const std::string radius = exact_label(shift.radius);
  const std::string within =
      shift.divergence == Divergence::density_ratio
          ? fmt::format("density with respect to that of the samples is at most {} everywhere", radius)
          : fmt::format("{} from that of the samples is at most {}",
                        shift.divergence == Divergence::kl
                            ? "Kullback-Leibler divergence KL(new || samples), in nats,"
                            : fmt::format("{} distance", words_of(shift.divergence)),
                        radius);
  return fmt::format(
      "Statements under other distributions are about a new {} drawn from any one distribution{} whose {}. "
      "Whether the one that {} will come from is so near is not shown by the samples.",
      drawn_thing(certificate), of_a_whole(certificate), within, things(certificate));
}

std::vector<std::string> wrong_in_shift(const Certificate& certificate) {
  if (!certificate.shift) return {};
  std::vector<std::string> findings;
  try {
    certificate.shift->validate();
  } catch (const InputError& error) {
    findings.emplace_back(error.what());
  }
  if (certificate.success.empty() && certificate.quantile.empty() && certificate.budget.empty())
    findings.emplace_back("shift: no claim is stated under it");
  return findings;
}

void add_shift(Certificate& certificate, const bounds::Shift& shift) {
  shift.validate();
  certificate.shift = shift;
  const std::vector<std::string> wrong = wrong_in_shift(certificate);
  require(wrong.empty(),
          "shift: nothing is claimed that could be stated under it: declare success, quantile or budget "
          "claims (choose 'before' or 'both')");
}

Tolerated tolerated_shifts(const Certificate& certificate, double share, std::string_view variant,
                           std::string_view claim) {
  Collected all(share);
  std::optional<ClaimText> asked;
  std::optional<Facts> facts;
  if (!claim.empty()) {
    asked = parse_claim(claim, ShareIs::optional);
    require_claims_together(certificate);
    facts.emplace(certificate);
  }
  bool known = false;
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    if (!variant.empty() && certificate.variants[v].name != variant) continue;
    known = true;
    asked ? add_asked(certificate, *facts, v, *asked, all) : add_declared(certificate, v, all);
  }
  require(known, "ask: there is no variant '{}'", io::printable(variant));
  return all.take();
}

std::string to_text(const Certificate& certificate, const Tolerated& tolerated) {
  const std::string share = percent_label(tolerated.share);
  std::string text;
  if (!tolerated.survived.empty()) {
    text = fmt::format(
        "If {} of {} is enough, these hold also under any distribution{} that is within one of these of\n"
        "the one the {} were drawn from: KL in nats, total variation, chi^2, density ratio, or a Gaussian\n"
        "parameter whose mean moves by so many standard deviations\n\n",
        share, things(certificate), of_a_whole(certificate), things(certificate));
    text += fmt::format("  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {}\n", "KL", "tot. var.", "chi^2", "ratio",
                        "std. dev.", "claim");
    std::size_t last = certificate.variants.size();
    for (const SurvivedShift& each : tolerated.survived) {
      if (each.variant != last && certificate.variants.size() > 1)
        text += fmt::format("  {}\n", certificate.variants[each.variant].name);
      last = each.variant;
      text += fmt::format("  {:>9}  {:>9}  {:>9}  {:>9}  {:>9}  {}\n", margin_text(each.kl),
                          margin_text(each.total_variation), margin_text(each.chi_squared),
                          margin_text(each.density_ratio), margin_text(each.gaussian), each.claim);
    }
    text += '\n';
  }
  if (tolerated.others > 0 || tolerated.survived.empty())
    text += fmt::format("{} claim{} less than {}, so that no shift is left for {}.\n", tolerated.others,
                        tolerated.others == 1 ? " promises" : "s promise", share,
                        tolerated.others == 1 ? "it" : "them");
  return text;
}

}  // namespace surefoot::certify
