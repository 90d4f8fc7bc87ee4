#include "surefoot/certify/table_view.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
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

}  // namespace

runs::Tally count_view(const TableView& view, const runs::TallySpec& spec, const Interrupt& interrupt) {
  require(view.rows > 0, "traces: there is no run in the table");
  require(view.columns == static_cast<Index>(spec.steps.size()), "traces: {} columns for {} recorded steps",
          view.columns, spec.steps.size());
  constexpr Index numbers_per_thread = Index{1} << 16;  // fewer are counted before a thread has begun
  constexpr Index runs_between_calls = 64;
  const Index parts = std::clamp<Index>(view.rows * view.columns / numbers_per_thread, 1,
                                        std::min<Index>(threads(), view.rows));
  std::vector<runs::Tally> tallies(static_cast<std::size_t>(parts), runs::Tally(spec));
  const bool in_place = view.number == TableView::Number::float64 && view.column_bytes == sizeof(double) &&
                        reinterpret_cast<std::uintptr_t>(view.data) % alignof(double) == 0 &&
                        view.row_bytes % static_cast<Index>(alignof(double)) == 0;
  parallel_blocks(parts, [&](Index part) {
    std::vector<double> row(static_cast<std::size_t>(view.columns));
    runs::Tally& tally = tallies[static_cast<std::size_t>(part)];
    for (Index i = view.rows * part / parts; i < view.rows * (part + 1) / parts; ++i) {
      if (interrupt && i % runs_between_calls == 0) interrupt();
      const std::byte* cells = view.data + i * view.row_bytes;
      if (in_place) {
        tally.add_run(reinterpret_cast<const double*>(cells));
        continue;
      }
      if (view.number == TableView::Number::float64) {
        gather<double>(cells, view.columns, view.column_bytes, row.data());
      } else {
        gather<float>(cells, view.columns, view.column_bytes, row.data());
      }
      tally.add_run(row.data());
    }
  });
  runs::Tally whole = std::move(tallies.front());
  for (std::size_t part = 1; part < tallies.size(); ++part) whole.merge(tallies[part]);
  return whole;
}

}  // namespace surefoot::certify
