#include "support/child.hpp"
#include "support/program.hpp"

#include <filesystem>
#include <string>

namespace surefoot {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

class Limits : public testing::ProgramTest {
 protected:
  void expect_refusal(const testing::ProgramResult& result, const std::string& words) const {
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
};

constexpr const char* run_mpc = "$SUREFOOT run qp " SUREFOOT_SOURCE_DIR "/examples/mpc --out out ";

TEST_F(Limits, MemoryThatIsNotThereIsRefusedWithNumbersBeforeTheWork) {
  expect_refusal(shell(std::string(run_mpc) + "--iterations 100000000 --memory-limit 4GB"),
                 "surefoot: this needs ");
  expect_refusal(shell(std::string(run_mpc) + "--iterations 100000 --save-traces --memory-limit 1GB"),
                 "traces 1.60 GB");
#ifndef SUREFOOT_SANITIZED  // the address sanitizer reserves more than any limit
  expect_refusal(shell(std::string("ulimit -v 1000000; ") + run_mpc + "--iterations 100000 --save-traces"),
                 "within ulimit -v");
#endif
  write("train.toml",
        "[family]\nsamples = 1000000000\n[[stage]]\nnoise = false\nsurrogate = \"logarithm\"\n");
  expect_refusal(surefoot("train train.toml --out out --memory-limit 2GB"), "samples ");
  EXPECT_TRUE(fs::is_empty(folder_ / "out"));
}

// A limit on the size of files stands for a full disk: writing fails in the middle.
TEST_F(Limits, AFullDiskNamesTheFileAndLeavesWhatWasThere) {
  ASSERT_EQ(shell(std::string(run_mpc) + "--iterations 20").code, 0);
  const std::string before = testing::slurp(folder_ / "out" / "certificate.json");
  expect_refusal(shell(std::string("ulimit -f 16; ") + run_mpc + "--iterations 30 --save-traces"),
                 "traces.npy: cannot write: File too large");
  EXPECT_EQ(testing::slurp(folder_ / "out" / "certificate.json"), before);
  for (const auto& entry : fs::directory_iterator(folder_ / "out"))
    EXPECT_NE(entry.path().extension(), ".tmp") << entry.path();
  expect_refusal(shell(std::string("ulimit -f 4; ") + run_mpc +
                       "--iterations 1000 --save-traces --checkpoint kept --checkpoint-seconds 0"),
                 "kept/run-qp.checkpoint: cannot write: File too large");
  EXPECT_TRUE(fs::is_empty(folder_ / "kept"));
}

TEST_F(Limits, AFullDiskIsNamed) {
  if (shell("mkdir small && mount -t tmpfs -o size=256k tmpfs small").code != 0)
    GTEST_SKIP() << "A REALLY FULL DISK IS NOT TESTED: it needs the right to mount one";
  const auto result = shell("$SUREFOOT run qp " SUREFOOT_SOURCE_DIR
                            "/examples/mpc --out small/out --iterations 1000 --save-traces; code=$?\n"
                            "find small -name '*.tmp'; umount small; exit $code");
  expect_refusal(result, "small/out/traces.npy: cannot write: No space left on device");
  EXPECT_EQ(result.out, "") << "something is left half-written";
}

TEST_F(Limits, AFolderThatCannotBeWrittenIsNamedBeforeTheWork) {
  write("file", "");
  expect_refusal(shell(std::string(run_mpc) + "--checkpoint file --iterations 1000000"),
                 "file: is a file, not a folder");
  expect_refusal(shell(std::string(run_mpc) + "--checkpoint /proc/kept --iterations 1000000"), "/proc/kept");
}

}  // namespace
}  // namespace surefoot
