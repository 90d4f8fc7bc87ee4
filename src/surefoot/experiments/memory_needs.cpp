#include "surefoot/experiments/memory_needs.hpp"

#include "surefoot/bounds/quantile.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/memory_cap.hpp"
#include "surefoot/core/parallel.hpp"

#include <fmt/format.h>
#include <malloc.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>

namespace surefoot::experiments {

namespace {

namespace fs = std::filesystem;

constexpr double kilobyte = 1024;

// The number after a word at the beginning of a line, as in /proc: "MemAvailable:  123 kB".
std::optional<double> number_after(const char* file, const std::string& word) {
  std::ifstream stream(file);
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with(word)) return std::strtod(line.c_str() + word.size(), nullptr);
  }
  return std::nullopt;
}

std::optional<double> first_number(const fs::path& file) {
  std::ifstream stream(file);
  double value = 0;
  return stream >> value ? std::optional(value) : std::nullopt;
}

// What the control groups that this process is in leave; the second version's files, then the first's.
double left_by_control_groups() {
  double left = std::numeric_limits<double>::infinity();
  const auto account = [&](const fs::path& folder, const char* limit, const char* used) {
    const std::optional<double> most = first_number(folder / limit);
    const std::optional<double> now = first_number(folder / used);
    if (!most || !now) return;
    const double cache = number_after((folder / "memory.stat").c_str(), "inactive_file ").value_or(0);
    left = std::min(left, *most - *now + cache);
  };
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    if (!line.starts_with("0::")) continue;
    const fs::path root = "/sys/fs/cgroup";
    for (fs::path inside = fs::path(line.substr(3)).relative_path();; inside = inside.parent_path()) {
      account(root / inside, "memory.max", "memory.current");
      if (inside.empty()) break;
    }
  }
  account("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "memory.usage_in_bytes");
  return left;
}

double left_by(decltype(RLIMIT_AS) resource, const char* used) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<double>::infinity();
  return static_cast<double>(limit.rlim_cur) - number_after("/proc/self/status", used).value_or(0) * kilobyte;
}

// On the heap of this process; sanitizers, which have one of their own, say nothing.
double allocated_bytes() {
#ifdef __GLIBC__
  const struct mallinfo2 heap = mallinfo2();
  return static_cast<double>(heap.uordblks) + static_cast<double>(heap.hblkhd);
#else
  return 0;
#endif
}

std::string in_words(double bytes) {
  constexpr double step = 1000;
  if (bytes >= step * step * step) return fmt::format("{:.2f} GB", bytes / (step * step * step));
  return fmt::format("{:.1f} MB", bytes / (step * step));
}

// Of an array, which says how many there are. Others are refused where they become too many.
double bytes_of_groups(const certify::RunTable& table, const certify::Options& claims) {
  return static_cast<double>(table.groups_said().value_or(0)) *
         static_cast<double>(
             certify::GroupedRows::bytes_per_group(certify::tally_spec(claims, table.steps())));
}

}  // namespace

AvailableMemory available_memory() {
  AvailableMemory least{std::numeric_limits<double>::infinity(), ""};
  const auto bound = [&](double bytes, const char* by) {
    if (bytes < least.bytes) least = {bytes, by};
  };
  if (const auto machine = number_after("/proc/meminfo", "MemAvailable:"))
    bound(*machine * kilobyte, "on this machine");
  bound(left_by_control_groups(), "in this control group");
  bound(left_by(RLIMIT_AS, "VmSize:"), "within ulimit -v");
  bound(left_by(RLIMIT_DATA, "VmData:"), memory_cap() > 0 ? "within --memory-limit" : "within ulimit -d");
  return least;
}

MemoryNeeds::MemoryNeeds(std::uint64_t limit) : available_(available_memory()), limited_(limit > 0) {
  constexpr double reports_and_threads = 8e6;
  add_bytes("all else", reports_and_threads);
  if (limit == 0) return;
  constexpr double stack = 2.2e6;  // of a thread, under a cap
  add_bytes("threads", stack * threads());
  const double left =
      static_cast<double>(limit) - number_after("/proc/self/status", "VmRSS:").value_or(0) * kilobyte;
  if (left < available_.bytes) available_ = {std::max(0.0, left), "within --memory-limit"};
}

void MemoryNeeds::add(const std::string& what, double numbers) {
  add_bytes(what, numbers * sizeof(double));
}

void MemoryNeeds::add_bytes(const std::string& what, double bytes) {
  needs_.push_back({what, bytes});
}

void MemoryNeeds::add_largest(const std::string& what, double bytes) {
  const auto found = std::ranges::find(needs_, what, &Need::what);
  if (found == needs_.end()) return add_bytes(what, bytes);
  found->bytes = std::max(found->bytes, bytes);
}

void MemoryNeeds::add_blocks(const algorithms::Operator& op, Index steps, Index blocks, Index states) {
  const double before = allocated_bytes();
  const std::unique_ptr<algorithms::Workspace> one = op.make_workspace();
  const double workspace = std::max(0.0, allocated_bytes() - before);
  const double lanes = static_cast<double>(op.width());
  const double traces = (lanes + 1) * (static_cast<double>(steps) + 1);
  const double kept = lanes * (static_cast<double>(states) * static_cast<double>(op.state_size()) +
                               static_cast<double>(op.iterate_size()));
  add_bytes("blocks of runs", static_cast<double>(blocks) * (workspace + sizeof(double) * (traces + kept)));
}

CountedSizes CountedSizes::of(const certify::Options& claims, Index columns) {
  const auto size = [](const auto& list) { return static_cast<double>(list.size()); };
  CountedSizes sizes;
  sizes.columns = static_cast<double>(columns);
  sizes.claimed = claims.steps.empty() ? sizes.columns : std::min(sizes.columns, size(claims.steps));
  if (claims.steps.empty() && !claims.all_steps)
    sizes.claimed = std::min(sizes.columns, static_cast<double>(certify::default_step_count));
  sizes.tolerances = size(claims.tolerances.empty() ? certify::default_tolerances("") : claims.tolerances);
  sizes.quantiles =
      size(claims.quantiles.empty() ? certify::default_quantiles(claims.scalar) : claims.quantiles);
  sizes.values = claims.quantile_method == bounds::QuantileMethod::exact || claims.range.has_value();
  sizes.shares = claims.claims("average");
  sizes.bands = claims.choose != certify::Choice::before || claims.claims("bands");
  if (claims.quantile_method == bounds::QuantileMethod::grid)
    sizes.grid = size(claims.grid.empty() ? bounds::residual_grid() : claims.grid);
  sizes.value_limit = static_cast<double>(claims.value_limit);
  return sizes;
}

void MemoryNeeds::add_table(const certify::RunTable& table, const certify::Options& claims, bool kept) {
  add_largest("reading", table.memory_to_come());
  const CountedSizes sizes = CountedSizes::of(claims, static_cast<Index>(table.steps().size()));
  if (table.grouped()) {
    add_bytes("groups", bytes_of_groups(table, claims));
    add_counts(sizes, 0, threads(), kept);
    return;
  }
  std::optional<Index> rows = table.rows_at_most();
  // What the size of the file says may be ten times what is there: where that would matter, lines are
  // counted.
  constexpr double matters = 0.02;
  if (rows && static_cast<double>(*rows) * sizes.claimed * sizeof(double) > matters * available_.bytes)
    rows = table.lines_at_most();
  add_counts(sizes, rows, threads(), kept);
}

void MemoryNeeds::add_counts(const CountedSizes& sizes, std::optional<Index> runs, Index tallies, bool kept) {
  // By column: its label in the specification, the check of dependence and the certificate, failures,
  // settling and hitting at every tolerance; by column of claims its place, the store of its values, and what
  // is counted on the grid.
  constexpr double labels = 4;
  constexpr double store = 16;
  const double numbers =
      sizes.columns * (labels + 3 * sizes.tolerances) + sizes.claimed * (store + sizes.grid);
  // One that is made and one that is left over; a checkpoint is summed up, put into bytes and written.
  add("counts", numbers * (static_cast<double>(tallies) + sizes.variants + (kept ? 7 : 1)));
  if ((sizes.values || sizes.bands) &&
      (runs || limited_)) {  // a pipe is refused only by those who set a limit
    // Of the threads, what these left as they grew, and their sum; a checkpoint sums up and writes them.
    const double copies = sizes.variants + (kept ? 7 : 2);
    const double values = runs ? static_cast<double>(*runs) * sizes.claimed : sizes.value_limit;
    const double maxima = sizes.bands ? std::min(values, sizes.value_limit / runs::maxima_share) : 0;
    add("values for quantiles", copies * (std::min(values, sizes.value_limit) + maxima));
  }
  // As they are made, as text, in the page and its figures.
  constexpr double bytes_by_claim = 2000;    // 1450 measured
  constexpr double bytes_by_shares = 24000;  // of up to 256 groups, as text a few times
  add_bytes("claims",
            sizes.variants * (bytes_by_claim * (sizes.claimed * (sizes.tolerances + sizes.quantiles) +
                                                sizes.tolerances * sizes.quantiles) +
                              (sizes.shares ? bytes_by_shares * sizes.claimed * sizes.tolerances : 0)));
}

double MemoryNeeds::left() const {
  double left = available_.bytes;
  for (const Need& need : needs_) left -= need.bytes;
  return std::max(0.0, left);
}

void MemoryNeeds::require_fit() const {
  double all = 0;
  std::string parts;
  for (const Need& need : needs_) {
    all += need.bytes;
    parts += fmt::format("{}{} {}", parts.empty() ? "" : ", ", need.what, in_words(need.bytes));
  }
  if (all <= available_.bytes) {
    // All threads now, while there is room: the library that starts them ends the program where it cannot.
    if (limited_) parallel_blocks(threads(), [](Index) {});
    return;
  }
  throw ResourceError(fmt::format("this needs {} of memory ({}), {} are left {}", in_words(all), parts,
                                  in_words(available_.bytes), available_.bounded_by));
}

void require_memory_of_table(certify::RunTable& table, const certify::Options& claims, std::uint64_t limit) {
  MemoryNeeds needs(limit);
  needs.add_table(table, claims, false);
  needs.require_fit();
  if (!table.grouped()) return;
  constexpr double most = 1e18;  // where nothing bounds it
  const double bytes = std::min(most, needs.left() + bytes_of_groups(table, claims));
  table.limit_groups(std::max<std::size_t>(1, static_cast<std::size_t>(bytes)));
}

void require_memory_of_text(const std::vector<std::string>& files, const certify::TableChoice& choice,
                            const certify::Options& claims, std::size_t variants, std::uint64_t limit) {
  MemoryNeeds needs(limit);
  for (const std::string& file : files)
    if (const std::optional<double> bytes = certify::LongTable::memory_of(file, choice)) {
      needs.add_bytes("reading", *bytes);
      needs.add_bytes("values for quantiles", *bytes);
    }
  CountedSizes sizes = CountedSizes::of(claims, 1);
  sizes.values = sizes.bands = false;  // as many as are read
  sizes.variants = static_cast<double>(variants);
  needs.add_counts(sizes, std::nullopt, threads(), false);
  needs.require_fit();
}

void require_memory_of_tallies(const std::vector<std::string>& files, std::uint64_t limit) {
  double sum = 0;
  double largest = 0;
  for (const std::string& file : files) {
    std::error_code error;
    const auto size = static_cast<double>(fs::file_size(file, error));
    if (error) continue;  // whoever reads it says what is wrong
    sum += size;
    largest = std::max(largest, size);
  }
  constexpr double merged = 2;  // as they grow, and as they are certified
  constexpr double read = 3;    // the bytes of one, and what is made of them
  MemoryNeeds needs(limit);
  needs.add_bytes("tallies", merged * sum + read * largest);
  needs.require_fit();
}

std::size_t memory_for_reading(std::uint64_t limit) {
  if (limit == 0) return 0;
  const double all = static_cast<double>(std::max(limit, smallest_memory_cap));
  const double used = number_after("/proc/self/status", "VmRSS:").value_or(0) * kilobyte;
  return static_cast<std::size_t>(std::max(1.0, all - used));
}

std::string out_of_memory() {
  const std::uint64_t cap = memory_cap();
  if (cap == 0) return "out of memory";
  return fmt::format("out of memory: this needs more than --memory-limit {}",
                     in_words(static_cast<double>(cap)));
}

}  // namespace surefoot::experiments
