#include "support/child.hpp"
#include "support/program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <string>
#include <vector>

namespace surefoot {
namespace {

namespace fs = std::filesystem;
using testing::slurp;

/// Output folders are one result each.
class OutputFolder : public testing::ProgramTest {
 protected:
  static std::string table(int rows, unsigned seed) {
    std::string text = "k=1,k=2,k=3\n";
    for (int i = 0; i < rows; ++i) {
      seed = seed * 1664525U + 1013904223U;
      const double value = 1e-9 + static_cast<double>(seed >> 8U) / 1e8;
      text += fmt::format("{},{},{}\n", value, value * 0.31, value * 0.077);
    }
    return text;
  }
  void SetUp() override {
    ProgramTest::SetUp();
    write("a.csv", table(200, 1));
    write("b.csv", table(300, 7));
  }
  void certify(const std::string& file, const std::string& more = "") const {
    const testing::ProgramResult result = surefoot("certify " + file + " --out out " + more);
    ASSERT_EQ(result.code, 0) << result.err;
  }
  void expect_refused(const testing::ProgramResult& result, const std::string& words) const {
    EXPECT_EQ(result.code, 2) << result.err;
    EXPECT_NE(result.err.find(words), std::string::npos) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
  }
  void expect_refuted(const std::string& what, const std::string& words) const {
    const testing::ProgramResult result = surefoot("verify " + what);
    EXPECT_EQ(result.code, 1) << result.out << result.err;
    EXPECT_NE(result.out.find("DIFFERS  " + words), std::string::npos) << result.out;
    EXPECT_NE(result.out.find("\nNOT VERIFIED\n"), std::string::npos) << result.out;
  }
};

TEST_F(OutputFolder, IsVerifiedWithItsCertificate) {
  certify("a.csv");
  for (const char* what : {"out/certificate.json", "out", "out/", "out/certificate.json --data a.csv"}) {
    const testing::ProgramResult result = surefoot(std::string("verify ") + what);
    EXPECT_EQ(result.code, 0) << what << result.out << result.err;
    EXPECT_NE(result.out.find("files as listed in manifest.json"), std::string::npos) << result.out;
  }
  write("out/notes.txt", "mine");
  EXPECT_NE(surefoot("verify out").out.find("Not of it:  notes.txt"), std::string::npos);
  const std::string page = slurp(folder_ / "out/report.html");
  write("out/report.html", page + " ");
  for (const char* what : {"out", "out/certificate.json"})
    expect_refuted(what, "report.html: is not what manifest.json lists: its SHA-256 differs");
  write("out/report.html", page);
  fs::remove(folder_ / "out/curves.csv");
  expect_refuted("out", "curves.csv: is listed in manifest.json and missing");
  // A certificate elsewhere is verified alone.
  fs::copy(folder_ / "out/certificate.json", folder_ / "alone.json");
  const testing::ProgramResult alone = surefoot("verify alone.json");
  EXPECT_EQ(alone.code, 0) << alone.out;
  EXPECT_EQ(alone.out.find("manifest"), std::string::npos);
  fs::create_directory(folder_ / "plain");
  expect_refused(surefoot("verify plain"), "plain: has no manifest.json; name a certificate in it");
}

TEST_F(OutputFolder, APageOfAnotherCertificateIsFoundWithoutAManifest) {
  certify("a.csv");
  fs::create_directory(folder_ / "mixed");
  fs::copy(folder_ / "out/report.html", folder_ / "mixed/report.html");
  certify("b.csv");
  fs::copy(folder_ / "out/certificate.json", folder_ / "mixed/certificate.json");
  expect_refuted("mixed/certificate.json", "report.html: is of another certificate, with SHA-256 ");
}

TEST_F(OutputFolder, HoldsOneRunAndWhatIsNobodys) {
  certify("a.csv b.csv");
  write("out/notes.txt", "mine");
  EXPECT_TRUE(fs::exists(folder_ / "out/tables/success_2.md"));
  certify("a.csv");
  EXPECT_FALSE(fs::exists(folder_ / "out/tables/success_2.md"));
  EXPECT_EQ(slurp(folder_ / "out/notes.txt"), "mine");
  EXPECT_EQ(surefoot("verify out").code, 0);
  ASSERT_EQ(surefoot("certify b.csv --out other").code, 0);
  fs::create_directory(folder_ / "theirs");
  write("theirs/report.html", "mine");
  for (const std::string& verb :
       {std::string("certify a.csv"),
        std::string("compare out/certificate.json other/certificate.json --variants a,b"),
        std::string("worst-case averaged --steps 1,2"),
        std::string("run qp " SUREFOOT_SOURCE_DIR "/examples/mpc --iterations 20"),
        std::string("reproduce robust-kalman --samples 20 --steps 20"),
        std::string("reproduce all --scale quick")}) {
    expect_refused(surefoot(verb + " --out theirs"), "theirs: has files but no manifest.json");
    EXPECT_EQ(slurp(folder_ / "theirs/report.html"), "mine") << verb;
    EXPECT_EQ(std::distance(fs::directory_iterator(folder_ / "theirs"), {}), 1) << verb;
  }
}

TEST_F(OutputFolder, HasOneWriterAtATime) {
  // The first waits for its table, with the folder open.
  const testing::ProgramResult result = shell(
      "mkfifo pipe; (head -c 1000 a.csv; sleep 3; tail -c +1001 a.csv) >pipe & $SUREFOOT certify pipe --out "
      "out >first.out 2>first.err & first=$!\n"
      "for i in $(seq 200); do [ -e out/.surefoot-lock ] && break; sleep 0.05; done\n"
      "$SUREFOOT certify b.csv --out out; second=$?\n"
      "wait $first; echo $? $second >codes; exit $second");
  expect_refused(result, "out: another run is writing there; wait until it has ended, or choose another");
  EXPECT_EQ(slurp(folder_ / "codes"), "0 2\n") << slurp(folder_ / "first.err");
  EXPECT_FALSE(fs::exists(folder_ / "out/.surefoot-lock"));
  EXPECT_EQ(surefoot("verify out --data a.csv").code, 0);
}

TEST_F(OutputFolder, OfCalibrationHoldsAResultForEveryKind) {
  write("train.toml",
        "model = 'alista'\n[family]\nsamples = 60\nmeasurements = 8\nvariables = 16\n[network]\nsteps = 3\n"
        "[[stage]]\nepochs = 1\nlog_variance = -12\nsurrogate = 'tolerance'\ntolerance = -10\nwidth = 4\n");
  testing::ProgramResult result = surefoot("train train.toml --quiet --out trained");
  ASSERT_EQ(result.code, 0) << result.err;
  result = surefoot("verify trained");
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  const std::string calibrate = "calibrate trained/weights.safetensors --out kinds --hold-out ";
  result = surefoot(calibrate + "0:500");
  ASSERT_EQ(result.code, 0) << result.err;
  result = surefoot("verify kinds");
  EXPECT_EQ(result.code, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("hold-out/certificate.json: holds as recomputed from its counts"),
            std::string::npos)
      << result.out;
  EXPECT_EQ(surefoot("verify kinds/hold-out/certificate.json").code, 0);
  // Other kinds of an earlier call stay, and stand on their own.
  result = surefoot("calibrate trained/weights.safetensors --out kinds --guarantees pac-bayes");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_EQ(surefoot("verify kinds").code, 0);
  EXPECT_EQ(surefoot("verify kinds/hold-out").code, 0);
  EXPECT_TRUE(fs::exists(folder_ / "trained/ledger.jsonl"));
  write("kinds/pac-bayes/curves.csv", "changed");
  expect_refuted("kinds", "pac-bayes/curves.csv: is not what pac-bayes/manifest.json lists");
}

}  // namespace
}  // namespace surefoot
