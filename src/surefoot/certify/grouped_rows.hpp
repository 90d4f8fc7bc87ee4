#pragma once

#include "surefoot/certify/independence.hpp"
#include "surefoot/core/types.hpp"
#include "surefoot/runs/tally.hpp"
#include "surefoot/runs/tick_group.hpp"

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

namespace surefoot::certify {

/// Collects the rows of a table into groups, which may lie anywhere in it: every group is kept to the end.
/// Groups come in the order of their first rows.
class GroupedRows {
 public:
  /// `table` stands in messages. `memory_bytes`: what all groups may take; 0: half of the machine's memory.
  GroupedRows(runs::TallySpec spec, std::string table, std::size_t memory_bytes);

  /// A row of the group with that label; `line` of the table is for messages. Labels are texts, to the
  /// letter; two that are one number written differently (1 and 1.0), and those that are no label (nan), are
  /// refused.
  void add(std::string_view label, Index line, const double* values);
  /// A row of the group with that number.
  void add(Index number, const double* values);

  /// Bytes of one group, and of what is counted of it afterwards.
  static std::size_t bytes_per_group(const runs::TallySpec& spec);

  [[nodiscard]] Index groups() const { return static_cast<Index>(groups_.size()); }
  [[nodiscard]] Index rows() const { return rows_; }

  /// Their labels, in their order, and the largest ticks of each.
  [[nodiscard]] std::vector<std::string> names() const;
  [[nodiscard]] const std::vector<double>& largest(std::size_t group) const {
    return groups_[group].largest();
  }

  /// Every group as a run.
  void count(runs::Tally& tally, DependenceCheck& check) const;

  /// Everything as bytes, for checkpoints.
  [[nodiscard]] std::string state() const;
  void go_on(std::string_view state);

 private:
  runs::TickGroup& group_of(const std::string& key, Index line);
  void require_new_number(std::string_view label, Index line);
  void require_room(std::size_t bytes);

  runs::TallySpec spec_;
  std::string table_;
  std::size_t limit_;
  std::size_t bytes_ = 0;
  Index rows_ = 0;
  std::deque<runs::TickGroup> groups_;
  std::unordered_map<std::string, std::size_t> places_;
  struct Written {
    std::string label;
    Index line = 0;
  };
  std::unordered_map<double, Written> numbers_;  ///< how labels that are numbers are written
  std::string last_key_;                         ///< rows of a group are often next to each other
  runs::TickGroup* last_ = nullptr;
};

}  // namespace surefoot::certify
