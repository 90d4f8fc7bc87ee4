#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/core/types.hpp"
#include "surefoot/report/report.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace surefoot::report {

/// What is drawn of a closed loop beside its certificates.
struct LoopPicture {
  struct Limit {
    Index limit = 0;
    double iterations = 0;  ///< of a tick, on average
    double failed = 0;      ///< share of ticks
    Index lost = 0;         ///< rollouts with a number that overflowed
    /// Cost over that of exact solves, relative: on average, the median of rollouts, and what the share
    /// high_share of them does not exceed; infinite: nobody knows.
    double excess = infinity;
    double median = infinity;
    double high = infinity;
  };
  static constexpr double high_share = 0.99;
  struct State {
    double lower_bound = -infinity;  ///< of the plant
    double upper_bound = infinity;
    std::vector<std::vector<double>> rollouts = {};  ///< some of them: ticks 0, 1, ...
  };
  std::string family;
  std::string start;
  Index rollouts = 0;
  Index ticks = 0;
  double delta = 0;
  double tube_share = 0;
  Index tube_limit = 0;
  std::vector<Limit> limits;
  std::vector<State> states;
};

/// By the names of their folders, which the page links to: "violation", "cost", "failed", "series", "tube".
using LoopCertificates = std::vector<std::pair<std::string, certify::Certificate>>;

/// The smallest limit with a guarantee: a row for each tolerance, a column for each share of rollouts.
TextTable smallest_limits(const LoopCertificates& certificates);

/// The files of a closed loop: the page with trajectories, the certified tube and the limits against the
/// cost; tube.csv; every certificate in its folder with its own report.
Report loop_report(const LoopPicture& picture, const LoopCertificates& certificates,
                   const PlotOptions& options = {});

/// Whether a name inside an output folder is that of one of its files.
bool is_file_of_loop(const std::filesystem::path& name);

}  // namespace surefoot::report
