#pragma once

#include "surefoot/core/family_key.hpp"
#include "surefoot/core/types.hpp"
#include "surefoot/families/family_files.hpp"
#include "surefoot/families/sample_set.hpp"
#include "surefoot/families/sparse_coding.hpp"
#include "surefoot/problems/matrix.hpp"
#include "surefoot/problems/sparse_codes.hpp"

#include <array>
#include <cstdint>
#include <string>
#include <vector>

namespace surefoot::families {

/// A file of the user's by its path and, once it was read, its digest.
struct OwnFile {
  const char* name;  ///< its key in training files
  std::string path = {};
  std::string sha256 = {};
  [[nodiscard]] bool given() const { return !path.empty(); }
};

/// What of sparse coding is a user's own, and not drawn: files that are known by their digests, wherever they
/// lie.
struct SparseCodingFiles {
  /// D, m x n with m <= n, rows independent where a network needs that, columns of any positive norm.
  OwnFile dictionary{"dictionary"};
  /// A row of n numbers per sample, not all 0: sample i of every set is row i.
  OwnFile codes{"codes"};
  /// A row of m numbers per code, in the place of D z + noise.
  OwnFile measurement_file{"measurement_file"};

  std::array<OwnFile*, 3> all() { return {&dictionary, &codes, &measurement_file}; }
  [[nodiscard]] std::array<const OwnFile*, 3> all() const { return {&dictionary, &codes, &measurement_file}; }
  [[nodiscard]] bool any() const { return dictionary.given() || codes.given() || measurement_file.given(); }
  /// Whether samples are rows of files, so that sets must be kept apart by their rows.
  [[nodiscard]] bool has_rows() const { return codes.given(); }
  /// InputError if these files and constants do not go together.
  void validate(const SparseCodingOptions& options, std::uint64_t seed) const;
};

/// All constants of the distribution, digests that are known among them.
FamilyKey key_of(const SparseCodingOptions& options, const SparseCodingFiles& files);

/// Sparse coding as drawn, with what is the user's in the place of what would be drawn.
class OwnSparseCoding {
 public:
  /// Reads the files; digests that are empty are filled in, and with a dictionary the measurements and
  /// variables. InputError names the file that is not there, is damaged, does not fit the others, or is not
  /// the one that has the digest. `read`, if not null, gets the files.
  OwnSparseCoding(std::uint64_t seed, SparseCodingOptions& options, SparseCodingFiles& files,
                  std::vector<FamilyFiles::Read>* read = nullptr);

  [[nodiscard]] const problems::Matrix& dictionary() const { return drawn_.dictionary(); }
  /// Samples first .. first+count-1 of a set, as SparseCoding::draw() numbers them; with codes of the user's
  /// these rows, whatever the set. Noise is drawn for each row, the same in every set.
  [[nodiscard]] problems::SparseCodes draw(SampleSet set, Index count, Index first) const;
  /// The numbers of every row: for what must not be twice in the files.
  [[nodiscard]] const problems::Table& codes() const { return codes_; }
  [[nodiscard]] const problems::Table& measurements() const { return measurements_; }

 private:
  SparseCodingFiles files_;
  problems::Table codes_;         // empty: drawn
  problems::Table measurements_;  // empty: D z + noise
  SparseCoding drawn_;
};

}  // namespace surefoot::families
