#include "surefoot/certify/ledger.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <limits>
#include <vector>

namespace surefoot::certify {
namespace {

using test::contains;
using test_support::input_error;
using test_support::TemporaryFolder;

constexpr Index largest = std::numeric_limits<Index>::max();

Look look_at(Index first, Index count) {
  return {{"f(a=1)", 7, "hold-out", first, count}, "calibrate", "weights 12ab", "r1", "2026-11-16T10:00:00Z"};
}

LookRecord record_in(const std::string& ledger) {
  LookRecord record;
  record.ledgers = {ledger};
  record.shared = true;
  return record;
}

// A plain count of the samples in common, for small ranges.
bool have_common(const SampleRange& a, const SampleRange& b) {
  for (Index i = a.first; i < a.first + a.count; ++i) {
    if (i >= b.first && i < b.first + b.count) return true;
  }
  return false;
}

TEST(SampleRange, OverlapIsHavingSamplesInCommon) {
  for (Index first = 0; first < 8; ++first) {
    for (Index count = 1; count < 6; ++count) {
      for (Index other = 0; other < 8; ++other) {
        const SampleRange a{"f", 0, "s", first, count};
        const SampleRange b{"f", 0, "s", other, 3};
        EXPECT_EQ(a.overlaps(b), have_common(a, b)) << first << ' ' << count << ' ' << other;
        EXPECT_EQ(b.overlaps(a), a.overlaps(b));
      }
    }
  }
}

TEST(SampleRange, OverlapDoesNotOverflow) {
  const SampleRange end{"f", 0, "s", largest - 5, 5};
  end.validate();
  EXPECT_TRUE(end.overlaps({"f", 0, "s", 0, largest}));
  EXPECT_TRUE((SampleRange{"f", 0, "s", 0, largest}.overlaps(end)));
  EXPECT_FALSE(end.overlaps({"f", 0, "s", 0, largest - 5}));
  EXPECT_TRUE(end.overlaps({"f", 0, "s", largest - 1, 1}));
  EXPECT_TRUE(contains(input_error([] { SampleRange{"f", 0, "s", largest - 5, 6}.validate(); }), "too many"));
  EXPECT_TRUE(contains(input_error([] { SampleRange{"f", 0, "s", -1, 6}.validate(); }), "-1"));
  EXPECT_TRUE(contains(input_error([] { SampleRange{"f", 0, "s", 3, 0}.validate(); }), "there are 0"));
}

TEST(SampleRange, OfAnotherFamilySeedOrSetHasNothingInCommon) {
  const SampleRange range = look_at(0, 10).range;
  SampleRange other = range;
  EXPECT_TRUE(range.overlaps(other));
  other.family = "f(a=2)";
  EXPECT_FALSE(range.overlaps(other));
  other = range;
  other.seed = 8;
  EXPECT_FALSE(range.overlaps(other));
  other = range;
  other.set = "validation";
  EXPECT_FALSE(range.overlaps(other));
}

TEST(Ledger, ASecondLookIsRefusedAndNamesTheFirst) {
  const TemporaryFolder folder;
  const std::string file = folder / "ledger.jsonl";
  const LookRecord record = record_in(file);
  check_looks(record, {look_at(0, 100)});
  record_looks(record, {look_at(0, 100)});
  for (const auto& range : {std::pair<Index, Index>{0, 100}, {99, 1}, {50, 1000}}) {
    const Look look = look_at(range.first, range.second);
    const std::string said = input_error([&] { check_looks(record, {look}); });
    for (const char* part : {"calibrate", "weights 12ab", "2026-11-16T10:00:00Z", "--look-again", "f(a=1)"})
      EXPECT_TRUE(contains(said, part)) << said;
    EXPECT_EQ(input_error([&] { record_looks(record, {look}); }), said);
  }
  EXPECT_EQ(read_ledger(file).size(), 1U) << "a refused look is none";
  EXPECT_EQ(record_looks(record, {look_at(100, 50)}).at(0).earlier_looks, 0);
}

TEST(Ledger, ALookInSpiteOfThatIsWrittenDownAndSaysHowManyThereWere) {
  const TemporaryFolder folder;
  LookRecord record = record_in(folder / "ledger.jsonl");
  record_looks(record, {look_at(0, 100)});
  record_looks(record, {look_at(100, 100)});
  record.again = true;
  EXPECT_EQ(record_looks(record, {look_at(50, 100)}).at(0).earlier_looks, 2);
  EXPECT_EQ(record_looks(record, {look_at(0, 200)}).at(0).earlier_looks, 3);
  const std::vector<Look> looks = read_ledger(folder / "ledger.jsonl");
  ASSERT_EQ(looks.size(), 4U);
  EXPECT_EQ(looks[0].earlier_looks, std::nullopt);
  EXPECT_EQ(looks[1].earlier_looks, 0);
  EXPECT_EQ(looks[3].earlier_looks, 3);
}

TEST(Ledger, OneThatBeginsWithTheLookKnowsNothingOfEarlierOnes) {
  const TemporaryFolder folder;
  EXPECT_EQ(record_looks(record_in(folder / "new"), {look_at(0, 10)}).at(0).earlier_looks, std::nullopt);
  EXPECT_EQ(record_looks(record_in(folder / "new"), {look_at(10, 10)}).at(0).earlier_looks, 0);
  begin_ledger(folder / "begun");
  EXPECT_EQ(record_looks(record_in(folder / "begun"), {look_at(0, 10)}).at(0).earlier_looks, 0);
  // An empty file has not begun; nor does a ledger that is not kept for others tell anything by its silence.
  folder.write("empty", "");
  EXPECT_EQ(record_looks(record_in(folder / "empty"), {look_at(0, 10)}).at(0).earlier_looks, std::nullopt);
  LookRecord own = record_in(folder / "begun");
  own.shared = false;
  EXPECT_EQ(record_looks(own, {look_at(10, 10)}).at(0).earlier_looks, std::nullopt);
}

TEST(Ledger, LooksFromElsewhereAndFromSeveralLedgersCountOnce) {
  const TemporaryFolder folder;
  LookRecord record = record_in(folder / "a");
  record.ledgers.emplace_back(folder / "b");
  record.ledgers.emplace_back(folder.path() / "." / "a");  // the same file again: not locked twice
  record_looks(record, {look_at(0, 10)});
  EXPECT_EQ(read_ledger(folder / "a").size(), 1U);
  EXPECT_EQ(read_ledger(folder / "b"), read_ledger(folder / "a"));
  record.known = read_ledger(folder / "a");
  EXPECT_TRUE(contains(input_error([&] { check_looks(record, {look_at(5, 1)}); }), "looked at on"));
  record.again = true;
  EXPECT_EQ(record_looks(record, {look_at(5, 1)}).at(0).earlier_looks, 1);
  LookRecord carried;
  carried.known = record.known;
  EXPECT_TRUE(contains(input_error([&] { check_looks(carried, {look_at(0, 1)}); }), "looked at on"));
}

TEST(Ledger, WorkThatGoesOnMakesTheSameLook) {
  const TemporaryFolder folder;
  LookRecord record = record_in(folder / "a");  // which begins with the look, and still does afterwards
  const SampleProvenance first = record_looks(record, {look_at(0, 10)}).at(0);
  record.resumed = true;
  check_looks(record, {look_at(0, 10)});
  EXPECT_EQ(record_looks(record, {look_at(0, 10)}).at(0).earlier_looks, first.earlier_looks);
  EXPECT_EQ(read_ledger(folder / "a").size(), 1U);
  Look other = look_at(0, 10);
  other.request = "r2";
  EXPECT_TRUE(contains(input_error([&] { check_looks(record, {other}); }), "looked at on"));
}

TEST(Ledger, ATrainingIsKnownByItsNumbersAndIsNoLookAtOtherSets) {
  const TemporaryFolder folder;
  const std::string file = folder / "ledger.jsonl";
  const SampleRange seen{"f(a=1)", 7, training_set, 0, 100};
  const Look training = training_look(seen, "f1", "n1");
  record_training(file, training);
  record_training(file, training);
  const SampleRange more{"f(a=1)", 7, training_set, 0, 150};
  record_training(file, training_look(more, "f2", "n2"));
  record_looks(record_in(file), {look_at(0, 100)});
  const std::vector<Look> looks = read_ledger(file);
  ASSERT_EQ(looks.size(), 3U) << "the same training is written down once";
  EXPECT_EQ(trained_on(looks, "n1"), std::vector{seen});
  EXPECT_EQ(trained_on(looks, "n2"), std::vector{more});
  EXPECT_TRUE(trained_on(looks, "f1").empty());
  EXPECT_TRUE(is_training(looks[0]) && !is_training(looks[2]));
  EXPECT_EQ(looks[2].earlier_looks, 0) << "training is no look at hold-out samples";
  // A look by somebody who calls himself so, at samples that are not of training, is none.
  Look other = look_at(200, 10);
  other.by = trained_by;
  EXPECT_FALSE(is_training(other));
  EXPECT_TRUE(contains(input_error([&] {
                         record_training(file, training_look({"f", 0, training_set, 0, 0}, "f", "n"));
                       }),
                       "there are 0"));
}

TEST(Ledger, OfSeveralProcessesOneLooks) {
  const TemporaryFolder folder;
  const std::string file = folder / "ledger.jsonl";
  constexpr int processes = 8;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      Look look = look_at(0, 10);
      look.subject = fmt::format("process {}", p);
      Look own = look_at(100 + p, 1);
      own.subject = look.subject;
      try {
        record_looks(record_in(file), {own});
        record_looks(record_in(file), {look});
      } catch (const InputError&) {
        ::_exit(2);
      }
      ::_exit(0);
    }
    children.push_back(child);
  }
  int looked = 0;
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    ASSERT_TRUE(WIFEXITED(status));
    looked += WEXITSTATUS(status) == 0 ? 1 : 0;
  }
  EXPECT_EQ(looked, 1);
  EXPECT_EQ(read_ledger(file).size(), processes + 1U) << "looks at other samples are all there";
}

TEST(Ledger, IsReadAsItIsWritten) {
  Look odd = look_at(3, 4);
  odd.subject = "a \"quoted\" name\nof two lines, é";
  odd.earlier_looks = 12;
  const std::vector<Look> looks{look_at(0, largest), odd};
  EXPECT_EQ(parse_ledger("x", ledger_text(looks)), looks);
  EXPECT_TRUE(parse_ledger("x", ledger_text({})).empty());
}

TEST(Ledger, ADamagedLineIsNamed) {
  const std::string good = ledger_text({look_at(0, 10), look_at(10, 10)});
  const auto said = [](const std::string& text) { return input_error([&] { parse_ledger("book", text); }); };
  const std::size_t second = good.find('\n') + 1;
  const auto changed = [&](const std::string& what, const std::string& by) {
    std::string text = good;
    text.replace(text.find(what, second), what.size(), by);
    return said(text);
  };
  EXPECT_EQ(said(good), "(no error)");
  EXPECT_TRUE(contains(said(good + "{\"family\":\n"), "book: line 4: is damaged")) << said(good + "{\n");
  EXPECT_TRUE(contains(said(good + "\n"), "book: line 4: is damaged"));
  EXPECT_TRUE(contains(changed("\"first\":0", "\"first\":-1"), "book: line 2: is damaged: 'first'"));
  EXPECT_TRUE(contains(changed("\"first\":0", "\"first\":0.5"), "'first'"));
  EXPECT_TRUE(contains(changed("\"first\":0", "\"first\":18446744073709551615"), "'first'"));
  EXPECT_TRUE(contains(changed("\"count\":10", "\"count\":9223372036854775807"), "(no error)"));
  EXPECT_TRUE(contains(changed("\"first\":0", "\"first\":9223372036854775807"), "too many"));
  EXPECT_TRUE(contains(changed("\"count\":10", "\"count\":0"), "line 2: is damaged: samples: there are 0"));
  EXPECT_TRUE(contains(changed("looks\":null", "looks\":-1"), "'earlier_looks'"));
  EXPECT_TRUE(contains(changed("looks\":null", "looks\":false"), "'earlier_looks'"));
  EXPECT_TRUE(contains(changed("\"set\"", "\"sat\""), "no 'set'"));
  EXPECT_TRUE(contains(changed("looks\":null", "looks\":null,\"more\":1"), "11 fields"));
  EXPECT_TRUE(contains(said(look_line(look_at(0, 1))), "book: line 1: is damaged: it has no 'format'"));
  EXPECT_TRUE(contains(said("{\"format\":\"surefoot-ledger\",\"format_version\":2}\n"), "format_version 2"));
  const TemporaryFolder folder;
  folder.write("book", good + "garbage\n");
  const LookRecord record = record_in(folder / "book");
  EXPECT_TRUE(contains(input_error([&] { record_looks(record, {look_at(50, 1)}); }), "line 4"));
}

TEST(Ledger, AnAppendThatWasCutOffIsNoLook) {
  const TemporaryFolder folder;
  const std::string good = ledger_text({look_at(0, 10)});
  folder.write("book", good + look_line(look_at(10, 10)).substr(0, 40));
  EXPECT_EQ(read_ledger(folder / "book").size(), 1U);
  record_looks(record_in(folder / "book"), {look_at(10, 10)});
  const std::vector<Look> looks = read_ledger(folder / "book");
  ASSERT_EQ(looks.size(), 2U);
  EXPECT_EQ(looks[1].range, look_at(10, 10).range);
}

TEST(SampleProvenance, SaysWhatIsKnownOfEarlierLooks) {
  const SampleRange range = look_at(0, 10).range;
  EXPECT_TRUE(contains(looks_sentence({range, std::nullopt}), "unknown"));
  EXPECT_TRUE(contains(looks_sentence({range, 0}), "no earlier look"));
  EXPECT_TRUE(contains(looks_sentence({range, 0}), "these samples"));
  const SampleRange rows{data_family("ab"), 0, data_set, 0, 10};
  EXPECT_TRUE(contains(looks_sentence({rows, 0}), "at a file with this digest")) << "a copy is another file";
  EXPECT_FALSE(contains(looks_sentence({rows, 0}), "these samples"));
  EXPECT_TRUE(contains(looks_sentence({range, 1}), "looked at once before"));
  EXPECT_TRUE(contains(looks_sentence({range, 3}), "looked at 3 times before"));
  EXPECT_EQ(to_text(range), "samples 0 .. 9 of the set hold-out of f(a=1), seed 7");
}

}  // namespace
}  // namespace surefoot::certify
