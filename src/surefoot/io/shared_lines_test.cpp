#include "surefoot/io/shared_lines.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <vector>

namespace surefoot::io {
namespace {

using test::contains;
using test_support::input_error;
using test_support::TemporaryFolder;

TEST(SharedLines, AddToWhatIsThere) {
  const TemporaryFolder folder;
  const std::string path = folder / "lines";
  EXPECT_EQ(read_shared_lines(path), "");
  SharedLines(path).append("one\n");
  {
    SharedLines again(path);
    EXPECT_EQ(again.lines(), "one\n");
    again.append("two\nthree\n");
    EXPECT_EQ(again.lines(), "one\ntwo\nthree\n");
  }
  EXPECT_EQ(read_shared_lines(path), "one\ntwo\nthree\n");
}

TEST(SharedLines, OfManyProcessesAllArrive) {
  const TemporaryFolder folder;
  const std::string path = folder / "lines";
  constexpr int processes = 6;
  constexpr int lines = 40;
  std::vector<pid_t> children;
  for (int p = 0; p < processes; ++p) {
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      bool good = true;
      for (int i = 0; i < lines; ++i) {
        // What is read stays true until it is added to: every line says how many were before it.
        SharedLines shared(path);
        const auto before = std::count(shared.lines().begin(), shared.lines().end(), '\n');
        shared.append(fmt::format("{} {} {}\n", before, p, std::string(static_cast<std::size_t>(i), 'x')));
        good = good && before >= i;
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  std::istringstream all(read_shared_lines(path));
  int place = 0;
  for (std::string line; std::getline(all, line); ++place)
    EXPECT_TRUE(line.starts_with(fmt::format("{} ", place)));
  EXPECT_EQ(place, processes * lines);
}

TEST(SharedLines, ALineThatWasCutOffIsNoneAndIsWrittenOver) {
  const TemporaryFolder folder;
  const std::string path = folder / "lines";
  std::ofstream(path) << "one\ncut o";
  EXPECT_EQ(read_shared_lines(path), "one\n");
  SharedLines(path).append("two\n");
  EXPECT_EQ(read_shared_lines(path), "one\ntwo\n");
}

TEST(SharedLines, WhatCannotBeAddedToIsRefusedByName) {
  const TemporaryFolder folder;
  const std::string nowhere = input_error([&] { SharedLines shared(folder / "nowhere/lines"); });
  EXPECT_TRUE(contains(nowhere, "nowhere/lines") && contains(nowhere, "No such file")) << nowhere;
  const std::string a_folder = input_error([&] { SharedLines shared(folder.path()); });
  EXPECT_TRUE(contains(a_folder, folder.path().string())) << a_folder;
  const std::string endless = input_error([&] { SharedLines(folder / "lines").append("no end"); });
  EXPECT_TRUE(contains(endless, "have no end")) << endless;
}

}  // namespace
}  // namespace surefoot::io
