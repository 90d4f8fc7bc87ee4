#include "surefoot/certify/selection.hpp"

#include "surefoot/certify/certificate.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

namespace surefoot::certify::selection_tests {
namespace {

using Texts = std::vector<std::string>;

TEST(Selection, IsSaidInWords) {
  Selection selection;
  selection.value = "runtime (ms)";
  EXPECT_EQ(words_of(selection),
            (Texts{"the numbers are those of 'runtime (ms)', one per problem", "every line is a problem"}));
  selection.variants = "solver";
  selection.variant = "osqp";
  selection.rows = "problem";
  selection.steps = "k";
  selection.where = {"settings=default", "size=3"};
  selection.failed = {"found=False"};
  selection.failed_lines = 2;
  selection.censored = 1;
  EXPECT_EQ(
      words_of(selection),
      (Texts{"the numbers are those of 'runtime (ms)', at the steps of 'k'", "'problem' says the problem",
             "only lines with settings=default and size=3", "a line with found=False is a failure",
             "nothing is missing", "lines with solver=osqp", "2 of its lines are failures",
             "1 number is given as \"> limit\": known only to exceed it, it counts as infinite"}));
  selection.missing = Missing::failed;
  selection.missing_cells = 3;
  EXPECT_EQ(words_of(selection)[4], "what is missing is a failure");
  EXPECT_EQ(words_of(selection).back(), "3 numbers are missing and count as infinite");
}

TEST(Selection, NamedProblemsMakeClaimsConditional) {
  Certificate certificate;
  certificate.variants.resize(2);
  EXPECT_FALSE(names_problems(certificate));
  certificate.variants[1].selection.emplace();
  EXPECT_FALSE(names_problems(certificate));
  certificate.variants[1].selection->rows = "problem";
  EXPECT_TRUE(names_problems(certificate));
  EXPECT_EQ(condition_of(certificate), "if these problems were drawn at random from those you will meet");
}

TEST(Selection, WhatIsMissingHasTwoNames) {
  for (const Missing missing : {Missing::refuse, Missing::failed})
    EXPECT_EQ(parse_missing(name(missing)), missing);
  EXPECT_INPUT_ERROR(parse_missing("drop"), "missing: 'drop' is not one of refuse, failed");
}

}  // namespace
}  // namespace surefoot::certify::selection_tests
