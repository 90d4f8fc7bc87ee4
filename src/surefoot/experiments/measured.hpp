#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_journal.hpp"
#include "surefoot/report/certificate_figures.hpp"
#include "surefoot/report/figure.hpp"
#include "surefoot/runs/metric.hpp"
#include "surefoot/runs/run.hpp"
#include "surefoot/runs/tally.hpp"

#include <array>
#include <string>
#include <vector>

/// Nested samples of an optimizer that is not learned, counted while they run, with their figures and
/// certificate.
namespace surefoot::experiments {

inline constexpr std::array<double, 3> table_quantiles{0.3, 0.9, 0.99};
inline constexpr double claim_delta = 1e-4;                 ///< of a risk claim, and of ours on a budget
inline constexpr double quantile_delta = 81 * claim_delta;  ///< of a quantile: the paper's grid of 81

/// A metric with what is claimed of it.
struct Subject {
  std::string slug;  ///< of its files, "residual"
  runs::Metric metric;
  std::vector<double> tolerances;  ///< increasing
  std::vector<Index> extra_steps;  ///< that claims speak of besides the default ones
};

/// Counts of one subject over the first sizes[i] of the samples.
struct Measured {
  Subject subject;
  certify::Options claims;   ///< resolved
  std::vector<Index> sizes;  ///< 10, 100, 1000, ending in the number of samples
  std::vector<runs::Tally> tallies;
};

/// 10, 100, 1000 as far as they are below `samples`, and `samples`.
std::vector<Index> nested_sizes(Index samples);

/// Runs the operator once and counts all subjects as it goes; traces are never stored.
std::vector<Measured> measure(const algorithms::Operator& op, const std::vector<Subject>& subjects,
                              const runs::RunOptions& options, certify::CountJournal& journal);

/// Success rates and quantiles over the steps from N = 10, 100, ... with the bounds of both methods.
report::Figure success_figure(const Measured& measured);
report::Figure quantile_figure(const Measured& measured);

/// The certificate of all samples: total delta 0.01, of which each iteration budget has claim_delta.
certify::Certificate certificate_of(const Measured& measured, const std::string& title,
                                    const std::string& source, const std::string& run_json);

}  // namespace surefoot::experiments
