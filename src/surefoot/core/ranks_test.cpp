#include "surefoot/core/ranks.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"

#include "support/input_error.hpp"
#include "support/thread_ranks.hpp"

#include <gtest/gtest.h>

#include <atomic>

namespace surefoot {
namespace {

using test::ThreadRanks;

TEST(Ranks, OneProcessIsAllOfThem) {
  EXPECT_EQ(ranks().count(), 1);
  EXPECT_TRUE(ranks().first());
  EXPECT_EQ(ranks().sum(7), 7);
  EXPECT_EQ(ranks().broadcast("a"), "a");
  EXPECT_EQ(ranks().all_gather("a"), std::vector<std::string>{"a"});
  EXPECT_EQ(ranks().reduce([] { return "a"; }, [](std::string_view) { FAIL(); }), "a");
  EXPECT_EQ(ranks().fail({"because", 2}).message, "because");
}

TEST(Ranks, PartsFollowEachOtherAndAreEven) {
  for (const Index items : {Index{0}, Index{1}, Index{5}, Index{1000}, std::numeric_limits<Index>::max()}) {
    for (const Index parts : {1, 2, 3, 7, 1000}) {
      Index next = 0;
      for (Index p = 0; p < parts; ++p) {
        const Part part = part_of(items, p, parts);
        ASSERT_EQ(part.first, next);
        ASSERT_GE(part.count, items / parts);
        ASSERT_LE(part.count - 1, items / parts);
        next = part.end();
      }
      EXPECT_EQ(next, items);
    }
  }
}

TEST(Ranks, ExchangeWhatTheySay) {
  for (const int count : {2, 3, 5, 8}) {
    std::atomic<int> agreed = 0;
    ThreadRanks::run(count, [&] {
      const int rank = ranks().rank();
      std::vector<std::string> expected;
      for (int r = 0; r < count; ++r) expected.push_back(std::string(static_cast<std::size_t>(r), 'x'));
      std::string order = fmt::format("{}", rank);
      const std::string all =
          ranks().reduce([&] { return order; }, [&](std::string_view more) { order += more; });
      std::string ranks_in_order;
      for (int r = 0; r < count; ++r) ranks_in_order += fmt::format("{}", r);
      ranks().barrier();
      const bool fits = ranks().all_gather(expected[static_cast<std::size_t>(rank)]) == expected &&
                        ranks().broadcast(fmt::format("from {}", rank)) == "from 0" &&
                        ranks().sum(rank) == count * (count - 1) / 2 && ranks().any(rank == 1) &&
                        !ranks().any(false) && ranks().as_first(rank == 0) && all == ranks_in_order;
      agreed += fits ? 1 : 0;
    });
    EXPECT_EQ(agreed, count);
  }
}

TEST(Ranks, AreOneProcessWhereOneIsAlone) {
  const RanksAlone of_one;
  EXPECT_EQ(ranks().count(), 1);
  ThreadRanks::run(3, [] {
    {
      const RanksAlone alone;
      EXPECT_EQ(ranks().count(), 1);
      EXPECT_TRUE(ranks().first());
      // Nobody else is asked: others may do anything else meanwhile.
      EXPECT_EQ(ranks().all_gather("a"), std::vector<std::string>{"a"});
      EXPECT_EQ(ranks().sum(5), 5);
    }
    EXPECT_EQ(ranks().count(), 3) << "those of before";
    EXPECT_EQ(ranks().sum(1), 3);
  });
}

TEST(Ranks, AFailureEndsAllWithTheMessageOfTheLowest) {
  for (const int failing : {0, 1, 2}) {
    std::atomic<int> told = 0;
    const std::string message =
        failing == 0 ? "disk full" : fmt::format("process {} on this machine: disk full", failing);
    ThreadRanks::run(3, [&] {
      Failure end;
      if (ranks().rank() == failing || ranks().rank() == 2) {
        end = ranks().fail({ranks().rank() == failing ? "disk full" : "later", 2});
      } else {
        try {
          (void)ranks().sum(1);
        } catch (const OtherRankFailed& other) {
          end = other.failure();
        }
      }
      told += end.message == message && end.exit_code == 2 ? 1 : 0;
    });
    EXPECT_EQ(told, 3);
  }
}

TEST(Ranks, AreToldWhenTheyAreOutOfStep) {
  std::atomic<int> told = 0;
  ThreadRanks::run(3, [&] {
    try {
      if (ranks().rank() == 1) {
        ranks().barrier();
      } else {
        (void)ranks().sum(1);
      }
    } catch (const std::logic_error&) {
      ++told;
    }
  });
  EXPECT_EQ(told, 3);
}

TEST(Bytes, ReadWhatWasWrittenAndNothingElse) {
  ByteWriter to;
  to.number(Index{-7});
  to.text("abc");
  to.list(std::vector<double>{1.5, infinity});
  const std::string bytes = to.take();
  ByteReader from(bytes, "example");
  EXPECT_EQ(from.number<Index>(), -7);
  EXPECT_EQ(from.text(), "abc");
  EXPECT_EQ(from.list<double>(), (std::vector<double>{1.5, infinity}));
  EXPECT_NO_THROW(from.finish());
  EXPECT_INPUT_ERROR(from.number<char>(), "example: ends early, 1 x 1 bytes");
  ByteReader short_of(std::string_view(bytes).substr(0, bytes.size() - 1), "example");
  EXPECT_EQ(short_of.number<Index>(), -7);
  EXPECT_EQ(short_of.text(), "abc");
  EXPECT_INPUT_ERROR(short_of.list<double>(), "example: ends early, 2 x 8 bytes");
  ByteWriter huge;
  huge.number(std::numeric_limits<Index>::max());
  const std::string claim = huge.take();
  EXPECT_INPUT_ERROR(ByteReader(claim, "example").list<double>(),
                     "example: ends early, 9223372036854775807 x 8 bytes");
  EXPECT_INPUT_ERROR(ByteReader(claim, "example").text(),
                     "example: ends early, 9223372036854775807 x 1 bytes");
  EXPECT_INPUT_ERROR(ByteReader(bytes, "example").finish(), "bytes too many");
}

}  // namespace
}  // namespace surefoot
