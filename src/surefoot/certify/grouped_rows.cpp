#include "surefoot/certify/grouped_rows.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/npy.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>
#include <vector>

namespace surefoot::certify {

GroupedRows::GroupedRows(runs::TallySpec spec, std::string table, std::size_t memory_bytes)
    : spec_(std::move(spec)),
      table_(std::move(table)),
      limit_(memory_bytes > 0 ? memory_bytes : io::default_memory_bytes()) {}

std::size_t GroupedRows::bytes_per_group(const runs::TallySpec& spec) {
  constexpr std::size_t entry = 160;  // of the map, and of the map of numbers
  constexpr std::size_t copies = 3;   // of values: as they grow, and their sum
  const std::size_t claimed = spec.claim_columns.size();
  const std::size_t values =
      claimed * ((spec.keep_values || spec.keep_maxima ? 1 : 0) + (spec.keep_maxima ? 1 : 0) +
                 (spec.keep_shares ? spec.tolerances.size() : 0));
  return runs::TickGroup::bytes(spec) + entry + copies * values * sizeof(double);
}

// Texts to the letter would make two groups of 1 and 1.0, which somebody wrote for one: their rows depend on
// each other.
void GroupedRows::require_new_number(std::string_view label, Index line) {
  constexpr std::array<std::string_view, 6> missing{"NA", "N/A", "#N/A", "null", "NULL", "None"};
  double value = 0;
  const bool number = io::parse_number(label, value);
  require(!std::isnan(value) && std::ranges::count(missing, label) == 0,
          "{}:{}: the label of the group is missing ('{}')", table_, line, io::excerpt(label));
  if (!number) return;
  const auto [known, is_new] = numbers_.try_emplace(value, Written{std::string(label), line});
  require(
      is_new,
      "{}:{}: the label '{}' is the number that stands in line {} as '{}': write the label of a group in one way",
      table_, line, io::excerpt(label), known->second.line, io::excerpt(known->second.label));
}

void GroupedRows::require_room(std::size_t bytes) {
  bytes_ += bytes;
  if (bytes_ <= limit_) return;
  throw ResourceError(fmt::format(
      "{}: {} groups of {} steps need {} bytes of memory, {} are left for them: rows of a group may lie anywhere in the "
      "table, so every group is kept to its end; certify fewer steps of it, or one table for each part of the groups",
      table_, groups_.size() + 1, spec_.steps.size(), bytes_, limit_));
}

runs::TickGroup& GroupedRows::group_of(const std::string& key, Index line) {
  if (last_ != nullptr && key == last_key_) return *last_;
  const auto [place, is_new] = places_.try_emplace(key, groups_.size());
  if (is_new) {
    require_room(bytes_per_group(spec_) + 2 * key.size());
    if (line > 0) require_new_number(key, line);
    groups_.emplace_back(spec_);
  }
  last_key_ = key;
  last_ = &groups_[place->second];
  return *last_;
}

void GroupedRows::add(std::string_view label, Index line, const double* values) {
  group_of(std::string(label), line).add_tick(spec_, values);
  ++rows_;
}

void GroupedRows::add(Index number, const double* values) {
  group_of(std::to_string(number), 0).add_tick(spec_, values);
  ++rows_;
}

void GroupedRows::count(runs::Tally& tally, DependenceCheck& check) const {
  Index number = 0;
  for (const runs::TickGroup& group : groups_) {
    tally.add_group(group, number);
    check.add(number++, group.largest().data());
  }
}

std::vector<std::string> GroupedRows::names() const {
  std::vector<std::string> all(groups_.size());
  for (const auto& [key, place] : places_) all[place] = key;
  return all;
}

std::string GroupedRows::state() const {
  std::vector<const std::string*> keys(groups_.size());
  for (const auto& [key, place] : places_) keys[place] = &key;
  ByteWriter to;
  to.number(rows_);
  to.number(static_cast<Index>(groups_.size()));
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    to.text(*keys[i]);
    groups_[i].write_state(to);
  }
  to.number(static_cast<Index>(numbers_.size()));
  for (const auto& [value, written] : numbers_) {
    to.number(value);
    to.text(written.label);
    to.number(written.line);
  }
  return to.take();
}

void GroupedRows::go_on(std::string_view state) {
  ByteReader from(state, "groups of a checkpoint");
  rows_ = from.number<Index>();
  Index ticks = 0;
  for (auto groups = from.number<Index>(); groups > 0; --groups) {
    const std::string key = from.text();
    require(places_.try_emplace(key, groups_.size()).second, "groups of a checkpoint: '{}' comes twice",
            io::excerpt(key));
    require_room(bytes_per_group(spec_) + 2 * key.size());
    groups_.push_back(runs::TickGroup::read_state(spec_, from));
    ticks += groups_.back().ticks();
  }
  for (auto numbers = from.number<Index>(); numbers > 0; --numbers) {
    const auto value = from.number<double>();
    std::string label = from.text();
    numbers_[value] = {std::move(label), from.number<Index>()};
  }
  from.finish();
  require(ticks == rows_, "groups of a checkpoint: {} rows, {} ticks", rows_, ticks);
}

}  // namespace surefoot::certify
