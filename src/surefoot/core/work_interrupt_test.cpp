#include "surefoot/core/work_interrupt.hpp"

#include <gtest/gtest.h>

namespace surefoot {
namespace {

TEST(WorkInterrupt, IsThatOfTheInnermostWorkOfThisThread) {
  EXPECT_FALSE(WorkInterrupt::possible());
  WorkInterrupt::check();
  int calls = 0;
  const Interrupt count = [&] { ++calls; };
  const Interrupt stop = [] { throw Interrupted(); };
  const WorkInterrupt outer(count);
  WorkInterrupt::check();
  {
    const WorkInterrupt inner(stop);
    EXPECT_THROW(WorkInterrupt::check(), Interrupted);
  }
  WorkInterrupt::check();
  EXPECT_EQ(calls, 2);
}

TEST(SortInterruptibly, SortsAndCanBeStopped) {
  for (const std::size_t size : {0U, 1U, 7U, 8U, 9U, 63U, 64U, 65U, 1000U}) {
    std::vector<std::size_t> values(size);
    for (std::size_t i = 0; i < size; ++i) values[i] = i * 7919 % 1009;
    std::vector<std::size_t> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    int calls = 0;
    const Interrupt count = [&] { ++calls; };
    const WorkInterrupt work(count);
    sort_interruptibly(values, 8);
    EXPECT_EQ(values, sorted);
    EXPECT_EQ(calls > 0, size > 8);
  }
  std::vector<double> values(100, 1.0);
  const Interrupt stop = [] { throw Interrupted(); };
  const WorkInterrupt work(stop);
  EXPECT_THROW(sort_interruptibly(values, 8), Interrupted);
}

}  // namespace
}  // namespace surefoot
