#include "surefoot/core/index_ranges.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace surefoot {
namespace {

TEST(IndexRanges, AreTheSetOfWhatWasAdded) {
  RandomStream random(1, "ranges", 0);
  for (int round = 0; round < 50; ++round) {
    IndexRanges ranges;
    std::set<Index> set;
    for (int i = 0; i < 40; ++i) {
      const auto first = static_cast<Index>(random.below(100));
      const auto count = static_cast<Index>(random.below(8));
      ranges.add(first, count);
      for (Index k = first; k < first + count; ++k) set.insert(k);
    }
    ASSERT_EQ(ranges.size(), static_cast<Index>(set.size()));
    for (Index first = 0; first < 110; ++first) {
      bool all = true;
      for (Index count = 1; count <= 5; ++count) {
        all = all && set.contains(first + count - 1);
        ASSERT_EQ(ranges.contains(first, count), all) << first << ' ' << count;
      }
    }
    ByteWriter to;
    ranges.write_state(to);
    const std::string bytes = to.take();
    ByteReader from(bytes, "ranges");
    const IndexRanges again = IndexRanges::read_state(from);
    EXPECT_EQ(again.size(), ranges.size());
    for (Index k = 0; k < 110; ++k) EXPECT_EQ(again.contains(k), ranges.contains(k));
  }
}

TEST(IndexRanges, RefuseBoundsThatAreNotInOrder) {
  for (const std::vector<Index>& bounds : {std::vector<Index>{3}, std::vector<Index>{-1, 2},
                                           std::vector<Index>{4, 4}, std::vector<Index>{0, 5, 5, 6}}) {
    ByteWriter to;
    to.list(bounds);
    const std::string bytes = to.take();
    ByteReader from(bytes, "ranges");
    EXPECT_NE(test_support::input_error([&] { (void)IndexRanges::read_state(from); }).find("ranges:"),
              std::string::npos);
  }
}

TEST(IndexRanges, SayWhichNumbersTwoSetsShare) {
  RandomStream random(5, "two sets of ranges", 0);
  for (int round = 0; round < 200; ++round) {
    IndexRanges a;
    IndexRanges b;
    std::set<Index> of_a;
    std::set<Index> both;
    for (int i = 0; i < 12; ++i) {
      const auto number = static_cast<Index>(random.uniform(0, 60));
      a.add(number);
      of_a.insert(number);
    }
    for (int i = 0; i < 3; ++i) {
      const auto number = static_cast<Index>(random.uniform(0, 60));
      b.add(number);
      if (of_a.contains(number)) both.insert(number);
    }
    const std::optional<Part> common = a.first_common(b);
    ASSERT_EQ(common.has_value(), !both.empty());
    if (common) {
      EXPECT_EQ(common->first, *both.begin());
      for (Index each = common->first; each < common->end(); ++each) EXPECT_TRUE(both.contains(each));
      EXPECT_FALSE(both.contains(common->end()));
    }
    Index size = 0;
    for (const Part& part : a.parts()) size += part.count;
    EXPECT_EQ(size, a.size());
  }
}

TEST(IndexRanges, OfAFileAreInOrderAndWithinWhatIsCounted) {
  const auto read = [](const std::vector<Index>& bounds) {
    ByteWriter to;
    to.list(bounds);
    const std::string bytes = to.take();
    ByteReader from(bytes, "ranges");
    return IndexRanges::read_state(from);
  };
  EXPECT_EQ(read({0, 5, 7, most_counted}).size(), 5 + most_counted - 7);
  EXPECT_INPUT_ERROR((void)read({0, 5, 5, 9}), "is not in order");
  EXPECT_INPUT_ERROR((void)read({-5, 5}), "is not in order");
  EXPECT_INPUT_ERROR((void)read({0, most_counted + 1}), "is beyond");
  EXPECT_INPUT_ERROR((void)read({5}), "1 bounds");
}

}  // namespace
}  // namespace surefoot
