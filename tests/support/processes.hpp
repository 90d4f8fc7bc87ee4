#pragma once

#include "support/program.hpp"

#include <string>
#include <vector>

namespace surefoot::testing {

/// With several processes of the program at hand.
class ProcessesTest : public ProgramTest {
 protected:
  /// The words that start `count` of them. Open MPI leaves memory behind that is not ours; one machine needs
  /// no network and no remote shell.
  static std::vector<std::string> mpirun(int count) {
    return {"env",
            "ASAN_OPTIONS=detect_leaks=0",
            "OMP_NUM_THREADS=1",
            "OMPI_MCA_btl=self,vader",
            "OMPI_MCA_plm=isolated",
            "mpirun",
            "--allow-run-as-root",
            "--oversubscribe",
            "-n",
            std::to_string(count)};
  }

  /// What they lack; nothing if they can be started.
  [[nodiscard]] std::string missing() const {
    if (shell("command -v mpirun").code != 0)
      return "SEVERAL PROCESSES ARE NOT TESTED: there is no mpirun (Debian: openmpi-bin)";
    std::string words;
    for (const std::string& word : mpirun(2)) words += word + " ";
    if (shell(words + "$SUREFOOT --version").err.find("built without MPI") != std::string::npos)
      return "SEVERAL PROCESSES ARE NOT TESTED: the program is built without MPI (Debian: libopenmpi-dev)";
    return "";
  }
};

}  // namespace surefoot::testing
