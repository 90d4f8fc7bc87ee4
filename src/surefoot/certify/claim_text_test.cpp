#include "surefoot/certify/claim_text.hpp"

#include "surefoot/core/error.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

namespace surefoot::certify {
namespace {

using When = ClaimText::When;

TEST(ClaimText, IsShareBelowValueAndStep) {
  const ClaimText claim = parse_claim("95% below 3e-4 within 60");
  EXPECT_EQ(claim.share, 0.95);
  EXPECT_TRUE(claim.strict);
  EXPECT_EQ(claim.value, 3e-4);
  EXPECT_EQ(claim.when, When::within);
  EXPECT_EQ(claim.step, 60);
  EXPECT_EQ(to_text(claim), "95% below 3e-4 within 60");
}

TEST(ClaimText, TakesAtMostAfterAndBlanks) {
  const ClaimText claim = parse_claim("  99.9 %  at most -20  after 0 ");
  EXPECT_EQ(claim.share, 0.999);
  EXPECT_FALSE(claim.strict);
  EXPECT_EQ(claim.value, -20);
  EXPECT_EQ(claim.when, When::after);
  EXPECT_EQ(to_text(claim), "99.9% at most -20 after 0");
  EXPECT_EQ(parse_claim("50% below 1").when, When::unsaid);
}

TEST(ClaimText, MayLeaveTheShareOutWhereItIsAsked) {
  const ClaimText claim = parse_claim("below 1e-3 after 5", ShareIs::optional);
  EXPECT_FALSE(claim.share);
  EXPECT_EQ(to_text(claim), "below 1e-3 after 5");
  EXPECT_FALSE(parse_claim("at most 2", ShareIs::optional).share);
  EXPECT_INPUT_ERROR(parse_claim("below 1e-3 after 5"), "at word 1, 'below': expected a share");
}

TEST(ClaimText, WhatIsWrittenIsReadAgain) {
  for (const char* text :
       {"90% below 1e-3", "0.1% at most 250 within 7", "99.95% below -0.05 after 1000000"}) {
    EXPECT_EQ(to_text(parse_claim(text)), text);
  }
}

TEST(ClaimText, ErrorsPointAtTheWord) {
  EXPECT_INPUT_ERROR(parse_claim("95% belwo 3e-4"), "at word 3, 'belwo': expected 'below' or 'at most'");
  EXPECT_INPUT_ERROR(parse_claim("95 below 3e-4"), "at word 2, 'below': expected '%'");
  EXPECT_INPUT_ERROR(parse_claim("95% at least 3"), "at word 4, 'least': expected 'most'");
  EXPECT_INPUT_ERROR(parse_claim("95% below"), "at its end: expected a number");
  EXPECT_INPUT_ERROR(parse_claim("95% below nan"), "'nan': expected a finite number");
  EXPECT_INPUT_ERROR(parse_claim("95% below 3x"), "'3x': expected a number");
  EXPECT_INPUT_ERROR(parse_claim("100% below 3"), "at word 1, '100': expected a share between");
  EXPECT_INPUT_ERROR(parse_claim("0% below 3"), "at word 1, '0'");
  EXPECT_INPUT_ERROR(parse_claim("95% below 3 by 4"), "at word 5, 'by'");
  EXPECT_INPUT_ERROR(parse_claim("95% below 3 after -1"),
                     "'-1': expected a number of steps that is not negative");
  EXPECT_INPUT_ERROR(parse_claim("95% below 3 after 1.5"), "'1.5': expected a whole number");
  EXPECT_INPUT_ERROR(parse_claim("95% below 3 after 99999999999999999999"), "expected a whole number");
  EXPECT_INPUT_ERROR(parse_claim("95% below 3 after 4 please"), "at word 7, 'please': expected nothing more");
  EXPECT_INPUT_ERROR(parse_claim(""), "at its end: expected a share");
}

}  // namespace
}  // namespace surefoot::certify
