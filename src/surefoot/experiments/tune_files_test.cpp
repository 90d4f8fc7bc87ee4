#include "surefoot/experiments/tune_files.hpp"

#include "surefoot/experiments/toml_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace surefoot::experiments {
namespace {

const SettingTexts fixed_rho{{"rho", "0.316"}, {"alpha", "1.4"}, {"scaling", "0"}};

TEST(TuneFiles, SettingsAreOptionsOfRun) {
  const toml::table qp = parse_toml("tuned.toml", settings_toml(fixed_rho, "OSQP", 300, nullptr));
  EXPECT_EQ(qp["rho"].value<double>(), 0.316);
  EXPECT_EQ(qp["scaling"].value<Index>(), 0);
  EXPECT_EQ(qp["iterations"].value<Index>(), 300);
  // Where adapting was not searched, rho is fixed, and the file says so.
  EXPECT_EQ(qp["adaptive_rho"].value<std::string>(), "off");
  problems::Cones cones;
  cones.zero = 1;
  cones.nonnegative = 20;
  cones.second_order = {5, 3};
  cones.power = {0.5};
  const toml::table cone = parse_toml(
      "tuned.toml", settings_toml({{"scale", "4.2"}, {"adaptive_scale", "true"}}, "SCS", 100, &cones));
  EXPECT_EQ(cone["adaptive_scale"].value<bool>(), true);
  EXPECT_EQ(cone["cones"]["nonnegative"].value<Index>(), 20);
  EXPECT_EQ(cone["cones"]["second_order"].as_array()->size(), 2U);
  EXPECT_FALSE(cone.contains("adaptive_diag_scale"));
  const toml::table alone = parse_toml("tuned.toml", settings_toml({{"scale", "4.2"}}, "SCS", 100, &cones));
  EXPECT_EQ(alone["adaptive_scale"].value<bool>(), false);
  EXPECT_EQ(alone["adaptive_diag_scale"].value<bool>(), false);
}

TEST(TuneFiles, KeywordsAreThoseOfThePackages) {
  const auto osqp = nlohmann::json::parse(settings_keywords(fixed_rho, "osqp"));
  EXPECT_EQ(osqp, nlohmann::json::parse(R"({"rho":0.316,"alpha":1.4,"scaling":0,"adaptive_rho":false})"));
  const auto scs = nlohmann::json::parse(
      settings_keywords({{"scale", "2"}, {"normalize", "false"}, {"acceleration_lookback", "10"}}, "scs"));
  EXPECT_EQ(scs, nlohmann::json::parse(
                     R"({"scale":2.0,"normalize":false,"acceleration_lookback":10,"adaptive_scale":false})"));
  const std::string snippet = settings_snippet(fixed_rho, "osqp", "Settings.");
  EXPECT_NE(snippet.find("    \"adaptive_rho\": False,\n"), std::string::npos) << snippet;
  EXPECT_NE(snippet.find("import osqp\n"), std::string::npos);
  EXPECT_NE(settings_snippet({{"scale", "2"}}, "scs", "Settings.").find("scs.SCS("), std::string::npos);
}

TEST(TuneFiles, KnowsItsOwnFilesAndThoseOfCertificates) {
  for (const char* name : {"tuned.toml", "tuned.json", "tuned.py", "search.json", "search.svg", "search.pdf",
                           "paired.json", "traces_tuned.npy", "certificate.json", "report.html"})
    EXPECT_TRUE(is_file_of_tuning(name)) << name;
  EXPECT_FALSE(is_file_of_tuning("thesis.tex"));
}

}  // namespace
}  // namespace surefoot::experiments
