#pragma once

#include <cstddef>
#include <vector>

namespace surefoot {

/// Time left over work in parts whose times are roughly known beforehand, corrected by what parts really
/// took: the first parts correct it a little, long ones much.
class TimeLeft {
 public:
  explicit TimeLeft(std::vector<double> expected_seconds);
  /// The part took so long.
  void done(std::size_t part, double seconds);
  /// It takes no time: done before, or left out.
  void left_out(std::size_t part);
  /// Of all parts that are not done, `spent` seconds after `current` began.
  [[nodiscard]] double seconds(std::size_t current, double spent) const;
  /// Before the first part begins.
  [[nodiscard]] double seconds() const;

 private:
  [[nodiscard]] double slowness() const;

  std::vector<double> expected_;
  std::vector<bool> open_;
  double total_ = 0;
  double expected_done_ = 0;
  double really_done_ = 0;
};

}  // namespace surefoot
