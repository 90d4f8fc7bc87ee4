#include "surefoot/certify/table_view.hpp"

#include "surefoot/certify/grouped_rows.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <numeric>
#include <utility>
#include <vector>

namespace surefoot::certify {

namespace {

template <class Number>
void gather(const std::byte* row, Index columns, Index column_bytes, double* out) {
  for (Index j = 0; j < columns; ++j) {
    Number value{};
    std::memcpy(&value, row + j * column_bytes, sizeof value);
    out[j] = static_cast<double>(value);
  }
}

void read_row(const TableView& view, Index row, double* out) {
  const std::byte* cells = view.data + row * view.row_bytes;
  if (view.number == TableView::Number::float64) {
    gather<double>(cells, view.columns, view.column_bytes, out);
  } else {
    gather<float>(cells, view.columns, view.column_bytes, out);
  }
}

void require_runs(const TableView& view, const runs::TallySpec& spec) {
  require(view.rows > 0, "traces: there is no run in the table");
  require(view.columns == static_cast<Index>(spec.steps.size()), "traces: {} columns for {} recorded steps",
          view.columns, spec.steps.size());
}

// A row for each matrix: the entries that it stores, then zeros.
problems::Table stored_entries(const std::vector<problems::SparseMatrix>& matrices) {
  Index most = 0;
  for (const problems::SparseMatrix& matrix : matrices) most = std::max<Index>(most, matrix.nonZeros());
  problems::Table entries = problems::Table::Zero(static_cast<Index>(matrices.size()), most);
  for (std::size_t i = 0; i < matrices.size(); ++i) {
    Index place = 0;
    for (Index column = 0; column < matrices[i].outerSize(); ++column)
      for (problems::SparseMatrix::InnerIterator entry(matrices[i], column); entry; ++entry)
        entries(static_cast<Index>(i), place++) = entry.value();
  }
  return entries;
}

}  // namespace

ProblemData data_of(const problems::Qp& problem) {
  return {{view_of(problem.q), view_of(problem.l), view_of(problem.u)}, {&problem.P, &problem.A}};
}

ProblemData data_of(const problems::ConeProgram& problem) {
  return {{view_of(problem.b), view_of(problem.c)}, {&problem.P, &problem.A}};
}

Independence independence_of_problems(const ProblemData& data, Index most) {
  std::vector<TableView> tables = data.tables;
  std::vector<problems::Table> entries;
  entries.reserve(data.matrices.size());  // views of them stay
  for (const auto* matrices : data.matrices) {
    entries.push_back(stored_entries(*matrices));
    tables.push_back(view_of(entries.back()));
  }
  Index rows = 0;
  for (const TableView& table : tables) rows = std::max(rows, table.rows);
  std::vector<TableView> varied;
  std::size_t columns = 0;
  for (const TableView& table : tables) {
    if (table.rows != rows) continue;
    varied.push_back(table);
    columns += static_cast<std::size_t>(table.columns);
  }
  rows = std::min(rows, most);
  std::vector<double> row(columns);
  return independence_of_rows(columns, [&](const std::function<void(const double*)>& look) {
    for (Index i = 0; i < rows; ++i) {
      double* out = row.data();
      for (const TableView& table : varied) {
        read_row(table, i, out);
        out += table.columns;
      }
      look(row.data());
    }
  });
}

Independence independence_of_rows(std::size_t columns, const EachRow& each_row) {
  std::vector<bool> varies(columns, false);
  std::vector<double> first;
  if (columns > 0)
    each_row([&](const double* row) {
      if (first.empty()) first.assign(row, row + columns);
      for (std::size_t j = 0; j < columns; ++j) varies[j] = varies[j] || row[j] != first[j];
    });
  std::vector<Index> numbers;
  for (std::size_t j = 0; j < columns; ++j) {
    if (varies[j]) numbers.push_back(static_cast<Index>(j));
  }
  if (numbers.empty()) {
    numbers.resize(columns);
    std::iota(numbers.begin(), numbers.end(), 0);
  }
  DependenceCheck check(numbers, "number");
  std::vector<double> telling(numbers.size());
  Index number = 0;
  each_row([&](const double* row) {
    for (std::size_t j = 0; j < numbers.size(); ++j) telling[j] = row[static_cast<std::size_t>(numbers[j])];
    check.add(number++, telling.data());
  });
  Independence found = check.result();
  found.of = "problem data";
  return found;
}

runs::Tally count_view(const TableView& view, const runs::TallySpec& spec, const Interrupt& interrupt,
                       Independence* independence) {
  DependenceCheck check(spec.steps);
  runs::Tally tally = count_view_from(0, view, spec, interrupt, independence != nullptr ? &check : nullptr);
  if (independence != nullptr) *independence = check.result();
  return tally;
}

runs::Tally count_view_from(Index first_row, const TableView& view, const runs::TallySpec& spec,
                            const Interrupt& interrupt, DependenceCheck* collected) {
  require_runs(view, spec);
  require(is_within(first_row, view.rows, most_counted), "first_row: rows {} + {} are not all in 0 .. {}",
          first_row, view.rows, most_counted);
  constexpr Index numbers_per_thread = Index{1} << 16;  // fewer are counted before a thread has begun
  constexpr Index runs_between_calls = 64;
  const Index parts = std::clamp<Index>(view.rows * view.columns / numbers_per_thread, 1,
                                        std::min<Index>(threads(), view.rows));
  std::vector<runs::Tally> tallies(static_cast<std::size_t>(parts), runs::Tally(spec));
  std::vector<DependenceCheck> checks(tallies.size(), DependenceCheck(spec.steps, spec.scalar ? "" : "step"));
  const bool in_place = view.number == TableView::Number::float64 && view.column_bytes == sizeof(double) &&
                        reinterpret_cast<std::uintptr_t>(view.data) % alignof(double) == 0 &&
                        view.row_bytes % static_cast<Index>(alignof(double)) == 0;
  parallel_blocks(parts, [&](Index part) {
    std::vector<double> row(static_cast<std::size_t>(view.columns));
    runs::Tally& tally = tallies[static_cast<std::size_t>(part)];
    tally.expect(view.rows);  // not at once when there are many: that could not be stopped for a second
    DependenceCheck& check = checks[static_cast<std::size_t>(part)];
    const auto add = [&](Index i, const double* values) {
      tally.add_run(values, first_row + i);
      if (collected != nullptr) check.add(first_row + i, values);
    };
    for (Index i = view.rows * part / parts; i < view.rows * (part + 1) / parts; ++i) {
      if (interrupt && i % runs_between_calls == 0) interrupt();
      const std::byte* cells = view.data + i * view.row_bytes;
      if (in_place) {
        add(i, reinterpret_cast<const double*>(cells));
        continue;
      }
      read_row(view, i, row.data());
      add(i, row.data());
    }
  });
  runs::Tally whole = std::move(tallies.front());
  for (std::size_t part = 1; part < tallies.size(); ++part) whole.merge(tallies[part]);
  if (collected != nullptr) {
    for (const DependenceCheck& check : checks) collected->merge(check);
  }
  return whole;
}

runs::Tally count_grouped_view(const TableView& view, const std::vector<Index>& group_of_row,
                               const runs::TallySpec& spec, const Interrupt& interrupt,
                               Independence* independence) {
  DependenceCheck check(spec.steps);
  runs::Tally tally = count_groups_into(check, view, group_of_row, spec, interrupt);
  if (independence != nullptr) {
    *independence = check.result();
    independence->of = Independence::of_groups;
  }
  return tally;
}

runs::Tally count_groups_into(DependenceCheck& check, const TableView& view,
                              const std::vector<Index>& group_of_row, const runs::TallySpec& spec,
                              const Interrupt& interrupt) {
  require_runs(view, spec);
  require(static_cast<Index>(group_of_row.size()) == view.rows, "groups: {} labels for {} rows",
          group_of_row.size(), view.rows);
  constexpr Index rows_between_calls = 1024;
  GroupedRows groups(spec, "traces", 0);
  std::vector<double> row(static_cast<std::size_t>(view.columns));
  for (Index i = 0; i < view.rows; ++i) {
    if (interrupt && i % rows_between_calls == 0) interrupt();
    read_row(view, i, row.data());
    groups.add(group_of_row[static_cast<std::size_t>(i)], row.data());
  }
  runs::Tally tally(spec);
  groups.count(tally, check);
  return tally;
}

}  // namespace surefoot::certify
