#pragma once

#include "surefoot/algorithms/operator.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/long_table.hpp"
#include "surefoot/core/types.hpp"

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

/// The sizes of what is counted of runs and claimed of them, before there is a runs::TallySpec.
struct CountedSizes {
  double columns = 0;  ///< steps that are recorded
  double claimed = 0;  ///< of those, with claims
  double tolerances = 0;
  double quantiles = 0;
  double grid = 0;
  bool values = false;  ///< are kept, for order statistics
  bool bands = false;   ///< values and their maxima are kept, for bands
  bool shares = false;  ///< of failed ticks are kept, for averages of groups
  double value_limit = 0;
  double variants = 1;  ///< that are counted one after the other

  /// Under options that need not be resolved.
  static CountedSizes of(const certify::Options& claims, Index columns);
};

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
  /// Counts of at most so many runs (none: nobody knows how many) by `tallies` at once, and the certificate
  /// of them; `kept`: with checkpoints.
  void add_counts(const CountedSizes& sizes, std::optional<Index> runs, Index tallies, bool kept);
  /// A table that is read and counted, and closed before the next one is read; `kept`: with checkpoints.
  void add_table(const certify::RunTable& table, const certify::Options& claims, bool kept);
  /// Bytes that are left of what was available.
  [[nodiscard]] double left() const;
  /// ResourceError with the numbers if it is more than was available, or than the limit left.
  void require_fit() const;

 private:
  /// Of parts that are there one after the other, the largest.
  void add_largest(const std::string& what, double bytes);

  struct Need {
    std::string what;
    double bytes = 0;
  };
  AvailableMemory available_;
  bool limited_ = false;
  std::vector<Need> needs_;
};

/// ResourceError if a table cannot be counted under the limit; its groups may take what is left.
void require_memory_of_table(certify::RunTable& table, const certify::Options& claims, std::uint64_t limit);

/// The same of tables of text with so many variants (certify/long_table.hpp), which are held whole.
void require_memory_of_text(const std::vector<std::string>& files, const certify::TableChoice& choice,
                            const certify::Options& claims, std::size_t variants, std::uint64_t limit);

/// ResourceError if tallies (certify/part_tally.hpp) cannot be read and merged under the limit.
void require_memory_of_tallies(const std::vector<std::string>& files, std::uint64_t limit);

/// What readers may take under a limit of all memory of the process; 0: no limit.
std::size_t memory_for_reading(std::uint64_t limit);

/// What is said where memory could not be allocated.
std::string out_of_memory();

}  // namespace surefoot::experiments
