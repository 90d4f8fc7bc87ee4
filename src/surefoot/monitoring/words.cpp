#include "surefoot/monitoring/words.hpp"

#include "surefoot/core/number_text.hpp"
#include "surefoot/io/json_dump.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <functional>
#include <string_view>

namespace surefoot::monitoring {
namespace {

using Json = nlohmann::ordered_json;

std::string threshold_words(const Watch& watch) {
  const AlarmRule& rule = watch.options().rule;
  return exact_label(rule.is_test() ? 1 / rule.alpha : rule.arl);
}

double share_of(Index part, Index whole) {
  return whole > 0 ? static_cast<double>(part) / static_cast<double>(whole) : 0;
}

std::string plural(Index count, std::string_view word) {
  return fmt::format("{} {}{}", count_label(count), word, count == 1 ? "" : "s");
}

bool is_of_reference(const Alarm& alarm) {
  return alarm.reference_evidence.value_or(0) > alarm.claims[alarm.strongest].evidence;
}

std::string estimate_words(const WatchedClaim& claim, const ClaimAlarm& alarm, Index solve) {
  return fmt::format("since about solve {}, {} of {} failed: {}, certified is at most {}",
                     count_label(solve - alarm.solves + 1), count_label(alarm.failures),
                     count_label(alarm.solves), observed_percent(share_of(alarm.failures, alarm.solves)),
                     rate_words(claim.rate.rate));
}

Json claim_json(const Watch& watch, std::size_t c) {
  const WatchedClaim& claim = watch.options().claims[c];
  return {{"claim", claim.text}, {"rate", claim.rate.rate}};
}

Json counts_json(const Watch& watch, const std::string& event) {
  Json object{{"event", event},
              {"solves", watch.solves()},
              {"lines", watch.lines()},
              {"gaps", watch.gaps()},
              {"unreadable", watch.unreadable()},
              {"evidence", watch.evidence()},
              {"threshold", watch.threshold()},
              {"alarms", watch.alarms()}};
  object["claims"] = Json::array();
  for (std::size_t c = 0; c < watch.options().claims.size(); ++c) {
    Json claim = claim_json(watch, c);
    claim["failures"] = watch.failures(c);
    claim["evidence"] = watch.claim_evidence(c);
    object["claims"].push_back(std::move(claim));
  }
  if (const std::optional<double> evidence = watch.reference_evidence()) object["reference"] = *evidence;
  return object;
}

std::string label_value(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '\\' || letter == '"') escaped += '\\';
    if (letter == '\n') {
      escaped += "\\n";
    } else {
      escaped += letter;
    }
  }
  return escaped;
}

/// A metric and its values, one per claim or one in all.
class Prometheus {
 public:
  void one(std::string_view name, std::string_view type, std::string_view help, double value) {
    heading(name, type, help);
    text_ += fmt::format("surefoot_monitor_{} {}\n", name, full_precision(value));
  }
  void each(const Watch& watch, std::string_view name, std::string_view type, std::string_view help,
            const std::function<double(std::size_t)>& value) {
    heading(name, type, help);
    for (std::size_t c = 0; c < watch.options().claims.size(); ++c) {
      text_ += fmt::format("surefoot_monitor_{}{{claim=\"{}\"}} {}\n", name,
                           label_value(watch.options().claims[c].text), full_precision(value(c)));
    }
  }
  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  void heading(std::string_view name, std::string_view type, std::string_view help) {
    text_ +=
        fmt::format("# HELP surefoot_monitor_{0} {2}\n# TYPE surefoot_monitor_{0} {1}\n", name, type, help);
  }
  std::string text_;
};

}  // namespace

std::string rate_words(double rate) {
  const double named = std::round(rate * 1e9) / 1e9;
  return std::abs(named - rate) <= 1e-15 ? percent_label(named) : upper_bound_percent(rate);
}

std::vector<std::string> promise_of(const Watch& watch) {
  const WatchOptions& options = watch.options();
  const bool has_reference = watch.reference_evidence().has_value();
  const std::string null = fmt::format(
      "While every solve fails {} with at most the certified probability, whatever happened before "
      "it{}",
      options.claims.size() == 1 ? "the claim" : "each claim",
      has_reference ? ", and the values are exchangeable with those of the reference" : "");
  std::vector<std::string> sentences;
  if (options.rule.is_test()) {
    const std::string alpha = exact_label(options.rule.alpha);
    sentences.push_back(fmt::format("{}, an alarm is ever raised with probability at most {}{}.", null, alpha,
                                    options.delta > 0 ? fmt::format(": falsely with at most {} + {}, for the "
                                                                    "certificate itself may be false",
                                                                    alpha, exact_label(options.delta))
                                                      : ""));
  } else {
    sentences.push_back(fmt::format(
        "{}, the mean number of solves to an alarm is at least {}{}.", null, exact_label(options.rule.arl),
        options.delta > 0 ? fmt::format("; the certificate itself may be false, with probability "
                                        "at most {}",
                                        exact_label(options.delta))
                          : ""));
  }
  sentences.emplace_back(
      "A certificate from independent samples does not promise this of solves that depend on those before "
      "them (a closed loop, warm starts): failures in runs raise alarms although their share is what was "
      "certified. For those, certify groups and monitor one line per group.");
  return sentences;
}

std::string claim_words(const WatchedClaim& claim) {
  return fmt::format("{} (certified failure rate at most {})", claim.text, rate_words(claim.rate.rate));
}

std::string opening_text(const Watch& watch) {
  const WatchOptions& options = watch.options();
  std::string text = fmt::format("Watching the {}{}:\n", options.metric,
                                 options.variant.empty() ? "" : fmt::format(" of {}", options.variant));
  for (const WatchedClaim& claim : options.claims) text += fmt::format("  - {}\n", claim_words(claim));
  if (watch.reference_evidence()) text += "  - its distribution, against the reference\n";
  if (options.outcomes) text += "A line is 1 where the solve failed the claim, and 0 where it did not.\n";
  text += fmt::format("An alarm is raised at evidence {}.\n", threshold_words(watch));
  for (const std::string& sentence : promise_of(watch)) text += sentence + '\n';
  if (watch.lines() > 0)
    text += fmt::format("Goes on after {} ({}).\n", plural(watch.lines(), "line"),
                        plural(watch.solves(), "solve"));
  return text;
}

std::string alarm_text(const Watch& watch, const Alarm& alarm) {
  std::string text =
      fmt::format("ALARM at solve {} (line {}): evidence {}, threshold {}.", count_label(alarm.solve),
                  count_label(alarm.line), lower_bound_value(alarm.evidence), threshold_words(watch));
  if (is_of_reference(alarm))
    text +=
        fmt::format(" The distribution of the {} has changed against the reference.", watch.options().metric);
  const WatchedClaim& claim = watch.options().claims[alarm.strongest];
  const ClaimAlarm& strongest = alarm.claims[alarm.strongest];
  if (strongest.solves > 0)
    text += fmt::format(" '{}': {}.", claim.text, estimate_words(claim, strongest, alarm.solve));
  return text + '\n';
}

std::string end_text(const Watch& watch) {
  std::string text = fmt::format("End of the stream: {}, {}; evidence {}.\n", plural(watch.solves(), "solve"),
                                 watch.alarms() == 0 ? "no alarm" : plural(watch.alarms(), "alarm"),
                                 observed_value(watch.evidence()));
  for (std::size_t c = 0; c < watch.options().claims.size(); ++c) {
    const WatchedClaim& claim = watch.options().claims[c];
    text += fmt::format("  - {}: {} of {} failed, {}\n", claim_words(claim), count_label(watch.failures(c)),
                        count_label(watch.solves()),
                        observed_percent(share_of(watch.failures(c), watch.solves())));
  }
  if (watch.unreadable() > 0)
    text += fmt::format(
        "{} no number: counted as failed.\n",
        watch.unreadable() == 1 ? std::string("1 line was") : plural(watch.unreadable(), "line") + " were");
  if (watch.gaps() > 0)
    text += fmt::format("{} blank: no solve.\n", watch.gaps() == 1 ? std::string("1 line was")
                                                                   : plural(watch.gaps(), "line") + " were");
  return text;
}

std::string opening_json(const Watch& watch) {
  const WatchOptions& options = watch.options();
  Json object{{"event", "start"},
              {"certificate", options.certificate},
              {"variant", options.variant},
              {"metric", options.metric},
              {"delta", options.delta}};
  object[options.rule.is_test() ? "alpha" : "arl"] =
      options.rule.is_test() ? options.rule.alpha : options.rule.arl;
  object["threshold"] = watch.threshold();
  object["solves"] = watch.solves();
  object["lines"] = watch.lines();
  object["claims"] = Json::array();
  for (std::size_t c = 0; c < options.claims.size(); ++c) object["claims"].push_back(claim_json(watch, c));
  object["promise"] = promise_of(watch);
  return io::json_dump(object) + '\n';
}

std::string alarm_json(const Watch& watch, const Alarm& alarm) {
  Json object{
      {"event", "alarm"},
      {"solve", alarm.solve},
      {"line", alarm.line},
      {"evidence", alarm.evidence},
      {"threshold", watch.threshold()},
      {"strongest", is_of_reference(alarm) ? "reference" : watch.options().claims[alarm.strongest].text}};
  object["claims"] = Json::array();
  for (std::size_t c = 0; c < alarm.claims.size(); ++c) {
    const ClaimAlarm& claim = alarm.claims[c];
    Json part = claim_json(watch, c);
    part["evidence"] = claim.evidence;
    part["since_solve"] = claim.solves > 0 ? Json(alarm.solve - claim.solves + 1) : Json(nullptr);
    part["failures_since"] = claim.failures;
    part["present_rate"] = claim.solves > 0 ? Json(share_of(claim.failures, claim.solves)) : Json(nullptr);
    object["claims"].push_back(std::move(part));
  }
  if (alarm.reference_evidence) object["reference"] = *alarm.reference_evidence;
  return io::json_dump(object) + '\n';
}

std::string status_json(const Watch& watch, const std::string& event) {
  return io::json_dump(counts_json(watch, event)) + '\n';
}

std::string prometheus_text(const Watch& watch) {
  Prometheus to;
  const auto number = [](Index count) { return static_cast<double>(count); };
  to.one("solves_total", "counter", "Solves of the stream.", number(watch.solves()));
  to.each(watch, "failures_total", "counter", "Solves that failed the claim.",
          [&](std::size_t c) { return number(watch.failures(c)); });
  to.each(watch, "certified_rate", "gauge", "Certified failure rate of the claim.",
          [&](std::size_t c) { return watch.options().claims[c].rate.rate; });
  to.each(watch, "claim_evidence", "gauge", "Evidence against the claim alone.",
          [&](std::size_t c) { return watch.claim_evidence(c); });
  if (const std::optional<double> evidence = watch.reference_evidence())
    to.one("reference_evidence", "gauge", "Evidence that the distribution has changed.", *evidence);
  to.one("evidence", "gauge", "Evidence against all that is watched.", watch.evidence());
  to.one("threshold", "gauge", "Evidence from which on an alarm is raised.", watch.threshold());
  to.one("alarms_total", "counter", "Alarms.", number(watch.alarms()));
  to.one("last_alarm_solve", "gauge", "Solve of the last alarm, 0 if there was none.",
         watch.latest_alarms().empty() ? 0 : number(watch.last_alarm().solve));
  to.one("unreadable_lines_total", "counter", "Lines that were no number, counted as failed.",
         number(watch.unreadable()));
  to.one("gaps_total", "counter", "Blank lines.", number(watch.gaps()));
  return to.text();
}

}  // namespace surefoot::monitoring
