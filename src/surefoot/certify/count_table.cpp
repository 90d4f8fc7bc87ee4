#include "surefoot/certify/count_table.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

namespace surefoot::certify {

namespace {

std::optional<Index> trailing_number(const std::string& label) {
  std::size_t first = label.size();
  while (first > 0 && std::isdigit(static_cast<unsigned char>(label[first - 1])) != 0) --first;
  Index value = 0;
  const auto [end, error] = std::from_chars(label.data() + first, label.data() + label.size(), value);
  if (first == label.size() || error != std::errc() || end != label.data() + label.size())
    return std::nullopt;
  return value;
}

std::optional<std::vector<Index>> labelled_steps(const std::vector<std::string>& labels, std::size_t first) {
  std::vector<Index> steps;
  for (std::size_t i = first; i < labels.size(); ++i) {
    const std::optional<Index> step = trailing_number(labels[i]);
    if (!step || (!steps.empty() && steps.back() >= *step)) return std::nullopt;
    steps.push_back(*step);
  }
  return steps;
}

// A first row of increasing whole numbers, 1, 2, 3, ... or 1, 10, 100, is a header that consists of numbers.
std::vector<Index> step_numbers(const io::RowBlock& block, Index columns) {
  std::vector<Index> steps;
  if (block.rows < 2 || columns < 3) return {};
  for (Index i = 0; i < columns; ++i) {
    const double value = block.values[static_cast<std::size_t>(i)];
    const bool fits = value >= 0 && value < 1e15 && value == std::floor(value) &&
                      (steps.empty() || value > static_cast<double>(steps.back()));
    if (!fits) return {};
    steps.push_back(static_cast<Index>(value));
  }
  return steps;
}

}  // namespace

ColumnSteps steps_of_columns(const std::vector<std::string>& header, Index columns,
                             std::optional<Index> first_step) {
  constexpr Index largest_step = 1'000'000'000'000'000;
  require(first_step.value_or(1) >= 0 && first_step.value_or(1) <= largest_step,
          "first step: {} is outside 0 .. {}", first_step.value_or(1), largest_step);
  ColumnSteps result;
  if (!header.empty()) {
    if (auto steps = labelled_steps(header, 0)) {
      result.steps = std::move(*steps);
      return result;
    }
    // A first label without a number before labels with: that column numbers the instances.
    auto steps =
        header.size() > 1 && !trailing_number(header.front()) ? labelled_steps(header, 1) : std::nullopt;
    if (steps) return {std::move(*steps), 1};
    require(first_step.has_value(),
            "the header does not say increasing steps ('{}' .. '{}'); label columns k=1, k=2, ... or give "
            "--first-step",
            header.front(), header.back());
  }
  for (Index i = 0; i < columns; ++i) result.steps.push_back(first_step.value_or(1) + i);
  return result;
}

std::string table_name(const std::string& path) {
  if (path == "-") return "stdin";
  std::string name = std::filesystem::path(path).filename().string();
  for (const char* ending : {".gz", ".csv", ".npy", ".txt", ".tsv"}) {
    const std::string end = ending;
    if (name.size() > end.size() && name.ends_with(end)) name.resize(name.size() - end.size());
  }
  return name;
}

RunTable::RunTable(const std::string& path, std::optional<Index> first_step)
    : path_(path), reader_(io::TableReader::open(path)) {
  try {
    columns_ = steps_of_columns(reader_->header(), reader_->columns(), first_step);
  } catch (const InputError& error) {
    throw InputError(path + ": " + error.what());
  }
  if (columns_.skipped > 0) notice_ = "the first column numbers the instances and is not a step";
  const bool any = reader_->next(first_block_);
  if (!any) first_block_ = {};
  if (!reader_->header().empty() || !reader_->can_have_header()) return;
  std::vector<Index> numbers = step_numbers(first_block_, reader_->columns());
  if (numbers.empty()) return;
  columns_.steps = std::move(numbers);
  label_rows_ = 1;
  notice_ = "the first row counts the steps and is not a run";
}

runs::Tally RunTable::count(const runs::TallySpec& spec, const std::function<void(Index, Index)>& progress,
                            CountJournal* journal) {
  const auto parts = static_cast<std::size_t>(threads());
  std::vector<runs::Tally> tallies(parts, runs::Tally(spec));
  const auto sum = [&](runs::Tally whole) {
    for (std::size_t part = 1; part < parts; ++part) whole.merge(tallies[part]);
    return whole;
  };
  const auto keep = [&] { journal->keep(state(sum(tallies.front()))); };
  const std::optional<std::string> left = journal != nullptr ? journal->begin() : std::nullopt;
  if (left) tallies.front() = go_on(spec, *left);
  const Index columns = reader_->columns();
  io::RowBlock block = std::move(first_block_);
  Index first = rows_counted_ > 0 ? 0 : label_rows_;
  for (bool more = block.rows > 0 || (left && reader_->next(block)); more; more = reader_->next(block)) {
    const Index rows = block.rows - first;
    parallel_blocks(static_cast<Index>(parts), [&](Index part) {
      const Index begin = first + rows * part / static_cast<Index>(parts);
      const Index end = first + rows * (part + 1) / static_cast<Index>(parts);
      for (Index row = begin; row < end; ++row) {
        tallies[static_cast<std::size_t>(part)].add_run(
            &block.values[static_cast<std::size_t>(row * columns) + columns_.skipped]);
      }
    });
    first = 0;
    rows_counted_ += block.rows;
    if (progress) progress(reader_->bytes_read(), reader_->bytes_total());
    if (journal == nullptr) continue;
    try {
      journal->interrupt();
    } catch (const Interrupted&) {
      if (journal->keeps()) keep();
      throw;
    }
    if (journal->due()) keep();
  }
  runs::Tally whole = sum(std::move(tallies.front()));
  if (journal != nullptr && journal->keeps()) journal->end(state(whole));
  sha256_ = reader_->sha256();
  require(whole.samples() > 0, "{}: there is no run in the table", path_);
  return whole;
}

std::string RunTable::state(const runs::Tally& tally) const {
  ByteWriter to;
  to.number(rows_counted_);
  to.number(reader_->bytes_read());
  to.text(reader_->sha256_so_far());
  to.text(tally.state());
  return to.take();
}

runs::Tally RunTable::go_on(const runs::TallySpec& spec, const std::string& state) {
  ByteReader from(state, "counts of a checkpoint");
  rows_counted_ = from.number<Index>();
  const auto bytes = from.number<Index>();
  const std::string digest = from.text();
  runs::Tally tally = runs::Tally::from_state(spec, from.text());
  from.finish();
  require(rows_counted_ >= first_block_.rows && tally.samples() == rows_counted_ - label_rows_,
          "counts of a checkpoint: {} rows were read, {} runs counted", rows_counted_, tally.samples());
  reader_->skip(rows_counted_ - first_block_.rows);
  first_block_ = {};
  require(reader_->bytes_read() == bytes && reader_->sha256_so_far() == digest,
          "{}: is not the table that the checkpoint has counted: its first {} bytes are others", path_, bytes);
  return tally;
}

}  // namespace surefoot::certify
