#pragma once

#include "surefoot/core/part.hpp"
#include "surefoot/core/types.hpp"

#include <exception>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace surefoot {

/// How the processes of one job reach each other; app/mpi_transport.cpp does it by MPI. Every rank calls the
/// same functions in the same order, but for send() and receive(), which go in pairs.
class Transport {
 public:
  virtual ~Transport() = default;
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  [[nodiscard]] virtual int rank() const = 0;
  [[nodiscard]] virtual int count() const = 0;
  /// Where this rank runs.
  [[nodiscard]] virtual std::string place() const = 0;

  /// Replaces every value by the least of all ranks. With `patience` (seconds) it gives up after that time
  /// and returns false; then only abort() may follow.
  virtual bool least(std::span<Index> values, std::optional<double> patience) = 0;
  virtual void sum(std::span<Index> values) = 0;
  /// What each rank gave, by rank.
  virtual std::vector<std::string> all_gather(std::string_view own) = 0;
  /// What rank `from` gave.
  virtual std::string broadcast(std::string_view own, int from) = 0;
  virtual void send(std::string_view bytes, int to) = 0;
  virtual std::string receive(int from) = 0;
  /// Says the message and ends the processes of all ranks.
  [[noreturn]] virtual void abort(const std::string& message, int exit_code) = 0;

 protected:
  Transport() = default;
};

/// What ends a job: one line for the user and the exit code.
struct Failure {
  std::string message;
  int exit_code = 1;
};

/// Another rank has failed; this one has been told and need not tell.
class OtherRankFailed : public std::exception {
 public:
  explicit OtherRankFailed(Failure failure) : failure_(std::move(failure)) {}
  [[nodiscard]] const char* what() const noexcept override { return failure_.message.c_str(); }
  [[nodiscard]] const Failure& failure() const { return failure_; }

 private:
  Failure failure_;
};

/// The processes that do one job together: all run the same program on the same arguments, each computes its
/// part of the samples, and what they find is put together where they meet. One process unless a transport is
/// set; then everything here is free of charge.
///
/// Every exchange begins with a word from each rank, so that a rank that fails, or one that does something
/// else than the others, ends the job everywhere instead of letting the others wait.
class Ranks {
 public:
  Ranks() = default;
  explicit Ranks(Transport& transport) : transport_(&transport) {}

  [[nodiscard]] int rank() const { return transport_ == nullptr ? 0 : transport_->rank(); }
  [[nodiscard]] int count() const { return transport_ == nullptr ? 1 : transport_->count(); }
  [[nodiscard]] bool several() const { return count() > 1; }
  /// The rank that writes files and speaks.
  [[nodiscard]] bool first() const { return rank() == 0; }

  /// This rank's part of items 0 .. items-1.
  [[nodiscard]] Part own_part(Index items) const { return part_of(items, rank(), count()); }

  void barrier();
  [[nodiscard]] Index sum(Index value);
  /// Whether some rank says so.
  [[nodiscard]] bool any(bool own) { return sum(own ? 1 : 0) > 0; }
  /// What the first rank says.
  [[nodiscard]] std::string broadcast(std::string_view own);
  [[nodiscard]] bool as_first(bool own);
  [[nodiscard]] std::vector<std::string> all_gather(std::string_view own);
  /// Along a tree: a rank adds the states that others send, and sends its own on; at the end the first has
  /// all, and its state is returned to every rank.
  [[nodiscard]] std::string reduce(const std::function<std::string()>& state,
                                   const std::function<void(std::string_view)>& add);

  /// Tells the others that this rank gives up, and returns what the job ends with: the failure of the lowest
  /// rank that failed. Others that do not listen within `patience` seconds are ended.
  [[nodiscard]] Failure fail(const Failure& own, double patience = 10);

 private:
  enum class Exchange { failure, barrier, sum, broadcast, all_gather, reduce };
  void meet(Exchange exchange);
  [[nodiscard]] Failure hear(int from, const Failure& own);

  Transport* transport_ = nullptr;
};

/// Those of this process, or of this thread where tests run several in one process.
Ranks& ranks();
/// Until it is destroyed, ranks() speaks through the transport.
class RanksInUse {
 public:
  enum class Scope { process, thread };
  explicit RanksInUse(Transport& transport, Scope scope = Scope::process);
  ~RanksInUse();
  RanksInUse(const RanksInUse&) = delete;
  RanksInUse& operator=(const RanksInUse&) = delete;

 private:
  Ranks ranks_;
  Scope scope_;
};

/// Until it is destroyed, this thread is the only process for ranks(): for work on problems that no other
/// process has, where functions in which processes meet would take rows of other problems, or wait for ever.
class RanksAlone {
 public:
  RanksAlone();
  ~RanksAlone();
  RanksAlone(const RanksAlone&) = delete;
  RanksAlone& operator=(const RanksAlone&) = delete;

 private:
  Ranks alone_;
  Ranks* before_;
};

}  // namespace surefoot
