#pragma once

#include "surefoot/certify/independence.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/core/types.hpp"
#include "surefoot/runs/tally.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace surefoot::certify {

/// A table of runs in memory that someone else owns, read where it lies: the number of run i at column j is
/// at data + i * row_bytes + j * column_bytes.
struct TableView {
  enum class Number { float64, float32 };

  const std::byte* data = nullptr;
  Number number = Number::float64;
  Index rows = 0;
  Index columns = 0;
  Index row_bytes = 0;  ///< may be negative or 0, as strides of arrays may
  Index column_bytes = 0;
};

/// A matrix of float64 in row-major order.
template <class Matrix>
TableView view_of(const Matrix& matrix) {
  static_assert(Matrix::IsRowMajor);
  TableView view;
  view.data = reinterpret_cast<const std::byte*>(matrix.data());
  view.rows = matrix.rows();
  view.columns = matrix.cols();
  view.row_bytes = matrix.outerStride() * static_cast<Index>(sizeof(double));
  view.column_bytes = static_cast<Index>(sizeof(double));
  return view;
}

/// Looks for dependence between the problems of a family: row i of all tables together is problem i, a table
/// of one row is shared. Only numbers that vary count. None if there are none.
std::optional<Independence> independence_of_problems(const std::vector<TableView>& tables);

/// Counts all runs, as RunTable::count does for files, and looks for dependence if it has where to put what
/// it finds. `interrupt`, if set, is called every few runs in any thread; what it throws ends the count.
/// InputError unless there is a run and a column per recorded step.
runs::Tally count_view(const TableView& view, const runs::TallySpec& spec,
                       const Interrupt& interrupt = nullptr, Independence* independence = nullptr);

}  // namespace surefoot::certify
