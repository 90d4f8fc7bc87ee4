#pragma once

#include "surefoot/experiments/measured.hpp"
#include "surefoot/experiments/paper_tables.hpp"
#include "surefoot/report/text_table.hpp"

#include <optional>
#include <string>
#include <vector>

/// Iterations until a share of problems is below a tolerance: the paper's table and the same of ours, cell by
/// cell.
namespace surefoot::experiments {

/// The worst case of a 1/2-averaged operator from an estimate of ||z^0 - z*||: never a guarantee.
struct WorstCaseEstimate {
  double dist0 = 0;
  std::string why;  ///< it is an estimate: what of it is no theorem or no fact
};

/// The paper's table and the same of ours.
struct ComparisonPlan {
  std::string title;
  PaperTable table;
  /// One unit of the paper's tolerances in units of the metric (10 ln is 10 log10(e) times 10 log10).
  double tolerance_factor = 1;
  Index paper_observed_samples = 1000;  ///< behind the paper's observed column
  std::optional<WorstCaseEstimate> worst_case = {};
  bool same_metric = true;       ///< false: the paper's cells are of another metric, and left out
  std::string explanation = {};  ///< of differences beyond sampling error
};

struct Cell {
  std::optional<Index> paper;
  std::optional<Index> kl;     ///< ours by the paper's method
  std::optional<Index> exact;  ///< ours: the paper's claim made sound, at every step from there on
  std::optional<Index> stays;  ///< ours: problems that settle, a stronger claim
};

struct ComparisonRow {
  double quantile = 0;
  double paper_tolerance = 0;
  double tolerance = 0;
  std::optional<double> paper_worst_case;
  std::optional<double> worst_case;
  std::optional<Index> paper_observed;
  std::optional<Index> observed;
  std::vector<Cell> cells;  ///< by size
};

struct Comparison {
  std::string slug;
  std::string title;
  bool has_paper = true;  ///< false: the paper has no numbers of this metric
  std::vector<Index> sizes;
  std::vector<ComparisonRow> rows;
  std::string worst_case_note;           ///< of what the worst case is an estimate; empty: there is none
  std::vector<std::string> differences;  ///< a line for each beyond sampling error, or looser than the paper
  Index cells_compared = 0;              ///< where the paper or we have a bound
  Index cells_at_least_as_tight = 0;
};

Comparison compare(const Measured& measured, const std::string& slug, const ComparisonPlan& plan);
report::TextTable to_table(const Comparison& comparison);

}  // namespace surefoot::experiments
