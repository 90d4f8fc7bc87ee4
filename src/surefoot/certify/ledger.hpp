#pragma once

#include "surefoot/certify/provenance.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

/// A certificate made of samples that training or choices must not have seen.
struct Look {
  SampleRange range;
  std::string by;       ///< the verb or function
  std::string subject;  ///< what was counted: digests of weights, or the name of a file
  /// SHA-256 of everything that decides the result. Work that was interrupted after its look was written down
  /// makes the same look when it goes on.
  std::string request;
  std::string time;  ///< UTC, 2026-11-16T10:24:04Z
  /// SampleProvenance::earlier_looks, as the certificate has it. Above 0: somebody looked again knowingly.
  std::optional<Index> earlier_looks = std::nullopt;

  bool operator==(const Look&) const = default;
};

/// Training is a look too, at the set training_set, which needs no permission: a ledger has it so that it can
/// tell what weights depend on, whatever their metadata say.
inline constexpr const char* trained_by = "train";
/// The look of a training: of weights whose file and whose numbers have these digests, by the samples that
/// they depend on. Its request is the digest of the numbers.
Look training_look(const SampleRange& seen, const std::string& file_sha256,
                   const std::string& numbers_sha256);
bool is_training(const Look& look);
/// What the ledger says that weights with these numbers were trained on, each range once.
std::vector<SampleRange> trained_on(const std::vector<Look>& looks, const std::string& numbers_sha256);
/// Adds the look, unless the same one is there.
void record_training(const std::filesystem::path& ledger, const Look& training);

/// Looks as lines of JSON, the format of ledgers and of the metadata `looks` of weights.
///
/// A ledger is a text file. Its first line is {"format": "surefoot-ledger", "format_version": 1}; every other
/// line is a look, an object with family, seed, set, first, count, by, subject, request, time and
/// earlier_looks. Lines are added and never changed.
std::string look_line(const Look& look);
std::string ledger_text(const std::vector<Look>& looks);
/// InputError names file and line of what is damaged, of another version or has fields that are not known.
std::vector<Look> parse_ledger(const std::string& file, std::string_view text);

/// The looks of a ledger; none if there is no such file.
std::vector<Look> read_ledger(const std::filesystem::path& path);
/// Whether the file is there and has begun.
bool is_ledger(const std::filesystem::path& path);
/// Begins a ledger without looks, unless it has begun.
void begin_ledger(const std::filesystem::path& path);

/// Those of `looks` that have samples in common with the range, each once; looks of `request` are no earlier
/// ones.
std::vector<Look> earlier_looks(const std::vector<Look>& looks, const SampleRange& range,
                                const std::string& request);

/// InputError that names the last of the earlier looks, if there are any.
void require_no_look(const SampleRange& range, const std::vector<Look>& earlier);

/// Where looks are written down, and what else is known of earlier ones.
struct LookRecord {
  std::vector<std::filesystem::path>
      ledgers;              ///< every look goes to each of them; the first is the shared one
  std::vector<Look> known;  ///< from elsewhere: metadata of weights
  /// Whether the first ledger is one that is kept for these samples, so that no entry means no look. It must
  /// have begun before.
  bool shared = false;
  bool again = false;    ///< allowed although there are earlier ones
  bool resumed = false;  ///< looks of the same request are this very look
};

/// InputError if the samples were looked at before and that is not allowed. To be called before the work.
void check_looks(const LookRecord& record, const std::vector<Look>& looks);

/// Checks once more and writes the looks down, one after the other, while no other process can: of two that
/// look at the same samples at the same time one is refused. To be called after the work and before anything
/// of its result is shown. Returns what certificates say of each look.
std::vector<SampleProvenance> record_looks(const LookRecord& record, std::vector<Look> looks);

/// Now, as Look::time.
std::string utc_now();

}  // namespace surefoot::certify
