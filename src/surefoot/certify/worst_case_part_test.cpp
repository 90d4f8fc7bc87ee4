#include "surefoot/certify/worst_case_part.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/sentences.hpp"

#include "support/input_error.hpp"
#include "support/synthetic_certificate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace surefoot::certify {
namespace {

using test_support::input_error;

TEST(WorstCasePart, WhatIsStatedIsParsedOrRefusedByName) {
  EXPECT_EQ(parse_stated_worst_case("averaged:0.5", 26.0).question.parameters.alpha, 0.5);
  EXPECT_EQ(parse_stated_worst_case("contractive:0.25", 1.0).question.parameters.factor, 0.25);
  EXPECT_EQ(input_error([] { parse_stated_worst_case("scs:0.5", 1.0); }),
            "--worst-case: 'scs:0.5' is neither averaged:ALPHA nor contractive:FACTOR");
  EXPECT_EQ(input_error([] { parse_stated_worst_case("averaged", 1.0); }),
            "--worst-case: 'averaged' has no number after the colon");
  EXPECT_EQ(input_error([] { parse_stated_worst_case("averaged:2", 1.0); }), "alpha: 2 is outside (0, 1]");
  EXPECT_NE(input_error([] { parse_stated_worst_case("averaged:0.5", std::nullopt); }).find("--dist0"),
            std::string::npos);
}

Certificate with_worst_case() {
  Certificate certificate = test::SyntheticCertificate({.variants = 1, .steps = 20}).get();
  add_worst_case(certificate, parse_stated_worst_case("averaged:0.5", 2.0));
  return certificate;
}

TEST(WorstCasePart, IsProvenCarriedAndSaidWithWhatItRestsOn) {
  const Certificate certificate = with_worst_case();
  EXPECT_TRUE(wrong_in_worst_case(certificate).empty());
  const Certificate again = parse_certificate(to_json(certificate)).certificate;
  EXPECT_TRUE(wrong_in_worst_case(again).empty());
  EXPECT_EQ(to_json(again), to_json(certificate));
  EXPECT_NE(certificate.assumptions.back().find("Stated by the user"), std::string::npos);
  const std::vector<std::string> sentences = worst_case_sentences(certificate);
  ASSERT_FALSE(sentences.empty());
  for (const std::string& sentence : sentences)
    EXPECT_NE(sentence.find("if what the user states holds"), std::string::npos);
  const std::vector<std::string> says = what_it_says(certificate);
  EXPECT_NE(std::find(says.begin(), says.end(), sentences.front()), says.end());
  for (const std::string& line : what_it_does_not_say(certificate))
    EXPECT_EQ(line.find("nor about the worst case"), std::string::npos);
}

TEST(WorstCasePart, ChangesAreFound) {
  const Certificate good = with_worst_case();
  Certificate bad = good;
  bad.worst_case.replace(bad.worst_case.find("\"start\":2.0"), 11, "\"start\":1.0");
  EXPECT_GE(wrong_in_worst_case(bad).size(), 2U);
  bad = good;
  bad.steps = {1};
  EXPECT_FALSE(wrong_in_worst_case(bad).empty());
  bad = good;
  bad.worst_case =
      worst_case::to_json(worst_case::prove_steps({"averaged", {}, 1, "distance", {}}, {1}, 2.0));
  EXPECT_FALSE(wrong_in_worst_case(bad).empty());
  EXPECT_NE(input_error([&] {
              bad.steps = {0, 1000};
              add_worst_case(bad, parse_stated_worst_case("averaged:0.5", 2.0));
            }).find("none of the steps is in 1..300"),
            std::string::npos);
}

}  // namespace
}  // namespace surefoot::certify
