#include "surefoot/certify/sentences.hpp"
#include "surefoot/report/html.hpp"
#include "surefoot/report/table.hpp"

#include "support/synthetic_certificate.hpp"

#include <gtest/gtest.h>

#include <algorithm>

namespace surefoot::report {
namespace {

certify::Certificate learned(const std::string& sampling, bool pac_bayes) {
  certify::Certificate certificate = test::synthetic_certificate({.variants = 1, .steps = 10});
  certify::Weights weights;
  weights.source = "alista.safetensors";
  weights.sha256 = std::string(64, 'a');
  weights.count = 20;
  weights.sampling = sampling;
  weights.purpose = "calibration weights";
  certificate.variants[0].weights = weights;
  if (pac_bayes) {
    certify::PacBayes guarantee;
    guarantee.kl = 123.4;
    guarantee.regularizer = 0.0123;
    guarantee.runs = 50000;
    guarantee.losses = 8899;
    certificate.variants[0].pac_bayes = guarantee;
  }
  return certificate;
}

bool mentions(const std::vector<std::string>& lines, const std::string& words) {
  return std::ranges::any_of(lines,
                             [&](const std::string& line) { return line.find(words) != std::string::npos; });
}

TEST(LearnedReport, SaysThatWeightsAreDrawnForEveryProblem) {
  for (const bool pac_bayes : {true, false}) {
    const certify::Certificate certificate = learned("weights", pac_bayes);
    EXPECT_NE(headline(certificate).opening.find("weights drawn anew for each"), std::string::npos);
    EXPECT_TRUE(mentions(what_it_says(certificate), "anew for every problem"));
    EXPECT_TRUE(mentions(what_it_does_not_say(certificate), "nor about the network at its means"));
    EXPECT_EQ(mentions(what_it_says(certificate), "trained on"), pac_bayes);
    EXPECT_EQ(mentions(what_it_does_not_say(certificate), "has not seen"), !pac_bayes);
  }
}

TEST(LearnedReport, OfTheMeansSpeaksOfFreshProblemsAlone) {
  const certify::Certificate certificate = learned("means", false);
  EXPECT_EQ(headline(certificate).opening.find("weights"), std::string::npos);
  EXPECT_FALSE(mentions(what_it_says(certificate), "stochastic"));
}

TEST(LearnedReport, ShowsWhatThePageRestsOn) {
  const std::string page = report_html(learned("pre-activations", true), {});
  for (const char* words : {"KL divergence from the prior", "pre-activations", "8,899 losses",
                            "--weights alista.safetensors", "fixed beforehand"}) {
    EXPECT_NE(page.find(words), std::string::npos) << words;
  }
}

}  // namespace
}  // namespace surefoot::report
