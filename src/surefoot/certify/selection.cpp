#include "surefoot/certify/selection.hpp"

#include "surefoot/certify/certificate.hpp"
#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/number_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace surefoot::certify {

namespace {

constexpr EnumNames<Missing, 2> missing_names{{{Missing::refuse, "refuse"}, {Missing::failed, "failed"}}};

}  // namespace

std::string_view name(Missing missing) {
  return name_in(missing_names, missing);
}

Missing parse_missing(std::string_view text) {
  return value_in(missing_names, "missing", text);
}

std::vector<std::string> words_of(const Selection& selection) {
  std::vector<std::string> words{fmt::format(
      "the numbers are those of '{}', {}", selection.value,
      selection.steps.empty() ? "one per problem" : fmt::format("at the steps of '{}'", selection.steps))};
  words.push_back(selection.rows.empty() && selection.steps.empty()
                      ? "every line is a problem"
                      : fmt::format("'{}' says the problem", selection.rows));
  if (!selection.where.empty())
    words.push_back(fmt::format("only lines with {}", fmt::join(selection.where, " and ")));
  if (!selection.failed.empty())
    words.push_back(fmt::format("a line with {} is a failure", fmt::join(selection.failed, " or ")));
  if (selection.missing == Missing::failed)
    words.emplace_back("what is missing is a failure");
  else if (!selection.rows.empty())
    words.emplace_back("nothing is missing");
  if (!selection.variants.empty())
    words.push_back(fmt::format("lines with {}={}", selection.variants, selection.variant));
  const auto note = [&](Index count, std::string_view one, std::string_view several) {
    if (count > 0) words.push_back(fmt::format("{} {}", count_label(count), count == 1 ? one : several));
  };
  note(selection.failed_lines, "of its lines is a failure", "of its lines are failures");
  note(selection.censored, "number is given as \"> limit\": known only to exceed it, it counts as infinite",
       "numbers are given as \"> limit\": known only to exceed it, they count as infinite");
  note(selection.missing_cells, "number is missing and counts as infinite",
       "numbers are missing and count as infinite");
  return words;
}

bool names_problems(const Certificate& certificate) {
  return std::ranges::any_of(certificate.variants, [](const Variant& variant) {
    return variant.selection && !variant.selection->rows.empty();
  });
}

}  // namespace surefoot::certify
