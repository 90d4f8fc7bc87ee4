#include "mpi_transport.hpp"

#include "surefoot/core/error.hpp"

#include <fmt/format.h>
#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <thread>

namespace {

using namespace surefoot;

void check(int status) {
  if (status != MPI_SUCCESS) throw std::runtime_error("MPI: a message could not be sent");
}

/// Counts of MPI are ints: long messages go in pieces.
template <class Move>
void in_pieces(std::size_t bytes, const Move& move) {
  constexpr std::size_t piece = std::size_t{1} << 30U;
  for (std::size_t first = 0; first < bytes; first += piece)
    move(first, static_cast<int>(std::min(piece, bytes - first)));
}

class MpiTransport final : public Transport {
 public:
  MpiTransport(int& argc, char**& argv) : speak_(::dup(STDERR_FILENO)) {
    int provided = 0;
    check(MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided));
    check(MPI_Comm_rank(MPI_COMM_WORLD, &rank_));
    check(MPI_Comm_size(MPI_COMM_WORLD, &count_));
  }
  ~MpiTransport() override {
    MPI_Finalize();
    ::close(speak_);
  }

  [[nodiscard]] int rank() const override { return rank_; }
  [[nodiscard]] int count() const override { return count_; }
  [[nodiscard]] std::string place() const override {
    std::array<char, MPI_MAX_PROCESSOR_NAME> name{};
    int length = 0;
    check(MPI_Get_processor_name(name.data(), &length));
    return {name.data(), static_cast<std::size_t>(length)};
  }

  bool least(std::span<Index> values, std::optional<double> patience) override {
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Iallreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_MIN,
                         MPI_COMM_WORLD, &request));
    return waited(request, patience);
  }

  void sum(std::span<Index> values) override {
    check(MPI_Allreduce(MPI_IN_PLACE, values.data(), static_cast<int>(values.size()), MPI_INT64_T, MPI_SUM,
                        MPI_COMM_WORLD));
  }

  // Few ranks have something to say in most exchanges: each of them says it to all.
  std::vector<std::string> all_gather(std::string_view own) override {
    std::vector<Index> sizes(static_cast<std::size_t>(count_));
    const auto own_size = static_cast<Index>(own.size());
    check(MPI_Allgather(&own_size, 1, MPI_INT64_T, sizes.data(), 1, MPI_INT64_T, MPI_COMM_WORLD));
    std::vector<std::string> parts(sizes.size());
    for (int from = 0; from < count_; ++from) {
      const auto at = static_cast<std::size_t>(from);
      parts[at].resize(static_cast<std::size_t>(sizes[at]));
      if (from == rank_) parts[at] = own;
      spread(parts[at], from);
    }
    return parts;
  }

  std::string broadcast(std::string_view own, int from) override {
    auto size = static_cast<Index>(own.size());
    check(MPI_Bcast(&size, 1, MPI_INT64_T, from, MPI_COMM_WORLD));
    std::string bytes = from == rank_ ? std::string(own) : std::string(static_cast<std::size_t>(size), '\0');
    spread(bytes, from);
    return bytes;
  }

  void send(std::string_view bytes, int to) override {
    const auto size = static_cast<Index>(bytes.size());
    check(MPI_Send(&size, 1, MPI_INT64_T, to, 0, MPI_COMM_WORLD));
    in_pieces(bytes.size(), [&](std::size_t first, int length) {
      check(MPI_Send(bytes.data() + first, length, MPI_BYTE, to, 0, MPI_COMM_WORLD));
    });
  }

  std::string receive(int from) override {
    Index size = 0;
    check(MPI_Recv(&size, 1, MPI_INT64_T, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    std::string bytes(static_cast<std::size_t>(size), '\0');
    in_pieces(bytes.size(), [&](std::size_t first, int length) {
      check(MPI_Recv(bytes.data() + first, length, MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    });
    return bytes;
  }

  [[noreturn]] void abort(const std::string& message, int exit_code) override {
    const std::string line = fmt::format("surefoot: {}\n", message);
    [[maybe_unused]] const ssize_t written = ::write(speak_, line.data(), line.size());
    MPI_Abort(MPI_COMM_WORLD, exit_code);
    std::_Exit(exit_code);
  }

 private:
  // Every exchange begins here, so this is where a process that is early waits: soon without taking the
  // processor from those that still work.
  static bool waited(MPI_Request& request, std::optional<double> patience) {
    using Clock = std::chrono::steady_clock;
    constexpr auto eager = std::chrono::microseconds(200);
    constexpr auto nap = std::chrono::microseconds(50);
    const auto begin = Clock::now();
    while (true) {
      int done = 0;
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
      if (done != 0) return true;
      const auto passed = Clock::now() - begin;
      if (patience && passed > std::chrono::duration<double>(*patience)) return false;
      if (passed > eager) std::this_thread::sleep_for(nap);
    }
  }

  static void spread(std::string& bytes, int from) {
    in_pieces(bytes.size(), [&](std::size_t first, int length) {
      check(MPI_Bcast(bytes.data() + first, length, MPI_BYTE, from, MPI_COMM_WORLD));
    });
  }

  int speak_;  // standard error, also where this process is silent
  int rank_ = 0;
  int count_ = 1;
};

}  // namespace

MpiJob join_mpi_job(int& argc, char**& argv) {
  MpiJob job;
  job.transport = std::make_unique<MpiTransport>(argc, argv);
  MPI_Comm here = MPI_COMM_NULL;
  check(MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &here));
  check(MPI_Comm_size(here, &job.processes_here));
  check(MPI_Comm_free(&here));
  return job;
}
