#include "surefoot/families/sample_set.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"

namespace surefoot::families {

namespace {

constexpr EnumNames<SampleSet, 5> sample_set_names{{{SampleSet::training, "training"},
                                                    {SampleSet::validation, "validation"},
                                                    {SampleSet::hold_out, "hold-out"},
                                                    {SampleSet::test, "test"},
                                                    {SampleSet::base, "base"}}};

}  // namespace

std::string_view to_string(SampleSet set) {
  return name_in(sample_set_names, set);
}

void require_samples(Index count, Index first) {
  require(count >= 1, "count: {} is below 1", count);
  require(first >= 0, "first: {} is negative", first);
  (void)checked_sum("samples", first, count);
}

}  // namespace surefoot::families
