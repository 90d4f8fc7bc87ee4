#pragma once

#include "surefoot/core/ranks.hpp"

#include <memory>
#include <string>

/// The processes that a launcher such as mpirun started with this one, while it lives. Started without a
/// launcher the program is alone and MPI is never touched.
class Job {
 public:
  /// `alone`: the verb is one that the first process does by itself.
  Job(int& argc, char**& argv, bool alone);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Whether this process has to do anything: true but for the others where the first works alone.
  [[nodiscard]] bool works() const { return works_; }

 private:
  std::unique_ptr<surefoot::Transport> transport_;
  std::unique_ptr<surefoot::RanksInUse> in_use_;
  bool works_ = true;
};
