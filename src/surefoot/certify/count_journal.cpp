#include "surefoot/certify/count_journal.hpp"

#include "surefoot/core/bytes.hpp"

#include <utility>

namespace surefoot::certify {

CountJournal::CountJournal(io::CheckpointFile file, bool resume, Interrupt interrupt)
    : file_(std::move(file)), interrupt_(std::move(interrupt)) {
  const std::optional<std::string> kept = resume ? file_.read() : std::nullopt;
  resumed_ = kept.has_value();
  if (!kept) return;
  ByteReader from(*kept, file_.path().string());
  const auto pieces = from.number<Index>();
  for (Index i = 0; i < pieces; ++i) states_.push_back(from.text());
  from.finish();
}

std::optional<std::string> CountJournal::begin() {
  const std::scoped_lock lock(mutex_);
  ++begun_;
  if (states_.size() >= begun_) return states_[begun_ - 1];
  return std::nullopt;
}

bool CountJournal::due() {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && file_.due();
}

void CountJournal::keep(std::string state) {
  end(std::move(state));
  flush();
}

void CountJournal::end(std::string state) {
  if (!keeps()) return;
  const std::scoped_lock lock(mutex_);
  // Later pieces may be there already, from an earlier process.
  if (states_.size() < begun_) states_.resize(begun_);
  if (states_[begun_ - 1] == state) return;
  states_[begun_ - 1] = std::move(state);
  unwritten_ = true;
}

void CountJournal::flush() {
  const std::scoped_lock lock(mutex_);
  if (!unwritten_) return;
  unwritten_ = !file_.write([&](ByteWriter& to) {
    to.number(static_cast<Index>(states_.size()));
    for (const std::string& each : states_) to.text(each);
  });
}

}  // namespace surefoot::certify
