#include "surefoot/core/kernels.hpp"

#include "surefoot/core/kernel_libraries.hpp"

#include <gtest/gtest.h>

#include <array>
#include <fstream>
#include <string>

namespace surefoot {
namespace {

TEST(Kernels, AreOfALevelThatThisMachineHas) {
  const std::string level(kernel_level());
  EXPECT_TRUE(machine_has(level)) << level;
  EXPECT_TRUE(can_start_with(level));
  EXPECT_NE(startable_kernels().find(level), std::string::npos);
}

TEST(Kernels, LevelsHaveShortNames) {
  EXPECT_EQ(full_kernel_name("v3"), "x86-64-v3");
  for (const char* other : {"x86-64-v3", "v5", "V3", "v33", "native-x86-64-v4", ""})
    EXPECT_EQ(full_kernel_name(other), other);
}

// Against what the system says of the processor.
TEST(Kernels, WhatTheMachineHasIsWhatItsFlagsSay) {
  std::string flags;
  std::ifstream file("/proc/cpuinfo");
  while (std::getline(file, flags) && !flags.starts_with("flags")) {
  }
  if (!flags.starts_with("flags")) GTEST_SKIP() << "not an x86-64 machine, or no /proc/cpuinfo";
  flags += ' ';
  const auto has = [&](const auto&... names) {
    return ((flags.find(' ' + std::string(names) + ' ') != std::string::npos) && ...);
  };
  const bool v2 = has("sse4_1", "sse4_2", "ssse3", "popcnt", "cx16");
  const bool v3 = v2 && has("avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe");
  const bool v4 = v3 && has("avx512f", "avx512bw", "avx512cd", "avx512dq", "avx512vl");
  EXPECT_EQ(machine_has("x86-64-v2"), v2);
  EXPECT_EQ(machine_has("x86-64-v3"), v3);
  EXPECT_EQ(machine_has("x86-64-v4"), v4);
  EXPECT_TRUE(machine_has("x86-64"));
  EXPECT_FALSE(machine_has("x86-64-v5"));
  EXPECT_FALSE(machine_has("v3"));
}

TEST(Kernels, AProgramWithOneLevelHasNoLibraries) {
  for (const std::string_view level : {"x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    EXPECT_EQ(kernel_library(level), "");
    EXPECT_TRUE(kernels_of_package(level));
    EXPECT_EQ(can_start_with(level), level == kernel_level());
  }
  EXPECT_FALSE(kernels_of_package("native-x86-64-v4"));
}

}  // namespace
}  // namespace surefoot
