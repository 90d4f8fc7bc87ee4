#pragma once

#include "surefoot/monitoring/watch.hpp"

#include <string>
#include <vector>

/// What is said of a watch: to people, to dashboards (JSON lines), to Prometheus.
namespace surefoot::monitoring {

/// What an alarm means, and what an i.i.d. certificate does not promise; sentences.
std::vector<std::string> promise_of(const Watch& watch);

/// A certified failure rate, rounded up; what a share leaves that a person named is shown as such: 98 % leave
/// 2 %, and not 2.0000000000000018 %.
std::string rate_words(double rate);

/// "below 1e-3 after 20 (certified failure rate at most 1.3 %)".
std::string claim_words(const WatchedClaim& claim);

/// Several lines: what is watched and the promise.
std::string opening_text(const Watch& watch);
/// One line.
std::string alarm_text(const Watch& watch, const Alarm& alarm);
/// The end of a stream: counts, gaps, unreadable lines, alarms.
std::string end_text(const Watch& watch);

/// One object per line: {"event": "start"}, "alarm", "status" and "end".
std::string opening_json(const Watch& watch);
std::string alarm_json(const Watch& watch, const Alarm& alarm);
std::string status_json(const Watch& watch, const std::string& event);

/// Metrics in Prometheus' text format 0.0.4.
std::string prometheus_text(const Watch& watch);

}  // namespace surefoot::monitoring
