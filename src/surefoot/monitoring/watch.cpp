#include "surefoot/monitoring/watch.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

namespace surefoot::monitoring {
namespace {

constexpr std::uint32_t fails_all = ~std::uint32_t{0};

std::string digest_of(const std::vector<double>& values) {
  if (values.empty()) return "none";
  return io::sha256_hex({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(double)});
}

std::vector<WatchedRate> rates_of(const std::vector<WatchedClaim>& claims) {
  std::vector<WatchedRate> rates;
  for (const WatchedClaim& claim : claims) rates.push_back(claim.rate);
  return rates;
}

void write_claim(ByteWriter& to, const surefoot_monitor_claim_state& state) {
  to.list(state.evidence, SUREFOOT_MONITOR_RATIOS);
  to.list(state.scale, SUREFOOT_MONITOR_RATIOS);
  to.number(state.recent);
  for (const std::uint64_t count : {state.recent_solves, state.recent_failures, state.failures})
    to.number(count);
}

void read_claim(ByteReader& from, surefoot_monitor_claim_state& state) {
  const std::vector<double> evidence = from.list<double>();
  const std::vector<std::int64_t> scale = from.list<std::int64_t>();
  require(evidence.size() == SUREFOOT_MONITOR_RATIOS && scale.size() == SUREFOOT_MONITOR_RATIOS,
          "state: another number of ratios");
  const auto may_be = [](double value) { return value >= 0 && value <= SUREFOOT_MONITOR_LARGEST; };
  std::ranges::copy(evidence, state.evidence);
  std::ranges::copy(scale, state.scale);
  state.recent = from.number<double>();
  require(std::ranges::all_of(evidence, may_be) && may_be(state.recent) &&
              std::ranges::all_of(scale, [](std::int64_t each) { return each <= 0; }),
          "state: evidence that cannot be");
  for (std::uint64_t* count : {&state.recent_solves, &state.recent_failures, &state.failures})
    *count = from.number<std::uint64_t>();
}

void write_alarm(ByteWriter& to, const Alarm& alarm) {
  to.number(alarm.solve);
  to.number(alarm.line);
  to.number(alarm.evidence);
  to.number(static_cast<Index>(alarm.strongest));
  to.number(alarm.reference_evidence.value_or(-1));
  for (const ClaimAlarm& claim : alarm.claims) {
    to.number(claim.evidence);
    to.number(claim.failures);
    to.number(claim.solves);
  }
}

Alarm read_alarm(ByteReader& from, std::size_t claims) {
  Alarm alarm;
  alarm.solve = from.number<Index>();
  alarm.line = from.number<Index>();
  alarm.evidence = from.number<double>();
  const auto strongest = from.number<Index>();
  require(strongest >= 0 && static_cast<std::size_t>(strongest) < claims, "state: an alarm of no claim");
  alarm.strongest = static_cast<std::size_t>(strongest);
  const auto reference = from.number<double>();
  if (reference >= 0) alarm.reference_evidence = reference;
  for (std::size_t c = 0; c < claims; ++c) {
    ClaimAlarm& claim = alarm.claims.emplace_back();
    claim.evidence = from.number<double>();
    claim.failures = from.number<Index>();
    claim.solves = from.number<Index>();
  }
  return alarm;
}

}  // namespace

void WatchOptions::validate() const {
  rule.validate();
  require(!outcomes || claims.size() == 1, "outcomes: a stream of 0 and 1 is about one claim, these are {}",
          claims.size());
  require(!outcomes || reference.empty(), "outcomes: a reference is of values of the metric");
}

Watch::Watch(WatchOptions options)
    : options_(std::move(options)), reference_digest_(digest_of(options_.reference)) {
  options_.validate();
  const bool has_reference = !options_.reference.empty();
  constants_ =
      std::make_unique<MonitorConstants>(rates_of(options_.claims), options_.rule, has_reference ? 1 : 0);
  require(surefoot_monitor_init(&monitor_, &constants_->get()) == 0, "the constants cannot be used");
  if (has_reference) {
    ranks_.emplace(std::exchange(options_.reference, {}), options_.seed);
    rank_evidence_.emplace(options_.rule.is_test());
  }
  evidence_ = options_.rule.is_test() ? 1 : 0;
}

bool Watch::update(double value) {
  if (options_.outcomes)
    require(value == 0 || value == 1 || std::isnan(value), "outcome: {} is not 0 or 1", value);
  ++lines_;
  if (options_.outcomes) return advance(value == 0 ? 0 : fails_all, value);
  return advance(surefoot_monitor_failures(&monitor_, value), value);
}

LineKind Watch::kind_of(std::string_view line) const {
  if (line.ends_with('\r')) line.remove_suffix(1);
  const std::string_view text = io::trim(line);
  if (text.empty()) return LineKind::gap;
  double value = 0;
  if (!io::parse_number(text, value)) return LineKind::unreadable;
  const bool fits = !options_.outcomes || value == 0 || value == 1 || std::isnan(value);
  return fits ? LineKind::solve : LineKind::unreadable;
}

Watch::Read Watch::read_line(std::string_view line) {
  const LineKind kind = kind_of(line);
  if (kind == LineKind::solve) {
    if (line.ends_with('\r')) line.remove_suffix(1);
    double value = 0;
    io::parse_number(io::trim(line), value);
    return {kind, update(value)};
  }
  ++lines_;
  if (kind == LineKind::gap) {
    ++gaps_;
    return {kind, false};
  }
  ++unreadable_;
  return {kind, advance(fails_all, infinity)};
}

bool Watch::advance(std::uint32_t failed, double value) {
  const double sum = surefoot_monitor_advance(&monitor_, failed);
  bool more_evidence = failed != 0;
  double total = sum;
  if (rank_evidence_) {
    const double before = rank_evidence_->value();
    rank_evidence_->advance(ranks_->next(value));
    more_evidence = more_evidence || rank_evidence_->value() > before;
    total += SUREFOOT_MONITOR_RATIOS * rank_evidence_->value();
  }
  evidence_ = constants_->get().weight * total;
  history_.add(evidence_);
  // As in surefoot_monitor_update_outcomes(): success is no reason for an alarm.
  if (!more_evidence || decided() || !(total >= constants_->get().threshold)) return false;
  raise();
  return true;
}

void Watch::raise() {
  Alarm alarm;
  alarm.solve = solves();
  alarm.line = lines_;
  alarm.evidence = evidence_;
  alarm.reference_evidence = reference_evidence();
  for (std::size_t c = 0; c < options_.claims.size(); ++c) {
    const surefoot_monitor_claim_state& state = monitor_.claim[c];
    alarm.claims.push_back({claim_evidence(c), static_cast<Index>(state.recent_failures),
                            static_cast<Index>(state.recent_solves)});
  }
  surefoot_monitor_raise(&monitor_, evidence_);
  alarm.strongest = static_cast<std::size_t>(monitor_.alarm.claim);
  if (!options_.rule.is_test()) {
    if (rank_evidence_) rank_evidence_->restart();
    evidence_ = 0;
  }
  if (latest_.size() == most_alarms) latest_.erase(latest_.begin());
  latest_.push_back(std::move(alarm));
}

double Watch::claim_evidence(std::size_t claim) const {
  return surefoot_monitor_claim_evidence(&monitor_, static_cast<std::int32_t>(claim));
}

std::optional<double> Watch::reference_evidence() const {
  return rank_evidence_ ? std::optional(rank_evidence_->value()) : std::nullopt;
}

Index Watch::failures(std::size_t claim) const {
  return static_cast<Index>(monitor_.claim[claim].failures);
}

io::Configuration Watch::configuration() const {
  std::string claims;
  std::string rates;
  for (const WatchedClaim& claim : options_.claims) {
    claims += (claims.empty() ? "" : "; ") + claim.text;
    rates += (rates.empty() ? "" : "; ") + full_precision(claim.rate.rate) +
             (claim.rate.strict ? " < " : " <= ") + full_precision(claim.rate.value);
  }
  return {{"the certificate", options_.certificate},
          {"the variant", options_.variant},
          {"the claim", claims},
          {"the rate", rates},
          {"the alarm", options_.rule.is_test() ? "alpha " + full_precision(options_.rule.alpha)
                                                : "arl " + full_precision(options_.rule.arl)},
          {"the stream", options_.outcomes ? "outcomes" : "values"},
          {"the reference", reference_digest_},
          {"the seed", std::to_string(options_.seed)}};
}

std::string Watch::saved() const {
  ByteWriter to;
  to.number(monitor_.solves);
  to.number(monitor_.alarms);
  to.number(monitor_.sum);
  for (std::size_t c = 0; c < options_.claims.size(); ++c) write_claim(to, monitor_.claim[c]);
  if (ranks_) ranks_->write(to);
  if (rank_evidence_) rank_evidence_->write(to);
  for (const Index count : {lines_, gaps_, unreadable_}) to.number(count);
  to.number(evidence_);
  to.number(static_cast<Index>(latest_.size()));
  for (const Alarm& alarm : latest_) write_alarm(to, alarm);
  history_.write(to);
  return io::checkpoint_bytes(configuration(), to.take());
}

void Watch::restore(std::string_view bytes, const std::string& name) {
  const std::string state = io::checkpoint_state(bytes, name, configuration());
  ByteReader from(state, name);
  monitor_.solves = from.number<std::uint64_t>();
  monitor_.alarms = from.number<std::uint64_t>();
  monitor_.sum = from.number<double>();
  for (std::size_t c = 0; c < options_.claims.size(); ++c) read_claim(from, monitor_.claim[c]);
  if (ranks_) ranks_->read(from);
  if (rank_evidence_) rank_evidence_->read(from);
  for (Index* count : {&lines_, &gaps_, &unreadable_}) *count = from.number<Index>();
  evidence_ = from.number<double>();
  const auto alarms = from.number<Index>();
  require(alarms >= 0 && alarms <= static_cast<Index>(most_alarms), "{}: {} alarms cannot be", name, alarms);
  latest_.clear();
  for (Index i = 0; i < alarms; ++i) latest_.push_back(read_alarm(from, options_.claims.size()));
  history_.read(from);
  from.finish();
}

}  // namespace surefoot::monitoring
