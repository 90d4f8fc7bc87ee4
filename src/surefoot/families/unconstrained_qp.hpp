#pragma once

#include "surefoot/families/sample_set.hpp"
#include "surefoot/problems/quadratic.hpp"

#include <cstdint>

namespace surefoot::families {

struct UnconstrainedQpOptions {
  Index stiff = 10;              ///< entries of large curvature, first
  Index flat = 10;               ///< entries of small curvature
  double stiff_curvature = 100;  ///< of P's diagonal
  double flat_curvature = 1;
  double range = 10;          ///< c_i uniform on [-range, range] ...
  double stiff_factor = 1e4;  ///< ... times this for the stiff entries

  void validate() const;
};

/// Quadratics 1/2 z'Pz + c'z with P = diag(stiff_curvature, ..., flat_curvature, ...) and the parameter c
/// uniform on a box. R. Sambharya, B. Stellato, "Data-driven performance guarantees for classical and learned
/// optimizers".
class UnconstrainedQp {
 public:
  explicit UnconstrainedQp(UnconstrainedQpOptions options = {});

  [[nodiscard]] const UnconstrainedQpOptions& options() const { return options_; }
  [[nodiscard]] Index variables() const { return options_.stiff + options_.flat; }
  /// Diagonal of P.
  [[nodiscard]] problems::Vector curvature() const;
  /// The largest |c_i|, entry by entry: what inputs of a network are scaled by.
  [[nodiscard]] problems::Vector ranges() const;
  /// The largest ||z*|| of the family, by its definition.
  [[nodiscard]] double largest_solution() const;

  /// Parameters of samples first .. first+count-1 of a set, a row each; sample i depends on (seed, set, i)
  /// only.
  [[nodiscard]] problems::Table draw(std::uint64_t seed, SampleSet set, Index count, Index first = 0) const;
  [[nodiscard]] problems::Quadratic problem(problems::Table c) const;
  /// z* = -P^{-1} c, a row each.
  [[nodiscard]] problems::Table solutions(const problems::Table& c) const;

 private:
  UnconstrainedQpOptions options_;
};

}  // namespace surefoot::families
