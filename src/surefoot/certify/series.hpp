#pragma once

#include "surefoot/bounds/methods.hpp"
#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/text_table.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace surefoot::certify {

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

/// Groups claims into series, in the order in which the series first appear. Certified: the better of what
/// samples and worst case give.
template <class Claim>
std::vector<Series> series_of(const WorstCaseBounds& worst, const std::vector<Claim>& claims,
                              double Claim::*parameter, double Claim::*bound) {
  std::vector<Series> result;
  std::map<std::tuple<std::size_t, double, std::string_view>, std::size_t> place;
  for (const Claim& claim : claims) {
    if (std::isnan(claim.*parameter)) continue;
    const std::tuple key(claim.variant, claim.*parameter, bounds::name(claim.method));
    const auto [found, is_new] = place.try_emplace(key, result.size());
    if (is_new) result.push_back({claim.variant, claim.*parameter, std::get<2>(key), {}, false});
    const double better = worst.better(claim);
    result[found->second].points.push_back(
        {claim.step, claim.empirical, better, worst.used() && better != claim.*bound});
  }
  for (Series& series : result) std::ranges::stable_sort(series.points, {}, &Series::Point::step);
  return result;
}

/// How a table writes the series of a kind.
struct SeriesStyle {
  std::string (*label)(const Certificate& certificate, const Series& series);
  std::string (*observed)(double value);
  std::string (*certified)(double bound);
};

/// A row per step and a pair of columns, observed and certified, per series of the variant.
TextTable step_table(const Certificate& certificate, std::vector<Series> series, std::size_t variant,
                     const std::vector<Index>& steps, const SeriesStyle& style);

/// Of scalars: a row per variant and a pair of columns, observed and certified, per parameter.
TextTable scalar_table(const Certificate& certificate, const std::vector<Series>& series,
                       const SeriesStyle& style);

/// The two columns of what a table says about `group`.
void add_observed_and_certified(TextTable& table, const std::string& group);
void add_note(TextTable& table, std::string note);
/// What comes from the worst case is marked (w).
std::string marked(const std::string& text, bool worst_case);

}  // namespace surefoot::certify
