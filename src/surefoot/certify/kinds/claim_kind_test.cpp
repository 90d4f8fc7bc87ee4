#include "surefoot/certify/kinds/claim_kind.hpp"

#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/parts.hpp"
#include "surefoot/io/atomic_file.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>

namespace surefoot::certify {
namespace {

TEST(ClaimKinds, HaveNamesOfTheirOwn) {
  std::set<std::string_view> names;
  std::set<std::string_view> parts;
  std::set<std::string_view> sections;
  for (const ClaimKind* kind : claim_kinds()) {
    EXPECT_TRUE(names.insert(kind->name()).second) << kind->name();
    EXPECT_TRUE(parts.insert(kind->part()).second) << kind->part();
    EXPECT_TRUE(sections.insert(kind->section_id()).second) << kind->name();
    EXPECT_EQ(&claim_kind(kind->name()), kind);
  }
  EXPECT_EQ(default_kinds(), (std::vector<std::string>{"success", "quantile", "budget"}));
  EXPECT_INPUT_ERROR(claim_kind("sucess"), "claims: 'sucess' is not one of success, quantile, budget");
}

// The schema is for readers of other languages: it has every field of every kind, and no other.
TEST(ClaimKinds, StandInTheSchemaWithAllTheirFields) {
  const auto schema = nlohmann::json::parse(
      io::read_file(SUREFOOT_SOURCE_DIR "/schema/certificate.schema.json", std::size_t{1} << 22));
  const auto& claims = schema.at("properties").at("claims").at("properties");
  EXPECT_EQ(claims.size(), claim_kinds().size());
  std::vector<std::string> parts;
  for (const CertificatePart& part : known_parts()) parts.emplace_back(part.name);
  EXPECT_EQ(schema.at("properties").at("parts").at("items").at("enum"), nlohmann::json(parts));
  for (const ClaimKind* kind : claim_kinds()) {
    ASSERT_TRUE(claims.contains(std::string(kind->part()))) << kind->part();
    std::set<std::string> stated;
    for (const auto& [field, rule] :
         claims.at(std::string(kind->part())).at("items").at("properties").items())
      stated.insert("claims." + std::string(kind->part()) + "." + field);
    std::set<std::string> written;
    for (const FieldCheck& check : kind->fields()) written.insert(check.field);
    EXPECT_EQ(stated, written);
  }
}

}  // namespace
}  // namespace surefoot::certify
