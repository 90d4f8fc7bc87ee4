#include "surefoot/experiments/setting_space.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/nearest_name.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace surefoot::experiments {
namespace {

constexpr Index most_grid_points = 1'000'000;

/// 0 .. 1 over the range.
double place_in(const SettingAxis& axis, double value) {
  if (axis.kind == SettingAxis::Kind::logarithmic)
    return std::log(value / axis.low) / std::log(axis.high / axis.low);
  return (value - axis.low) / (axis.high - axis.low);
}

double value_at(const SettingAxis& axis, double place) {
  const double within = std::clamp(place, 0.0, 1.0);
  if (axis.kind == SettingAxis::Kind::logarithmic) return axis.low * std::pow(axis.high / axis.low, within);
  return axis.low + (axis.high - axis.low) * within;
}

/// As few digits as tell about a hundred values of the range apart, some hundred by decade of a wide one:
/// what a user would write.
double few_digits(const SettingAxis& axis, double value) {
  if (value == 0) return 0;
  const double size = std::floor(std::log10(std::abs(value)));
  const double wanted =
      axis.kind == SettingAxis::Kind::logarithmic
          ? size - 2 + std::min(0.0, std::ceil(std::log10(std::log10(axis.high / axis.low))))
          : std::round(std::log10(axis.high - axis.low)) - 2;
  const double places = std::max(wanted, size - 14);
  const double unit = std::pow(10.0, std::abs(places));  // a whole number: the quotient is the nearest double
  if (!std::isfinite(unit)) return value;                // too near 0 to be written shorter
  return places < 0 ? std::round(value * unit) / unit : std::round(value / unit) * unit;
}

std::vector<double> values_of(const SettingAxis& axis, Index count) {
  std::vector<double> values;
  if (axis.is_range()) {
    for (Index i = 0; i < count; ++i) {
      values.push_back(
          value_at(axis, count == 1 ? 0.5 : static_cast<double>(i) / static_cast<double>(count - 1)));
    }
  } else {
    for (Index i = 0; i < std::min(count, static_cast<Index>(axis.choices.size())); ++i)
      values.push_back(static_cast<double>(i));
  }
  return values;
}

/// How many values of a range are different ones in few digits, up to `most`.
Index different_values(const SettingAxis& axis, Index most) {
  const auto are_different = [&](Index count) {
    host().check();
    double before = 0;
    for (Index i = 0; i < count; ++i) {
      const double value = std::clamp(
          few_digits(axis, value_at(axis, static_cast<double>(i) / static_cast<double>(count - 1))), axis.low,
          axis.high);
      if (i > 0 && !(value > before)) return false;
      before = value;
    }
    return true;
  };
  Index low = 1;
  Index high = 2;
  while (high <= most && are_different(high)) {
    low = high;
    high *= 2;
  }
  high = std::min(high, most + 1);
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    (are_different(middle) ? low : high) = middle;
  }
  return low;
}

}  // namespace

void SettingAxis::validate() const {
  require(!name.empty(), "a setting has no name");
  if (!is_range()) {
    require(!choices.empty() && coarse >= 1, "{}: there is nothing to choose from", name);
    return;
  }
  require(std::isfinite(low) && std::isfinite(high) && low < high, "{}: {}:{} is an empty range", name, low,
          high);
  require(kind != Kind::logarithmic || low > 0, "{}: a logarithmic range begins above 0, not at {}", name,
          low);
  require(std::isfinite(kind == Kind::logarithmic ? high / low : high - low), "{}: {}:{} is too wide a range",
          name, low, high);
  require(coarse >= 2 && coarse <= 1000, "{}: {} values are outside 2 .. 1000", name, coarse);
}

SettingSpace::SettingSpace(std::vector<SettingAxis> axes) : axes_(std::move(axes)) {
  require(!axes_.empty(), "there are no settings to search");
  for (const SettingAxis& axis : axes_) {
    axis.validate();
    conditions_.emplace_back();
    if (axis.only_with.first.empty()) continue;
    const auto other = std::ranges::find(axes_, axis.only_with.first, &SettingAxis::name);
    require(other != axes_.end(), "{}: it matters only with {}, which is not searched", axis.name,
            axis.only_with.first);
    const auto choice = std::ranges::find(other->choices, axis.only_with.second);
    require(choice != other->choices.end(), "{}: it matters only with {}={}", axis.name, axis.only_with.first,
            axis.only_with.second);
    conditions_.back() = {static_cast<std::size_t>(other - axes_.begin()),
                          static_cast<double>(choice - other->choices.begin())};
  }
}

bool SettingSpace::matters(const SettingValues& candidate, std::size_t axis) const {
  const auto& condition = conditions_[axis];
  return !condition || candidate[condition->first] == condition->second;
}

SettingValues SettingSpace::canonical(SettingValues candidate) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const SettingAxis& axis = axes_[i];
    if (axis.is_range()) {
      candidate[i] = std::clamp(few_digits(axis, candidate[i]), axis.low, axis.high);
    }
  }
  return without_idle(std::move(candidate));
}

SettingValues SettingSpace::without_idle(SettingValues candidate) const {
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (!axes_[i].is_range() && !matters(candidate, i)) candidate[i] = 0;
  }
  return candidate;
}

std::vector<SettingValues> SettingSpace::product(const std::vector<std::vector<double>>& values) const {
  Index points = 1;
  for (const std::vector<double>& of_axis : values) {
    const auto count = static_cast<Index>(of_axis.size());
    require(count <= most_grid_points / points, "the grid has more than {} points", most_grid_points);
    points *= count;
  }
  std::vector<SettingValues> all{{}};
  for (const std::vector<double>& of_axis : values) {
    std::vector<SettingValues> longer;
    for (const SettingValues& begun : all) {
      host().check();
      for (const double value : of_axis) {
        longer.push_back(begun);
        longer.back().push_back(value);
      }
    }
    all = std::move(longer);
  }
  std::vector<SettingValues> once;
  std::set<SettingValues> seen;
  for (SettingValues& each : all) {
    each = canonical(std::move(each));
    if (seen.insert(each).second) once.push_back(each);
  }
  return once;
}

std::vector<SettingValues> SettingSpace::coarse_grid() const {
  std::vector<std::vector<double>> values;
  for (const SettingAxis& axis : axes_) values.push_back(values_of(axis, axis.coarse));
  return product(values);
}

std::vector<SettingValues> SettingSpace::grid_of(const std::vector<Index>& counts) const {
  std::vector<std::vector<double>> values;
  for (std::size_t i = 0; i < axes_.size(); ++i) values.push_back(values_of(axes_[i], counts[i]));
  return product(values);
}

FineGrid SettingSpace::fine_grid(Index points) const {
  // Values of a range are different ones up to its limit, so that the size of a grid is a product, and one
  // value more makes it larger.
  std::vector<Index> counts;
  std::vector<Index> limits;
  for (const SettingAxis& axis : axes_) {
    limits.push_back(axis.is_range() ? different_values(axis, std::max<Index>(2, points)) : axis.coarse);
    counts.push_back(axis.is_range() ? std::min<Index>(2, limits.back()) : axis.coarse);
  }
  const std::vector<SettingValues> smallest = grid_of(counts);
  auto size = static_cast<Index>(smallest.size());
  require(size <= points, "a grid of these settings has at least {} points, not {}", size, points);
  // One value more at a time, where the fewest are for their weight, as long as the grid is not too large.
  std::vector<bool> full(axes_.size(), false);
  while (true) {
    std::size_t next = axes_.size();
    const auto filled = [&](std::size_t i) {
      return static_cast<double>(counts[i]) / (axes_[i].kind == SettingAxis::Kind::logarithmic ? 2 : 1);
    };
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (axes_[i].is_range() && !full[i] && (next == axes_.size() || filled(i) < filled(next))) next = i;
    }
    if (next == axes_.size()) break;
    const Index larger = size / counts[next] * (counts[next] + 1);
    if (counts[next] < limits[next] && larger <= points) {
      ++counts[next];
      size = larger;
    } else {
      full[next] = true;
    }
  }
  return {grid_of(counts), size < points && counts == limits};
}

std::vector<SettingValues> SettingSpace::neighbours(const SettingValues& candidate, Index level) const {
  std::vector<SettingValues> near;
  const auto add = [&](std::size_t axis, double value) {
    SettingValues other = candidate;
    other[axis] = value;
    other = canonical(std::move(other));
    if (other != candidate && std::find(near.begin(), near.end(), other) == near.end()) near.push_back(other);
  };
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    const SettingAxis& axis = axes_[i];
    if (!matters(candidate, i)) continue;
    if (axis.is_range()) {
      const double step = std::ldexp(1.0 / static_cast<double>(axis.coarse - 1), -static_cast<int>(level));
      const double place = place_in(axis, candidate[i]);
      add(i, value_at(axis, place - step));
      add(i, value_at(axis, place + step));
    } else {
      for (std::size_t c = 0; c < axis.choices.size(); ++c) add(i, static_cast<double>(c));
    }
  }
  return near;
}

SettingTexts SettingSpace::texts(const SettingValues& candidate) const {
  SettingTexts all;
  if (candidate.empty()) return all;
  for (std::size_t i = 0; i < axes_.size(); ++i) {
    if (!matters(candidate, i)) continue;
    all.emplace_back(axes_[i].name, axes_[i].is_range()
                                        ? fmt::to_string(candidate[i])
                                        : axes_[i].choices[static_cast<std::size_t>(candidate[i])]);
  }
  return all;
}

SettingValues SettingSpace::candidate_of(const std::string& option, const SettingTexts& texts) const {
  SettingValues candidate;
  for (const auto& [name, text] : texts) {
    require(std::ranges::count(axes_, name, &SettingAxis::name) > 0,
            "{}: '{}' is not a setting that is searched", option, io::excerpt(name));
  }
  for (const SettingAxis& axis : axes_) {
    const auto given = std::ranges::find(texts, axis.name, &SettingTexts::value_type::first);
    if (axis.is_range()) {
      double value = 0;
      require(given != texts.end(), "{}: there is no value of {}", option, axis.name);
      require(io::parse_number(given->second, value) && value >= axis.low && value <= axis.high,
              "{}: {} = '{}' is not a number in {} .. {}", option, axis.name, io::excerpt(given->second),
              axis.low, axis.high);
      candidate.push_back(value);
    } else if (given == texts.end()) {
      candidate.push_back(0);
    } else {
      const auto choice = std::ranges::find(axis.choices, given->second);
      require(choice != axis.choices.end(), "{}: {} = '{}' is not one of {}", option, axis.name,
              io::excerpt(given->second), fmt::join(axis.choices, ", "));
      candidate.push_back(static_cast<double>(choice - axis.choices.begin()));
    }
  }
  return without_idle(std::move(candidate));
}

std::string to_text(const SettingTexts& settings) {
  if (settings.empty()) return "the default";
  std::string text;
  for (const auto& [name, value] : settings)
    text += fmt::format("{}{}={}", text.empty() ? "" : " ", name, value);
  return text;
}

namespace {

std::vector<std::string> parts_of_axis(std::string_view text, char mark) {
  std::vector<std::string> parts;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t end = std::min(text.find(mark, at), text.size());
    parts.emplace_back(text.substr(at, end - at));
    at = end + 1;
  }
  return parts;
}

}  // namespace

SettingAxis parse_axis(const std::string& option, std::string_view text) {
  const std::size_t equals = text.find('=');
  SettingAxis axis;
  axis.name = std::string(text.substr(0, equals));
  require(equals != std::string_view::npos && !axis.name.empty(),
          "{}: '{}' is not NAME=LOW:HIGH, NAME=LOW:HIGH:log or NAME=a|b|c", option, io::excerpt(text));
  const std::string_view values = text.substr(equals + 1);
  if (values.find(':') == std::string_view::npos) {
    axis.kind = SettingAxis::Kind::choices;
    axis.choices = parts_of_axis(values, '|');
    for (const std::string& choice : axis.choices)
      require(!choice.empty() && std::ranges::count(axis.choices, choice) == 1,
              "{}: '{}' has a choice that is empty or there twice", option, io::excerpt(text));
    axis.coarse = static_cast<Index>(axis.choices.size());
    return axis;
  }
  const std::vector<std::string> parts = parts_of_axis(values, ':');
  long long coarse = 5;
  const bool good = parts.size() <= 4 && io::parse_number(parts[0], axis.low) &&
                    io::parse_number(parts[1], axis.high) &&
                    (parts.size() < 3 || parts[2] == "log" || parts[2] == "linear") &&
                    (parts.size() < 4 || io::parse_integer(parts[3], coarse));
  require(good, "{}: '{}' is not NAME=LOW:HIGH, with :log or :linear and a number of values after it", option,
          io::excerpt(text));
  axis.kind =
      parts.size() >= 3 && parts[2] == "log" ? SettingAxis::Kind::logarithmic : SettingAxis::Kind::linear;
  if (parts.size() < 4 && axis.kind == SettingAxis::Kind::logarithmic && axis.low > 0 && axis.high > axis.low)
    coarse = std::clamp(std::llround(2 * std::log10(axis.high / axis.low)) + 1, 3LL, 25LL);
  axis.coarse = coarse;
  try {
    axis.validate();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", option, error.what()));
  }
  return axis;
}

std::vector<SettingAxis> parse_axes(const std::string& option, std::string_view text,
                                    const std::vector<SettingAxis>& known) {
  std::vector<SettingAxis> given;
  for (const std::string& part : io::split_list(option, text)) {
    const std::string name = part.substr(0, part.find('='));
    require(std::ranges::none_of(given, [&](const SettingAxis& axis) { return axis.name == name; }),
            "{}: {} is there twice", option, io::excerpt(name));
    const auto of_name = std::ranges::find(known, name, &SettingAxis::name);
    if (!known.empty() && of_name == known.end()) {
      std::vector<std::string> names;
      for (const SettingAxis& axis : known) names.push_back(axis.name);
      throw InputError(
          fmt::format("{}: '{}' is not one of {}", option, io::excerpt(name), fmt::join(names, ", ")));
    }
    if (part.find('=') == std::string::npos && of_name != known.end()) {
      given.push_back(*of_name);
      continue;
    }
    given.push_back(parse_axis(option, part));
    if (of_name != known.end()) {
      given.back().only_with = of_name->only_with;
    }
  }
  std::vector<SettingAxis> ordered;
  for (const SettingAxis& axis : known) {
    const auto found = std::ranges::find(given, axis.name, &SettingAxis::name);
    if (found != given.end()) ordered.push_back(*found);
  }
  return known.empty() ? given : ordered;
}

SettingTexts parse_setting_texts(const std::string& option, std::string_view text) {
  SettingTexts settings;
  for (const std::string& part : io::split_list(option, text)) {
    const std::size_t equals = part.find('=');
    require(equals != std::string::npos && equals > 0 && equals + 1 < part.size(),
            "{}: '{}' is not NAME=VALUE", option, io::excerpt(part));
    settings.emplace_back(part.substr(0, equals), part.substr(equals + 1));
  }
  return settings;
}

}  // namespace surefoot::experiments
