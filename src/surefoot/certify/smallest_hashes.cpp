#include "surefoot/certify/smallest_hashes.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>

namespace surefoot::certify {

void SmallestHashes::settle() {
  if (new_.empty()) return;
  for (const std::uint64_t hash : new_) kept_.push_back({hash, false});
  new_.clear();
  keep_smallest();
}

// Puts equal ones together and drops the largest; entries may be in any order before.
void SmallestHashes::keep_smallest() {
  std::ranges::sort(kept_, {}, &Kept::hash);
  std::size_t different = 0;
  for (const Kept& each : kept_) {
    if (different > 0 && kept_[different - 1].hash == each.hash) {
      kept_[different - 1].again = true;
    } else if (different == most) {
      break;
    } else {
      kept_[different++] = each;
    }
  }
  kept_.resize(different);
  if (different == most) largest_ = kept_.back().hash;
}

SmallestHashes SmallestHashes::settled() const {
  SmallestHashes copy = *this;
  copy.settle();
  return copy;
}

void SmallestHashes::merge(const SmallestHashes& other) {
  kept_.insert(kept_.end(), other.kept_.begin(), other.kept_.end());
  new_.insert(new_.end(), other.new_.begin(), other.new_.end());
  for (const std::uint64_t hash : new_) kept_.push_back({hash, false});
  new_.clear();
  keep_smallest();
}

Index SmallestHashes::different() const {
  return static_cast<Index>(settled().kept_.size());
}

Index SmallestHashes::repeated() const {
  const SmallestHashes all = settled();
  return std::ranges::count(all.kept_, true, &Kept::again);
}

void SmallestHashes::prune(const std::vector<SmallestHashes*>& parts) {
  SmallestHashes all;
  for (const SmallestHashes* part : parts) all.merge(*part);
  for (SmallestHashes* part : parts) {
    part->settle();
    part->largest_ = std::min(part->largest_, all.largest_);
    std::erase_if(part->kept_, [&](const Kept& each) { return each.hash > all.largest_; });
  }
}

void SmallestHashes::write_state(ByteWriter& to) const {
  const SmallestHashes all = settled();
  std::vector<std::uint64_t> hashes;
  std::vector<unsigned char> again;
  for (const Kept& each : all.kept_) {
    hashes.push_back(each.hash);
    again.push_back(each.again ? 1 : 0);
  }
  to.list(hashes);
  to.list(again);
}

SmallestHashes SmallestHashes::read_state(ByteReader& from) {
  SmallestHashes all;
  const std::vector<std::uint64_t> hashes = from.list<std::uint64_t>();
  const std::vector<unsigned char> again = from.list<unsigned char>();
  require(hashes.size() <= most && again.size() == hashes.size(), "{} smallest hashes, {} of them marked",
          hashes.size(), again.size());
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    require(again[i] <= 1 && (i == 0 || hashes[i - 1] < hashes[i]), "smallest hash {} is damaged", i);
    all.kept_.push_back({hashes[i], again[i] == 1});
  }
  all.keep_smallest();
  return all;
}

}  // namespace surefoot::certify
