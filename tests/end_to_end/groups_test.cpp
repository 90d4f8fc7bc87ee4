// Tables whose rows belong to groups, and logs, from the command line to the certificate and back.

#include "surefoot/core/random.hpp"
#include "surefoot/io/npy.hpp"

#include "support/contains.hpp"
#include "support/program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <string>
#include <vector>

namespace {

using surefoot::RandomStream;
using surefoot::test::unwrapped;
using surefoot::testing::ProgramResult;
using surefoot::testing::ProgramTest;
using surefoot::testing::slurp;
using Json = nlohmann::json;

class Groups : public ProgramTest {
 protected:
  static constexpr int flights = 150;
  static constexpr int ticks = 12;
  static constexpr int steps = 5;

  /// Ticks of a flight are alike: element (flight, tick, step).
  static std::vector<double> residuals() {
    std::vector<double> values;
    for (int flight = 0; flight < flights; ++flight) {
      RandomStream random(3, "flights", static_cast<std::uint64_t>(flight));
      const double level = std::exp(0.7 * random.normal());
      for (int tick = 0; tick < ticks; ++tick)
        for (int k = 1; k <= steps; ++k) values.push_back(level * std::exp(-1.2 * k + 0.2 * random.normal()));
    }
    return values;
  }

  static std::string flights_csv(const std::vector<double>& values, bool one_after_the_other) {
    std::string text = "flight,k=1,k=2,k=3,k=4,k=5\n";
    for (int i = 0; i < flights * ticks; ++i) {
      const int flight = one_after_the_other ? i / ticks : i % flights;
      const int tick = one_after_the_other ? i % ticks : i / flights;
      text += fmt::format("\"F, {}\"", flight);
      for (int k = 0; k < steps; ++k)
        text +=
            fmt::format(",{:.17g}", values[static_cast<std::size_t>((flight * ticks + tick) * steps + k)]);
      text += '\n';
    }
    return text;
  }

  static std::string cube(const std::vector<double>& values, bool fortran) {
    std::string head = fmt::format("{{'descr': '<f8', 'fortran_order': {}, 'shape': ({}, {}, {}), }}",
                                   fortran ? "True" : "False", flights, ticks, steps);
    head += std::string(63 - (10 + head.size()) % 64, ' ') + "\n";
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(head.size() & 0xFF);
    bytes += static_cast<char>(head.size() >> 8U);
    bytes += head;
    const auto add = [&](double value) {
      char raw[sizeof value];
      std::memcpy(raw, &value, sizeof value);
      bytes.append(raw, sizeof value);
    };
    if (!fortran)
      for (const double value : values) add(value);
    for (int k = 0; fortran && k < steps; ++k)
      for (int tick = 0; tick < ticks; ++tick)
        for (int flight = 0; flight < flights; ++flight)
          add(values[static_cast<std::size_t>((flight * ticks + tick) * steps + k)]);
    return bytes;
  }

  [[nodiscard]] Json certificate(const std::string& folder) const {
    return Json::parse(slurp(folder_ / folder / "certificate.json"));
  }
  void make(const std::string& command) const {
    const ProgramResult result = surefoot(command);
    ASSERT_EQ(result.code, 0) << command << ": " << result.err;
  }
  void expect_refused(const std::string& arguments, const std::vector<std::string>& mentioned) const {
    const ProgramResult result = surefoot(arguments + " --out refused");
    EXPECT_EQ(result.code, 2) << arguments << "\n" << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    for (const std::string& word : mentioned)
      EXPECT_NE(result.err.find(word), std::string::npos) << word << ": " << result.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "refused" / "certificate.json"));
  }
};

TEST_F(Groups, OfAColumnAnywhereInTheTableAndOfAThirdDimensionAreTheSame) {
  const std::vector<double> values = residuals();
  write("flights.csv", flights_csv(values, true));
  write("mixed.csv", flights_csv(values, false));
  write("cube.npy", cube(values, false));
  write("fortran.npy", cube(values, true));
  const std::string claims = " --tolerances 0.01,0.1 --quantiles 0.5,0.9 ";
  make("certify flights.csv --group flight --out flights" + claims);
  make("certify mixed.csv --group flight --out mixed" + claims);
  make("certify cube.npy --out cube" + claims);
  make("certify fortran.npy --out fortran" + claims);
  const Json flights_made = certificate("flights");
  EXPECT_EQ(flights_made["variants"][0]["samples"], flights);
  EXPECT_EQ(flights_made["variants"][0]["groups"],
            (Json{{"name", "flight"}, {"ticks", flights * ticks}, {"fewest", ticks}, {"most", ticks}}));
  EXPECT_EQ(flights_made["variants"][0]["independence"]["of"], "groups");
  for (const char* other : {"mixed", "cube", "fortran"})
    EXPECT_EQ(certificate(other)["claims"], flights_made["claims"]) << other;
  EXPECT_EQ(certificate("cube")["variants"][0]["groups"]["name"], "");
  for (const char* other : {"flights", "mixed"}) {
    const ProgramResult result =
        surefoot(fmt::format("verify {}/certificate.json --data {}.csv", other, other));
    EXPECT_EQ(result.code, 0) << result.out;
  }
  for (const char* other : {"cube", "fortran"})
    EXPECT_EQ(surefoot(fmt::format("verify {}/certificate.json --data {}.npy", other, other)).code, 0);
  EXPECT_EQ(surefoot("verify flights/certificate.json --data mixed.csv").code, 1) << "another file";
  // The sentence that a person will quote, and the page.
  const std::string said = unwrapped(surefoot("certify flights.csv --group flight --out again" + claims).out);
  EXPECT_NE(said.find("in at least 90 % of groups (one per flight) every tick is below"), std::string::npos)
      << said;
  EXPECT_NE(said.find("every group counts the same, whatever its number of ticks"), std::string::npos)
      << said;
  EXPECT_NE(said.find("150 groups (one per flight) with 1,800 ticks"), std::string::npos) << said;
  const std::string page = slurp(folder_ / "again/report.html");
  EXPECT_NE(page.find("groups (one per flight)"), std::string::npos);
  EXPECT_NE(page.find("1,800, 12 to 12 in a group"), std::string::npos);
  EXPECT_NE(slurp(folder_ / "again/curves.csv").find("\naverage,flights,5,0.01,"), std::string::npos);
  const ProgramResult asked = surefoot("ask again/certificate.json --claim \"50% below 0.1 within 5\"");
  EXPECT_NE(asked.out.find("of new groups (one per flight) the metric of every tick is below 0.1"),
            std::string::npos)
      << asked.out << asked.err;
  expect_refused("compare again/certificate.json cube/certificate.json", {"is of groups"});
}

TEST_F(Groups, ThatCannotBeToldApartAreRefused) {
  const std::vector<double> values = residuals();
  write("flights.csv", flights_csv(values, true));
  write("cube.npy", cube(values, false));
  write("flat.csv", "k=1,k=2\n0.5,0.25\n");
  write("missing.csv", "flight,k=1\na,1\n,2\n");
  write("twice.csv", "flight,k=1\n1,1\n2,2\n1.0,3\n");
  expect_refused("certify flights.csv --group fligth",
                 {"flights.csv:1", "there is no column 'fligth'", "'flight', 'k=1'"});
  expect_refused("certify missing.csv --group flight", {"missing.csv:3", "column 1 ('flight')", "empty"});
  expect_refused("certify twice.csv --group flight", {"twice.csv:4", "'1.0'", "line 2 as '1'"});
  expect_refused("certify cube.npy --group flight", {"cube.npy", "no column 'flight'", "third dimension"});
  expect_refused("certify cube.npy flat.csv", {"flat.csv", "no third dimension"});
  expect_refused("certify cube.npy --sequence", {"cube.npy", "--sequence", "three dimensions"});
  expect_refused("certify flights.csv --group flight --sequence", {"--sequence", "--group"});
  expect_refused("certify flat.csv --claims average", {"'average'", "--group"});
  expect_refused("certify flights.csv --group flight --average-method exact", {"exact", "betting, kl"});
  make("certify flights.csv --group flight --tolerances 0.1 --out flights");
  EXPECT_NE(surefoot("verify flights/certificate.json --data cube.npy").err.find("no column 'flight'"),
            std::string::npos);
  make("certify cube.npy --tolerances 0.1 --out cube");
  EXPECT_NE(surefoot("verify cube/certificate.json --data flat.csv").err.find("does not say to which group"),
            std::string::npos);
}

TEST_F(Groups, OneGroupSaysLittleAndHolds) {
  write("one.csv", "flight,k=1\nA,0.5\nA,0.01\nA,inf\n");
  make("certify one.csv --group flight --tolerances 0.1 --out one");
  const Json made = certificate("one");
  EXPECT_EQ(made["variants"][0]["samples"], 1);
  EXPECT_EQ(made["variants"][0]["non_finite_runs"], 1);
  EXPECT_GT(made["claims"]["group_average"][0]["upper_bound"], 0.99);
  EXPECT_EQ(surefoot("verify one/certificate.json --data one.csv").code, 0);
}

TEST_F(Groups, ThatDependOnEachOtherAreRefusedUnlessThatIsAllowed) {
  std::string text = "flight,k=1,k=2,k=3\n";
  double level = 0;
  RandomStream random(5, "drifting flights", 0);
  for (int flight = 0; flight < 1000; ++flight) {
    level = 0.95 * level + random.normal();
    for (int tick = 0; tick < 2; ++tick)
      text += fmt::format("{},{:.17g},{:.17g},{:.17g}\n", flight, std::exp(level), std::exp(level - 1),
                          std::exp(level - 2));
  }
  write("drifting.csv", text);
  expect_refused("certify drifting.csv --group flight",
                 {"the groups are not independent samples", "--allow-dependence"});
  make("certify drifting.csv --group flight --allow-dependence --out allowed");
  EXPECT_TRUE(certificate("allowed")["statements"][0].get<std::string>().starts_with(
      "If the groups were independent, "));
}

TEST_F(Groups, ALogIsCertifiedForItsPastAlone) {
  std::string text = "k=1,k=2\n";
  double level = 0;
  RandomStream random(6, "a log", 0);
  for (int tick = 0; tick < 2000; ++tick) {
    level = 0.98 * level + 0.2 * random.normal();
    text += fmt::format("{:.6g},{:.6g}\n", 0.1 * std::exp(level), 0.01 * std::exp(level));
  }
  write("log.csv", text);
  expect_refused("certify log.csv", {"not independent samples", "--sequence"});
  make("certify log.csv --sequence --tolerances 0.01,0.1 --metric residual --out log");
  const Json made = certificate("log");
  EXPECT_FALSE(made["variants"][0].contains("independence"));
  EXPECT_EQ(made["claims"]["sequence"].size(), 4U);
  EXPECT_TRUE(made["claims"]["success_rate"].empty());
  EXPECT_EQ(surefoot("verify log/certificate.json --data log.csv").code, 0);
  const std::string page = slurp(folder_ / "log/report.html");
  EXPECT_NE(page.find("a statement about the past of this log"), std::string::npos);
  EXPECT_NE(slurp(folder_ / "log/curves.csv").find("\nsequence,log,1,0.01,"), std::string::npos);
  const ProgramResult asked = surefoot("ask log/certificate.json --claim \"90% below 0.1\"");
  EXPECT_EQ(asked.code, 2);
  EXPECT_NE(asked.err.find("the past of one log"), std::string::npos);
  expect_refused("compare log/certificate.json log/certificate.json", {"the past of one log"});
  for (const char* kind : {"success", "quantile", "budget", "bands"})
    expect_refused(fmt::format("certify log.csv --sequence --claims {}", kind),
                   {fmt::format("('{}')", kind), "sequence"});
  expect_refused("certify log.csv --sequence --choose after", {"choose: 'after'"});
  expect_refused("certify log.csv --sequence --allow-dependence", {"--allow-dependence"});
  expect_refused("certify log.csv --sequence --worst-case averaged:0.5 --dist0 1", {"--worst-case"});
  expect_refused("certify log.csv --sequence --risk-method kl", {"not claimed of a log"});
  std::string changed = slurp(folder_ / "log.csv");
  changed += "5,5\n";
  write("longer.csv", changed);
  EXPECT_EQ(surefoot("verify log/certificate.json --data longer.csv").code, 1);
}

}  // namespace
