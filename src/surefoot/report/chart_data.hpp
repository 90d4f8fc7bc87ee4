#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/report/certificate_figures.hpp"
#include "surefoot/report/figure.hpp"
#include "surefoot/report/series.hpp"

#include <string>
#include <vector>

namespace surefoot::report {

/// Curves that a page lets its reader choose among: by variant, parameter (tolerance or quantile) and method.
struct Chart {
  std::string id;              ///< of the figure that it makes interactive
  std::string title;           ///< for those who do not see it
  std::string parameter_name;  ///< "Tolerance"
  std::vector<double> parameters;
  std::vector<std::string> labels;  ///< of the parameters
  Axis x;
  Axis y;
  double says_nothing = infinity;  ///< value of a bound that says nothing
  std::string (*observed)(double) = nullptr;
  std::string (*certified)(double) = nullptr;
  std::vector<Series> series;
};

Chart success_chart(const certify::Certificate& certificate, const Figure& figure);
Chart quantile_chart(const certify::Certificate& certificate, const Figure& figure);

/// A sentence that the reader finds by what it speaks of.
struct Answer {
  std::string variant;
  std::string tolerance;
  std::string share;
  std::string method;
  std::string sentence;
  bool certain = false;  ///< a guarantee, covered by the confidence
};

std::vector<Answer> budget_answers(const certify::Certificate& certificate);

/// What a chart shows at first: one variant with all its parameters, or all variants at one parameter.
enum class FirstSight { one_variant, all_variants };

/// Charts that choose among the same variants, and sentences about these: of one certificate, or of a pair.
struct ChartSet {
  std::vector<std::string> variants;
  std::string things = "problems";  ///< that shares are of
  std::vector<Chart> charts;
  std::vector<Answer> answers;
  std::string free_choice = "null";  ///< JSON (free_choice.hpp)
  std::string question = "ask";      ///< id of the place where the reader finds an answer
  FirstSight first = FirstSight::one_variant;
};

/// Of a certificate: success rates and quantiles, as far as there are curves; ids begin with `prefix`.
ChartSet chart_set(const certify::Certificate& certificate, const std::string& prefix = "");

/// JSON for page.js: numbers to draw with six digits, and every number to read as ready-made text. Long
/// curves are thinned, so that the page stays small.
std::string chart_data(const std::vector<ChartSet>& sets);

}  // namespace surefoot::report
