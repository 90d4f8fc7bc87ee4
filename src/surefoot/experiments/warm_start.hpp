#pragma once

#include "surefoot/experiments/learned.hpp"

#include <string>
#include <vector>

/// What experiments with learned warm starts share: claims, figures beside other starts.
namespace surefoot::experiments {

/// Claims about the metric after some of the steps up to `steps`, for all tolerances and shares together.
certify::Options warm_start_claims(const runs::Metric& metric, Index steps,
                                   const std::vector<double>& tolerances,
                                   const std::vector<double>& quantiles);

/// Counted runs from a start that is not learned.
struct CountedStart {
  std::string name;
  runs::Tally tally;
};

struct WarmStartResults {
  certify::Certificate learned;      ///< of the posteriors, on the training samples
  certify::Certificate hold_out;     ///< of the deterministic network, on new problems
  std::vector<CountedStart> starts;  ///< what it is compared with
};

/// A number of steps, or that there is none.
std::string budget_cell(const std::optional<Index>& steps);

struct WarmStartFigures {
  std::string slug;
  std::string metric;
  std::vector<double> tolerances;
  std::vector<double> quantiles;
  double lowest = 0;  ///< of the metric's axis
  double highest = 0;
  Index steps = 0;
};
/// Success rates and quantiles over the steps.
std::vector<report::Figure> warm_start_figures(const WarmStartResults& results,
                                               const WarmStartFigures& figures);

}  // namespace surefoot::experiments
