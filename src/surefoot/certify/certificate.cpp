#include "surefoot/certify/certificate.hpp"

#include <algorithm>

namespace surefoot::certify {

void set_recorded_steps(Variant& variant, const std::vector<Index>& steps) {
  variant.columns = static_cast<Index>(steps.size());
  variant.first_step = steps.front();
  variant.last_step = steps.back();
  const bool consecutive = variant.last_step - variant.first_step + 1 == variant.columns;
  variant.recorded_steps = consecutive ? std::vector<Index>{} : steps;
}

bool records(const Variant& variant, Index step) {
  if (step < variant.first_step || step > variant.last_step) return false;
  return variant.recorded_steps.empty() || std::ranges::binary_search(variant.recorded_steps, step);
}

}  // namespace surefoot::certify
