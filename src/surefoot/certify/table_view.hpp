#pragma once

#include "surefoot/certify/independence.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/core/types.hpp"
#include "surefoot/problems/cone_program.hpp"
#include "surefoot/problems/qp.hpp"
#include "surefoot/runs/tally.hpp"

#include <cstddef>
#include <functional>
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

/// The numbers of the problems of a family. Row i of all tables and matrix i of all lists together are
/// problem i; a table of one row and a list of one matrix are shared.
struct ProblemData {
  std::vector<TableView> tables;
  std::vector<const std::vector<problems::SparseMatrix>*> matrices;
};
/// Of a family that outlives them.
ProblemData data_of(const problems::Qp& problem);
ProblemData data_of(const problems::ConeProgram& problem);

/// Looks for dependence between the problems of a family. Only numbers that vary count, unless none does.
/// Of the first `most` problems, or of all.
Independence independence_of_problems(const ProblemData& data, Index most = most_counted);
/// The same of problems whose numbers are read row by row: calls its argument with every row, in order; it is
/// called twice.
using EachRow = std::function<void(const std::function<void(const double*)>&)>;
Independence independence_of_rows(std::size_t columns, const EachRow& each_row);

/// Counts all runs, as RunTable::count does for files, and looks for dependence if it has where to put what
/// it finds. `interrupt`, if set, is called every few runs in any thread; what it throws ends the count.
/// InputError unless there is a run and a column per recorded step.
runs::Tally count_view(const TableView& view, const runs::TallySpec& spec,
                       const Interrupt& interrupt = nullptr, Independence* independence = nullptr);
/// The same of rows that are numbered from `first_row` on; adds what there is to collect of them to `check`,
/// if it is there.
runs::Tally count_view_from(Index first_row, const TableView& view, const runs::TallySpec& spec,
                            const Interrupt& interrupt, DependenceCheck* check);

/// The same of groups, as a file with a column of groups: row i belongs to group group_of_row[i].
runs::Tally count_grouped_view(const TableView& view, const std::vector<Index>& group_of_row,
                               const runs::TallySpec& spec, const Interrupt& interrupt = nullptr,
                               Independence* independence = nullptr);
/// The same; adds what there is to collect of the groups to `check`.
runs::Tally count_groups_into(DependenceCheck& check, const TableView& view,
                              const std::vector<Index>& group_of_row, const runs::TallySpec& spec,
                              const Interrupt& interrupt);

}  // namespace surefoot::certify
