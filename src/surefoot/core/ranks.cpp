#include "surefoot/core/ranks.hpp"

#include "surefoot/core/bytes.hpp"

#include <array>
#include <limits>
#include <stdexcept>

namespace surefoot {

namespace {
constexpr Index nobody = std::numeric_limits<Index>::max();

Ranks one_process;
Ranks* ranks_of_process = &one_process;
thread_local Ranks* ranks_of_thread = nullptr;
}  // namespace

Ranks& ranks() {
  return ranks_of_thread != nullptr ? *ranks_of_thread : *ranks_of_process;
}

RanksInUse::RanksInUse(Transport& transport, Scope scope) : ranks_(transport), scope_(scope) {
  (scope_ == Scope::process ? ranks_of_process : ranks_of_thread) = &ranks_;
}

RanksInUse::~RanksInUse() {
  if (scope_ == Scope::process) {
    ranks_of_process = &one_process;
  } else {
    ranks_of_thread = nullptr;
  }
}

RanksAlone::RanksAlone() : before_(ranks_of_thread) {
  ranks_of_thread = &alone_;
}

RanksAlone::~RanksAlone() {
  ranks_of_thread = before_;
}

void Ranks::meet(Exchange exchange) {
  const auto kind = static_cast<Index>(exchange);
  std::array<Index, 3> words{nobody, kind, -kind};
  transport_->least(words, std::nullopt);
  if (words[0] != nobody) throw OtherRankFailed(hear(static_cast<int>(words[0]), {}));
  if (words[1] != -words[2]) throw std::logic_error("the processes are out of step with each other");
}

Failure Ranks::hear(int from, const Failure& own) {
  ByteWriter words;
  words.text(from == 0 ? own.message
                       : fmt::format("process {} on {}: {}", from, transport_->place(), own.message));
  words.number(own.exit_code);
  const std::string heard = transport_->broadcast(words.take(), from);
  ByteReader reader(heard, "failure of a process");
  Failure failure;
  failure.message = reader.text();
  failure.exit_code = reader.number<int>();
  return failure;
}

Failure Ranks::fail(const Failure& own, double patience) {
  if (!several()) return own;
  std::array<Index, 3> words{rank(), 0, 0};
  if (!transport_->least(words, patience)) {
    transport_->abort(fmt::format("process {} on {}: {}", rank(), transport_->place(), own.message),
                      own.exit_code);
  }
  return hear(static_cast<int>(words[0]), own);
}

void Ranks::barrier() {
  if (several()) meet(Exchange::barrier);
}

Index Ranks::sum(Index value) {
  if (!several()) return value;
  meet(Exchange::sum);
  transport_->sum({&value, 1});
  return value;
}

std::string Ranks::broadcast(std::string_view own) {
  if (!several()) return std::string(own);
  meet(Exchange::broadcast);
  return transport_->broadcast(own, 0);
}

bool Ranks::as_first(bool own) {
  return broadcast(own ? "1" : "0") == "1";
}

std::vector<std::string> Ranks::all_gather(std::string_view own) {
  if (!several()) return {std::string(own)};
  meet(Exchange::all_gather);
  return transport_->all_gather(own);
}

std::string Ranks::reduce(const std::function<std::string()>& state,
                          const std::function<void(std::string_view)>& add) {
  if (!several()) return state();
  meet(Exchange::reduce);
  for (int distance = 1; distance < count(); distance *= 2) {
    if (rank() % (2 * distance) == distance) {
      transport_->send(state(), rank() - distance);
      break;
    }
    if (rank() + distance < count()) add(transport_->receive(rank() + distance));
  }
  return transport_->broadcast(first() ? state() : std::string(), 0);
}

}  // namespace surefoot
