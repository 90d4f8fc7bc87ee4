#pragma once

#include "surefoot/core/parallel.hpp"
#include "surefoot/core/ranks.hpp"

#include <chrono>
#include <condition_variable>
#include <functional>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace surefoot::test {

/// Ranks that are threads of one process: what MPI does for processes, for tests of what is built on it.
class ThreadRanks {
 public:
  explicit ThreadRanks(int count) : count_(count), said_(static_cast<std::size_t>(count)) {}

  /// Calls work() in `count` threads at once, each a rank of its own with one thread for its loops.
  static void run(int count, const std::function<void()>& work) {
    ThreadRanks world(count);
    const int before = threads();
    set_threads(1);
    std::vector<std::thread> team;
    for (int rank = 0; rank < count; ++rank) {
      team.emplace_back([&world, &work, rank] {
        Own transport(world, rank);
        const RanksInUse in_use(transport, RanksInUse::Scope::thread);
        work();
      });
    }
    for (std::thread& thread : team) thread.join();
    set_threads(before);
  }

 private:
  class Own final : public Transport {
   public:
    Own(ThreadRanks& world, int rank) : world_(world), rank_(rank) {}
    [[nodiscard]] int rank() const override { return rank_; }
    [[nodiscard]] int count() const override { return world_.count_; }
    [[nodiscard]] std::string place() const override { return "this machine"; }
    bool least(std::span<Index> values, std::optional<double> /*patience*/) override {
      combine(values, [](Index a, Index b) { return std::min(a, b); });
      return true;
    }
    void sum(std::span<Index> values) override {
      combine(values, [](Index a, Index b) { return a + b; });
    }
    std::vector<std::string> all_gather(std::string_view own) override { return world_.meet(rank_, own); }
    std::string broadcast(std::string_view own, int from) override {
      return world_.meet(rank_, own)[static_cast<std::size_t>(from)];
    }
    void send(std::string_view bytes, int to) override { world_.post({rank_, to}, bytes); }
    std::string receive(int from) override { return world_.fetch({from, rank_}); }
    [[noreturn]] void abort(const std::string& message, int) override { throw std::logic_error(message); }

   private:
    template <class Operation>
    void combine(std::span<Index> values, const Operation& operation) {
      const std::string_view own(reinterpret_cast<const char*>(values.data()), values.size_bytes());
      const std::vector<std::string> all = world_.meet(rank_, own);
      for (std::size_t i = 0; i < values.size(); ++i) {
        for (std::size_t r = 0; r < all.size(); ++r) {
          Index other = 0;
          all[r].copy(reinterpret_cast<char*>(&other), sizeof other, i * sizeof other);
          values[i] = r == 0 ? other : operation(values[i], other);
        }
      }
    }
    ThreadRanks& world_;
    int rank_;
  };

  // Everybody comes, says something, and leaves with what all have said.
  std::vector<std::string> meet(int rank, std::string_view own) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !leaving_; });
    said_[static_cast<std::size_t>(rank)] = own;
    if (++present_ == count_) leaving_ = true;
    changed_.notify_all();
    changed_.wait(lock, [&] { return leaving_; });
    std::vector<std::string> all = said_;
    if (--present_ == 0) leaving_ = false;
    changed_.notify_all();
    return all;
  }

  void post(std::pair<int, int> way, std::string_view bytes) {
    const std::scoped_lock lock(mutex_);
    posted_[way].emplace_back(bytes);
    changed_.notify_all();
  }
  std::string fetch(std::pair<int, int> way) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return !posted_[way].empty(); });
    std::string bytes = std::move(posted_[way].front());
    posted_[way].erase(posted_[way].begin());
    return bytes;
  }

  int count_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int present_ = 0;
  bool leaving_ = false;
  std::vector<std::string> said_;
  std::map<std::pair<int, int>, std::vector<std::string>> posted_;
};

}  // namespace surefoot::test
