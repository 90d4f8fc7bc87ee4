#pragma once

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/types.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace surefoot::monitoring {

/// Ranks of new values among a reference and all values before them, in bounded memory.
///
/// Every other value of the reference, sorted, gives the edges of at most 512 cells; the others are counted
/// in the cells. Given the edges, these and the values of the stream are exchangeable as long as nothing
/// changes, so that, with U_t uniform and of its own,
///   p_t = ( #{ in higher cells } + U_t (1 + #{ in the same cell }) ) / (1 + n_t)
/// are independent and uniform on (0, 1): V. Vovk, A. Gammerman, G. Shafer, Algorithmic Learning in a Random
/// World, 2005, Theorem 8.1 (for values, here cells). A small p is a large value. NaN is larger than all
/// numbers.
class ConformalRanks {
 public:
  static constexpr std::size_t most_cells = 512;
  static constexpr std::size_t fewest_values = 20;

  /// InputError if there are fewer than 20 values.
  ConformalRanks(std::vector<double> reference, std::uint64_t seed);

  /// p of the value, which is then one of those before.
  double next(double value);

  void write(ByteWriter& to) const;
  /// Counts of the same reference.
  void read(ByteReader& from);

 private:
  [[nodiscard]] std::size_t cell_of(double value) const;
  [[nodiscard]] Index up_to(std::size_t cell) const;  ///< in this cell and those below
  void add(std::size_t cell);

  std::vector<double> edges_;  ///< cell i holds values above edge i - 1, up to edge i
  std::vector<Index> tree_;    ///< Fenwick: sums of counts
  Index count_ = 0;
  Index drawn_ = 0;
  std::uint64_t seed_ = 0;
};

/// A bet that p falls into a set of probability q with `odds` times the odds of it: the ratio is
/// odds / (1 + (odds - 1) q) inside and 1 / (1 + (odds - 1) q) outside.
struct RankBet {
  double low = 0;
  double high = 1;
  double odds = 1;
};

/// The fixed mixture: large values (a half, a fifth, 5 %, 1 %, 0.1 % of the reference) more frequent, the
/// same for small ones, the middle more frequent (less spread), and less (more spread).
inline constexpr std::array<RankBet, 14> rank_bets{{{0, 0.5, 1.5},
                                                    {0, 0.5, 4},
                                                    {0, 0.2, 3},
                                                    {0, 0.05, 4},
                                                    {0, 0.01, 8},
                                                    {0, 0.001, 30},
                                                    {0.5, 1, 1.5},
                                                    {0.5, 1, 4},
                                                    {0.8, 1, 3},
                                                    {0.95, 1, 4},
                                                    {0.99, 1, 8},
                                                    {0.999, 1, 30},
                                                    {0.2, 0.8, 3},
                                                    {0.2, 0.8, 1.0 / 3}}};

/// Evidence against ranks that are independent and uniform: the detector or the test of surefoot/monitor.h
/// with bets in the place of rates.
class RankEvidence {
 public:
  explicit RankEvidence(bool is_test);

  void advance(double p);
  void restart();
  /// Mean over the bets, rounded down.
  [[nodiscard]] double value() const { return value_; }

  void write(ByteWriter& to) const;
  void read(ByteReader& from);

 private:
  struct Ratios {
    double inside = 1;
    double outside = 1;
  };
  bool is_test_;
  std::array<Ratios, rank_bets.size()> ratios_{};
  std::vector<double> evidence_;
  std::vector<std::int64_t> scale_;  ///< of the test: evidence * 2^(512 scale)
  double value_ = 0;
};

}  // namespace surefoot::monitoring
