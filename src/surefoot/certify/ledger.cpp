#include "surefoot/certify/ledger.hpp"

#include "surefoot/certify/json_text.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/shared_lines.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <limits>
#include <list>

namespace surefoot::certify {

namespace {

namespace fs = std::filesystem;

constexpr const char* ledger_format = "surefoot-ledger";
constexpr Index ledger_version = 1;

std::string ledger_head() {
  JsonText text;
  text.object("format", ledger_format, "format_version", ledger_version);
  return text.compact() + '\n';
}

/// One line of a ledger; errors say which.
class LedgerLine {
 public:
  LedgerLine(std::string place, std::string_view line)
      : place_(std::move(place)), object_(nlohmann::json::parse(line, nullptr, false)) {
    require(object_.is_object(), "{}: is damaged: '{}' is not a JSON object", place_, io::excerpt(line, 60));
  }

  void check_head() const {
    require(text("format") == ledger_format, "{}: format is '{}', not {}", place_,
            io::excerpt(text("format"), 40), ledger_format);
    require(whole("format_version") == ledger_version,
            "{}: format_version {} is not known; this program reads {}", place_, whole("format_version"),
            ledger_version);
  }

  [[nodiscard]] Look look() const {
    Look look;
    look.range = {text("family"), whole("seed"), text("set"), whole("first"), whole("count")};
    look.by = text("by");
    look.subject = text("subject");
    look.request = text("request");
    look.time = text("time");
    if (!at("earlier_looks").is_null()) look.earlier_looks = whole("earlier_looks");
    constexpr std::size_t fields = 10;
    require(object_.size() == fields, "{}: has {} fields, a look has {}; was it written by a later version?",
            place_, object_.size(), fields);
    try {
      look.range.validate();
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: is damaged: {}", place_, error.what()));
    }
    return look;
  }

 private:
  [[nodiscard]] const nlohmann::json& at(const char* key) const {
    const auto found = object_.find(key);
    require(found != object_.end(), "{}: is damaged: it has no '{}'", place_, key);
    return *found;
  }
  [[nodiscard]] std::string text(const char* key) const {
    require(at(key).is_string(), "{}: is damaged: '{}' is not a text", place_, key);
    return at(key).get<std::string>();
  }
  [[nodiscard]] Index whole(const char* key) const {
    constexpr std::uint64_t largest = std::numeric_limits<Index>::max();
    require(at(key).is_number_unsigned() && at(key).get<std::uint64_t>() <= largest,
            "{}: is damaged: '{}' is not a whole number in range", place_, key);
    return at(key).get<Index>();
  }

  std::string place_;
  nlohmann::json object_ = nullptr;
};

/// Each ledger once, always in the same order, so that no two processes wait for each other.
std::vector<fs::path> in_order(const std::vector<fs::path>& ledgers) {
  std::vector<fs::path> ordered;
  for (const fs::path& ledger : ledgers) {
    std::error_code ignored;
    const fs::path whole = fs::weakly_canonical(ledger, ignored);
    const bool known = std::any_of(ordered.begin(), ordered.end(), [&](const fs::path& other) {
      return other == whole || fs::equivalent(other, whole, ignored);
    });
    if (!known) ordered.push_back(whole.empty() ? ledger : whole);
  }
  std::sort(ordered.begin(), ordered.end());
  return ordered;
}

void check_against(const LookRecord& record, const std::vector<Look>& known, const std::vector<Look>& looks) {
  for (const Look& look : looks) {
    look.range.validate();
    if (record.again) continue;
    require_no_look(look.range, earlier_looks(known, look.range, record.resumed ? look.request : ""));
  }
}

/// The look as it was written down when the work was interrupted; null: it was not.
const Look* same_look(const std::vector<Look>& looks, const Look& look) {
  const auto found = std::find_if(looks.begin(), looks.end(), [&](const Look& other) {
    return other.request == look.request && other.range == look.range;
  });
  return found == looks.end() ? nullptr : &*found;
}

void add_to(std::vector<Look>& all, const std::vector<Look>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

std::string look_line(const Look& look) {
  JsonText text;
  text.object("family", look.range.family, "seed", look.range.seed, "set", look.range.set,  //
              "first", look.range.first, "count", look.range.count, "by", look.by,          //
              "subject", look.subject, "request", look.request, "time", look.time,          //
              "earlier_looks", look.earlier_looks);
  return text.compact() + '\n';
}

std::string ledger_text(const std::vector<Look>& looks) {
  std::string text = ledger_head();
  for (const Look& look : looks) text += look_line(look);
  return text;
}

std::vector<Look> parse_ledger(const std::string& file, std::string_view text) {
  std::vector<Look> looks;
  Index number = 0;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const LedgerLine line(fmt::format("{}: line {}", file, ++number), text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (number == 1) {
      line.check_head();
    } else {
      looks.push_back(line.look());
    }
  }
  return looks;
}

std::vector<Look> read_ledger(const fs::path& path) {
  return parse_ledger(io::printable(path.string()), io::read_shared_lines(path));
}

bool is_ledger(const fs::path& path) {
  return !io::read_shared_lines(path).empty();
}

void begin_ledger(const fs::path& path) {
  io::SharedLines file(path);
  parse_ledger(io::printable(path.string()), file.lines());
  if (file.lines().empty()) file.append(ledger_head());
}

Look training_look(const SampleRange& seen, const std::string& file_sha256,
                   const std::string& numbers_sha256) {
  return {seen, trained_by, "weights " + file_sha256, numbers_sha256, utc_now()};
}

bool is_training(const Look& look) {
  return look.by == trained_by && look.range.set == training_set;
}

std::vector<SampleRange> trained_on(const std::vector<Look>& looks, const std::string& numbers_sha256) {
  std::vector<SampleRange> ranges;
  for (const Look& look : looks) {
    if (!is_training(look) || look.request != numbers_sha256) continue;
    if (std::find(ranges.begin(), ranges.end(), look.range) == ranges.end()) ranges.push_back(look.range);
  }
  return ranges;
}

void record_training(const fs::path& ledger, const Look& training) {
  training.range.validate();
  io::SharedLines file(ledger);
  const std::vector<Look> there = parse_ledger(io::printable(ledger.string()), file.lines());
  const bool known = std::any_of(there.begin(), there.end(), [&](const Look& other) {
    return is_training(other) && other.range == training.range && other.request == training.request &&
           other.subject == training.subject;
  });
  if (!known) file.append((file.lines().empty() ? ledger_head() : "") + look_line(training));
}

std::vector<Look> earlier_looks(const std::vector<Look>& looks, const SampleRange& range,
                                const std::string& request) {
  std::vector<Look> earlier;
  for (const Look& look : looks) {
    if (!look.range.overlaps(range) || (!request.empty() && look.request == request)) continue;
    if (std::find(earlier.begin(), earlier.end(), look) == earlier.end()) earlier.push_back(look);
  }
  return earlier;
}

void require_no_look(const SampleRange& range, const std::vector<Look>& earlier) {
  if (earlier.empty()) return;
  const Look& last = *std::max_element(earlier.begin(), earlier.end(),
                                       [](const Look& a, const Look& b) { return a.time < b.time; });
  throw InputError(fmt::format(
      "{}: {} .. {} of them were looked at on {} by {} ({}){}; a certificate needs samples that nobody has "
      "seen: name other ones, or say --look-again and the certificate will tell",
      to_text(range), std::max(range.first, last.range.first), std::min(range.last(), last.range.last()),
      last.time, last.by, io::excerpt(last.subject, 80),
      earlier.size() == 1 ? "" : fmt::format(", the last of {} looks", earlier.size())));
}

void check_looks(const LookRecord& record, const std::vector<Look>& looks) {
  std::vector<Look> known = record.known;
  for (const fs::path& ledger : in_order(record.ledgers)) add_to(known, read_ledger(ledger));
  check_against(record, known, looks);
}

std::vector<SampleProvenance> record_looks(const LookRecord& record, std::vector<Look> looks) {
  const bool complete = record.shared && is_ledger(record.ledgers.at(0));
  std::list<io::SharedLines> files;
  std::vector<std::vector<Look>> written;
  std::vector<Look> known = record.known;
  for (const fs::path& ledger : in_order(record.ledgers)) {
    files.emplace_back(ledger);
    written.push_back(parse_ledger(io::printable(ledger.string()), files.back().lines()));
    add_to(known, written.back());
  }
  check_against(record, known, looks);
  std::vector<SampleProvenance> provenance;
  for (Look& look : looks) {
    const Look* same = record.resumed ? same_look(known, look) : nullptr;
    if (same != nullptr) {
      look = *same;
    } else {
      const auto earlier = static_cast<Index>(earlier_looks(known, look.range, "").size());
      if (complete || earlier > 0) look.earlier_looks = earlier;
    }
    provenance.push_back({look.range, look.earlier_looks});
  }
  std::size_t place = 0;
  for (io::SharedLines& file : files) {
    const std::vector<Look>& there = written[place++];
    std::string lines = file.lines().empty() ? ledger_head() : "";
    for (const Look& look : looks) {
      if (!record.resumed || same_look(there, look) == nullptr) lines += look_line(look);
    }
    if (!lines.empty()) file.append(lines);
  }
  return provenance;
}

std::string utc_now() {
  const std::time_t now = std::chrono::system_clock::to_time_t(std::chrono::system_clock::now());
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(now));
}

}  // namespace surefoot::certify
