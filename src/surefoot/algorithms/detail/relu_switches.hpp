#pragma once

#include "surefoot/algorithms/detail/registers.hpp"

#include <algorithm>
#include <cstdint>
#include <type_traits>
#include <vector>

namespace surefoot::algorithms {

/// Where units relu(w_j x + b_j) of a number x begin and end to work, p a place among sorted points.
template <class T>
struct ReluSwitches {
  using V = typename Register<T>::V;
  using Count = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  static constexpr Index lanes = Register<T>::lanes;

  ReluSwitches() = default;
  ReluSwitches(Index units, Index points) : works_on(1, units) {
    first.assign(static_cast<std::size_t>(points + 1), -1);
    for (std::vector<int>* list : {&next, &from_begin, &up_to, &from_on, &snapshot})
      list->assign(static_cast<std::size_t>(units + 1), 0);
  }

  /// Of `units` weights w and biases b in rows of `stride` numbers, at `count` points x.
  void find(const T* w, const T* b, Index stride, Index units, const T* x, Index count) {
    Count* worked = works_on[0];
    in_groups(
        stride / lanes, [&](auto G, Index group) __attribute__((always_inline)) {
          V weight[G];
          V bias[G];
          decltype(weight[0] > bias[0]) works[G] = {};
          for (int g = 0; g < G; ++g) {
            weight[g] = fetch(w + (group + g) * lanes);
            bias[g] = fetch(b + (group + g) * lanes);
          }
          for (Index p = 0; p < count; ++p) {
            for (int g = 0; g < G; ++g) works[g] += weight[g] * x[p] + bias[g] > 0;
          }
          for (int g = 0; g < G; ++g) put(worked + (group + g) * lanes, works[g]);
        });
    int* first_at = first.data();
    int* begin_list = from_begin.data();
    int* up_list = up_to.data();
    int* on_list = from_on.data();
    std::fill_n(first_at, count + 1, -1);
    const auto all = static_cast<int>(count);
    const auto unit_count = static_cast<int>(units);
    // No branches: nobody can foretell them.
    for (int j = 0; j < unit_count; ++j) {
      const auto points = static_cast<int>(-worked[j]);
      const int begins = w[j] > 0 ? 1 : 0;
      const int always = points == all ? 1 : 0;
      const int event = static_cast<int>(points > 0) & (1 - always);
      // What does not switch goes to the place after the last point, where nobody looks.
      const int place = all - event * (begins * points + (1 - begins) * (all - points));
      next[static_cast<std::size_t>(j)] = first_at[place];
      first_at[place] = j;
      snapshot[static_cast<std::size_t>(j)] = always * (unit_count + 1);
      *begin_list = j;
      begin_list += always | (event & (1 - begins));
      *on_list = j;
      on_list += event & begins;
      *up_list = j;
      up_list += 1 - (event & begins);
    }
    count_from_begin = static_cast<int>(begin_list - from_begin.data());
    count_up_to = static_cast<int>(up_list - up_to.data());
    count_from_on = static_cast<int>(on_list - from_on.data());
  }

  RegisterRows<Count> works_on;  // minus the number of points, per unit

  std::vector<int> first;  // per p: a unit that switches there, before the point; -1: none
  std::vector<int> next;   // per unit: another one there; -1: none
  // Lists of units. A unit's sums are those up to its switch, or from there on.
  std::vector<int> from_begin;  // work on the first point
  std::vector<int> up_to;
  std::vector<int> from_on;
  int count_from_begin = 0;
  int count_up_to = 0;
  int count_from_on = 0;
  std::vector<int> snapshot;  // per unit: the row of the sums up to its switch
};

}  // namespace surefoot::algorithms
