#pragma once

#include "surefoot/bounds/group_average.hpp"
#include "surefoot/core/types.hpp"

#include <cstddef>
#include <map>
#include <mutex>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace surefoot::certify {

/// Numbers in [0, 1] as claims on means hold them, so that verify() computes the bound again: "y:n y:n ...",
/// n samples are at most y, y increasing.
std::string shares_text(const std::vector<bounds::GroupShare>& shares);
/// InputError if the text is no such list, or has more samples than there are.
std::vector<bounds::GroupShare> shares_in(std::string_view text, Index samples);

/// At most `most` different shares, each sample rounded up to one of them: which are chosen so that rounding
/// adds little to the mean. `exact` increases. 0 stays 0. A bound from the result is valid whatever the
/// choice: it is one of numbers that are not smaller.
std::vector<bounds::GroupShare> few_shares_of_mean(const std::vector<bounds::GroupShare>& exact,
                                                   std::size_t most);

/// Bounds of shares that come again and again: late steps, where all are the same. Safe in threads.
class ShareBounds {
 public:
  /// `anytime`: at every number of samples at once, by betting.
  double operator()(const std::string& shares, Index samples, double delta, bounds::MeanMethod method,
                    bool anytime = false);

 private:
  static constexpr std::size_t most_known = 4096;
  std::mutex mutex_;
  std::map<std::tuple<std::string, double, bounds::MeanMethod, bool>, double> known_;
};

}  // namespace surefoot::certify
