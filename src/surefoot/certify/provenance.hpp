#pragma once

#include "surefoot/core/types.hpp"

#include <optional>
#include <string>

namespace surefoot::certify {

/// Samples first .. first+count-1 of one set of a family: what a count is of, whoever makes it and wherever
/// its files are. Two ranges have samples in common if all but first and count agree and the ranges overlap.
struct SampleRange {
  /// FamilyKey::text(): the name with every constant of the distribution. For data files
  /// data_family().
  std::string family;
  Index seed = 0;   ///< of the family
  std::string set;  ///< families::to_string(SampleSet); data_set for rows of files
  Index first = 0;
  Index count = 0;

  /// InputError unless first >= 0, count >= 1 and the last one is in range.
  void validate() const;
  [[nodiscard]] Index last() const { return first + count - 1; }
  [[nodiscard]] bool overlaps(const SampleRange& other) const;
  bool operator==(const SampleRange&) const = default;
};

/// The rows of a data file are samples of a "family" of their own, named by the digest of the file.
inline constexpr const char* data_set = "rows";
/// families::to_string() of the sets that have a meaning here: PAC-Bayes counts on training samples, a look
/// at validation samples makes no certificate.
inline constexpr const char* training_set = "training";
inline constexpr const char* validation_set = "validation";
inline constexpr const char* hold_out_set = "hold-out";
std::string data_family(const std::string& sha256);
bool is_data_family(const std::string& family);

/// "samples 0 .. 9999 of the set hold-out of sparse-coding(...), seed 0".
std::string to_text(const SampleRange& range);

/// Which samples a variant was counted on, and what is known of earlier looks at them.
struct SampleProvenance {
  SampleRange range;
  /// Certificates that were made of some of these samples before, as far as a ledger tells (ledger.hpp).
  /// nullopt: unknown. For PAC-Bayes always nullopt: training looks at its samples, and that is paid for.
  std::optional<Index> earlier_looks = std::nullopt;
};

/// What a certificate says of earlier looks at the samples that it counts.
std::string looks_sentence(const SampleProvenance& provenance);

}  // namespace surefoot::certify
