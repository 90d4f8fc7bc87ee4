#include "kernel_choice.hpp"

#include "surefoot/core/kernels.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

namespace {

TEST(KernelChoice, IsTakenOutOfTheWords) {
  for (std::vector<std::string> words : {std::vector<std::string>{"--kernels", "v3", "run", "qp"},
                                         {"run", "qp", "--kernels=v3"},
                                         {"run", "--kernels", "x86-64-v3", "qp"},
                                         {"run", "--kernels=v2", "qp", "--kernels=v3"}}) {
    EXPECT_EQ(kernel_choice::taken_out_of(words), "x86-64-v3");
    EXPECT_EQ(words, (std::vector<std::string>{"run", "qp"}));
  }
  std::vector<std::string> none{"run", "qp"};
  EXPECT_EQ(kernel_choice::taken_out_of(none), "");
}

TEST(KernelChoice, OfAnotherProgramIsLeftAlone) {
  std::vector<std::string> words{"run", "command", "--", "./solver", "--kernels", "v3"};
  const std::vector<std::string> before = words;
  EXPECT_EQ(kernel_choice::taken_out_of(words), "");
  EXPECT_EQ(words, before);
}

TEST(KernelChoice, ALevelMustFollow) {
  for (std::vector<std::string> words : {std::vector<std::string>{"run", "--kernels"}, {"run", "--kernels="}})
    EXPECT_INPUT_ERROR(kernel_choice::taken_out_of(words),
                       "--kernels: a level must follow; this program has");
}

TEST(KernelChoice, OthersThanTheProgramHasAreRefused) {
  char* nothing[] = {nullptr};
  kernel_choice::insist_on(std::string(surefoot::kernel_level()), nothing);  // returns
  for (const char* level : {"x86-64-v9", "x86-64-v1", "fast"})
    EXPECT_INPUT_ERROR(kernel_choice::insist_on(level, nothing), "program does not have them; it has");
}

TEST(KernelChoice, ProgramsThatAreStartedSeeNothingOfIt) {
  ::setenv("SUREFOOT_KERNELS_PRELOAD", "", 1);
  ::setenv("LD_PRELOAD", "", 1);
  kernel_choice::clean_environment();
  EXPECT_EQ(std::getenv("SUREFOOT_KERNELS_PRELOAD"), nullptr);
  EXPECT_EQ(std::getenv("LD_PRELOAD"), nullptr);
}

}  // namespace
