#pragma once

#include "surefoot/core/types.hpp"
#include "surefoot/families/sparse_coding.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

/// What work is going to need at least, part by part, before it begins.
class MemoryNeeds {
 public:
  /// `numbers` of 8 bytes.
  void add(const std::string& what, double numbers);
  void add_bytes(const std::string& what, double bytes);
  /// Samples of sparse coding: measurements and the entries of the codes.
  void add_samples(const surefoot::families::SparseCodingOptions& family, surefoot::Index count);
  /// Counts of runs of `steps` steps at so many tolerances, and the values of `samples` runs.
  void add_counts(surefoot::Index steps, std::size_t tolerances, surefoot::Index samples);
  /// InputError with the numbers if it is more than is available, or than `limit` (0: none) leaves.
  void require_fit(std::uint64_t limit) const;

 private:
  struct Need {
    std::string what;
    double bytes = 0;
  };
  std::vector<Need> needs_;
};

/// --memory-limit
void add_memory_option(CLI::App& verb, std::uint64_t& limit);

/// Bytes that this process can still take: what the machine has left, its control group, its own limits
/// (ulimit), whichever is least.
struct AvailableMemory {
  double bytes = 0;
  std::string bounded_by;
};
AvailableMemory available_memory();
