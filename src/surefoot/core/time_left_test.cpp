#include "surefoot/core/time_left.hpp"

#include <gtest/gtest.h>

namespace surefoot {
namespace {

TEST(TimeLeft, IsTheSumOfWhatIsExpectedAtFirst) {
  EXPECT_DOUBLE_EQ(TimeLeft({10, 20, 70}).seconds(), 100);
  EXPECT_DOUBLE_EQ(TimeLeft({}).seconds(), 0);
}

TEST(TimeLeft, LearnsFromPartsByTheirSize) {
  TimeLeft slow({10, 20, 70});
  slow.done(0, 30);  // three times slower, in a small part: (30 + 10) / (10 + 10)
  EXPECT_DOUBLE_EQ(slow.seconds(), 2 * 90);
  slow.left_out(1);
  EXPECT_DOUBLE_EQ(slow.seconds(), 2 * 70);
}

TEST(TimeLeft, FallsWhileAPartRunsAndNeverReachesZeroInsideIt) {
  const TimeLeft time({10, 20, 70});
  EXPECT_DOUBLE_EQ(time.seconds(0, 4), 96);
  EXPECT_DOUBLE_EQ(time.seconds(2, 70), 30 + 7);
  EXPECT_GT(time.seconds(2, 300), 30);
}

}  // namespace
}  // namespace surefoot
