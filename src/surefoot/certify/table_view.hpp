#pragma once

#include "surefoot/core/interruption.hpp"
#include "surefoot/core/types.hpp"
#include "surefoot/runs/tally.hpp"

#include <cstddef>

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

/// Counts all runs, as RunTable::count does for files. `interrupt`, if set, is called every few runs in any
/// thread; what it throws ends the count. InputError unless there is a run and a column per recorded step.
runs::Tally count_view(const TableView& view, const runs::TallySpec& spec,
                       const Interrupt& interrupt = nullptr);

}  // namespace surefoot::certify
