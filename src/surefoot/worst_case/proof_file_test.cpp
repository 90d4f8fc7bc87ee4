#include "surefoot/worst_case/proof_file.hpp"

#include "surefoot/io/sha256.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <string>

namespace surefoot::worst_case {
namespace {

using Json = nlohmann::ordered_json;
using test_support::input_error;

ProofFile small_proof() {
  Question question;
  question.method = "nesterov";
  question.parameters.mu = 0.1;
  question.parameters.step = {0.9, 1.0};
  return prove_steps(question, {2, 1}, 1.5);
}

Method own_method() {
  Method method;
  const std::size_t f = method.add(Class::smooth(2.0));
  const std::size_t h = method.add(Class::convex());
  Vector x = Method::start();
  for (int k = 0; k < 2; ++k) x = method.implicit(h, x - 0.5 * method.call(f, x), 0.5).point;
  method.measure_gap(x);
  return method;
}

std::string sealed(Json json) {
  json.erase("digest");
  const std::string digest = io::sha256_hex(json.dump());
  json["digest"] = {{"algorithm", "sha256"}, {"value", digest}};
  return json.dump();
}

void numbers_of(const Json& value, const Json::json_pointer& at, std::vector<Json::json_pointer>& found) {
  if (value.is_number()) found.push_back(at);
  if (!value.is_structured()) return;
  for (const auto& [key, child] : value.items()) {
    numbers_of(child, value.is_array() ? at / static_cast<std::size_t>(std::stoul(key)) : at / key, found);
  }
}

TEST(ProofFile, IsReadAsItWasWritten) {
  for (const ProofFile& proof : {small_proof(), prove_method(own_method(), 2.0)}) {
    const std::string text = to_json(proof);
    EXPECT_TRUE(is_proof(text));
    const ParsedProof parsed = parse_proof(text);
    EXPECT_EQ(to_json(parsed.proof), text);
    EXPECT_EQ(parsed.computed_digest, digest_of(proof));
    const Replay result = replay(parsed);
    EXPECT_TRUE(result.holds()) << result.findings.at(0);
    EXPECT_EQ(result.proven, proof.bounds.size());
    EXPECT_GE(result.proven, 1U);
  }
}

TEST(ProofFile, BoundsStandInTheOrderAskedForAndScaleWithTheStart) {
  const ProofFile proof = small_proof();
  ASSERT_EQ(proof.bounds.size(), 2U);
  EXPECT_EQ(proof.bounds[0].steps, 2);
  EXPECT_LT(proof.bounds[0].bound, proof.bounds[1].bound);
  const ProofFile unit = prove_steps(proof.question, {2}, 1.0);
  EXPECT_NEAR(proof.bounds[0].bound, 2.25 * unit.bounds[0].bound, 1e-8);
}

// Every number of the file, changed: the digest no longer fits, ...
TEST(ProofFile, AnyChangedNumberIsFound) {
  for (const ProofFile& proof : {small_proof(), prove_method(own_method(), 2.0)}) {
    const Json json = Json::parse(to_json(proof));
    std::vector<Json::json_pointer> numbers;
    numbers_of(json, Json::json_pointer(), numbers);
    EXPECT_GT(numbers.size(), 20U);
    for (const Json::json_pointer& at : numbers) {
      Json changed = json;
      Json& number = changed[at];
      number = number.is_number_integer() ? Json(number.get<std::int64_t>() + 1)
                                          : Json(number.get<double>() * 2.0 + 1.3);
      const auto outcome = [](const std::string& text) {
        bool holds = true;
        const std::string refused = input_error([&] { holds = replay(parse_proof(text)).holds(); });
        return refused != "(no error)" || !holds;
      };
      EXPECT_TRUE(outcome(changed.dump())) << at.to_string();
      // ... and with a digest made to fit, a bound that is not proven.
      const std::string name = at.to_string();
      if (name.ends_with("/initial")) continue;  // a unit more proves the same double
      if (name.find("/pairs/") != std::string::npos || name.find("/bound") != std::string::npos ||
          name.find("/exponent") != std::string::npos || name == "/start") {
        EXPECT_TRUE(outcome(sealed(changed))) << name;
      }
    }
  }
}

TEST(ProofFile, UnknownFieldsAreRefusedByName) {
  const Json json = Json::parse(to_json(small_proof()));
  const auto refused = [&](const std::string& at) {
    Json changed = json;
    changed[Json::json_pointer(at)] = 1;
    return input_error([&] { parse_proof(sealed(changed)); });
  };
  EXPECT_EQ(refused("/surprise"), "proof: the file has an unknown field 'surprise'");
  EXPECT_EQ(refused("/method/surprise"), "proof: method has an unknown field 'surprise'");
  EXPECT_EQ(refused("/method/parameters/alpha"), "proof: method.parameters has an unknown field 'alpha'");
  EXPECT_EQ(refused("/bounds/0/surprise"), "proof: bounds has an unknown field 'surprise'");
  EXPECT_EQ(refused("/format_version"), "(no error)");
  Json other = json;
  other["format_version"] = 2;
  EXPECT_EQ(input_error([&] { parse_proof(sealed(other)); }),
            "proof: format_version is not 1, the one that this program reads");
  EXPECT_EQ(input_error([] { parse_proof("{"); }), "proof: it is not JSON");
  std::string many = "{\"a\": [{\"f\": 0";
  for (int i = 0; i < 300'000; ++i) many += ",\"f" + std::to_string(i) + "\":0";
  EXPECT_EQ(input_error([&] { parse_proof(many + "}]}"); }), "proof: an object has more than 1000 fields");
  EXPECT_EQ(input_error([] { parse_proof("{}"); }), "proof: format is not surefoot-proof");
}

TEST(ProofFile, PartsOfAMethodMustFitTogether) {
  const Json json = Json::parse(to_json(prove_method(own_method(), 1.0)));
  const auto refused = [&](const std::string& at, const Json& value) {
    Json changed = json;
    changed[Json::json_pointer(at)] = value;
    return input_error([&] { parse_proof(sealed(changed)); });
  };
  EXPECT_NE(refused("/method/calls/0/point/start", 0.5).find("z^0 has coefficient 0.5"), std::string::npos);
  EXPECT_NE(refused("/method/calls/0/oracle", 7).find("oracle: 7"), std::string::npos);
  EXPECT_NE(refused("/method/calls/0/point/outputs", {0.0, 0.0, 1.0}).find("later calls"), std::string::npos);
  EXPECT_NE(refused("/method/values_of/0", 0).find("different points"), std::string::npos);
  EXPECT_NE(refused("/method/values_of", {3}).find("left out"), std::string::npos);
  EXPECT_NE(refused("/method/initial", "gap").find("if and only if"), std::string::npos);
  EXPECT_NE(refused("/method/classes/0/kind", "magic").find("'magic' is not one of"), std::string::npos);
}

}  // namespace
}  // namespace surefoot::worst_case
