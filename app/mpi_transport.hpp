#pragma once

#include "surefoot/core/ranks.hpp"

#include <memory>

/// All processes of MPI_COMM_WORLD. MPI ends when the transport is destroyed.
struct MpiJob {
  std::unique_ptr<surefoot::Transport> transport;
  int processes_here = 1;  ///< on this machine
};

MpiJob join_mpi_job(int& argc, char**& argv);
