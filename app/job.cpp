#include "job.hpp"

#include "surefoot/core/error.hpp"

#include "mpi_transport.hpp"

#include <fcntl.h>
#include <omp.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

using namespace surefoot;

namespace {

// What Open MPI, PMIx (also Slurm's) and MPICH tell the processes that they start.
bool started_by_launcher() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMIX_RANK", "PMI_RANK"}) {
    if (std::getenv(name) != nullptr) return true;
  }
  return false;
}

#ifdef SUREFOOT_MPI

// A launcher of another MPI starts processes that do not know of each other: each would do, and write, all.
void require_together(int count) {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_STEP_NUM_TASKS"}) {
    const char* started = std::getenv(name);
    if (started == nullptr) continue;
    require(started == std::to_string(count),
            "started as {} processes, but Open MPI sees {}: use its mpirun, or srun --mpi=pmix", started,
            count);
    return;  // those after it may speak of the launcher's own processes
  }
}

// Only the first process speaks.
void be_silent() {
  const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere < 0) return;
  ::dup2(nowhere, STDOUT_FILENO);
  ::dup2(nowhere, STDERR_FILENO);
  ::close(nowhere);
}

// Processes on one machine share its cores; where the launcher gave each its own, these are used.
void share_cores(int processes_here) {
  if (std::getenv("OMP_NUM_THREADS") != nullptr) return;
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  omp_set_num_threads(std::clamp(cores / processes_here, 1, omp_get_max_threads()));
}

#endif

}  // namespace

Job::Job(int& argc, char**& argv, bool alone) {
  if (!started_by_launcher()) return;
#ifdef SUREFOOT_MPI
  MpiJob job = join_mpi_job(argc, argv);
  transport_ = std::move(job.transport);
  require_together(transport_->count());
  share_cores(job.processes_here);
  if (alone) {
    works_ = transport_->rank() == 0;
    return;
  }
  in_use_ = std::make_unique<RanksInUse>(*transport_);
  if (!ranks().first()) be_silent();
#else
  (void)argc;
  (void)argv;
  (void)alone;
  const char* size = std::getenv("OMPI_COMM_WORLD_SIZE");
  require(size != nullptr && std::string(size) == "1",
          "started as several processes, but this program was built without MPI (Debian: libopenmpi-dev)");
#endif
}

Job::~Job() = default;
