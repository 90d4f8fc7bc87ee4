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

}  // namespace

std::string_view name(Simultaneity simultaneous) {
  return name_in(simultaneity_names, simultaneous);
}

Simultaneity parse_simultaneity(std::string_view text) {
  return value_in(simultaneity_names, "simultaneous", text);
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
