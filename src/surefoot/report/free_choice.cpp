#include "surefoot/report/free_choice.hpp"

#include "surefoot/certify/ask.hpp"
#include "surefoot/certify/independence.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace surefoot::report {
namespace {

using FreeJson = nlohmann::ordered_json;
using certify::Fact;

constexpr int most_tolerances = 200;

/// Round numbers from `low` to `high`: 1, 1.2, 1.5, 2, ... times powers of ten, or evenly where there are
/// negative ones.
std::vector<double> round_numbers(double low, double high) {
  std::vector<double> numbers;
  if (low > 0) {
    constexpr std::array factors{10, 12, 15, 20, 25, 30, 40, 50, 60, 70, 80, 90};
    for (int power = static_cast<int>(std::floor(std::log10(low))); power <= std::log10(high) + 1; ++power)
      for (const int factor : factors) numbers.push_back(std::stod(fmt::format("{}e{}", factor, power - 1)));
  } else {
    const double unit =
        std::pow(10.0, std::ceil(std::log10(std::max((high - low) / most_tolerances, 1e-12))));
    for (double at = std::floor(low / unit); at <= std::ceil(high / unit) + 1; ++at)
      numbers.push_back(at * unit);
  }
  std::erase_if(numbers, [&](double number) { return number < low; });
  if (numbers.size() > most_tolerances) {
    std::vector<double> fewer;
    for (std::size_t i = 0; i < most_tolerances; ++i)
      fewer.push_back(numbers[i * (numbers.size() - 1) / (most_tolerances - 1)]);
    return fewer;
  }
  return numbers;
}

FreeJson tolerances_of(const certify::Certificate& certificate, const std::vector<Fact>& facts) {
  double low = infinity;
  double high = -infinity;
  for (const Fact& fact : facts) {
    low = std::min(low, fact.value);
    high = std::max(high, fact.value);
  }
  FreeJson all = FreeJson::array();
  if (!(low <= high)) return all;
  for (const double number : round_numbers(low, high))
    all.push_back({number, printable(with_unit(certificate, exact_label(number)))});
  return all;
}

FreeJson shares_to_ask() {
  FreeJson all = FreeJson::array();
  for (int percent = 1; percent < 100; ++percent)
    all.push_back({percent / 100.0, percent_label(percent / 100.0)});
  for (const double share : {0.995, 0.998, 0.999, 0.9995, 0.9999})
    all.push_back({share, percent_label(share)});
  return all;
}

/// Facts of a variant by step and what they speak of: [step, of, strict, [[value, place of its share], ...]].
FreeJson variant_json(const certify::Certificate& certificate, std::size_t variant,
                      const std::vector<Fact>& facts) {
  std::set<double> shares;
  for (const Fact& fact : facts)
    if (fact.variant == variant) shares.insert(fact.share);
  std::map<double, std::size_t> places;
  FreeJson texts = FreeJson::array();
  for (const double share : shares) {
    places[share] = texts.size();
    texts.push_back({share, lower_bound_percent(share)});
  }
  std::map<std::tuple<Index, int, bool>, FreeJson> groups;
  for (const Fact& fact : facts) {
    if (fact.variant != variant) continue;
    const std::tuple key{fact.step, static_cast<int>(fact.of), fact.strict};
    FreeJson& points = groups.try_emplace(key, FreeJson::array()).first->second;
    points.push_back({fact.value, places[fact.share]});
  }
  FreeJson claims = FreeJson::array();
  for (auto& [key, points] : groups)
    claims.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), std::move(points)});
  const certify::Variant& of = certificate.variants[variant];
  FreeJson steps = FreeJson::array();
  for (const Index step : certificate.steps)
    if (records(of, step)) steps.push_back(step);
  return {{"name", printable(of.name)},
          {"last", of.last_step},
          {"gaps", has_gaps(of)},
          {"steps", steps},
          {"shares", texts},
          {"claims", claims}};
}

}  // namespace

FreeJson free_choice(const certify::Certificate& certificate) {
  if (certificate.bands.empty()) return nullptr;
  const certify::Facts facts(certificate);
  FreeJson variants = FreeJson::array();
  for (std::size_t v = 0; v < certificate.variants.size(); ++v)
    variants.push_back(variant_json(certificate, v, facts.all()));
  const certify::Voice voice = certify::standing_alone(certificate);
  return {{"subject", printable(voice.subject)},
          {"things", printable(certify::named_things(certificate))},
          {"are", printable(voice.problems)},
          {"unit", printable(certificate.unit)},
          {"scalar", certificate.scalar},
          {"condition", printable(condition_of(certificate))},
          {"confidence", confidence_label(certificate.delta)},
          {"variants", variants},
          {"tolerances", tolerances_of(certificate, facts.all())},
          {"shares", shares_to_ask()}};
}

}  // namespace surefoot::report
