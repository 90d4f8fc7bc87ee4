#pragma once

#include "surefoot/certify/certificate.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace surefoot::report {

/// The claims of one kind, variant, parameter and method, in the order of the steps: a curve with its bound.
struct Series {
  struct Point {
    Index step = 0;
    double observed = 0;
    double certified = 0;
    bool worst_case = false;  ///< certified is that of the worst case, the better of the two
  };

  std::size_t variant = 0;
  double parameter = 0;  ///< tolerance or quantile
  std::string_view method;
  std::vector<Point> points;
  bool worst_case = false;  ///< of every problem; nothing is observed of it

  /// The point at a step; null if nothing is claimed there.
  [[nodiscard]] const Point* at(Index step) const;
};

/// Certified: the better of what samples and worst case give.
std::vector<Series> success_series(const certify::Certificate& certificate);
std::vector<Series> quantile_series(const certify::Certificate& certificate);

/// The parameter of the series that holds the worst case among quantiles: all problems.
inline constexpr double every_problem = 1.0;
/// Of a variant, at the certificate's steps: certified, or, where it rests on an estimate, in the place of
/// what is observed. None if there is no worst case.
std::optional<Series> worst_case_series(const certify::Certificate& certificate, std::size_t variant);

/// The best certified success rate of all variants (or of the given one) at each step, and what was observed
/// of the variant that has it: the observed curve that belongs to the certified one.
std::vector<Series::Point> best_success(const certify::Certificate& certificate, double tolerance,
                                        std::optional<std::size_t> variant = std::nullopt);

/// Whether steps are best seen by their logarithm: they span more than two decades, and half of the problems
/// are below some tolerance already within the first tenth (or nothing is known of that).
bool acts_early(const certify::Certificate& certificate);

/// Up to `count` of the certificate's (increasing) steps with the first and the last: evenly, or evenly in
/// their logarithm where they are best seen so.
std::vector<Index> telling_steps(const certify::Certificate& certificate, std::size_t count);

}  // namespace surefoot::report
