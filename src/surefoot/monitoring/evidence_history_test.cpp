#include "surefoot/monitoring/evidence_history.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace surefoot::monitoring {
namespace {

TEST(EvidenceHistory, KeepsTheLargestOfEveryStretch) {
  EvidenceHistory history;
  std::vector<double> all;
  for (int i = 0; i < 5001; ++i) {
    all.push_back((i * 37) % 1009);
    history.add(all.back());
    ASSERT_LE(history.largest().size(), EvidenceHistory::most);
  }
  EXPECT_EQ(history.width(), 8);
  const auto width = static_cast<std::size_t>(history.width());
  ASSERT_EQ(history.largest().size(), (all.size() + width - 1) / width);
  for (std::size_t i = 0; i < history.largest().size(); ++i) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(i * width);
    const auto end = all.begin() + static_cast<std::ptrdiff_t>(std::min((i + 1) * width, all.size()));
    EXPECT_EQ(history.largest()[i], *std::max_element(begin, end)) << i;
  }
}

TEST(EvidenceHistory, GoesOnFromItsState) {
  EvidenceHistory one;
  EvidenceHistory other;
  for (int i = 0; i < 1500; ++i) {
    ByteWriter to;
    other.write(to);
    const std::string bytes = to.take();
    EvidenceHistory next;
    ByteReader from(bytes, "state");
    next.read(from);
    other = next;
    one.add(i % 7);
    other.add(i % 7);
  }
  EXPECT_EQ(one.largest(), other.largest());
  EXPECT_EQ(one.width(), other.width());
}

}  // namespace
}  // namespace surefoot::monitoring
