#include "surefoot/monitoring/constants.hpp"

#include "surefoot/bounds/rounding.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/io/c_source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <string_view>

namespace surefoot::monitoring {
namespace {

constexpr double largest_arl = 1e15;
constexpr double least_alpha = 1e-15;
constexpr double margin = 1 - 0x1p-50;  // 8 units of rounding

/// Of a rate of 0.
LikelihoodRatios proof_by_one_failure(bool is_test) {
  return {SUREFOOT_MONITOR_LARGEST, is_test ? 1.0 : 0.0};
}

std::string c_numbers(const double* values) {
  std::string text;
  for (std::size_t i = 0; i < SUREFOOT_MONITOR_RATIOS; ++i)
    text += fmt::format("{}{:a}", i > 0 ? ", " : "", values[i]);
  return text;
}

}  // namespace

LikelihoodRatios likelihood_ratios(double rate, double odds) {
  // theta / r = odds / (1 + (odds - 1) r), (1 - theta) / (1 - r) = 1 / (1 + (odds - 1) r).
  const double denominator = bounds::up(1 + bounds::up((odds - 1) * rate));
  return {bounds::down(odds / denominator) * margin, bounds::down(1 / denominator) * margin};
}

void AlarmRule::validate() const {
  require(arl >= 1 && arl <= largest_arl, "arl: {} is not between 1 and 1e15", arl);
  require(alpha == 0 || (alpha >= least_alpha && alpha < 1), "alpha: {} is not between 1e-15 and 1", alpha);
}

double AlarmRule::threshold() const {
  return is_test() ? bounds::up(1 / alpha) : arl;
}

MonitorConstants::MonitorConstants(const std::vector<WatchedRate>& rates, const AlarmRule& rule, int others) {
  rule.validate();
  require(!rates.empty(), "there is no claim to monitor");
  require(rates.size() <= SUREFOOT_MONITOR_CLAIMS, "{} claims are too many: a monitor has room for {}",
          rates.size(), SUREFOOT_MONITOR_CLAIMS);
  for (const WatchedRate& each : rates) {
    require(each.rate >= 0 && each.rate <= 1, "rate: {} is not between 0 and 1", each.rate);
    require(each.rate < 1, "rate: 1 says nothing, so that no stream contradicts it");
    require(!std::isnan(each.value), "value: NaN is no tolerance");
    surefoot_monitor_claim claim{};
    claim.value = each.value;
    claim.rate = each.rate;
    claim.strict = each.strict ? 1 : 0;
    for (std::size_t i = 0; i < watched_odds.size(); ++i) {
      const LikelihoodRatios ratios = each.rate == 0 ? proof_by_one_failure(rule.is_test())
                                                     : likelihood_ratios(each.rate, watched_odds[i]);
      claim.failed[i] = ratios.failed;
      claim.succeeded[i] = ratios.succeeded;
    }
    claims_.push_back(claim);
  }
  const double terms = static_cast<double>(watched_odds.size() * (rates.size() + others));
  constants_.format = SUREFOOT_MONITOR_FORMAT;
  constants_.is_test = rule.is_test() ? 1 : 0;
  constants_.claims = static_cast<std::int32_t>(rates.size());
  // A sum of n numbers that are not negative gains at most n - 1 units of rounding.
  constants_.threshold = bounds::up(bounds::up(terms * rule.threshold()) * (1 + (terms + 8) * 0x1p-52));
  constants_.weight = bounds::down(1 / terms);
  constants_.claim = claims_.data();
}

std::string c_header(const MonitorConstants& constants, const std::string& name,
                     const std::vector<std::string>& about) {
  io::require_name_in_c(name);
  const surefoot_monitor_constants& all = constants.get();
  std::string text = "/* Written by `surefoot export`: constants for surefoot/monitor.h.\n";
  for (const std::string& line : about) text += fmt::format(" * {}\n", io::c_comment_line(line));
  text += fmt::format(
      " */\n#ifndef SUREFOOT_EXPORTED_{0}\n#define SUREFOOT_EXPORTED_{0}\n\n#include "
      "<surefoot/monitor.h>\n\nstatic const surefoot_monitor_claim {0}_claims[{1}] = {{\n",
      name, all.claims);
  for (int c = 0; c < all.claims; ++c) {
    const surefoot_monitor_claim& claim = all.claim[c];
    text += fmt::format("    {{{:a}, {:a},\n     {{{}}},\n     {{{}}},\n     {}}},\n", claim.value,
                        claim.rate, c_numbers(claim.succeeded), c_numbers(claim.failed), claim.strict);
  }
  return text + fmt::format(
                    "}};\n\nstatic const surefoot_monitor_constants {0} = {{{1}, {2}, {3}, {4:a}, {5:a}, "
                    "{0}_claims}};\n\n#endif\n",
                    name, all.format, all.is_test, all.claims, all.threshold, all.weight);
}

}  // namespace surefoot::monitoring
