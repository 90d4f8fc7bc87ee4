#include "surefoot/certify/paired.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/bounds/rounding.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace surefoot::certify {
namespace {

using PairedJson = nlohmann::ordered_json;

constexpr Index never_settles = -1;
constexpr Index most_pairs = 10'000'000;
constexpr std::size_t paired_steps = 4;
constexpr double least_points = 0.001;  // a difference that is worth its number
constexpr Index bounds_of_claim = 4;    // two sign tests and two of the difference

/// What B takes over what A takes. Neither settles: nothing good is said of such a problem.
double ratio_of(std::optional<Index> b, std::optional<Index> a) {
  if (!b) return infinity;
  if (!a) return 0;
  if (*a == 0) return *b == 0 ? 1.0 : infinity;
  return static_cast<double>(*b) / static_cast<double>(*a);
}

double ranked(std::vector<double> values, Index rank) {
  if (rank == 0) return infinity;
  const auto at = values.begin() + static_cast<std::ptrdiff_t>(rank - 1);
  std::nth_element(values.begin(), at, values.end());
  return *at == infinity || *at == 0 ? *at : bounds::up(*at);
}

PairedTimes times_of(const PairedRuns& a, const PairedRuns& b, const PairedOptions& options,
                     std::size_t tolerance, double delta) {
  PairedTimes times;
  times.tolerance = options.tolerances[tolerance];
  std::vector<double> b_over_a;
  std::vector<double> a_over_b;
  const Index last = a.steps().back() + 1;
  for (Index run = 0; run < a.runs(); ++run) {
    const std::optional<Index> of_a = a.settles(tolerance, run);
    const std::optional<Index> of_b = b.settles(tolerance, run);
    const Index time_a = of_a.value_or(last);
    const Index time_b = of_b.value_or(last);
    ++(time_b < time_a ? times.b_earlier : (time_a < time_b ? times.a_earlier : times.ties));
    b_over_a.push_back(ratio_of(of_b, of_a));
    a_over_b.push_back(ratio_of(of_a, of_b));
  }
  const auto at_least = [&](Index count) {
    return bounds::success_lower_bound(a.runs() - count, a.runs(), delta, bounds::RiskMethod::exact);
  };
  times.share_b_earlier = at_least(times.b_earlier);
  times.share_a_earlier = at_least(times.a_earlier);
  for (const double share : options.shares) {
    const Index rank = bounds::order_statistic_rank(a.runs(), share, delta);
    times.ratios.push_back({share, rank, ranked(b_over_a, rank), ranked(a_over_b, rank)});
  }
  return times;
}

Decision decided(double lower, double upper, double allow) {
  if (lower >= -allow) return Decision::not_worse;
  return upper < -allow ? Decision::worse : Decision::undecided;
}

/// Pairs in all at which counts in the same proportion would decide.
std::optional<Index> pairs_needed(const bounds::PairedCounts& counts, double allow, double delta) {
  const auto decides = [&](Index pairs) {
    const double times = static_cast<double>(pairs) / static_cast<double>(counts.pairs());
    bounds::PairedCounts grown;
    grown.more = static_cast<Index>(std::llround(static_cast<double>(counts.more) * times));
    grown.less = static_cast<Index>(std::llround(static_cast<double>(counts.less) * times));
    grown.ties = std::max<Index>(0, pairs - grown.more - grown.less);
    return decided(bounds::difference_lower(grown, delta), bounds::difference_upper(grown, delta), allow) !=
           Decision::undecided;
  };
  Index low = counts.pairs();
  Index high = low;
  do {
    low = high;
    high *= 2;
    if (high > most_pairs) return std::nullopt;
  } while (!decides(high));
  // To one part in a hundred: it is an estimate.
  while (high - low > std::max<Index>(1, high / 100)) {
    const Index middle = low + (high - low) / 2;
    (decides(middle) ? high : low) = middle;
  }
  return high;
}

PairedSuccess success_of(const PairedRuns& a, const PairedRuns& b, const PairedOptions& options,
                         std::size_t claim, double delta) {
  PairedSuccess cell;
  cell.claim = options.claims[claim];
  for (Index run = 0; run < a.runs(); ++run) {
    const bool by_a = a.succeeds(claim, run);
    const bool by_b = b.succeeds(claim, run);
    ++(by_a ? (by_b ? cell.both : cell.only_a) : (by_b ? cell.only_b : cell.neither));
  }
  cell.lower = bounds::difference_lower(cell.counts(), delta);
  cell.upper = bounds::difference_upper(cell.counts(), delta);
  if (!options.allow) {
    if (bounds::sign_test(cell.only_b, cell.only_a) <= delta) cell.verdict = PairedVerdict::b_is_better;
    if (bounds::sign_test(cell.only_a, cell.only_b) <= delta) cell.verdict = PairedVerdict::a_is_better;
    return cell;
  }
  cell.decision = decided(cell.lower, cell.upper, *options.allow);
  if (*cell.decision == Decision::undecided) cell.needed = pairs_needed(cell.counts(), *options.allow, delta);
  return cell;
}

/// Differences of rates are in points, a lower bound rounded down and an upper bound up.
std::string as_points(const std::string& percent) {
  return percent.ends_with(" %") ? percent.substr(0, percent.size() - 2) : std::string("0");
}
std::string points_down(double difference) {
  return as_points(lower_bound_percent(difference));
}
std::string points_up(double difference) {
  if (difference >= 1) return "100";
  return difference > 0 ? as_points(upper_bound_percent(difference)) : "0";
}
std::string in_points(const std::string& number) {
  return number + (number == "1" ? " point" : " points");
}
/// "-0.4 .. 1.3"
std::string points_between(double lower, double upper) {
  return fmt::format("{} .. {}", lower < 0 ? '-' + points_up(-lower) : points_down(lower),
                     upper < 0 ? '-' + points_down(-upper) : points_up(upper));
}

std::string decision_words(const PairedComparison& comparison, const PairedSuccess& cell) {
  const std::string allowed = in_points(as_points(percent_label(*comparison.allow)));
  switch (*cell.decision) {
    case Decision::not_worse:
      return fmt::format("{} is not worse than {} by more than the allowed {}", comparison.b, comparison.a,
                         allowed);
    case Decision::worse:
      return fmt::format("{} is worse than {} by more than the allowed {}, by at least {}", comparison.b,
                         comparison.a, allowed, in_points(points_down(-cell.upper)));
    case Decision::undecided:
      break;
  }
  const std::string further =
      cell.needed ? fmt::format("about {} problems in all would decide, {} more, if they went on like these",
                                count_label(*cell.needed), count_label(*cell.needed - comparison.pairs))
                  : "no number of problems up to ten million would decide, if they went on like these";
  return fmt::format("undecided whether {} is worse than {} by more than the allowed {}: {}", comparison.b,
                     comparison.a, allowed, further);
}

void add_time_sentences(const PairedComparison& comparison, const PairedTimes& times,
                        std::vector<std::string>& sentences) {
  const std::string below = fmt::format("stays below {}", exact_label(times.tolerance));
  const auto earlier = [&](const std::string& first, const std::string& other, double share) {
    if (share >= least_quoted)
      sentences.push_back(
          fmt::format("on at least {} of problems {} is below {} for good strictly earlier than {}",
                      lower_bound_percent(share), first, exact_label(times.tolerance), other));
  };
  earlier(comparison.b, comparison.a, times.share_b_earlier);
  earlier(comparison.a, comparison.b, times.share_a_earlier);
  const auto needs = [&](const std::string& first, const std::string& other, double share, double ratio) {
    if (ratio < 1)
      sentences.push_back(fmt::format(
          "on at least {} of problems {} needs at most {} times the iterations of {} until it {}",
          percent_label(share), first, ratio == 0 ? "0" : upper_bound_value(ratio), other, below));
  };
  for (const PairedRatio& ratio : times.ratios) {
    needs(comparison.b, comparison.a, ratio.share, ratio.b_over_a);
    needs(comparison.a, comparison.b, ratio.share, ratio.a_over_b);
  }
}

std::string xml_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string_view name_of(PairedVerdict verdict) {
  if (verdict == PairedVerdict::not_shown) return "not shown";
  return verdict == PairedVerdict::a_is_better ? "first is better" : "second is better";
}

std::string_view name_of(Decision decision) {
  if (decision == Decision::undecided) return "undecided";
  return decision == Decision::worse ? "worse" : "not worse";
}

std::string winner_words(const PairedComparison& comparison, const PairedSuccess& cell) {
  if (cell.decision) return std::string(name_of(*cell.decision));
  if (cell.verdict == PairedVerdict::not_shown) return "not shown";
  return fmt::format("{} is better",
                     cell.verdict == PairedVerdict::a_is_better ? comparison.a : comparison.b);
}

}  // namespace

void PairedOptions::validate() const {
  require(delta > 0 && delta < 1, "delta of the comparison: {} is outside (0, 1)", delta);
  require(!allow || (*allow >= 0 && *allow < 1), "allow: {} is outside [0, 1)", allow.value_or(0));
  require(!claims.empty() || !tolerances.empty(), "compare: there is no claim and no tolerance to compare");
  require(!allow || (!claims.empty() && tolerances.empty()), "allow: it is for claims alone");
  for (const ClaimText& claim : claims) {
    require(!claim.share, "claim: '{}' has a share; what is compared are the shares of both", to_text(claim));
    require(claim.when != ClaimText::When::unsaid, "claim: '{}' does not say 'after K' or 'within K'",
            to_text(claim));
  }
  for (std::size_t i = 0; i < tolerances.size(); ++i)
    require(std::isfinite(tolerances[i]) && (i == 0 || tolerances[i - 1] < tolerances[i]),
            "tolerances: {} does not follow {}; the list must increase", tolerances[i],
            i == 0 ? tolerances[i] : tolerances[i - 1]);
  for (const double share : shares) require(share > 0 && share < 1, "shares: {} is outside (0, 1)", share);
}

Index PairedOptions::bounds() const {
  const auto of_claim = allow ? Index{2} : bounds_of_claim;
  return static_cast<Index>(claims.size()) * of_claim +
         static_cast<Index>(tolerances.size()) * (2 + 2 * static_cast<Index>(shares.size()));
}

PairedRuns::PairedRuns(std::string name, std::vector<Index> steps, const PairedOptions& options)
    : name_(std::move(name)), steps_(std::move(steps)), tolerances_(options.tolerances) {
  options.validate();
  require(!steps_.empty(), "compare: no step of {} is recorded", name_);
  for (const ClaimText& claim : options.claims) {
    const auto at = std::ranges::lower_bound(steps_, claim.step);
    const bool after = claim.when == ClaimText::When::after;
    require(at != steps_.end() && (!after || *at == claim.step), "claim: iteration {} of {} was not recorded",
            claim.step, name_);
    const auto first = static_cast<std::size_t>(at - steps_.begin());
    claims_.push_back({first, after ? first + 1 : steps_.size(), claim.value, claim.strict});
  }
}

void PairedRuns::add_run(const double* values) {
  std::size_t finite = 0;
  while (finite < steps_.size() && std::isfinite(values[finite])) ++finite;
  ++runs_;
  for (const Columns& claim : claims_) {
    bool success = claim.last <= finite;
    for (std::size_t column = claim.first; success && column < claim.last; ++column)
      success = claim.strict ? values[column] < claim.value : values[column] <= claim.value;
    succeeds_.push_back(success);
  }
  for (const double tolerance : tolerances_) {
    std::size_t first = steps_.size();
    if (finite == steps_.size())
      while (first > 0 && values[first - 1] < tolerance) --first;
    settles_.push_back(first == steps_.size() ? never_settles : steps_[first]);
  }
}

bool PairedRuns::succeeds(std::size_t claim, Index run) const {
  return succeeds_.at(static_cast<std::size_t>(run) * claims_.size() + claim);
}

std::optional<Index> PairedRuns::settles(std::size_t tolerance, Index run) const {
  const Index step = settles_.at(static_cast<std::size_t>(run) * tolerances_.size() + tolerance);
  return step == never_settles ? std::optional<Index>() : step;
}

std::vector<ClaimText> default_paired_claims(const std::vector<double>& tolerances,
                                             const std::vector<Index>& recorded) {
  std::vector<ClaimText> claims;
  for (const double tolerance : tolerances) {
    Index before = -1;
    for (std::size_t i = 1; i <= paired_steps; ++i) {
      const Index step = recorded[(recorded.size() * i + paired_steps - 1) / paired_steps - 1];
      if (step == before) continue;
      before = step;
      ClaimText claim;
      claim.value = tolerance;
      claim.when = ClaimText::When::after;
      claim.step = step;
      claims.push_back(claim);
    }
  }
  return claims;
}

PairedComparison compare_paired(const PairedRuns& a, const PairedRuns& b, const PairedOptions& options) {
  options.validate();
  require(a.runs() == b.runs(),
          "{} has {} problems and {} has {}: pairs are runs of the same problems, in the same order",
          a.name(), a.runs(), b.name(), b.runs());
  require(a.runs() > 0, "compare: there is no problem");
  require(a.steps() == b.steps(),
          "{} records steps {} .. {} and {} {} .. {}: pairs are compared at the same steps", a.name(),
          a.steps().front(), a.steps().back(), b.name(), b.steps().front(), b.steps().back());
  PairedComparison comparison;
  comparison.a = a.name();
  comparison.b = b.name();
  comparison.pairs = a.runs();
  comparison.delta = options.delta;
  comparison.allow = options.allow;
  bounds::ConfidenceBudget budget(options.delta);
  comparison.delta_each = budget.take_fraction("paired comparison", options.bounds(), 1.0);
  for (std::size_t i = 0; i < options.claims.size(); ++i)
    comparison.success.push_back(success_of(a, b, options, i, comparison.delta_each));
  for (std::size_t i = 0; i < options.tolerances.size(); ++i)
    comparison.times.push_back(times_of(a, b, options, i, comparison.delta_each));
  return comparison;
}

Decision decision_of_all(const PairedComparison& comparison) {
  Decision all = Decision::not_worse;
  for (const PairedSuccess& cell : comparison.success) {
    if (cell.decision == Decision::worse) return Decision::worse;
    if (cell.decision != Decision::not_worse) all = Decision::undecided;
  }
  return all;
}

std::vector<std::string> paired_sentences(const PairedComparison& comparison) {
  std::vector<std::string> sentences;
  for (const PairedSuccess& cell : comparison.success) {
    const std::string claim = to_text(cell.claim);
    if (cell.decision) {
      sentences.push_back(fmt::format("{}: {}", claim, decision_words(comparison, cell)));
    } else if (cell.verdict != PairedVerdict::not_shown) {
      const bool of_a = cell.verdict == PairedVerdict::a_is_better;
      const std::string& better = of_a ? comparison.a : comparison.b;
      const std::string& other = of_a ? comparison.b : comparison.a;
      const bool sized = (of_a ? -cell.upper : cell.lower) >= least_points;
      const std::string by =
          sized ? " by at least " + in_points(points_down(of_a ? -cell.upper : cell.lower)) : std::string();
      sentences.push_back(
          fmt::format("{}: the success rate of {} is higher than that of {}{}", claim, better, other, by));
    }
  }
  for (const PairedTimes& times : comparison.times) add_time_sentences(comparison, times, sentences);
  return sentences;
}

std::string to_text(const PairedComparison& comparison) {
  std::string text = fmt::format("{} and {} on the same {} problems\n\n", comparison.a, comparison.b,
                                 count_label(comparison.pairs));
  if (!comparison.success.empty()) {
    text += fmt::format("  {:>10}  {:>10}  {:>10}  {:>10}  {:>18}  {:>14}  {}\n", "both", "first only",
                        "second only", "neither", "second - first, %", "shown", "success");
    for (const PairedSuccess& cell : comparison.success)
      text += fmt::format("  {:>10}  {:>10}  {:>11}  {:>10}  {:>18}  {:>14}  {}\n", count_label(cell.both),
                          count_label(cell.only_a), count_label(cell.only_b), count_label(cell.neither),
                          points_between(cell.lower, cell.upper),
                          cell.decision                                ? std::string(name_of(*cell.decision))
                          : cell.verdict == PairedVerdict::a_is_better ? "first"
                          : cell.verdict == PairedVerdict::b_is_better ? "second"
                                                                       : "-",
                          to_text(cell.claim));
    text += fmt::format("  first: {}; second: {}\n\n", comparison.a, comparison.b);
  }
  const std::vector<std::string> sentences = paired_sentences(comparison);
  if (sentences.empty()) return text + "Nothing is shown either way.\n";
  text += fmt::format("With confidence {}{}:\n", confidence_label(comparison.delta),
                      comparison.allow ? "" : ", all of these hold together");
  for (const std::string& sentence : sentences) text += fmt::format("  - {}\n", sentence);
  text +=
      "\nThe problems are independent and identically distributed, row i of both tables is the same problem, and what "
      "is compared\nwas chosen before the results were seen.";
  if (comparison.allow) text += " Problems may be added and looked at again.";
  return text + '\n';
}

std::string to_json(const PairedComparison& comparison) {
  PairedJson json{{"first", comparison.a},
                  {"second", comparison.b},
                  {"pairs", comparison.pairs},
                  {"delta", comparison.delta},
                  {"delta_each", comparison.delta_each}};
  if (comparison.allow) {
    json["allow"] = *comparison.allow;
    json["decision"] = name_of(decision_of_all(comparison));
  }
  const auto finite = [](double value) { return value < infinity ? PairedJson(value) : PairedJson(); };
  json["success"] = PairedJson::array();
  for (const PairedSuccess& cell : comparison.success) {
    PairedJson row{{"claim", to_text(cell.claim)},  {"both", cell.both},
                   {"first_only", cell.only_a},     {"second_only", cell.only_b},
                   {"neither", cell.neither},       {"difference_lower", cell.lower},
                   {"difference_upper", cell.upper}};
    if (cell.decision) {
      row["decision"] = name_of(*cell.decision);
      if (cell.needed) row["pairs_needed"] = *cell.needed;
    } else {
      row["verdict"] = name_of(cell.verdict);
    }
    json["success"].push_back(std::move(row));
  }
  json["settling"] = PairedJson::array();
  for (const PairedTimes& times : comparison.times) {
    PairedJson row{{"tolerance", times.tolerance},
                   {"first_earlier", times.a_earlier},
                   {"second_earlier", times.b_earlier},
                   {"ties", times.ties},
                   {"share_first_earlier", times.share_a_earlier},
                   {"share_second_earlier", times.share_b_earlier}};
    row["ratios"] = PairedJson::array();
    for (const PairedRatio& ratio : times.ratios)
      row["ratios"].push_back({{"share", ratio.share},
                               {"rank", ratio.rank},
                               {"second_over_first", finite(ratio.b_over_a)},
                               {"first_over_second", finite(ratio.a_over_b)}});
    json["settling"].push_back(std::move(row));
  }
  json["sentences"] = paired_sentences(comparison);
  return json.dump(1) + '\n';
}

std::string markdown_text(const PairedComparison& comparison) {
  std::string text = fmt::format(
      "### {} against {}, {} problems\n\n| success | {} alone | {} alone | difference, points | shown |\n"
      "|---|---|---|---|---|\n",
      comparison.b, comparison.a, count_label(comparison.pairs), comparison.a, comparison.b);
  for (const PairedSuccess& cell : comparison.success)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", to_text(cell.claim), count_label(cell.only_a),
                        count_label(cell.only_b), points_between(cell.lower, cell.upper),
                        winner_words(comparison, cell));
  text += fmt::format("\nWith confidence {}:\n\n", confidence_label(comparison.delta));
  const std::vector<std::string> sentences = paired_sentences(comparison);
  for (const std::string& sentence : sentences) text += fmt::format("- {}\n", sentence);
  if (sentences.empty()) text += "- nothing is shown either way\n";
  return text;
}

std::string junit_text(const PairedComparison& comparison) {
  const auto count = [&](Decision decision) {
    return std::ranges::count_if(comparison.success,
                                 [&](const PairedSuccess& cell) { return cell.decision == decision; });
  };
  const std::string suite = xml_escaped(fmt::format("{} against {}", comparison.b, comparison.a));
  std::string text = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"{}\" tests=\"{}\" failures=\"{}\" errors=\"0\" "
      "skipped=\"{}\">\n",
      suite, comparison.success.size(), count(Decision::worse), count(Decision::undecided));
  for (const PairedSuccess& cell : comparison.success) {
    const std::string words = xml_escaped(decision_words(comparison, cell));
    text += fmt::format("  <testcase classname=\"{}\" name=\"{}\">", suite, xml_escaped(to_text(cell.claim)));
    if (cell.decision == Decision::worse) text += fmt::format("<failure message=\"{}\"/>", words);
    if (cell.decision == Decision::undecided) text += fmt::format("<skipped message=\"{}\"/>", words);
    if (cell.decision == Decision::not_worse) text += fmt::format("<system-out>{}</system-out>", words);
    text += "</testcase>\n";
  }
  return text + "</testsuite>\n";
}

}  // namespace surefoot::certify
