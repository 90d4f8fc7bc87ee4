#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace surefoot::testing {

struct ProgramResult {
  int code = -1;
  std::string out;
  std::string err;
};

inline std::string slurp(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline void spill(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary) << content;
}

/// A test in a folder of its own, with the program at hand.
class ProgramTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "surefoot-test-XXXXXX").string();
    ASSERT_NE(mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  /// Runs a shell command in the folder; $SUREFOOT is the program.
  [[nodiscard]] ProgramResult shell(const std::string& command) const {
    const std::string script = "cd '" + folder_.string() + "' && SUREFOOT='" SUREFOOT_PROGRAM "' && { " +
                               command + "\n} >.out 2>.err </dev/null";
    const int status = std::system(script.c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), slurp(folder_ / ".out"),
            slurp(folder_ / ".err")};
  }
  [[nodiscard]] ProgramResult surefoot(const std::string& arguments) const {
    return shell("$SUREFOOT " + arguments);
  }

  void write(const std::string& name, const std::string& content) const { spill(folder_ / name, content); }

  std::filesystem::path folder_;
};

}  // namespace surefoot::testing
