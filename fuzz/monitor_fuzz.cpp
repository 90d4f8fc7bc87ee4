// Any bytes as a stream of lines, as the state of a watch (sealed with a checksum that fits), and as
// constants of the C header.
#include "surefoot/io/checkpoint_file.hpp"
#include "surefoot/monitoring/watch.hpp"
#include "surefoot/monitoring/words.hpp"

#include "fuzz_support.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <string_view>

namespace {

using namespace surefoot;

void require_sane(bool condition) {
  if (!condition) std::abort();
}

monitoring::WatchOptions watched(bool with_reference, double alpha) {
  monitoring::WatchOptions options;
  options.claims = {{"below 1 after 20", {1, true, 0.01}}, {"at most 2 after 20", {2, false, 0.0}}};
  options.rule = {100, alpha};
  for (int i = 0; with_reference && i < 30; ++i) options.reference.push_back(0.1 * i);
  return options;
}

/// Line by line, and the header of C beside it.
void as_stream(std::string_view text, double alpha) {
  const monitoring::WatchOptions options = watched(false, alpha);
  monitoring::Watch watch(options);
  const monitoring::MonitorConstants constants({options.claims[0].rate, options.claims[1].rate},
                                               options.rule);
  surefoot_monitor monitor;
  require_sane(surefoot_monitor_init(&monitor, &constants.get()) == 0);
  monitoring::Watch ranked(watched(true, alpha));
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const Index failures = watch.failures(0);
    const Index others = watch.failures(1);
    const monitoring::Watch::Read read = watch.read_line(line);
    require_sane(ranked.read_line(line).kind == read.kind);
    if (read.kind == monitoring::LineKind::gap) continue;
    const auto failed =
        static_cast<std::uint32_t>((watch.failures(0) - failures) + 2 * (watch.failures(1) - others));
    require_sane(surefoot_monitor_update_outcomes(&monitor, failed) == (read.alarm ? 1 : 0));
    require_sane(std::isfinite(watch.evidence()) && watch.evidence() >= 0);
    require_sane(std::isfinite(ranked.evidence()));
  }
  require_sane(watch.lines() == watch.solves() + watch.gaps());
  (void)monitoring::prometheus_text(watch);
  (void)monitoring::end_text(ranked);
}

void as_state(const std::string& bytes, bool with_reference) {
  monitoring::Watch watch(watched(with_reference, 0));
  const std::string sealed = io::checkpoint_bytes(watch.configuration(), bytes);
  const std::string message = fuzz::message_of([&] { watch.restore(sealed, "s"); });
  if (!message.empty()) return;
  require_sane(watch.saved() == sealed);
  for (const char* line : {"0.5", "3", "", "x"}) watch.read_line(line);
}

void as_constants(const std::uint8_t* data, std::size_t size) {
  std::array<surefoot_monitor_claim, SUREFOOT_MONITOR_CLAIMS> claims{};
  surefoot_monitor_constants constants{};
  if (size < sizeof constants) return;
  std::memcpy(&constants, data, sizeof constants);
  std::memcpy(claims.data(), data + sizeof constants, std::min(sizeof claims, size - sizeof constants));
  constants.claim = claims.data();
  surefoot_monitor monitor;
  if (surefoot_monitor_init(&monitor, &constants) != 0) return;
  for (int i = 0; i < 100; ++i) {
    surefoot_monitor_update(&monitor, i % 7 == 0 ? std::nan("") : i);
    require_sane(monitor.sum >= 0 && std::isfinite(monitor.sum));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes = fuzz::text_of(data, size);
  as_stream(bytes, 0);
  as_stream(bytes, 0.01);
  as_state(bytes, false);
  as_state(bytes, true);
  as_constants(data, size);
  return 0;
}
