#include "surefoot/certify/kinds/share_histogram.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

namespace surefoot::certify {
namespace {

using bounds::GroupShare;

constexpr Index anytime_bets = 1024;  // whatever the number of samples

/// Neighbours become one share, the largest of them, while that adds at most `cost` in sum; none if there are
/// more than `most` of them.
std::optional<std::vector<GroupShare>> merged_at(const std::vector<GroupShare>& exact, double cost,
                                                 std::size_t most) {
  std::vector<GroupShare> merged;
  double added = 0;
  for (const GroupShare& each : exact) {
    if (!merged.empty() && merged.back().share > 0) {
      const double more = (each.share - merged.back().share) * static_cast<double>(merged.back().groups);
      if (added + more <= cost) {
        added += more;
        merged.back() = {each.share, merged.back().groups + each.groups};
        continue;
      }
    }
    if (merged.size() == most) return std::nullopt;
    merged.push_back(each);
    added = 0;
  }
  return merged;
}

}  // namespace

std::string shares_text(const std::vector<GroupShare>& shares) {
  std::string text;
  for (const GroupShare& each : shares)
    text += fmt::format("{}{}:{}", text.empty() ? "" : " ", each.share, each.groups);
  return text;
}

std::vector<GroupShare> shares_in(std::string_view text, Index samples) {
  std::vector<GroupShare> shares;
  const char* at = text.data();
  const char* end = at + text.size();
  while (at != end) {
    GroupShare each;
    const auto share = std::from_chars(at, end, each.share);
    require(share.ec == std::errc() && share.ptr != end && *share.ptr == ':',
            "shares: '{}' is not a share and a number of groups",
            text.substr(static_cast<std::size_t>(at - text.data()), 40));
    const auto groups = std::from_chars(share.ptr + 1, end, each.groups);
    const bool ends =
        groups.ec == std::errc() && (groups.ptr == end || (*groups.ptr == ' ' && groups.ptr + 1 != end));
    require(ends && each.groups >= 1 && each.groups <= samples,
            "shares: the number of groups with share {} is not one", each.share);
    require(each.share >= 0 && each.share <= 1 && (shares.empty() || shares.back().share < each.share),
            "shares: {} is out of order, or not within 0 .. 1", each.share);
    shares.push_back(each);
    at = groups.ptr == end ? end : groups.ptr + 1;
  }
  return shares;
}

std::vector<GroupShare> few_shares_of_mean(const std::vector<GroupShare>& exact, std::size_t most) {
  require(most >= 2, "shares: {} of them are too few", most);
  // Five digits keep the text short.
  std::vector<GroupShare> rounded;
  double sum = 0;
  for (const GroupShare& each : exact) {
    const double share = std::min(1.0, five_digits_up(each.share));
    if (rounded.empty() || rounded.back().share != share) rounded.push_back({share, 0});
    rounded.back().groups += each.groups;
    sum += share * static_cast<double>(each.groups);
  }
  if (rounded.size() <= most) return rounded;
  // The smallest cost of a merged share that leaves few of them; all in one and zero cost at most the sum of
  // as many as there are.
  double low = 0;
  double high = sum;
  while (!merged_at(rounded, high, most)) high *= 2;
  constexpr int rounds = 30;
  for (int round = 0; round < rounds; ++round) {
    const double middle = low + (high - low) / 2;
    (merged_at(rounded, middle, most) ? high : low) = middle;
  }
  return *merged_at(rounded, high, most);
}

double ShareBounds::operator()(const std::string& shares, Index samples, double delta,
                               bounds::MeanMethod method, bool anytime) {
  const std::tuple key(shares, delta, method, anytime);
  {
    const std::scoped_lock lock(mutex_);
    if (const auto found = known_.find(key); found != known_.end()) return found->second;
  }
  const std::vector<GroupShare> read = shares_in(shares, samples);
  const double bound = anytime ? bounds::group_average_betting(read, delta, anytime_bets)
                               : bounds::group_average_upper(read, delta, method);
  const std::scoped_lock lock(mutex_);
  if (known_.size() > most_known) known_.clear();
  return known_.try_emplace(key, bound).first->second;
}

}  // namespace surefoot::certify
