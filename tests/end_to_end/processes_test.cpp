#include "support/processes.hpp"

#include "surefoot/core/random.hpp"
#include "surefoot/learning/posterior_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace {

using surefoot::testing::ProcessesTest;
using surefoot::testing::ProgramResult;
using surefoot::testing::slurp;

/// mpirun with several processes of the program. What several processes do must be what one does, byte for
/// byte.
class Processes : public ProcessesTest {
 protected:
  void SetUp() override {
    ProcessesTest::SetUp();
    if (const std::string what = missing(); !what.empty()) GTEST_SKIP() << what;
  }

  static std::string started(int count) {
    return fmt::format("timeout -k 5 240 {}", fmt::join(mpirun(count), " "));
  }
  [[nodiscard]] ProgramResult processes(int count, const std::string& arguments,
                                        const std::string& input = "/dev/null") const {
    return shell(fmt::format("{} $SUREFOOT {} <{}", started(count), arguments, input));
  }

  // The certificate that `arguments` make, with one process and with several.
  void expect_same_certificate(const std::string& arguments, const std::vector<int>& counts,
                               const std::string& input = "/dev/null") const {
    const ProgramResult one = shell(fmt::format("$SUREFOOT {} --out one <{}", arguments, input));
    ASSERT_EQ(one.code, 0) << arguments << one.err;
    for (const int count : counts) {
      const ProgramResult several = processes(count, arguments + " --out several", input);
      ASSERT_EQ(several.code, 0) << arguments << several.err;
      EXPECT_EQ(slurp(folder_ / "several" / "certificate.json"), slurp(folder_ / "one" / "certificate.json"))
          << arguments << " in " << count << " processes";
      std::string said = several.out;
      for (std::size_t at = 0; (at = said.find("several", at)) != std::string::npos;)
        said.replace(at, 7, "one");
      EXPECT_EQ(said, one.out) << "printed once";
      std::filesystem::remove_all(folder_ / "several");
    }
    std::filesystem::remove_all(folder_ / "one");
  }

  void write_table(const std::string& name, int rows, const std::string& header) const {
    std::string text = header;
    for (int i = 0; i < rows; ++i) {
      surefoot::RandomStream random(1, "rows of a test", static_cast<std::uint64_t>(i));
      text += fmt::format("{:.17g},{:.17g},{:.17g},{:.17g}\n", random.uniform(), 0.2 * random.uniform(),
                          0.03 * random.uniform(), 0.004 * random.uniform());
    }
    write(name, text);
  }
};

constexpr const char* train_config = R"(
model = "alista"
seed = 3
[family]
samples = 300
measurements = 24
variables = 48
[network]
steps = 3
[[stage]]
noise = false
epochs = 2
batch = 64
mean_rate = 1e-2
surrogate = "logarithm"
[[stage]]
name = "bound"
epochs = {}
batch = 100
log_variance = -10
prior = "closed-form"
penalty = "none"
surrogate = "tolerance"
tolerance = -8
width = 4
)";

TEST_F(Processes, CertifyTablesAsOneDoes) {
  write_table("t.csv", 3000, "k=1,k=2,k=5,k=9\n");
  expect_same_certificate("certify t.csv --tolerances 1e-3,1e-2", {1, 2, 3, 4});
  write_table("n.csv", 500, "2,9,16,23\n");
  const std::string script =
      "python3 -c \"import struct,random as r;r.seed(1);v=[[r.random(),.1*r.random(),.01*r.random()] for i "
      "in range(700)];h='{\\'descr\\': \\'<f8\\', \\'fortran_order\\': False, \\'shape\\': (700, 3), }';h+=' "
      "'*(117-len(h))+chr(10);open('t.npy','wb').write(b'\\x93NUMPY\\x01\\x00'+struct.pack('<H',len(h))+h.encode()+b''.join(struct.pack('<3d',*x) "
      "for x in v))\"";
  ASSERT_EQ(shell(script + " && gzip -k t.csv").code, 0);
  expect_same_certificate("certify t.csv n.csv t.csv.gz --steps 2,9", {3});
  expect_same_certificate("certify t.npy", {3});
  expect_same_certificate("certify -", {3}, "n.csv");  // mpirun forwards little at a time
}

TEST_F(Processes, RunFamiliesAsOneDoes) {
  const std::string examples = SUREFOOT_SOURCE_DIR "/examples";
  expect_same_certificate("run qp " + examples + "/mpc --iterations 60", {2, 3});
  expect_same_certificate("run qp " + examples + "/mpc --iterations 20 --metric distance --save-traces", {3});
  expect_same_certificate("run cone " + examples + "/portfolio --iterations 40", {2});
}

TEST_F(Processes, StreamFamiliesAsOneDoes) {
  expect_same_certificate("run qp " SUREFOOT_SOURCE_DIR "/examples/mpc --iterations 20 --stream", {2});
  constexpr int problems = 9000;  // three blocks
  std::string q;
  for (int i = 0; i < problems; ++i) {
    surefoot::RandomStream random(1, "linear terms of a test", static_cast<std::uint64_t>(i));
    q += fmt::format("{},{}\n", 3 * random.normal(), 2 * random.normal());
  }
  write("q.csv", q);
  write("P.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n");
  write("A.mtx", "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n");
  write("l.csv", "-1,-1\n");
  write("u.csv", "1,1\n");
  expect_same_certificate("run qp . --iterations 10 --stream", {2, 3, 4});
  // Every process solves the problems of its own blocks: two and one of them, or one and part of one.
  expect_same_certificate("run qp . --iterations 10 --stream --metric distance", {2, 3});
}

TEST_F(Processes, RunDrawnFamiliesAsOneDoes) {
  expect_same_certificate("run family unconstrained-qp --samples 9000 --iterations 10", {2});
  for (const char* metric : {"distance", "gap"}) {
    // Blocks of the same size, where rows of another process would go unnoticed, and of different ones.
    for (const int samples : {8192, 4096 + 300}) {
      expect_same_certificate(fmt::format("run family model-predictive-control --samples {} --iterations 3 "
                                          "--tolerances 1e-1 --metric {}",
                                          samples, metric),
                              {2});
    }
  }
}

TEST_F(Processes, CountPartsAsOneDoes) {
  write_table("t.csv", 2000, "k=1,k=2,k=5,k=9\n");
  ASSERT_EQ(surefoot("certify t.csv --tally one.tally").code, 0);
  const ProgramResult several = processes(3, "certify t.csv --tally several.tally");
  ASSERT_EQ(several.code, 0) << several.err;
  EXPECT_EQ(slurp(folder_ / "several.tally"), slurp(folder_ / "one.tally"));
}

TEST_F(Processes, TrainAndCalibrateAsOneDoes) {
  write("train.toml", fmt::format(fmt::runtime(train_config), 3));
  ASSERT_EQ(surefoot("train train.toml --quiet --out one").code, 0);
  const auto weights = [&](const char* folder) {
    return surefoot::learning::load_posterior(folder_ / folder / "weights.safetensors").gaussians;
  };
  for (const int count : {2, 3}) {
    const ProgramResult result = processes(count, "train train.toml --quiet --out several");
    ASSERT_EQ(result.code, 0) << result.err;
    EXPECT_EQ(weights("several").mean, weights("one").mean);
    EXPECT_EQ(weights("several").log_variance, weights("one").log_variance);
    EXPECT_EQ(weights("several").prior_log_variance, weights("one").prior_log_variance);
  }
  const std::string arguments =
      "calibrate one/weights.safetensors --hold-out 0:300 --tolerances -10,-5 --quantiles 0.5,0.9 "
      "--draws 2 --out ";
  ASSERT_EQ(surefoot(arguments + "guarantees").code, 0);
  const std::string looks = slurp(folder_ / "one" / "ledger.jsonl");
  std::filesystem::remove(folder_ / "one" / "ledger.jsonl");
  const ProgramResult several = processes(3, arguments + "guarantees3");
  ASSERT_EQ(several.code, 0) << several.err;
  const std::string of_several = slurp(folder_ / "one" / "ledger.jsonl");
  EXPECT_EQ(std::count(of_several.begin(), of_several.end(), '\n'), 2) << "all of them make one look";
  EXPECT_EQ(std::count(looks.begin(), looks.end(), '\n'), 3) << "the training, and the look";
  for (const char* kind : {"pac-bayes", "pac-bayes-paper", "hold-out", "hold-out-means"}) {
    EXPECT_EQ(slurp(folder_ / "guarantees3" / kind / "certificate.json"),
              slurp(folder_ / "guarantees" / kind / "certificate.json"))
        << kind;
  }
}

TEST_F(Processes, ReproduceAsOneDoes) {
  const std::string arguments = "reproduce robust-kalman --scale quick --samples 40 --steps 30 --out ";
  ASSERT_EQ(surefoot(arguments + "one").code, 0);
  const ProgramResult several = processes(3, arguments + "several");
  ASSERT_EQ(several.code, 0) << several.err;
  int certificates = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / "one")) {
    if (entry.path().filename() != "certificate.json") continue;
    ++certificates;
    const auto inside = std::filesystem::relative(entry.path(), folder_ / "one");
    EXPECT_EQ(slurp(folder_ / "several" / inside), slurp(entry.path())) << inside;
  }
  EXPECT_GE(certificates, 1);
}

TEST_F(Processes, ComplainOnceAndAsOneDoes) {
  write_table("bad.csv", 2000, "");
  ASSERT_EQ(shell("printf '1,2,oops,4\\n1,2\\n' >>bad.csv; seq -f '%g,1,1,1' 500 >>bad.csv").code, 0);
  write_table("good.csv", 100, "");
  for (const char* arguments : {"certify bad.csv", "certify nowhere.csv", "certify good.csv --tolerances x",
                                "run qp nowhere", "nonsense", "certify good.csv --out /proc/nowhere"}) {
    const ProgramResult one = surefoot(arguments);
    const ProgramResult several = processes(3, arguments);
    EXPECT_EQ(several.code, 2) << arguments << several.err;
    EXPECT_EQ(several.out, "") << arguments;
    const std::size_t at = several.err.find(one.err);
    EXPECT_NE(at, std::string::npos) << arguments << "\n" << one.err << several.err;
    EXPECT_EQ(several.err.find("surefoot: ", at + 1), std::string::npos) << several.err;
  }
}

TEST_F(Processes, AnswerByOneWhatOneCanDo) {
  const ProgramResult result = processes(3, "bound rank --samples 1000 --quantile 0.9 --delta 0.0081");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(result.out, "923\n");
}

TEST_F(Processes, OfAnotherLauncherAreRefused) {
  const ProgramResult result = shell(
      "env ASAN_OPTIONS=detect_leaks=0 OMPI_MCA_btl=self PMI_RANK=0 PMI_SIZE=2 timeout 60 "
      "$SUREFOOT certify t.csv");
  EXPECT_EQ(result.code, 2) << result.err;
  EXPECT_NE(result.err.find("started as 2 processes, but Open MPI sees 1"), std::string::npos) << result.err;
}

// One of three is killed in the middle of the work: the job ends, says so, and leaves nothing half-done.
TEST_F(Processes, EndTogetherWhenOneDies) {
  write("train.toml", fmt::format(fmt::runtime(train_config), 1000000));
  const ProgramResult result =
      shell(started(3) +
            " $SUREFOOT train train.toml --out out & job=$!\n"
            "for i in $(seq 600); do grep -q 'bound  *epoch' .out && break; sleep 0.1; done\n"
            "victim=$(pgrep -f 'surefoot train train.toml' | xargs -I@ sh -c 'tr \"\\0\" \"\\n\" "
            "</proc/@/environ 2>/dev/null | grep -qx OMPI_COMM_WORLD_RANK=1 && echo @')\n"
            "for process in $victim; do [ \"$(readlink /proc/$process/cwd)\" = \"$PWD\" ] && kill "
            "-9 $process; done\n"
            "wait $job");
  EXPECT_NE(result.code, 0);
  EXPECT_NE(result.code, 124) << "it did not end by itself";
  EXPECT_NE(result.err.find("rank 1"), std::string::npos) << result.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out" / "weights.safetensors"));
}

}  // namespace
