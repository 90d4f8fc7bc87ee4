#include "surefoot/certify/paired.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/io/sha256.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace surefoot::certify {
namespace {

using PairedJson = nlohmann::ordered_json;

constexpr double least_points = 0.001;  // a difference that is worth its number

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
      : comparison.pairs >= most_pairs_needed
          ? std::string("it is not said how many problems would decide, where there are ten million already")
          : "no number of problems up to ten million would decide, if they went on like these";
  return fmt::format("undecided whether {} is worse than {} by more than the allowed {}: {}", comparison.b,
                     comparison.a, allowed, further);
}

void add_time_sentences(const PairedComparison& comparison, const PairedTimes& times,
                        std::vector<std::string>& sentences) {
  const auto earlier = [&](const std::string& first, const std::string& other, double share) {
    if (share < least_quoted) return;
    sentences.push_back(
        times.tolerance
            ? fmt::format("on at least {} of problems {} is below {} for good strictly earlier than {}",
                          lower_bound_percent(share), first, exact_label(*times.tolerance), other)
            : fmt::format("on at least {} of problems {} takes strictly less {} than {}",
                          lower_bound_percent(share), first, comparison.metric, other));
  };
  earlier(comparison.b, comparison.a, times.share_b_earlier);
  earlier(comparison.a, comparison.b, times.share_a_earlier);
  const auto needs = [&](const std::string& first, const std::string& other, double share, double ratio) {
    if (!(ratio < 1)) return;
    const std::string most = ratio == 0 ? "0" : upper_bound_value(ratio);
    sentences.push_back(
        times.tolerance
            ? fmt::format(
                  "on at least {} of problems {} needs at most {} times the iterations of {} until it "
                  "stays below {}",
                  percent_label(share), first, most, other, exact_label(*times.tolerance))
            : fmt::format("on at least {} of problems {} takes at most {} times the {} of {}",
                          percent_label(share), first, most, comparison.metric, other));
  };
  for (const PairedRatio& ratio : times.ratios) {
    needs(comparison.b, comparison.a, ratio.share, ratio.b_over_a.value);
    needs(comparison.a, comparison.b, ratio.share, ratio.a_over_b.value);
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

/// In a cell of a Markdown table.
std::string cell_escaped(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c;
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
    const auto wide = [](const std::string& header) { return std::max<std::size_t>(header.size(), 10); };
    const std::string only_a = comparison.a + " only";
    const std::string only_b = comparison.b + " only";
    const std::string difference = fmt::format("{} - {}, %", comparison.b, comparison.a);
    std::vector<std::string> shown;
    for (const PairedSuccess& cell : comparison.success)
      shown.push_back(cell.decision || cell.verdict != PairedVerdict::not_shown
                          ? winner_words(comparison, cell)
                          : std::string(nothing));
    std::size_t widest = 10;
    for (const std::string& words : shown) widest = std::max(widest, words.size());
    text += fmt::format("  {:>10}  {:>{}}  {:>{}}  {:>10}  {:>{}}  {:>{}}  {}\n", "both", only_a,
                        wide(only_a), only_b, wide(only_b), "neither", difference, wide(difference), "shown",
                        widest, "success");
    for (std::size_t i = 0; i < comparison.success.size(); ++i) {
      const PairedSuccess& cell = comparison.success[i];
      text += fmt::format("  {:>10}  {:>{}}  {:>{}}  {:>10}  {:>{}}  {:>{}}  {}\n", count_label(cell.both),
                          count_label(cell.only_a), wide(only_a), count_label(cell.only_b), wide(only_b),
                          count_label(cell.neither), points_between(cell.lower, cell.upper), wide(difference),
                          shown[i], widest, to_text(cell.claim));
    }
    text += '\n';
  }
  const std::vector<std::string> sentences = paired_sentences(comparison);
  if (sentences.empty()) return text + "Nothing is shown either way.\n";
  text += fmt::format("With confidence {}{}:\n", confidence_label(comparison.delta),
                      comparison.allow ? "" : ", all of these hold together");
  for (const std::string& sentence : sentences) text += fmt::format("  - {}\n", sentence);
  text +=
      "\nThe problems are independent and identically distributed, row i of both tables is the same problem, and what "
      "is compared\nwas chosen before the results were seen.";
  if (comparison.allow || comparison.anytime) text += " Problems may be added and looked at again.";
  return text + '\n';
}

std::string to_json(const PairedComparison& comparison) {
  PairedJson json{{"surefoot_paired", 1},      {"first", comparison.a},
                  {"second", comparison.b},    {"pairs", comparison.pairs},
                  {"delta", comparison.delta}, {"delta_each", comparison.delta_each}};
  if (comparison.scalar) {
    json["scalar"] = true;
    json["metric"] = comparison.metric;
  }
  if (comparison.anytime) json["anytime"] = true;
  json["shares"] = comparison.shares;
  json["tables"] = PairedJson::array();
  for (const PairedTable& table : comparison.tables)
    json["tables"].push_back({{"source", table.source}, {"sha256", table.sha256}});
  if (comparison.allow) {
    json["allow"] = *comparison.allow;
    json["decision"] = name_of(decision_of_all(comparison));
  }
  const auto quantile = [](const PairedQuantile& found) {
    return PairedJson{{"at_most", found.value < infinity ? PairedJson(found.value) : PairedJson(nullptr)},
                      {"problems_below", found.below},
                      {"problems_at_most", found.at_most}};
  };
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
    PairedJson row = PairedJson::object();
    if (times.tolerance) row["tolerance"] = *times.tolerance;
    row.update({{"first_earlier", times.a_earlier},
                {"second_earlier", times.b_earlier},
                {"ties", times.ties},
                {"share_first_earlier", times.share_a_earlier},
                {"share_second_earlier", times.share_b_earlier}});
    row["ratios"] = PairedJson::array();
    for (const PairedRatio& ratio : times.ratios)
      row["ratios"].push_back({{"share", ratio.share},
                               {"rank", ratio.rank},
                               {"second_over_first", quantile(ratio.b_over_a)},
                               {"first_over_second", quantile(ratio.a_over_b)}});
    json["settling"].push_back(std::move(row));
  }
  json["sentences"] = paired_sentences(comparison);
  json["digest"] = io::sha256_hex(json.dump());
  return json.dump(1) + '\n';
}

std::string markdown_text(const PairedComparison& comparison) {
  std::string text = fmt::format(
      "### {} against {}, {} problems\n\n| success | {} alone | {} alone | difference, points | shown |\n"
      "|---|---|---|---|---|\n",
      comparison.b, comparison.a, count_label(comparison.pairs), cell_escaped(comparison.a),
      cell_escaped(comparison.b));
  for (const PairedSuccess& cell : comparison.success)
    text += fmt::format("| {} | {} | {} | {} | {} |\n", to_text(cell.claim), count_label(cell.only_a),
                        count_label(cell.only_b), points_between(cell.lower, cell.upper),
                        cell_escaped(winner_words(comparison, cell)));
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
