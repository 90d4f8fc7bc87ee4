// Against a forger: every field of every kind of certificate is changed, the digest and the words are made to
// fit again, and what finds the change is compared with certify::field_checks(), which docs/trust.md shows.
#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/evidence.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/learning/posterior_file.hpp"

#include "support/program.hpp"
#include "support/tampering.hpp"
#include "support/training_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace {

using namespace surefoot;
using certify::Certificate;
using certify::Evidence;
using surefoot::testing::ProgramResult;
using surefoot::testing::ProgramTest;
using surefoot::testing::slurp;
using Json = nlohmann::ordered_json;

/// A certificate with what it can be checked against.
struct Kind {
  std::string name;
  Json body;
  std::vector<std::string> data;
  std::vector<std::string> weights;
  std::optional<Certificate> repeated;  ///< what its command made again
};

void collect_leaves(const Json& value, const std::string& pointer, std::vector<std::string>& found) {
  if (!value.is_structured() || value.empty()) {
    found.push_back(pointer);
    return;
  }
  for (const auto& [key, child] : value.items()) {
    std::string escaped = key;
    for (std::size_t at = 0; (at = escaped.find('/', at)) != std::string::npos; at += 2)
      escaped.replace(at, 1, "~1");
    collect_leaves(child, pointer + "/" + escaped, found);
  }
}

// "/claims/quantile/12/rank" is the field claims.quantile.rank; what stands inside `run` is one field.
std::string field_of(const std::string& pointer) {
  std::string field;
  std::size_t begin = 1;
  while (begin <= pointer.size()) {
    const std::size_t end = std::min(pointer.find('/', begin), pointer.size());
    const std::string key = pointer.substr(begin, end - begin);
    if (key.empty() || key.find_first_not_of("0123456789") != std::string::npos)
      field += (field.empty() ? "" : ".") + key;
    begin = end + 1;
  }
  for (const std::string group : {"run", "rerun.options"})
    if (field.starts_with(group + ".")) return group;
  return field;
}

std::vector<Json> changes_of(const Json& value) {
  if (value.is_boolean()) return {!value.get<bool>()};
  if (value.is_number_integer()) return {value.get<Index>() + 1, value.get<Index>() - 1, -7};
  if (value.is_number_float()) {
    const auto number = value.get<double>();
    return {number * 1.01, number * 0.99, -number};
  }
  if (value.is_string()) return {value.get<std::string>() + "x", std::string()};
  if (value.is_null()) return {Json(1)};
  return {Json::array({1})};  // an empty list or object
}

// What a forger does after a change: the digest, and the words unless they are what was changed.
std::string resealed_with_words(const Json& changed, const std::string& field) {
  if (field == "statements" || field == "assumptions" || field == "wording") return test::resealed(changed);
  Json body = changed;
  const Certificate certificate = certify::parse_certificate(test::resealed(body)).certificate;
  body["statements"] = certify::statements_of(certificate, certificate.wording);
  return test::resealed(body);
}

bool found_by_data(const Kind& kind, const Certificate& certificate) {
  certify::Verification verification;
  for (std::size_t i = 0; i < kind.data.size(); ++i) {
    certify::RunTable table(kind.data[i], std::nullopt);
    const runs::Tally tally = table.count(certify::recount_spec(certificate, table.steps()), nullptr);
    certify::compare_recount(certificate, i, tally, table.sha256(), verification);
  }
  return !verification.holds();
}

bool found_by_weights(const Kind& kind, const Certificate& certificate) {
  certify::Verification verification;
  for (std::size_t i = 0; i < kind.weights.size(); ++i) {
    std::string bytes = slurp(kind.weights[i]);
    const std::string digest = io::sha256_hex(bytes);
    const auto source = io::memory_bytes(kind.weights[i], std::move(bytes));
    certify::compare_weights(certificate, i, learning::load_posterior(*source), digest, verification);
  }
  return !verification.holds();
}

Evidence evidence_against(const Kind& kind, const Json& changed, const std::string& field) {
  try {
    const certify::ParsedCertificate parsed = certify::parse_certificate(resealed_with_words(changed, field));
    if (!certify::verify(parsed).holds()) return Evidence::arithmetic;
    if (found_by_data(kind, parsed.certificate)) return Evidence::data;
    if (found_by_weights(kind, parsed.certificate)) return Evidence::weights;
    if (!kind.repeated) return Evidence::nothing;
    certify::Verification verification;
    certify::compare_repeated(parsed.certificate, *kind.repeated, verification);
    return verification.holds() ? Evidence::nothing : Evidence::rerun;
  } catch (const InputError&) {
    return Evidence::arithmetic;
  }
}

class Forgery : public ProgramTest {
 protected:
  [[nodiscard]] Json body(const std::string& folder) const {
    return Json::parse(slurp(folder_ / folder / "certificate.json"));
  }

  void make(const std::string& command) const {
    const ProgramResult result = surefoot(command);
    ASSERT_EQ(result.code, 0) << command << ": " << result.err;
  }

  std::vector<Kind> kinds() {
    const std::string tables = SUREFOOT_SOURCE_DIR "/tests/certificates/v1/";
    const std::string few = " --tolerances 1e-2,1e-1 --quantiles 0.5,0.9 ";
    std::vector<Kind> made;
    make("certify " + tables + "cold.csv " + tables + "warm.csv" + few + "--title tables --out table");
    made.push_back({"table", body("table"), {tables + "cold.csv", tables + "warm.csv"}, {}, {}});
    make("certify " + tables + "cold.csv" + few +
         "--quantile-method grid --risk-method kl --budget-method paper --out grid");
    made.push_back({"grid", body("grid"), {tables + "cold.csv"}, {}, {}});
    const std::string qp = "run qp " SUREFOOT_SOURCE_DIR "/examples/mpc --iterations 20 --steps 10,20" + few;
    make(qp + "--out qp");
    make(qp + "--out again");
    made.push_back({"run", body("qp"), {}, {}, repeated("again")});
    write("train.toml", surefoot::testing::training_file(2));
    make("train train.toml --quiet --out trained");
    const std::string weights = (folder_ / "trained/weights.safetensors").string();
    const std::string calibrate =
        "calibrate trained/weights.safetensors --tolerances=-10,-5 --quantiles 0.5,0.9 ";
    make(calibrate + "--guarantees pac-bayes --out learned");
    make(calibrate + "--guarantees pac-bayes --out learned_again");
    made.push_back(
        {"pac-bayes", body("learned/pac-bayes"), {}, {weights}, repeated("learned_again/pac-bayes")});
    return made;
  }

  [[nodiscard]] Certificate repeated(const std::string& folder) const {
    return certify::parse_certificate(slurp(folder_ / folder / "certificate.json")).certificate;
  }
};

TEST_F(Forgery, EveryFieldIsFoundByTheEvidenceThatIsDocumented) {
  std::map<std::string, Evidence> least;
  std::vector<std::string> order;
  for (const Kind& kind : kinds()) {
    ASSERT_TRUE(certify::verify(certify::parse_certificate(test::resealed(kind.body))).holds()) << kind.name;
    std::vector<std::string> leaves;
    collect_leaves(kind.body, "", leaves);
    std::map<std::string, int> tried;
    for (const std::string& pointer : leaves) {
      const std::string field = field_of(pointer);
      if (field.starts_with("digest") || field.starts_with("rerun")) continue;
      if (++tried[field] > 12) continue;  // a grid of 801 tolerances need not be gone through
      const auto [entry, is_new] = least.try_emplace(field, Evidence::arithmetic);
      if (is_new) order.push_back(field);
      for (const Json& value : changes_of(kind.body.at(Json::json_pointer(pointer)))) {
        Json changed = kind.body;
        if (changed.at(Json::json_pointer(pointer)) == value) continue;
        changed.at(Json::json_pointer(pointer)) = value;
        entry->second = std::max(entry->second, evidence_against(kind, changed, field));
      }
    }
  }
  std::map<std::string, Evidence> documented;
  for (const certify::FieldCheck& check : certify::field_checks())
    documented.emplace(check.field, check.found_by);
  std::string table;
  for (const std::string& field : order)
    table += fmt::format("      {{\"{}\", Evidence::{}}},\n", field, certify::name(least[field]));
  for (const std::string& field : order) {
    const auto known = documented.find(field);
    ASSERT_NE(known, documented.end()) << field << " is not documented; the table would be\n" << table;
    EXPECT_EQ(certify::name(known->second), certify::name(least[field])) << field << "\n" << table;
  }
}

}  // namespace
