#pragma once

#include "surefoot/algorithms/operator.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/core/types.hpp"
#include "surefoot/runs/tally.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace surefoot::experiments {

/// Bytes that this process can still take: what the machine has left, its control group, its own limits
/// (ulimit), whichever is least.
struct AvailableMemory {
  double bytes = 0;
  std::string bounded_by;
};
AvailableMemory available_memory();

/// What work is going to need, part by part: at least that much, within a small factor. Parts that are known
/// only once others are there are added later; what is left is what was left when it was made.
class MemoryNeeds {
 public:
  /// `limit` of all memory of the process; 0: none.
  explicit MemoryNeeds(std::uint64_t limit);
  /// `numbers` of 8 bytes.
  void add(const std::string& what, double numbers);
  void add_bytes(const std::string& what, double bytes);
  /// Blocks of runs of `steps` steps, `blocks` at once: workspaces (one is made and measured), traces, and so
  /// many `states` at a time: training keeps those of all steps.
  void add_blocks(const algorithms::Operator& op, Index steps, Index blocks, Index states = 1);
  /// Counts of runs of `steps` steps at so many tolerances, and the values of `samples` runs (0: add_values()
  /// does).
  void add_counts(Index steps, std::size_t tolerances, Index samples);
  /// A table that is read and counted; `kept`: with checkpoints.
  void add_table(const certify::RunTable& table, const runs::TallySpec& spec, bool kept);
  /// So many claims: the certificate, its text, its page and its figures.
  void add_claims(Index claims);
  /// ResourceError with the numbers if it is more than was available, or than the limit left.
  void require_fit() const;

 private:
  /// Values that a tally of at most so many runs keeps for quantiles; none: nobody knows how many.
  void add_values(const runs::TallySpec& spec, std::optional<Index> runs, bool kept);

  struct Need {
    std::string what;
    double bytes = 0;
  };
  AvailableMemory available_;
  bool limited_ = false;
  std::vector<Need> needs_;
};

/// What readers may take under a limit of all memory of the process; 0: no limit.
std::size_t memory_for_reading(std::uint64_t limit);

/// What is said where memory could not be allocated.
std::string out_of_memory();

}  // namespace surefoot::experiments
