#include "surefoot/certify/paired_record.hpp"

#include "surefoot/core/random.hpp"
#include "surefoot/io/sha256.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <utility>

namespace surefoot::certify {
namespace {

using Record = nlohmann::ordered_json;

PairedComparison recorded(bool allow, bool anytime = false) {
  PairedOptions options;
  options.claims = {parse_claim("below 0.01 after 6", ShareIs::optional)};
  if (allow)
    options.allow = 0.05;
  else
    options.tolerances = {1e-2};
  options.anytime = anytime;
  PairedRuns a("old", {2, 4, 6, 8}, options);
  PairedRuns b("new", {2, 4, 6, 8}, options);
  for (std::uint64_t i = 0; i < 300; ++i) {
    RandomStream random(5, "paired record", i);
    const double scale = std::exp(random.normal());
    for (PairedRuns* runs : {&a, &b}) {
      std::vector<double> row;
      for (const int k : {2, 4, 6, 8}) row.push_back(scale * std::pow(runs == &a ? 0.45 : 0.4, k));
      runs->add_run(row.data());
    }
  }
  PairedComparison comparison = compare_paired(a, b, options);
  comparison.tables = {{"old.csv", std::string(64, 'a')}, {"new.csv", std::string(64, 'b')}};
  return comparison;
}

std::string sealed(Record json) {
  json.erase("digest");
  json["digest"] = io::sha256_hex(json.dump());
  return json.dump(1);
}

bool holds(const std::string& text) {
  try {
    return check_paired_record(text).findings.empty();
  } catch (const InputError&) {
    return false;
  }
}

TEST(PairedRecord, IsComputedAgainFromItsCounts) {
  for (const bool allow : {false, true}) {
    for (const bool anytime : {false, true}) {
      const std::string text = to_json(recorded(allow, anytime));
      EXPECT_TRUE(is_paired_record(text));
      const CheckedRecord checked = check_paired_record(text);
      EXPECT_TRUE(checked.findings.empty()) << checked.findings.front();
      EXPECT_EQ(to_json(checked.comparison), text);
    }
  }
  EXPECT_FALSE(is_paired_record("{\"format\": \"surefoot-certificate\"}"));
  EXPECT_FALSE(is_paired_record("{\"title\": \"surefoot_paired\"}")) << "a certificate whose title says so";
  EXPECT_FALSE(is_paired_record("{\"surefoot_paired_too\": 1}"));
  EXPECT_FALSE(is_paired_record("[\"surefoot_paired\"]"));
  EXPECT_FALSE(is_paired_record(""));
  EXPECT_TRUE(is_paired_record(std::string(300, ' ') + "{\n\"surefoot_paired\": 1}"));
  EXPECT_INPUT_ERROR(check_paired_record("{\"surefoot_paired\": 2}"), "of another version");
  EXPECT_INPUT_ERROR(check_paired_record("{\"surefoot_paired\""), "not JSON");
}

// Every number of it, changed and sealed again.
TEST(PairedRecord, CannotBeForgedAndSealedAgain) {
  for (const auto& [allow, anytime] :
       {std::pair(false, false), std::pair(true, false), std::pair(false, true), std::pair(true, true)}) {
    const Record record = Record::parse(to_json(recorded(allow, anytime)));
    Index tried = 0;
    const Record flat = record.flatten();
    for (const auto& [path, value] : flat.items()) {
      // Names and digests of tables, and the ratios themselves, are counted again by --data. Shares without
      // ratios are of nothing.
      if (path.starts_with("/tables") || path == "/digest" || path.find("_over_") != std::string::npos ||
          (allow && path.starts_with("/shares")))
        continue;
      Record forged = record;
      Record& field = forged[Record::json_pointer(path)];
      if (value.is_number_integer())
        field = value.get<Index>() + 1;
      else if (value.is_number())
        field = value.get<double>() * 0.9 + 0.001;
      else if (value.is_boolean())
        field = !value.get<bool>();
      else if (value.is_string())
        field = value.get<std::string>() + " indeed";
      else
        continue;
      ++tried;
      EXPECT_FALSE(holds(sealed(forged))) << path;
    }
    EXPECT_GT(tried, 10);
    Record changed = record;
    changed["tables"][0]["source"] = "other.csv";
    EXPECT_FALSE(holds(changed.dump(1))) << "its digest is another";
  }
}

TEST(PairedRecord, DiffersFromAnotherCount) {
  const PairedComparison stated = recorded(false);
  PairedComparison recounted = stated;
  recounted.tables[0].source = "elsewhere/old.csv";
  EXPECT_TRUE(differences(stated, recounted).empty());
  recounted.success[0].both -= 1;
  recounted.success[0].neither += 1;
  ASSERT_EQ(differences(stated, recounted).size(), 2U);
  EXPECT_EQ(differences(stated, recounted)[0].substr(0, 17), "success/0/both is");
}

}  // namespace
}  // namespace surefoot::certify
