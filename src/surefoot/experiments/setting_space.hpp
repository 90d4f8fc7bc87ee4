#pragma once

#include "surefoot/core/types.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// Settings that are searched: a range of numbers or a list of choices each.
namespace surefoot::experiments {

/// One setting.
struct SettingAxis {
  enum class Kind { linear, logarithmic, choices };

  std::string name;
  Kind kind = Kind::logarithmic;
  double low = 0;  ///< of ranges
  double high = 0;
  std::vector<std::string> choices = {};  ///< as a user writes them
  /// Values of the first grid, evenly over the range; of choices the first so many. The first choice is the
  /// usual one.
  Index coarse = 5;
  /// The setting matters only where another one has this choice; names of both.
  std::pair<std::string, std::string> only_with = {};

  [[nodiscard]] bool is_range() const { return kind != Kind::choices; }
  void validate() const;
};

/// A value for every axis: a number of a range, or the place of a choice. Empty: settings that are no point
/// of the space.
using SettingValues = std::vector<double>;
/// Names and values as a user writes them.
using SettingTexts = std::vector<std::pair<std::string, std::string>>;

struct FineGrid {
  std::vector<SettingValues> points;
  bool finest = false;  ///< fewer than asked for: more values of a range would be the same in few digits
};

class SettingSpace {
 public:
  explicit SettingSpace(std::vector<SettingAxis> axes);

  [[nodiscard]] const std::vector<SettingAxis>& axes() const { return axes_; }
  /// Whether the axis matters for the candidate.
  [[nodiscard]] bool matters(const SettingValues& candidate, std::size_t axis) const;
  /// The first grid: every combination of the coarse values, each once.
  [[nodiscard]] std::vector<SettingValues> coarse_grid() const;
  /// A grid of about so many points and no more, all choices with as many values of each range as fit: of the
  /// ranges, logarithmic ones get up to twice as many.
  [[nodiscard]] FineGrid fine_grid(Index points) const;
  /// Candidates that differ in one setting: every range up and down by the distance of the first grid over
  /// 2^level, every other choice.
  [[nodiscard]] std::vector<SettingValues> neighbours(const SettingValues& candidate, Index level) const;
  /// The candidate that runs as this one does: numbers of few digits within their ranges, about a hundred
  /// values of each, the usual choice where a setting does not matter.
  [[nodiscard]] SettingValues canonical(SettingValues candidate) const;
  /// Settings that matter, by name; none of an empty candidate.
  [[nodiscard]] SettingTexts texts(const SettingValues& candidate) const;
  /// The inverse of texts(), with all digits; settings that are not named get their usual choice. InputError
  /// names `option` and what does not fit.
  [[nodiscard]] SettingValues candidate_of(const std::string& option, const SettingTexts& texts) const;

 private:
  /// With the usual choice where a setting does not matter.
  [[nodiscard]] SettingValues without_idle(SettingValues candidate) const;
  /// So many values of each axis.
  [[nodiscard]] std::vector<SettingValues> grid_of(const std::vector<Index>& counts) const;
  [[nodiscard]] std::vector<SettingValues> product(const std::vector<std::vector<double>>& values) const;
  std::vector<SettingAxis> axes_;
  /// By axis: the place of the one that it depends on, and the choice; none if it always matters.
  std::vector<std::optional<std::pair<std::size_t, double>>> conditions_;
};

/// "rho=0.316 alpha=1.4"; "the default" if there are none.
std::string to_text(const SettingTexts& settings);

/// "rho=1e-3:1e3:log" (or :linear, the default), "rho=1e-3:1e3:log:13" with values of the first grid, or
/// "method=a|b|c"; InputError names the option and what is wrong.
SettingAxis parse_axis(const std::string& option, std::string_view text);
/// Several of them, between commas. A name alone is the axis of that name among `known`; a range for a known
/// name replaces its range. Axes come in the order of `known`, others after them.
std::vector<SettingAxis> parse_axes(const std::string& option, std::string_view text,
                                    const std::vector<SettingAxis>& known);

/// "rho=0.1,alpha=1.6".
SettingTexts parse_setting_texts(const std::string& option, std::string_view text);

}  // namespace surefoot::experiments
