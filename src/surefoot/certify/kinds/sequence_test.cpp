#include "surefoot/certify/kinds/sequence.hpp"

#include "surefoot/bounds/anytime.hpp"
#include "surefoot/certify/ask.hpp"
#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/compare.hpp"

#include "support/input_error.hpp"
#include "support/kind_check.hpp"

#include <algorithm>

namespace surefoot::certify {
namespace {

Options of_a_log() {
  Options options;
  options.sampling = Sampling::sequence;
  options.metric = "residual";
  return options;
}

TEST(Sequences, PassTheContractOfKinds) {
  test::expect_kind_contract("sequence", of_a_log());
}

TEST(Sequences, BoundTheFailuresOfTheLogAtEveryLength) {
  const test::KindExample example = test::kind_example("sequence", of_a_log());
  ASSERT_EQ(example.certificate.sequence.size(), 2U * 8 * 3);
  for (const SequenceClaim& claim : example.certificate.sequence) {
    Index failures = 0;
    for (const std::vector<double>& run : example.runs)
      failures += !(run[static_cast<std::size_t>(claim.step - 1)] < claim.tolerance) ? 1 : 0;
    EXPECT_EQ(claim.failures, failures);
    EXPECT_EQ(claim.samples, 200);
    EXPECT_EQ(claim.upper_bound, bounds::sequence_upper(failures, 200, claim.delta));
    EXPECT_GE(claim.upper_bound, claim.empirical);
  }
  EXPECT_TRUE(example.certificate.quantiles.empty());
  EXPECT_TRUE(example.certificate.bands.empty()) << "choose both is before";
}

TEST(Sequences, SayThatTheySpeakOfThePast) {
  const Certificate certificate = test::kind_example("sequence", of_a_log()).certificate;
  const std::vector<std::string> statements = statements_of(certificate);
  EXPECT_TRUE(std::ranges::any_of(statements, [](const std::string& text) {
    return text.starts_with(
               "With confidence 0.99, for a: in the 200 ticks of this log the probability, given the ticks "
               "before, that the residual of a tick is not below ") &&
           text.find(" was at most ") != std::string::npos;
  })) << statements.front();
  for (const std::string& text : statements) EXPECT_EQ(text.find("new problems"), std::string::npos) << text;
  for (const std::string& text : certificate.assumptions)
    EXPECT_EQ(text.find("independent"), std::string::npos) << text;
  const std::vector<std::string> limits = what_it_does_not_say(certificate);
  EXPECT_TRUE(std::ranges::any_of(limits, [](const std::string& text) {
    return text.find("a statement about the past of this log") != std::string::npos;
  }));
  EXPECT_NE(headline(certificate).opening.find("in the past of this log"), std::string::npos);
}

TEST(Sequences, AreAloneAndWithoutChecksOfDependence) {
  for (const char* kind : {"success", "quantile", "budget", "bands", "average"}) {
    Options options = of_a_log();
    options.kinds = {kind, "sequence"};
    EXPECT_INPUT_ERROR(resolved(options, {{1, 2}}), fmt::format("('{}')", kind));
  }
  Options after = of_a_log();
  after.kinds = {"sequence"};
  after.choose = Choice::after;
  EXPECT_INPUT_ERROR(resolved(after, {{1, 2}}), "choose: 'after'");
  Options problems;
  problems.kinds = {"sequence"};
  EXPECT_INPUT_ERROR(resolved(problems, {{1, 2}}), "say --sequence");
  Certificate certificate = test::kind_example("sequence", of_a_log()).certificate;
  certificate.variants.front().independence = Independence{};
  certificate.assumptions = assumptions_of(certificate);
  EXPECT_FALSE(verify(parse_certificate(to_json(certificate))).holds());
  EXPECT_INPUT_ERROR(ask(certificate, "90% below 1", ""), "the past of one log");
  EXPECT_INPUT_ERROR(compare(certificate, certificate), "the past of one log");
}

}  // namespace
}  // namespace surefoot::certify
