#include "surefoot/experiments/looks.hpp"

#include "surefoot/certify/assumptions.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/learned_weights.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/learning/posterior_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace surefoot::experiments {

namespace fs = std::filesystem;

namespace {

constexpr const char* looks_key = "looks";
constexpr const char* chosen_by = "tune";
constexpr Index not_known = -1;

bool can_be_added_to(const fs::path& ledger) {
  std::error_code error;
  if (fs::exists(ledger, error)) return ::access(ledger.c_str(), R_OK | W_OK) == 0;
  const fs::path folder = ledger.has_parent_path() ? ledger.parent_path() : fs::path(".");
  return ::access(folder.c_str(), W_OK) == 0;
}

}  // namespace

NamedSamples parse_samples(const std::string& option, const std::string& text) {
  const std::size_t colon = text.find(':');
  long long first = 0;
  long long count = 0;
  const bool good = colon != std::string::npos && io::parse_integer(text.substr(0, colon), first) &&
                    io::parse_integer(text.substr(colon + 1), count) && first >= 0 && count >= 1;
  require(good, "{}: '{}' is not FIRST:COUNT, two whole numbers, COUNT at least 1", option,
          io::excerpt(text));
  certify::SampleRange{"", 0, "", first, count}.validate();
  return {first, count};
}

fs::path ledger_beside(const fs::path& weights) {
  return weights.parent_path() / ledger_name;
}

std::vector<certify::Look> looks_of(const learning::Posterior& posterior, const std::string& file) {
  const auto found = posterior.metadata.find(looks_key);
  if (found == posterior.metadata.end()) return {};
  return certify::parse_ledger(fmt::format("{}: metadata '{}'", file, looks_key), found->second);
}

void carry_looks(learning::Posterior& posterior, const std::vector<certify::Look>& looks,
                 const certify::SampleRange& samples) {
  std::vector<certify::Look> carried;
  for (const certify::Look& look : looks) {
    if (look.range.family != samples.family || look.range.seed != samples.seed) continue;
    if (certify::is_training(look)) continue;  // the same training makes the same weights
    if (std::find(carried.begin(), carried.end(), look) == carried.end()) carried.push_back(look);
  }
  if (!carried.empty()) posterior.metadata[looks_key] = certify::ledger_text(carried);
}

LookBook::LookBook(const LookOptions& options, std::string by, const io::Configuration& configuration,
                   bool resumes)
    : by_(std::move(by)) {
  record_.again = options.again;
  record_.resumed = resumes;
  record_.shared = !options.ledger.empty();
  if (record_.shared) record_.ledgers.push_back(options.ledger);
  shared_ledger_ = options.ledger;
  ByteWriter bytes;
  for (const auto& [name, value] : configuration) {
    bytes.text(name);
    bytes.text(value);
  }
  request_ = io::sha256_hex(bytes.take());
}

void require_training_as_told(const learning::Posterior& posterior, const fs::path& file,
                              std::vector<fs::path> ledgers) {
  if (!ranks().first()) return;
  ledgers.push_back(ledger_beside(file));
  const std::string name = io::printable(file.string());
  const LearnedSetting setting = setting_of(posterior, name);
  std::vector<std::string> asked;
  bool known = false;
  for (const fs::path& ledger : ledgers) {
    const std::vector<certify::Look> looks = certify::read_ledger(ledger);
    if (std::none_of(looks.begin(), looks.end(), certify::is_training)) continue;
    asked.push_back(io::printable(ledger.string()));
    const std::vector<certify::SampleRange> ranges =
        certify::trained_on(looks, learning::numbers_sha256(posterior));
    if (ranges.empty()) continue;
    known = true;
    const std::optional<certify::SampleRange> seen =
        setting.seen_first < 0
            ? std::nullopt
            : std::optional(training_range(setting, setting.seen_first, setting.seen_last));
    require(seen && std::find(ranges.begin(), ranges.end(), *seen) != ranges.end(),
            "{}: its metadata say that it depends on {}, but {} says that these weights were trained on {}",
            name, seen ? to_text(*seen) : "samples that they do not name", asked.back(),
            to_text(ranges.back()));
  }
  if (!known && !asked.empty()) {
    host().say(
        fmt::format("{}: what it was trained on is known from its own metadata alone; {} {} not "
                    "have these weights",
                    name, fmt::join(asked, " and "), asked.size() == 1 ? "does" : "do"));
  }
}

void LookBook::check_training(const fs::path& file, const learning::Posterior& posterior) const {
  require_training_as_told(posterior, file,
                           record_.shared ? std::vector<fs::path>{shared_ledger_} : std::vector<fs::path>{});
}

void LookBook::check_bound(const certify::SampleRange& rows) const {
  if (!ranks().first()) return;
  std::vector<certify::Look> known = record_.known;
  for (const fs::path& ledger : record_.ledgers) {
    const std::vector<certify::Look> more = certify::read_ledger(ledger);
    known.insert(known.end(), more.begin(), more.end());
  }
  // The last of the trainings, each when it was first written down; empty: one of them is not known.
  std::string trained;
  for (const std::string& weights : weights_) {
    std::string first;
    for (const certify::Look& look : known) {
      if (certify::is_training(look) && look.request == weights && (first.empty() || look.time < first))
        first = look.time;
    }
    if (first.empty()) {
      trained.clear();
      break;
    }
    trained = std::max(trained, first);
  }
  for (const certify::Look& look : known) {
    if (look.by != chosen_by || !look.range.overlaps(rows)) continue;
    require(
        !trained.empty() && look.time > trained,
        "{}: {} .. {} of them were looked at on {} by tune ({}); a prior that was chosen by them does not "
        "give a PAC-Bayes bound of them: name other rows for it (--samples, --first), or ask for "
        "--guarantees hold-out of new ones",
        to_text(rows), std::max(rows.first, look.range.first), std::min(rows.last(), look.range.last()),
        look.time, io::excerpt(look.subject, 80));
  }
}

void LookBook::add_weights(const fs::path& file, const learning::Posterior& posterior) {
  weights_.push_back(learning::numbers_sha256(posterior));
  for (const certify::Look& look : looks_of(posterior, file.string())) record_.known.push_back(look);
  const fs::path own = ledger_beside(file);
  if (record_.shared && ranks().first() && !can_be_added_to(own)) {
    host().say(fmt::format("{}: cannot be written; the look is in {} alone", own.string(),
                           record_.ledgers.front().string()));
    for (const certify::Look& look : certify::read_ledger(own)) record_.known.push_back(look);
    return;
  }
  record_.ledgers.push_back(own);
}

void LookBook::announce(const std::vector<certify::SampleRange>& ranges, const std::string& subject) {
  for (const certify::SampleRange& range : ranges) {
    const auto same = [&](const certify::Look& look) { return look.range == range; };
    if (std::none_of(looks_.begin(), looks_.end(), same))
      looks_.push_back({range, by_, subject, request_, certify::utc_now()});
  }
  if (ranks().first()) certify::check_looks(record_, looks_);
}

std::vector<certify::SampleProvenance> LookBook::record() {
  // The first process writes, the others hear what certificates say.
  std::vector<Index> earlier;
  if (ranks().first()) {
    for (certify::Look& look : looks_) look.time = certify::utc_now();
    for (const certify::SampleProvenance& each : certify::record_looks(record_, looks_))
      earlier.push_back(each.earlier_looks.value_or(not_known));
  }
  ByteWriter bytes;
  bytes.list(earlier);
  const std::string heard = ranks().broadcast(bytes.take());
  ByteReader reader(heard, "looks");
  earlier = reader.list<Index>();
  std::vector<certify::SampleProvenance> provenance;
  for (std::size_t i = 0; i < looks_.size(); ++i) {
    provenance.push_back(
        {looks_[i].range, earlier.at(i) == not_known ? std::nullopt : std::optional(earlier.at(i))});
  }
  return provenance;
}

void LookBook::record_in(certify::Certificate& certificate, const std::vector<certify::SampleRange>& ranges,
                         const std::string& subject) {
  announce(ranges, subject);
  const std::vector<certify::SampleProvenance> looks = record();
  std::vector<certify::SampleProvenance> provenance;
  for (const certify::SampleRange& range : ranges) {
    provenance.push_back(
        *std::find_if(looks.begin(), looks.end(),
                      [&](const certify::SampleProvenance& look) { return look.range == range; }));
  }
  certify::set_provenance(certificate, provenance);
}

}  // namespace surefoot::experiments
