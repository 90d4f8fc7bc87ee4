#include "surefoot/certify/certificate.hpp"

#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace surefoot::certify {

namespace {

constexpr EnumNames<Simultaneity, 2> simultaneity_names{
    {{Simultaneity::all, "all"}, {Simultaneity::each, "each"}}};

constexpr EnumNames<Sampling, 3> sampling_names{
    {{Sampling::problems, "problems"}, {Sampling::groups, "groups"}, {Sampling::sequence, "sequence"}}};

}  // namespace

std::string_view name(Sampling sampling) {
  return name_in(sampling_names, sampling);
}

Sampling parse_sampling(std::string_view text) {
  return value_in(sampling_names, "sampling", text);
}

std::string_view name(Simultaneity simultaneous) {
  return name_in(simultaneity_names, simultaneous);
}

Simultaneity parse_simultaneity(std::string_view text) {
  return value_in(simultaneity_names, "simultaneous", text);
}

Index rows_of(const Variant& variant) {
  return variant.groups ? variant.groups->ticks : variant.samples;
}

void set_recorded_steps(Variant& variant, const std::vector<Index>& steps) {
  variant.columns = static_cast<Index>(steps.size());
  variant.first_step = steps.front();
  variant.last_step = steps.back();
  variant.recorded_steps = has_gaps(variant) ? steps : std::vector<Index>{};
}

bool records(const Variant& variant, Index step) {
  if (step < variant.first_step || step > variant.last_step) return false;
  return variant.recorded_steps.empty() || std::ranges::binary_search(variant.recorded_steps, step);
}

bool has_gaps(const Variant& variant) {
  const bool range = variant.first_step >= 0 && variant.last_step >= variant.first_step;
  return range && variant.last_step - variant.first_step >= variant.columns;
}

bool holds_anytime(const Certificate& certificate) {
  return certificate.grid_method == bounds::RiskMethod::anytime;
}

Sampling sampling_of(const Certificate& certificate) {
  if (!certificate.sequence.empty()) return Sampling::sequence;
  const bool grouped =
      std::ranges::any_of(certificate.variants, [](const Variant& each) { return each.groups.has_value(); });
  return grouped ? Sampling::groups : Sampling::problems;
}

std::string fault_of_name(std::string_view what, std::string_view name) {
  const std::size_t length = io::character_count(name);
  if (length > longest_name)
    return fmt::format("{}: '{}' has {} characters, a name has at most {}", what, io::excerpt(name), length,
                       longest_name);
  if (!io::has_control_characters(name)) return "";
  return fmt::format("{}: '{}' has control characters, a name has none", what,
                     io::excerpt(name, longest_name));
}

void require_name(std::string_view what, std::string_view name) {
  const std::string fault = fault_of_name(what, name);
  require(fault.empty(), "{}", fault);
}

}  // namespace surefoot::certify
