#include "surefoot/certify/provenance.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"

#include <fmt/format.h>

#include <limits>
#include <string_view>

namespace surefoot::certify {

namespace {

constexpr std::string_view data_family_begin = "file(sha256=";

}  // namespace

void SampleRange::validate() const {
  require(seed >= 0, "samples: the seed {} is negative", seed);
  require(first >= 0, "samples: the first one, {}, is negative", first);
  require(count >= 1, "samples: there are {}, at least 1 is needed", count);
  require(is_within(first, count, std::numeric_limits<Index>::max()), "samples: {} from {} on are too many",
          count, first);
}

// Differences of numbers >= 0: nothing overflows, whatever the counts are.
bool SampleRange::overlaps(const SampleRange& other) const {
  if (family != other.family || seed != other.seed || set != other.set) return false;
  return first <= other.first ? other.first - first < count : first - other.first < other.count;
}

std::string data_family(const std::string& sha256) {
  return fmt::format("{}{})", data_family_begin, sha256);
}

bool is_data_family(const std::string& family) {
  return family.starts_with(data_family_begin);
}

std::string to_text(const SampleRange& range) {
  if (range.set == data_set)
    return fmt::format("rows {} .. {} of {}", range.first, range.last(), range.family);
  return fmt::format("samples {} .. {} of the set {} of {}, seed {}", range.first, range.last(), range.set,
                     range.family, range.seed);
}

std::string looks_sentence(const SampleProvenance& provenance) {
  if (!provenance.earlier_looks) return "Earlier looks at these samples are unknown.";
  if (*provenance.earlier_looks == 0 && provenance.range.set == data_set) {
    return "The ledger has no earlier look at a file with this digest; it does not know the same rows "
           "in another file.";
  }
  if (*provenance.earlier_looks == 0) return "The ledger has no earlier look at these samples.";
  return fmt::format(
      "These samples, or some of them, were looked at {} before: the confidence holds only if nothing that "
      "was seen then had a part in choosing what is certified here.",
      *provenance.earlier_looks == 1 ? "once" : fmt::format("{} times", *provenance.earlier_looks));
}

}  // namespace surefoot::certify
