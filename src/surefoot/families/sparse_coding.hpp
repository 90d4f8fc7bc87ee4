#pragma once

#include "surefoot/families/sample_set.hpp"
#include "surefoot/problems/sparse_codes.hpp"

#include <cstdint>

namespace surefoot::families {

struct SparseCodingOptions {
  Index measurements = 256;  ///< m
  Index variables = 512;     ///< n >= m
  double density = 0.1;      ///< probability that an entry of a code is kept
  double noise = 0.01;       ///< standard deviation of the noise over that of the code's entries

  void validate() const;
};

/// Sparse coding: b = D z* + noise. D_ij ~ N(0, 1/m) with columns normalised, z* standard normal entries,
/// each kept with probability `density` (a code without entries is drawn again), noise N(0, (noise
/// std(z*))^2), std(z*) over the entries of this code. X. Chen et al., "Theoretical linear convergence of
/// unfolded ISTA", NeurIPS 2018, with the constants of Sambharya and Stellato.
class SparseCoding {
 public:
  explicit SparseCoding(std::uint64_t seed, SparseCodingOptions options = {});
  /// With a dictionary that is given, measurements x variables.
  SparseCoding(std::uint64_t seed, SparseCodingOptions options, problems::Matrix D);

  [[nodiscard]] const SparseCodingOptions& options() const { return options_; }
  [[nodiscard]] const problems::Matrix& dictionary() const { return D_; }
  /// Samples first .. first+count-1 of a set; sample i depends on (seed, set, i) only.
  [[nodiscard]] problems::SparseCodes draw(SampleSet set, Index count, Index first = 0) const;
  /// Measurements of codes that are given, rows first, first + 1, ... of a table, with noise that depends on
  /// (seed, row) only.
  [[nodiscard]] problems::SparseCodes measure(const problems::Table& codes, Index first) const;

 private:
  template <class CodeOf>
  [[nodiscard]] problems::SparseCodes samples(Index count, const CodeOf& code_of) const;

  std::uint64_t seed_;
  SparseCodingOptions options_;
  problems::Matrix D_;
};

/// `codes` gets the samples of `original` with fresh random signs of their entries, the noise kept: z = sigma
/// z*, b = b + D (z - z*). The law of z* is symmetric and D is known, so these are samples of the same law;
/// they depend on (seed, round) only. Training on them, round by round, cures overfitting.
void flip_signs(const problems::SparseCodes& original, std::uint64_t seed, Index round,
                problems::SparseCodes& codes);

}  // namespace surefoot::families
