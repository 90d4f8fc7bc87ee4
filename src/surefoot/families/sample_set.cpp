#include "surefoot/families/sample_set.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"

namespace surefoot::families {

std::string_view to_string(SampleSet set) {
  switch (set) {
    case SampleSet::training:
      return "training";
    case SampleSet::validation:
      return "validation";
    case SampleSet::hold_out:
      return "hold-out";
    case SampleSet::test:
      return "test";
    case SampleSet::base:
      return "base";
  }
  return "";
}

SampleSet parse_sample_set(std::string_view name) {
  for (const SampleSet set :
       {SampleSet::training, SampleSet::validation, SampleSet::hold_out, SampleSet::test, SampleSet::base}) {
    if (to_string(set) == name) return set;
  }
  throw InputError(fmt::format("sample set: '{}' is not training, validation, hold-out, test or base", name));
}

void require_samples(Index count, Index first) {
  require(count >= 1, "count: {} is below 1", count);
  require(first >= 0, "first: {} is negative", first);
  (void)checked_sum("samples", first, count);
}

}  // namespace surefoot::families
