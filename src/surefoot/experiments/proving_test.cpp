#include "surefoot/experiments/proving.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace surefoot::experiments {
namespace {

ProofRequest averaged(const std::string& steps) {
  ProofRequest request;
  request.question.method = "averaged";
  request.question.metric = "residual";
  request.question.parameters.alpha = 0.5;
  request.steps = parse_step_list(steps);
  return request;
}

certify::CountJournal journal_in(const test_support::TemporaryFolder& folder, bool resume) {
  return certify::CountJournal(io::CheckpointFile(folder / "kept", {{"work", "proving"}}, 0), resume);
}

TEST(Proving, ListsOfSteps) {
  EXPECT_EQ(parse_step_list("70"), std::vector<Index>{70});
  EXPECT_EQ(parse_step_list("5,1..3,2"), (std::vector<Index>{1, 2, 3, 5}));
  EXPECT_INPUT_ERROR(parse_step_list("3..1"), "'3..1' is empty or too long");
  EXPECT_INPUT_ERROR(parse_step_list("1..1000000"), "is empty or too long");
  EXPECT_INPUT_ERROR(parse_step_list("-1"), "'-1' is not a whole number");
}

TEST(Proving, BoundsAreProvenAndShown) {
  certify::CountJournal none{io::CheckpointFile()};
  const worst_case::ProofFile proof = prove(averaged("1..3"), none);
  ASSERT_EQ(proof.bounds.size(), 3U);
  for (const worst_case::ProvenBound& bound : proof.bounds) {
    const std::optional<double> formula = formula_of(proof, bound.steps);
    ASSERT_TRUE(formula.has_value());
    EXPECT_NEAR(bound.bound, *formula, 1e-6 * *formula) << bound.steps;
    EXPECT_GE(bound.bound, *formula * (1 - 1e-12)) << bound.steps;
  }
  EXPECT_NE(proof_text(proof).find("residual <="), std::string::npos);
  const std::string numbers = proof_numbers(proof, {1, 2, 3, 4});
  EXPECT_EQ(std::count(numbers.begin(), numbers.end(), '\n'), 4);
  EXPECT_TRUE(numbers.ends_with("-\n")) << numbers;
  EXPECT_EQ(proof_figure(proof).panels.front().curves.size(), 2U);
}

TEST(Proving, GoesOnWithWhatWasProven) {
  const test_support::TemporaryFolder folder;
  certify::CountJournal none{io::CheckpointFile()};
  const worst_case::ProofFile whole = prove(averaged("1..4"), none);
  {
    certify::CountJournal journal = journal_in(folder, false);
    (void)prove(averaged("1..2"), journal);
  }
  certify::CountJournal journal = journal_in(folder, true);
  EXPECT_TRUE(journal.resumed());
  const worst_case::ProofFile gone_on = prove(averaged("1..4"), journal);
  EXPECT_EQ(proof_numbers(gone_on, {1, 2, 3, 4}), proof_numbers(whole, {1, 2, 3, 4}));
}

TEST(Proving, StartsThatAreNoneAreRefused) {
  certify::CountJournal none{io::CheckpointFile()};
  ProofRequest request = averaged("1");
  request.start = -1;
  EXPECT_INPUT_ERROR(prove(request, none), "--dist0: -1 is negative");
  request.question.initial = worst_case::Initial::gap;
  EXPECT_INPUT_ERROR(prove(request, none), "--gap0: -1 is negative");
}

TEST(Proving, WritesTheProof) {
  const test_support::TemporaryFolder folder;
  certify::CountJournal none{io::CheckpointFile()};
  io::ResultFolder out(folder.path() / "out", is_file_of_proof);
  write_proof(prove(averaged("2"), none), out);
  EXPECT_TRUE(std::filesystem::exists(folder.path() / "out" / "proof.json"));
  EXPECT_FALSE(is_file_of_proof("other.json"));
}

}  // namespace
}  // namespace surefoot::experiments
