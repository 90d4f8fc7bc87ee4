#pragma once

#include "surefoot/core/types.hpp"
#include "surefoot/runs/tally.hpp"

#include <cstddef>
#include <vector>

namespace surefoot {
class ByteReader;
class ByteWriter;
}  // namespace surefoot

namespace surefoot::runs {

/// Rows that belong together, as far as claims need them: ticks of one trajectory, runs of one day. A tick is
/// a row phi_{k_0}, phi_{k_1}, ..., which has failed from its first infinite or NaN entry on. Of G
/// independent groups (a) the largest phi of a group at each step is a run like any other, and (b) the share
/// Y of its ticks with phi >= tolerance is a number in [0, 1].
class TickGroup {
 public:
  explicit TickGroup(const TallySpec& spec);

  /// spec.steps.size() numbers; `spec` is the one it was made for.
  void add_tick(const TallySpec& spec, const double* values);

  [[nodiscard]] Index ticks() const { return ticks_; }
  /// By column, infinite from the first column on at which a tick has failed for good.
  [[nodiscard]] const std::vector<double>& largest() const { return largest_; }
  /// Y of place claim_column * tolerances + tolerance, rounded up; spec.keep_shares.
  [[nodiscard]] double failed_share(std::size_t place) const;

  /// Memory of one group under the specification, in bytes.
  static std::size_t bytes(const TallySpec& spec);

  void write_state(ByteWriter& to) const;
  static TickGroup read_state(const TallySpec& spec, ByteReader& from);

 private:
  Index ticks_ = 0;
  std::vector<double> largest_;
  std::vector<Index> failed_;  // claim columns x tolerances
};

}  // namespace surefoot::runs
