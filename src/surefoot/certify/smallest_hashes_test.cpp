#include "surefoot/certify/smallest_hashes.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/random.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

namespace surefoot::certify {
namespace {

std::vector<std::uint64_t> drawn_hashes(Index count, std::uint64_t different) {
  std::vector<std::uint64_t> hashes;
  for (Index i = 0; i < count; ++i) {
    RandomStream random(1, "hashes of a test", static_cast<std::uint64_t>(i));
    const auto which = static_cast<std::uint64_t>(random.uniform(0, static_cast<double>(different)));
    hashes.push_back((which + 1) * 0xD6E8FEB86659FD93);
  }
  return hashes;
}

SmallestHashes of(const std::vector<std::uint64_t>& hashes, std::size_t first, std::size_t end) {
  SmallestHashes all;
  for (std::size_t i = first; i < end; ++i) all.add(hashes[i]);
  return all;
}

std::string state(const SmallestHashes& hashes) {
  ByteWriter to;
  hashes.write_state(to);
  return to.take();
}

SmallestHashes from_state(const std::string& bytes) {
  ByteReader from(bytes, "hashes");
  SmallestHashes all = SmallestHashes::read_state(from);
  from.finish();
  return all;
}

TEST(SmallestHashes, AreThoseOfAPlainCount) {
  for (const std::uint64_t different : {100UL, 5000UL, 60000UL}) {
    const std::vector<std::uint64_t> hashes = drawn_hashes(50000, different);
    std::map<std::uint64_t, int> count;
    for (const std::uint64_t hash : hashes) ++count[hash];
    Index left = static_cast<Index>(SmallestHashes::most);
    Index kept = 0;
    Index repeated = 0;
    for (const auto& [hash, times] : count) {
      if (left-- == 0) break;
      ++kept;
      repeated += times > 1 ? 1 : 0;
    }
    const SmallestHashes all = of(hashes, 0, hashes.size());
    EXPECT_EQ(all.different(), kept);
    EXPECT_EQ(all.repeated(), repeated);
    EXPECT_GT(repeated, 0);
  }
}

TEST(SmallestHashes, DoNotDependOnPartsAndTheirOrder) {
  const std::vector<std::uint64_t> hashes = drawn_hashes(40000, 30000);
  const std::string whole = state(of(hashes, 0, hashes.size()));
  EXPECT_EQ(state(from_state(whole)), whole);
  for (const std::size_t size : {1000UL, 7777UL, 20000UL}) {
    std::vector<SmallestHashes> parts;
    for (std::size_t first = 0; first < hashes.size(); first += size)
      parts.push_back(of(hashes, first, std::min(hashes.size(), first + size)));
    SmallestHashes forwards;
    for (const SmallestHashes& part : parts) forwards.merge(part);
    SmallestHashes backwards = parts.back();
    for (std::size_t i = parts.size() - 1; i-- > 0;) backwards.merge(from_state(state(parts[i])));
    std::vector<SmallestHashes*> pointers;
    for (SmallestHashes& part : parts) pointers.push_back(&part);
    SmallestHashes::prune(pointers);
    SmallestHashes pruned;
    Index kept = 0;
    for (const SmallestHashes& part : parts) {
      kept += part.different();
      pruned.merge(part);
    }
    EXPECT_EQ(state(forwards), whole);
    EXPECT_EQ(state(backwards), whole);
    EXPECT_EQ(state(pruned), whole);
    EXPECT_LT(kept, 2 * static_cast<Index>(SmallestHashes::most)) << "parts keep what all together need";
  }
}

TEST(SmallestHashes, RefuseADamagedState) {
  const std::string good = state(of(drawn_hashes(10, 5), 0, 10));
  std::string bad = good;
  bad.back() = 7;
  EXPECT_INPUT_ERROR(from_state(bad), "is damaged");
  bad = good;
  std::swap(bad[8], bad[16]);
  std::swap(bad[15], bad[23]);
  EXPECT_INPUT_ERROR(from_state(bad), "is damaged");
}

}  // namespace
}  // namespace surefoot::certify
