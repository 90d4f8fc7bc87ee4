#pragma once

#include "surefoot/core/types.hpp"

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The tables of R. Sambharya and B. Stellato, "Data-driven performance guarantees for classical and learned
/// optimizers", from experiments/NAME/paper_*.csv; experiments/README.md says what they are of.
namespace surefoot::experiments {

/// A table of the paper. Its first column is the share of problems in percent.
class PaperTable {
 public:
  /// `file` is a name inside experiments/, "deblurring/paper_nmse.csv".
  explicit PaperTable(const std::string& file);
  /// From its text, for tests; `file` is for errors.
  PaperTable(const std::string& file, std::string_view text);

  [[nodiscard]] Index rows() const { return static_cast<Index>(rows_.size()); }
  /// The share of problems, in 0 .. 1.
  [[nodiscard]] double quantile(Index row) const;
  /// None where the paper has no number, "-", or the table no such column.
  [[nodiscard]] std::optional<double> at(Index row, std::string_view column) const;
  [[nodiscard]] std::optional<Index> count_at(Index row, std::string_view column) const;
  /// The row of a share and a tolerance.
  [[nodiscard]] std::optional<Index> find(double quantile, double tolerance) const;

 private:
  std::vector<std::string> columns_;
  std::vector<std::vector<std::optional<double>>> rows_;
};

/// Numbers of samples that the paper's bounds on iterations are from, columns samples_10, ...
inline constexpr std::array<Index, 3> paper_sample_sizes{10, 100, 1000};
std::optional<Index> paper_bound_from(const PaperTable& table, Index row, Index samples);

}  // namespace surefoot::experiments
