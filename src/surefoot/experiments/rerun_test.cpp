#include "surefoot/experiments/rerun.hpp"

#include "surefoot/core/kernels.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace surefoot::experiments {
namespace {

RerunCommand a_run() {
  return {{"run", "qp"},
          {{"--iterations", "20"}, {"--title", "a b"}},
          {{"--q", "q.csv", std::string(64, 'a')}},
          "inside"};
}

RerunCommand reread(const RerunCommand& command) {
  certify::Certificate certificate;
  certificate.rerun = rerun_record(command);
  return rerun_command(certificate);
}

TEST(Rerun, ACommandIsReadAsItWasRecorded) {
  const RerunCommand command = reread(a_run());
  EXPECT_EQ(command.words, a_run().words);
  EXPECT_EQ(command.options, a_run().options);
  ASSERT_EQ(command.files.size(), 1U);
  EXPECT_EQ(command.files[0].file, "q.csv");
  EXPECT_EQ(command.files[0].sha256, std::string(64, 'a'));
  EXPECT_EQ(command.certificate, "inside");
  EXPECT_EQ(command.kernels, kernel_level());
}

TEST(Rerun, CertificatesOfBeforeSayNothingOfKernels) {
  certify::Certificate certificate;
  certificate.rerun = R"({"words":["run","qp"],"options":{},"files":[],"certificate":""})";
  EXPECT_EQ(rerun_command(certificate).kernels, "");
}

TEST(Rerun, NothingButVerbsThatMakeCertificatesIsRun) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"train"}, {"run", "sh"}, {"calibrate", "x"}, {"reproduce", "--help"}, {}}) {
    RerunCommand command = a_run();
    command.words = words;
    EXPECT_INPUT_ERROR(reread(command), "is not a command that is run for a certificate");
  }
}

TEST(Rerun, OptionsThatWriteOrReadFilesAreRefused) {
  for (const char* option :
       {"--out", "--checkpoint", "--ledger", "--settings", "--kernels", "--q", "--prior", "out", "--a=b"}) {
    RerunCommand command = a_run();
    command.options = {{option, "x"}};
    EXPECT_INPUT_ERROR(reread(command), "may not have the option") << option;
  }
}

TEST(Rerun, FilesHaveNamesAndNoPaths) {
  for (const char* name : {"../q.csv", "/etc/passwd", "..", ""}) {
    RerunCommand command = a_run();
    command.files[0].file = name;
    EXPECT_INPUT_ERROR(reread(command), "may not read") << name;
  }
  RerunCommand command = a_run();
  command.files[0].option = "--out";
  EXPECT_INPUT_ERROR(reread(command), "may not read");
  command = a_run();
  command.certificate = "../outside";
  EXPECT_INPUT_ERROR(reread(command), "is not a folder of a certificate");
}

TEST(Rerun, CertificatesWithoutACommandSaySo) {
  certify::Certificate certificate;
  certificate.rerun = "null";
  EXPECT_INPUT_ERROR(rerun_command(certificate), "does not record a command");
  certificate.rerun = "{}";
  EXPECT_INPUT_ERROR(rerun_command(certificate), "is not one that this program records");
}

TEST(Rerun, AFileIsFoundByItsDigestAlone) {
  const test_support::TemporaryFolder folder;
  folder.write("q.csv", "other content");
  certify::Certificate certificate;
  certificate.rerun = rerun_record(a_run());
  certify::Verification verification;
  EXPECT_INPUT_ERROR(rerun_and_compare(certificate, folder.path(), verification),
                     "holds no file with the SHA-256 of q.csv");
  EXPECT_INPUT_ERROR(rerun_and_compare(certificate, folder / "nowhere", verification), "is not a folder");
}

}  // namespace
}  // namespace surefoot::experiments
