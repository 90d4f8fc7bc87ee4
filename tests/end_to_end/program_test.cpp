#include "support/program.hpp"

#include "surefoot/bounds/kl.hpp"
#include "surefoot/bounds/shift.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/core/version.hpp"

#include "support/contains.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <sstream>
#include <string>
#include <vector>

namespace {

using surefoot::test::unwrapped;
using surefoot::testing::ProgramResult;
using surefoot::testing::ProgramTest;
using surefoot::testing::slurp;
using Json = nlohmann::json;

class Program : public ProgramTest {
 protected:
  // A table of decaying residuals, a row per problem.
  static std::string table(int rows, int columns, bool header, std::uint64_t seed = 1, double rate = 0.7) {
    std::string text;
    if (header) {
      for (int k = 1; k <= columns; ++k) text += fmt::format("{}k={}", k > 1 ? "," : "", k);
      text += '\n';
    }
    for (int i = 0; i < rows; ++i) {
      surefoot::RandomStream random(seed, "program test", static_cast<std::uint64_t>(i));
      const double scale = std::exp(random.normal());
      for (int k = 1; k <= columns; ++k) {
        text += fmt::format("{}{:.6g}", k > 1 ? "," : "", scale * std::pow(rate, k));
      }
      text += '\n';
    }
    return text;
  }

  // One clear line on standard error, exit code 2, nothing on standard output and nothing half-written.
  void expect_refused(const std::string& arguments, const std::vector<std::string>& mentioned) const {
    const ProgramResult result = surefoot(arguments + " --out refused");
    expect_complaint(result, arguments, mentioned);
    if (std::filesystem::exists(folder_ / "refused")) {
      EXPECT_TRUE(std::filesystem::is_empty(folder_ / "refused")) << arguments;
    }
  }
  static void expect_complaint(const ProgramResult& result, const std::string& arguments,
                               const std::vector<std::string>& mentioned) {
    EXPECT_EQ(result.code, 2) << arguments << "\n" << result.err;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << arguments << "\n" << result.err;
    for (const std::string& word : mentioned) {
      EXPECT_NE(result.err.find(word), std::string::npos)
          << arguments << " should mention '" << word << "': " << result.err;
    }
  }
};

TEST_F(Program, PrintsBoundsWith17Digits) {
  EXPECT_EQ(surefoot("bound kl-inverse --q 0 --c 0.1").out,
            fmt::format("{:.17g}\n", surefoot::bounds::kl_inverse(0, 0.1)));
  EXPECT_EQ(surefoot("bound rank --samples 1000 --quantile 0.9 --delta 0.0081").out, "923\n");
  EXPECT_EQ(surefoot("bound rank --samples 10 --quantile 0.9 --delta 0.0081").out, "0\n");
  EXPECT_EQ(surefoot("bound level --samples 1 --delta 0.05").out, "0.050000000000000003\n");
  const double level = std::stod(surefoot("bound level --samples 1000 --delta 0.01").out);
  EXPECT_LE(level, 0.00018516915443119112);
  EXPECT_NEAR(level, 0.00018516915443119112, 1e-13);
  const double anytime = std::stod(surefoot("bound anytime --failures 0 --samples 556 --delta 0.01").out);
  EXPECT_GE(anytime, 0.009997048699618795);
  EXPECT_NEAR(anytime, 0.009997048699618795, 1e-15);
  EXPECT_EQ(surefoot("bound shift --risk 0.01 --kl 0.02").out,
            fmt::format("{:.17g}\n",
                        surefoot::bounds::risk_under_shift(0.01, {surefoot::bounds::Divergence::kl, 0.02})));
  EXPECT_EQ(surefoot("bound shift --risk 0.5 --tv 0.75 --json").out,
            "{\"risk\":0.5,\"shift\":\"tv:0.75\",\"risk_under_shift\":1.0}\n");
  const double risk = std::stod(surefoot("bound risk --failures 0 --samples 1000 --delta 1e-4").out);
  EXPECT_NEAR(risk, 0.009168055107232425, 1e-15);
  const Json object =
      Json::parse(surefoot("bound risk --failures 3 --samples 10 --delta 0.1 --method kl --json").out);
  EXPECT_EQ(object.at("method"), "kl");
  EXPECT_GT(object.at("risk"), 0.3);
}

TEST_F(Program, CertifiesATableWithNothingButItsName) {
  write("results.csv", table(2000, 40, true));
  const ProgramResult result = surefoot("certify results.csv");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("With confidence 0.99"), std::string::npos);
  EXPECT_EQ(result.out.find('\033'), std::string::npos) << "control codes in a pipe";
  EXPECT_EQ(result.err, "");
  for (const char* file : {"certificate.json", "curves.csv", "report.html", "success.pdf", "quantiles.pdf"}) {
    EXPECT_GT(std::filesystem::file_size(folder_ / "surefoot-report" / file), 500U) << file;
  }
  EXPECT_EQ(surefoot("verify surefoot-report/certificate.json").code, 0);
  EXPECT_EQ(surefoot("verify surefoot-report/certificate.json --data results.csv").code, 0);
  const std::string page = slurp(folder_ / "surefoot-report" / "report.html");
  EXPECT_EQ(page.find("http://"), page.find("http://www.w3.org")) << "the page must not need the network";
}

TEST_F(Program, SaysUpToWhichIterationAClaimLasts) {
  write("results.csv", table(500, 40, true));
  const ProgramResult result = surefoot("certify results.csv --metric residual --out settled");
  ASSERT_EQ(result.code, 0) << result.err;
  const auto everywhere = [&](const std::string& folder) {
    return slurp(folder_ / folder / "report.html") + slurp(folder_ / folder / "tables/iterations.tex") +
           slurp(folder_ / folder / "tables/iterations.md");
  };
  const std::string out = unwrapped(result.out);
  EXPECT_NE(out.find("and stay below it (up to iteration 40)"), std::string::npos) << out;
  for (const char* file : {"report.html", "tables/iterations.tex", "tables/iterations.md"})
    EXPECT_NE(slurp(folder_ / "settled" / file).find("(up to iteration 40)"), std::string::npos) << file;
  EXPECT_EQ((out + everywhere("settled")).find("stay there"), std::string::npos);
  EXPECT_EQ((out + everywhere("settled")).find("fresh problem"), std::string::npos);
  EXPECT_NE(out.find("independent and identically distributed"), std::string::npos) << out;
}

TEST_F(Program, NeverSaysThatASingleColumnStays) {
  write(
      "last.csv", "k=40\n" + [] {
        std::string rows;
        for (std::uint64_t i = 0; i < 300; ++i) {
          surefoot::RandomStream random(1, "single column", i);
          rows += fmt::format("{}e-6\n", 300 * random.uniform());
        }
        return rows;
      }());
  const ProgramResult result = surefoot("certify last.csv --metric residual");
  ASSERT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.out.find("after 40 iterations"), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find(" stay"), std::string::npos) << result.out;
}

TEST_F(Program, GivesTheSameCertificateForEveryFormatOfATable) {
  write("results.csv", table(200, 20, false));
  ASSERT_EQ(shell("gzip -k results.csv").code, 0);
  ASSERT_EQ(surefoot("certify results.csv --out a").code, 0);
  ASSERT_EQ(surefoot("certify results.csv.gz --out b").code, 0);
  ASSERT_EQ(shell("$SUREFOOT certify - --names results --out c <results.csv").code, 0);
  ASSERT_EQ(surefoot("certify results.csv --threads 1 --out d").code, 0);
  const auto claims = [&](const char* out) {
    return Json::parse(slurp(folder_ / out / "certificate.json")).at("claims");
  };
  EXPECT_EQ(claims("a"), claims("b"));
  EXPECT_EQ(claims("a"), claims("c"));
  EXPECT_EQ(slurp(folder_ / "a" / "certificate.json"), slurp(folder_ / "d" / "certificate.json"));
}

TEST_F(Program, UnderstandsIndexColumnsAndNumberedSteps) {
  write("plain.csv", "k=5,k=10,k=15\n1,0.1,0.01\n2,0.2,0.02\n");
  write("indexed.csv", "instance,k=5,k=10,k=15\n0,1,0.1,0.01\n1,2,0.2,0.02\n");
  write("numbers.csv", "5,10,15\n1,0.1,0.01\n2,0.2,0.02\n");
  write("pandas.csv", ",5,10,15\n0,1,0.1,0.01\n1,2,0.2,0.02\n");
  for (const char* name : {"plain", "indexed", "numbers", "pandas"}) {
    const ProgramResult result = surefoot(fmt::format("certify {}.csv --out {}", name, name));
    ASSERT_EQ(result.code, 0) << result.err;
    const Json body = Json::parse(slurp(folder_ / name / "certificate.json"));
    EXPECT_EQ(body.at("declared").at("steps"), Json({5, 10, 15})) << name;
    EXPECT_EQ(body.at("variants").at(0).at("samples"), 2) << name;
    EXPECT_EQ(surefoot(fmt::format("verify {0}/certificate.json --data {0}.csv", name)).code, 0) << name;
  }
}

TEST_F(Program, DoesNotGuessStepsFromLabelsThatDoNotIncrease) {
  write("falling.csv", "k30,k20,k10\n1,0.1,0.01\n");
  write("words.csv", "early,middle,late\n1,0.1,0.01\n");
  expect_refused("certify falling.csv", {"falling.csv", "--first-step"});
  expect_refused("certify words.csv", {"words.csv", "--first-step"});
  EXPECT_EQ(surefoot("certify words.csv --first-step 0").code, 0);
  write("powers.csv", "1,10,100\n1,0.1,0.01\n2,0.2,0.02\n");
  expect_refused("certify powers.csv", {"powers.csv", "k=1, k=10", "--first-step"});
  write("powers.csv", "k=1,k=10,k=100\n1,0.1,0.01\n2,0.2,0.02\n");
  ASSERT_EQ(surefoot("certify powers.csv --out powers").code, 0);
  EXPECT_EQ(Json::parse(slurp(folder_ / "powers" / "certificate.json")).at("declared").at("steps"),
            Json({1, 10, 100}));
}

TEST_F(Program, CountsInfinitiesAndNanAsFailures) {
  write("results.csv", "0.1,0.01\n0.1,nan\ninf,0.001\n0.2,0.02\n");
  ASSERT_EQ(surefoot("certify results.csv --tolerances 0.5 --quantiles 0.5").code, 0);
  const Json body = Json::parse(slurp(folder_ / "surefoot-report" / "certificate.json"));
  EXPECT_EQ(body.at("variants").at(0).at("non_finite_runs"), 2);
  EXPECT_EQ(body.at("claims").at("success_rate").at(0).at("failures"), 1);
  EXPECT_EQ(body.at("claims").at("success_rate").at(1).at("failures"), 2) << "a diverged run stays failed";
}

TEST_F(Program, FindsChangedCertificatesAndData) {
  write("results.csv", table(300, 10, true));
  write("other.csv", table(300, 10, true, 2));
  ASSERT_EQ(surefoot("certify results.csv").code, 0);
  const ProgramResult other = surefoot("verify surefoot-report/certificate.json --data other.csv");
  EXPECT_EQ(other.code, 1);
  EXPECT_NE(other.out.find("NOT VERIFIED"), std::string::npos);
  ASSERT_EQ(
      shell("sed 's/\"failures\": 30/\"failures\": 20/' surefoot-report/certificate.json >changed.json").code,
      0);
  ASSERT_NE(slurp(folder_ / "changed.json"), slurp(folder_ / "surefoot-report" / "certificate.json"));
  EXPECT_EQ(surefoot("verify changed.json").code, 1);
}

TEST_F(Program, RefusesBadTables) {
  write("good.csv", table(20, 5, true));
  write("empty.csv", "");
  write("ragged.csv", "1,2,3\n1,2\n");
  write("words.csv", "1,2,3\n1,two,3\n");
  write("latin.csv", "1,2\n\xe9,2\n");
  write("header.csv", "a,b,c\n");
  write("truncated.npy", std::string("\x93NUMPY\x01\x00", 8));
  std::filesystem::create_directory(folder_ / "folder.csv");
  expect_refused("certify empty.csv", {"empty.csv"});
  expect_refused("certify ragged.csv", {"ragged.csv", "2", "3"});
  expect_refused("certify words.csv", {"words.csv", "2", "two"});
  expect_refused("certify latin.csv", {"latin.csv", "2"});
  expect_refused("certify header.csv", {"header.csv"});
  expect_refused("certify truncated.npy", {"truncated.npy"});
  expect_refused("certify missing.csv", {"missing.csv"});
  expect_refused("certify folder.csv", {"folder.csv"});
  expect_refused("certify good.csv empty.csv", {"empty.csv"});
  expect_refused("certify - -", {"standard input"});
}

TEST_F(Program, SuggestsWhatMayHaveBeenMeant) {
  expect_refused("certfy good.csv",
                 {"'certfy' is not a verb; known are ", "; did you mean certify?", "(see surefoot --help)"});
  expect_refused("run qpp folder",
                 {"'qpp' is not a verb; known are qp, cone, loop, family, command; did you mean qp?",
                  "(see surefoot run --help)"});
  expect_refused("certify good.csv --tolerance 0.1",
                 {"did you mean --tolerances?", "(see surefoot certify --help)"});
  expect_refused("run qp folder --iteratons=5",
                 {"did you mean --iterations?", "(see surefoot run qp --help)"});
  expect_refused("optimize", {"'optimize' is not a verb; known are "});
}

TEST_F(Program, RefusesBadOptions) {
  write("good.csv", table(20, 5, true));
  expect_refused("certify good.csv --confidence 1.5", {"1.5"});
  expect_refused("certify good.csv --confidence 0", {"confidence"});
  expect_refused("certify good.csv --tolerances 0.1,0.01", {"0.01", "increase"});
  expect_refused("certify good.csv --tolerances 0.1,abc", {"abc"});
  expect_refused("certify good.csv --tolerances nan", {"nan"});
  expect_refused("certify good.csv --quantiles 0.5,1.5", {"1.5"});
  expect_refused("certify good.csv --steps 99", {"99"});
  expect_refused("certify good.csv --steps 3,x", {"x"});
  expect_refused("certify good.csv --steps 1000000000000", {"1000000000000"});
  expect_refused("certify good.csv --threads 1000000000000", {"1000000000000"});
  expect_refused("certify good.csv --success-delta 0.2", {"overspend"});
  expect_refused("certify good.csv --risk-method best", {"best", "exact"});
  expect_refused("certify good.csv --claims none", {"none"});
  expect_refused("certify good.csv --names a,b", {"2", "1"});
  expect_refused("certify good.csv --nonsense", {"nonsense"});
  expect_refused("certify good.csv --success-delta 0", {"delta"});
  expect_refused("certify good.csv --tolerances ''", {"tolerances"});
  expect_refused("certify good.csv good.csv --names x,x", {"names"});
  expect_refused("certify good.csv --first-step 9223372036854775807", {"9223372036854775807"});
  EXPECT_EQ(surefoot("certify --tolerances 0.1 --names mine good.csv").code, 0)
      << "lists do not swallow the file";
  EXPECT_EQ(shell("$SUREFOOT bound kl-inverse --q 0.1 --c 0.1 >/dev/full").code, 4);
  expect_refused("certify", {"files"});
  for (const auto& [arguments, word] : std::vector<std::pair<std::string, std::string>>{
           {"bound risk --failures 11 --samples 10 --delta 0.1", "11"},
           {"bound risk --failures 1 --samples 10 --delta 1", "delta"},
           {"bound risk --failures 1 --samples 1000000000000 --delta 0.1", "1000000000000"},
           {"bound risk --failures 1 --samples 99999999999999999999 --delta 0.1", "99999999999999999999"},
           {"bound risk --failures -1 --samples 10 --delta 0.1", "-1"},
           {"bound kl-inverse --q 2 --c 1", "2"},
           {"bound kl-inverse --q 0.5 --c nan", "nan"},
           {"bound rank --samples 10 --quantile 1 --delta 0.1", "quantile"},
           {"bound level --samples 0 --delta 0.1", "samples: 0"},
           {"bound level --samples 10 --delta nan", "nan"},
           {"bound anytime --failures 3 --samples 2 --delta 0.1", "failures: 3"},
           {"bound shift --risk 0.1", "give one of"},
           {"bound shift --risk 0.1 --kl 0.1 --tv 0.1", "give one of"},
           {"bound shift --risk 0.1 --kl -0.5", "kl -0.5"},
           {"bound shift --risk 2 --kl 0.5", "risk: 2"},
           {"bound shift --risk 0.1 --ratio 0.5", "0.5 is less than 1"},
           {"plan --share 1", "share: 1"},
           {"plan --confidence 2", "2"},
           {"plan --expected -1", "-1"},
           {"verify missing.json", "missing.json"},
           {"verify good.csv", "JSON"},
           {"nonsense", "nonsense"},
           {"", "ubcommand"}}) {
    expect_complaint(surefoot(arguments), arguments, {word});
  }
}

TEST_F(Program, RefusesAnOutputFolderItCannotWrite) {
  write("good.csv", table(20, 5, true));
  write("file", "");
  expect_complaint(surefoot("certify good.csv --out file"), "out is a file", {"file"});
  expect_complaint(surefoot("certify good.csv --out file/below"), "out below a file", {"file"});
  expect_complaint(surefoot("certify good.csv --out /proc/nothing"), "read-only", {"/proc/nothing"});
}

TEST_F(Program, HelpHasExamplesThatWork) {
  write("results.csv", table(60, 20, true));
  write("cold.csv", table(60, 20, true, 2));
  write("warm.csv", table(60, 20, true, 3));
  ASSERT_EQ(surefoot("certify results.csv").code, 0);
  for (const char* verb : {"", "certify", "verify", "ask", "bound", "bound kl-inverse", "bound risk",
                           "bound rank", "bound level", "bound anytime", "bound shift", "plan"}) {
    const ProgramResult help = surefoot(std::string(verb) + " --help");
    ASSERT_EQ(help.code, 0) << verb;
    ASSERT_EQ(surefoot("certify results.csv").code, 0);  // what the examples speak of
    const std::size_t at = help.out.find("Example: surefoot ");
    ASSERT_NE(at, std::string::npos) << verb;
    const std::string line = help.out.substr(at + 18, help.out.find('\n', at) - at - 18);
    const ProgramResult result = surefoot(line);
    EXPECT_EQ(result.code, 0) << line << "\n" << result.err;
  }
  EXPECT_EQ(surefoot("--version").out, std::string(surefoot::version) + "\n");
}

TEST_F(Program, ComparesTablesOfTheSameProblems) {
  const std::string cold = SUREFOOT_SOURCE_DIR "/examples/traces/osqp_mpc_cold.csv.gz ";
  const std::string warm = SUREFOOT_SOURCE_DIR "/examples/traces/osqp_mpc_warm.csv.gz ";
  const std::string claim = "--paired --claim 'below 1e-2 after 30' ";
  const ProgramResult better = surefoot("compare " + cold + warm + claim + "--names cold,warm");
  EXPECT_EQ(better.code, 0) << better.err;
  EXPECT_TRUE(surefoot::test::contains(
      better.out, "below 1e-2 after 30: the success rate of warm is higher than that of cold by at least "))
      << better.out;
  const std::string files = "--allow 0.01 --junit junit.xml --markdown summary.md ";
  EXPECT_EQ(surefoot("compare " + cold + warm + claim + files).code, 0);
  EXPECT_TRUE(
      surefoot::test::contains(slurp(folder_ / "junit.xml"), "failures=\"0\" errors=\"0\" skipped=\"0\""));
  EXPECT_EQ(surefoot("compare " + warm + cold + claim + files).code, 1);
  EXPECT_TRUE(surefoot::test::contains(slurp(folder_ / "junit.xml"), "failures=\"1\""));
  EXPECT_TRUE(surefoot::test::contains(slurp(folder_ / "summary.md"), "| below 1e-2 after 30 | 52 | 0 |"));
  const ProgramResult open =
      surefoot("compare " + warm + cold + "--paired --claim 'below 1e-3 after 100' --allow 0.015");
  EXPECT_EQ(open.code, 3);
  EXPECT_TRUE(surefoot::test::contains(open.out, "would decide")) << open.out;
  EXPECT_EQ(surefoot("compare " + cold + cold + "--paired --names a,b").code, 3) << "nothing differs";
  const ProgramResult everything = surefoot("compare " + cold + warm + "--paired --names cold,warm");
  EXPECT_EQ(everything.code, 0) << everything.err;
  EXPECT_TRUE(surefoot::test::contains(everything.out, "times the iterations of cold until it stays below"));

  write("short.csv", table(50, 20, true));
  write("other.csv", table(60, 20, true, 2));
  expect_complaint(surefoot("compare short.csv other.csv --paired --claim 'below 1 after 3'"), "rows",
                   {"short has 50 problems and other has 60"});
  for (const auto& [options, word] : std::vector<std::pair<std::string, std::string>>{
           {"--paired --claim 'below 1 after 999'", "999"},
           {"--paired --claim '50% below 1 after 3'", "has a share"},
           {"--paired --claim 'below 1'", "'after K' or 'within K'"},
           {"--paired --allow 0.1", "--claim"},
           {"--paired --claim 'below 1 after 3' --allow -0.1", "-0.1"},
           {"--paired --out folder", "--out"},
           {"--paired --junit x.xml", "--junit"},
           {"--paired --scalar", "20 variants"},
           {"--paired --group flight", "flight"},
           {"--paired --scalar --tolerances 1", "tolerances"},
           {"--paired --rank 'below 1 after 3'", "--rank"},
           {"--anytime", "--paired"},
           {"--record x.json", "--paired"},
           {"--allow 0.1", "--paired"}})
    expect_complaint(surefoot("compare short.csv short.csv --names a,b " + options), options, {word});
  expect_complaint(surefoot("compare short.csv --paired"), "one file", {"1 file is given"});
  expect_complaint(surefoot("compare short.csv"), "one file", {"1 file is given"});
  EXPECT_EQ(surefoot("compare short.csv short.csv --names a,b --paired --memory-limit 1M").code, 4);
}

TEST_F(Program, RecordsPairsThatVerifyComputesAgain) {
  const std::string cold = SUREFOOT_SOURCE_DIR "/examples/traces/osqp_mpc_cold.csv.gz ";
  const std::string warm = SUREFOOT_SOURCE_DIR "/examples/traces/osqp_mpc_warm.csv.gz ";
  ASSERT_EQ(
      surefoot("compare " + cold + warm + "--paired --names cold,warm --anytime --record pairs.json").code,
      0);
  const ProgramResult verified = surefoot("verify pairs.json --data " + cold + warm);
  EXPECT_EQ(verified.code, 0) << verified.out;
  EXPECT_TRUE(surefoot::test::contains(verified.out, "times the iterations of cold until it stays below"));
  EXPECT_EQ(surefoot("verify pairs.json --data " + warm + cold).code, 1) << "each counts for the other";
  EXPECT_EQ(surefoot("verify pairs.json --rerun").code, 2);
  std::string text = slurp(folder_ / "pairs.json");
  text.replace(text.find("\"both\": ") + 8, 1, "9");
  write("forged.json", text);
  EXPECT_EQ(surefoot("verify forged.json").code, 1);
}

TEST_F(Program, PairsScalarsGroupsAndProblemsByName) {
  std::string old_times = "time (s)\n";
  std::string new_times = "time (s)\n";
  std::string lines = "problem,solver,time\n";
  std::string old_ticks = "flight,k=1,k=2\n";
  std::string new_ticks = "flight,k=1,k=2\n";
  for (int i = 0; i < 300; ++i) {
    surefoot::RandomStream random(7, "paired scalars", static_cast<std::uint64_t>(i));
    const double time = std::exp(random.normal());
    old_times += fmt::format("{:.17g}\n", time);
    new_times += fmt::format("{:.17g}\n", 0.5 * time);
    // Problems come in another order for the other solver, and so do groups.
    lines += fmt::format("p{},x,{:.17g}\np{},y,{:.17g}\n", i, time, 299 - i, 0.25);
    old_ticks += fmt::format("f{},{:.17g},{:.17g}\nf{},0.001,0.001\n", i, time, 0.1 * time, i);
    new_ticks += fmt::format("f{},{:.17g},{:.17g}\n", 299 - i, 0.5, 1e-4 * (1 + random.uniform()));
  }
  write("old.csv", old_times);
  write("new.csv", new_times);
  const ProgramResult scalars =
      surefoot("compare old.csv new.csv --paired --scalar --claim 'at most 1' --record pairs.json");
  EXPECT_EQ(scalars.code, 0) << scalars.err;
  EXPECT_TRUE(surefoot::test::contains(
      scalars.out, "on at least 90 % of problems new takes at most 0.501 times the time of old"))
      << scalars.out;
  EXPECT_EQ(surefoot("verify pairs.json").code, 0);
  write("results.csv", lines);
  const std::string text = "compare results.csv --paired --value time --variants solver --rows problem ";
  const ProgramResult by_name = surefoot(text + "--claim 'at most 0.5'");
  EXPECT_EQ(by_name.code, 0) << by_name.err;
  EXPECT_TRUE(surefoot::test::contains(by_name.out, "the success rate of y is higher than that of x"))
      << by_name.out;
  expect_complaint(surefoot(text + "--names x,z"), "names", {"'z' is not one of x, y"});
  expect_complaint(surefoot("compare results.csv --paired --value time --variants solver --rows line"),
                   "rows", {"--rows"});
  write("old_ticks.csv", old_ticks);
  write("new_ticks.csv", new_ticks);
  const std::string groups =
      "compare old_ticks.csv new_ticks.csv --paired --group flight --claim 'below 0.01 after 2' ";
  const ProgramResult of_groups = surefoot(groups);
  EXPECT_EQ(of_groups.code, 0) << of_groups.err;
  EXPECT_TRUE(surefoot::test::contains(of_groups.out, "old_ticks and new_ticks on the same 300 problems"));
  write("new_ticks.csv", new_ticks + "another,1,1\n");
  expect_complaint(surefoot(groups), "groups", {"has no group 'another'"});
}

TEST_F(Program, ClaimsMeansOfAMetricWithARange) {
  write("a.csv", table(400, 20, true));
  const std::string command = "certify a.csv --metric residual --tolerances 0.5,1 --steps 10,20 ";
  const ProgramResult made = surefoot(command + "--range 0,1e4 --thresholds 1,10 --cvar 0.8 --out a");
  ASSERT_EQ(made.code, 0) << made.err;
  EXPECT_TRUE(surefoot::test::contains(unwrapped(made.out), "on average over new problems")) << made.out;
  EXPECT_TRUE(surefoot::test::contains(slurp(folder_ / "a/report.html"), "Mean and tail"));
  EXPECT_EQ(surefoot("verify a --data a.csv").code, 0);
  const Json certificate = Json::parse(slurp(folder_ / "a/certificate.json"));
  EXPECT_EQ(certificate["range"]["thresholds"], (Json{0.0, 1.0, 10.0}));
  EXPECT_EQ(certificate["claims"]["mean_excess"].size(), 6U);
  for (const auto& [options, word] : std::vector<std::pair<std::string, std::string>>{
           {"--range 0,1e-9", "row 1 of a is"},
           {"--range 0", "--range"},
           {"--range 1,2", "--range"},
           {"--range 0,x", "--range"},
           {"--range 0,-1", "range"},
           {"--range 0,1e4 --thresholds 1e5", "thresholds"},
           {"--range 0,1e4 --cvar 1.5", "cvar"},
           {"--claims mean", "--range"},
           {"--cvar 0.9", "range"},
           {"--range worst-case", "--worst-case"},
           {"--range worst-case --worst-case averaged:0.5 --estimated-dist0 9", "--dist0"},
           {"--range 0,1e4 --sequence", "range"}})
    expect_complaint(surefoot(command + options), options, {word});
  const ProgramResult proven =
      surefoot(command + "--range worst-case --worst-case averaged:0.5 --dist0 1e3 --out proven");
  ASSERT_EQ(proven.code, 0) << proven.err;
  EXPECT_TRUE(
      surefoot::test::contains(slurp(folder_ / "proven/certificate.json"), "as the worst case proves"));
  EXPECT_EQ(surefoot("verify proven --data a.csv").code, 0);
}

TEST_F(Program, RanksVariantsAndComparesBudgetsAlone) {
  const std::string cold = SUREFOOT_SOURCE_DIR "/examples/traces/osqp_mpc_cold.csv.gz ";
  const std::string warm = SUREFOOT_SOURCE_DIR "/examples/traces/osqp_mpc_warm.csv.gz ";
  ASSERT_EQ(
      surefoot("certify " + cold + warm + "--names cold,warm --tolerances 1e-2 --steps 30 --out two").code,
      0);
  const ProgramResult ranked = surefoot("compare two/certificate.json --rank 'below 1e-2 after 30'");
  EXPECT_EQ(ranked.code, 0) << ranked.err;
  EXPECT_TRUE(surefoot::test::contains(ranked.out, "warm is the best.")) << ranked.out;
  const ProgramResult page = surefoot(
      "compare two/certificate.json --rank 'below 1e-2 after 30' --rank '50% below 1e-2' --out ranked");
  EXPECT_NE(page.out.find("Written to ranked: report.html"), std::string::npos) << page.err;
  EXPECT_NE(slurp(folder_ / "ranked/report.html").find("is the best."), std::string::npos);
  EXPECT_EQ(nlohmann::json::parse(slurp(folder_ / "ranked/ranking.json")).at("rankings").size(), 2U);
  for (const char* file : {"tables/ranking_1.md", "tables/ranking_2.tex", "manifest.json"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / "ranked" / file)) << file;
  expect_complaint(surefoot("compare two/certificate.json --rank 'below 1 after 2'"), "rank",
                   {"no success rate"});
  expect_complaint(surefoot("compare two/certificate.json two/certificate.json --rank 'below 1e-2 after 30'"),
                   "twice", {"one and the same certificate"});
  for (const auto& [name, table] : {std::pair("cold", cold), std::pair("warm", warm)})
    ASSERT_EQ(surefoot(fmt::format("certify {} --names {} --claims budget --choose before --out {}", table,
                                   name, name))
                  .code,
              0);
  const ProgramResult compared = surefoot("compare cold/certificate.json warm/certificate.json");
  EXPECT_EQ(compared.code, 0) << compared.err;
  EXPECT_TRUE(
      surefoot::test::contains(unwrapped(compared.out), "warm needs fewer iterations than cold until"));
}

TEST_F(Program, StatesClaimsUnderOtherDistributions) {
  write("a.csv", table(400, 20, true));
  const std::string command = "certify a.csv --metric residual --tolerances 0.5,1 --steps 10,20 ";
  ASSERT_EQ(surefoot(command + "--out plain").code, 0);
  const ProgramResult made = surefoot(command + "--shift kl:0.02 --out a");
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string words = "under any distribution within KL 0.02 of the one the problems were drawn from";
  EXPECT_TRUE(surefoot::test::contains(unwrapped(made.out), words)) << made.out;
  EXPECT_TRUE(surefoot::test::contains(slurp(folder_ / "a/report.html"), words));
  EXPECT_EQ(surefoot("verify a --data a.csv").code, 0);
  const Json certificate = Json::parse(slurp(folder_ / "a/certificate.json"));
  EXPECT_EQ(certificate["shift"], (Json{{"divergence", "kl"}, {"radius", 0.02}}));
  for (const Json& claim : certificate["claims"]["iteration_budget"])
    EXPECT_EQ(claim["under_shift"].get<double>(),
              surefoot::bounds::share_under_shift(claim["quantile"].get<double>(),
                                                  {surefoot::bounds::Divergence::kl, 0.02}));
  // What holds under the distribution of the samples stays as it is.
  const Json plain = Json::parse(slurp(folder_ / "plain/certificate.json"));
  EXPECT_EQ(plain["claims"]["success_rate"][0]["lower_bound"],
            certificate["claims"]["success_rate"][0]["lower_bound"]);
  const ProgramResult tolerated = surefoot("ask plain/certificate.json --tolerate 0.4");
  EXPECT_EQ(tolerated.code, 0);
  EXPECT_TRUE(tolerated.out.starts_with("If 40 % of problems is enough, these hold also")) << tolerated.out;
  EXPECT_EQ(surefoot("ask plain/certificate.json --tolerate 0.9999").code, 1);
  EXPECT_EQ(surefoot("ask plain/certificate.json --tolerate 0.3 --claim '50% at most 100 within 10'").code,
            0);
  expect_complaint(surefoot("ask plain/certificate.json"), "ask", {"--claim or --tolerate"});
  expect_complaint(surefoot("ask plain/certificate.json --tolerate 1"), "ask", {"share of 1"});
  expect_complaint(surefoot("ask plain/certificate.json --tolerate 0.5 --variant b"), "ask", {"'b'"});
  for (const char* bad : {"kl:-0.1", "kl:inf", "kl", "w:1", "tv:2", "ratio:0.5"})
    expect_complaint(surefoot(command + "--shift " + bad), "shift", {"shift"});
  expect_complaint(surefoot("certify a.csv --choose after --shift kl:0.1"), "shift", {"'before' or 'both'"});
}

TEST_F(Program, AnswersWhatIsAskedAfterLooking) {
  write("a.csv", table(400, 20, true));
  ASSERT_EQ(surefoot("certify a.csv --metric residual --out a").code, 0);
  const ProgramResult yes = surefoot("ask a/certificate.json --claim '50% at most 100 within 3'");
  EXPECT_EQ(yes.code, 0) << yes.err;
  EXPECT_TRUE(yes.out.starts_with(
      "With confidence 0.99, the residual of at least 50 % of new problems is at or below 100 "
      "after 3 iterations and stays there (up to iteration 20).\n  proof: "))
      << yes.out;
  const ProgramResult no = surefoot("ask a/certificate.json --claim '99.99% below 1e-30 after 3'");
  EXPECT_EQ(no.code, 1);
  EXPECT_TRUE(no.out.starts_with("not certified: 99.99% below 1e-30 after 3\n")) << no.out;
  expect_complaint(surefoot("ask a/certificate.json --claim '50% belwo 1'"), "ask", {"word 3", "'belwo'"});
  expect_complaint(surefoot("ask a/certificate.json --claim '50% below 1' --variant b"), "ask", {"'b'"});
  ASSERT_EQ(surefoot("certify a.csv --simultaneous each --out each").code, 0);
  expect_complaint(surefoot("ask each/certificate.json --claim '50% below 1'"), "ask", {"holds alone"});
  expect_complaint(surefoot("certify a.csv --choose after --simultaneous each"), "choose",
                   {"'after'", "simultaneous"});
  expect_complaint(surefoot("certify a.csv --choose never"), "choose", {"'never'", "both, before, after"});
  ASSERT_EQ(surefoot("certify a.csv --choose after --out after").code, 0);
  EXPECT_EQ(surefoot("verify after/certificate.json --data a.csv").code, 0);
  EXPECT_EQ(surefoot("verify a/certificate.json --data a.csv").code, 0);
}

// Bands cost little of what is declared, and little room.
TEST_F(Program, BandsRaiseDeclaredBudgetsByAtMostThreePercentOrOneIteration) {
  const std::string traces = std::string(SUREFOOT_SOURCE_DIR) + "/examples/traces/";
  const std::string certify =
      "certify " + traces + "osqp_mpc_cold.csv.gz " + traces + "osqp_mpc_warm.csv.gz --out ";
  ASSERT_EQ(surefoot(certify + "before --choose before").code, 0);
  ASSERT_EQ(surefoot(certify + "both").code, 0);
  const Json before =
      Json::parse(slurp(folder_ / "before/certificate.json")).at("claims").at("iteration_budget");
  const std::string text = slurp(folder_ / "both/certificate.json");
  const Json both = Json::parse(text).at("claims").at("iteration_budget");
  ASSERT_EQ(before.size(), both.size());
  int compared = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    if (before[i].at("steps").is_null()) continue;
    ASSERT_FALSE(both[i].at("steps").is_null()) << both[i].dump();
    const double steps = before[i].at("steps");
    EXPECT_LE(both[i].at("steps").get<double>(), std::max(1.03 * steps, steps + 1)) << both[i].dump();
    ++compared;
  }
  EXPECT_GT(compared, 12);
  EXPECT_LT(text.size() - slurp(folder_ / "before/certificate.json").size(), 2'000'000U);  // two variants
}

TEST_F(Program, CertificateFitsItsSchema) {
  if (shell("/usr/bin/python3 -c 'import jsonschema'").code != 0)
    GTEST_SKIP() << "python3-jsonschema is not installed";
  write("a.csv", table(60, 20, true));
  write("b.csv", "0.5,2\nnan,inf\n");
  ASSERT_EQ(surefoot("certify a.csv --out a").code, 0);
  ASSERT_EQ(
      surefoot("certify a.csv b.csv --quantile-method grid --budget-method paper --simultaneous each --out b")
          .code,
      0);
  for (const char* out : {"a", "b"}) {
    const ProgramResult result =
        shell(fmt::format("/usr/bin/python3 -c \"import json, jsonschema; "
                          "jsonschema.validate(json.load(open('{}/certificate.json')), "
                          "json.load(open('{}/schema/certificate.schema.json')))\"",
                          out, SUREFOOT_SOURCE_DIR));
    EXPECT_EQ(result.code, 0) << result.err;
  }
}

TEST_F(Program, WorksWithoutGnuplot) {
  write("results.csv", table(60, 20, true));
  const ProgramResult result = shell("PATH=/nonexistent $SUREFOOT certify results.csv");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_NE(result.err.find("gnuplot"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(folder_ / "surefoot-report" / "report.html"));
}

// --paired compares the variants of a certificate problem by problem, and verify of the folder checks it.
TEST_F(Program, CertifiesVariantsAndComparesThemProblemByProblem) {
  const std::string traces = SUREFOOT_SOURCE_DIR "/examples/traces/osqp_mpc_";
  const std::string two = traces + "cold.csv.gz " + traces + "warm.csv.gz ";
  const std::string declared = "--names cold,warm --tolerances 1e-2 --steps 30,60 --quantiles 0.9 ";
  const ProgramResult plain = surefoot("certify " + two + declared + "--out plain");
  ASSERT_EQ(plain.code, 0) << plain.err;
  // Without it, the exact command is named, and it works.
  const std::string asked = "The same problems in both?  ";
  const std::size_t at = plain.out.find(asked);
  ASSERT_NE(at, std::string::npos) << plain.out;
  const std::size_t begin = at + asked.size();
  const std::string command = plain.out.substr(begin, plain.out.find('\n', begin) - begin);
  EXPECT_EQ(command, "surefoot compare " + two + "--paired --names 'cold,warm' --tolerances 0.01");
  EXPECT_EQ(shell("$SUREFOOT" + command.substr(std::string("surefoot").size())).code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "plain/paired.json"));

  const ProgramResult paired = surefoot("certify " + two + declared + "--paired --out paired");
  ASSERT_EQ(paired.code, 0) << paired.err;
  EXPECT_EQ(paired.out.find(asked), std::string::npos);
  for (const char* part :
       {"this comparison has a confidence of its own, 0.99, beside that of the certificate",
        "all of both holds together with confidence 0.98", "cold and warm on the same 1,000 problems",
        "below 1e-2 after 30: the success rate of warm is higher than that of cold"})
    EXPECT_NE(paired.out.find(part), std::string::npos) << part << "\n" << paired.out;
  EXPECT_EQ(slurp(folder_ / "paired/certificate.json"), slurp(folder_ / "plain/certificate.json"));
  EXPECT_NE(slurp(folder_ / "paired/paired.md").find("## Problem by problem"), std::string::npos);
  // The record is that of compare with the same declarations.
  ASSERT_EQ(surefoot("compare " + two +
                     "--paired --names cold,warm --tolerances 1e-2 --claim 'below 1e-2 after 30' --claim "
                     "'below 1e-2 after 60' --record record.json")
                .code,
            0);
  EXPECT_EQ(slurp(folder_ / "paired/paired.json"), slurp(folder_ / "record.json"));
  const ProgramResult good = surefoot("verify paired");
  EXPECT_EQ(good.code, 0) << good.out;
  EXPECT_NE(good.out.find("paired.json: cold and warm on the same 1000 problems: holds as recomputed"),
            std::string::npos)
      << good.out;
  const ProgramResult counted = surefoot("verify paired --data " + two);
  EXPECT_EQ(counted.code, 0) << counted.out << counted.err;
  EXPECT_NE(counted.out.find("holds as recounted from the data"), std::string::npos) << counted.out;
  std::string forged = slurp(folder_ / "paired/paired.json");
  const std::size_t count = forged.find("\"second_only\": ");
  ASSERT_NE(count, std::string::npos);
  forged.insert(count + 15, "1");
  write("paired/paired.json", forged);
  const ProgramResult bad = surefoot("verify paired");
  EXPECT_EQ(bad.code, 1) << bad.out;
  EXPECT_NE(bad.out.find("paired.json: cold and warm"), std::string::npos);
  EXPECT_NE(bad.out.find("NOT VERIFIED"), std::string::npos);
  // The next certificate in the folder takes away what is not its own.
  ASSERT_EQ(surefoot("certify " + two + declared + "--out paired").code, 0);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "paired/paired.json"));
}

TEST_F(Program, ComparesSeveralVariantsWithTheFirst) {
  write("a.csv", table(300, 20, true));
  write("b.csv", table(300, 20, true, 1, 0.5));
  write("c.csv", table(300, 20, true, 1, 0.8));
  const ProgramResult three =
      surefoot("certify a.csv b.csv c.csv --paired --tolerances 1e-2 --steps 10 --out three");
  ASSERT_EQ(three.code, 0) << three.err;
  EXPECT_NE(three.out.find("these comparisons have a confidence of their own, 0.99 all together"),
            std::string::npos)
      << three.out;
  for (const char* name : {"paired_1.json", "paired_2.json"}) {
    const auto record = nlohmann::json::parse(slurp(folder_ / "three" / name));
    EXPECT_EQ(record.at("first"), "a");
    EXPECT_DOUBLE_EQ(record.at("delta").get<double>(), 0.005);
  }
  EXPECT_EQ(surefoot("verify three").code, 0);
  // Both variants in one table of text, by the names of its problems.
  std::string rows = "problem,solver,time\n";
  for (int i = 0; i < 120; ++i) {
    surefoot::RandomStream random(8, "variants of one table", static_cast<std::uint64_t>(i));
    const double time = random.uniform(1, 5);
    rows += fmt::format("p{0},old,{1}\np{0},new,{2}\n", i, time, 0.7 * time);
  }
  write("results.csv", rows);
  const std::string text =
      "certify results.csv --value time --variants solver --rows problem --tolerances 2 ";
  const ProgramResult hint = surefoot(text + "--out hint");
  EXPECT_NE(
      hint.out.find("surefoot compare results.csv --paired --names 'old,new' --value time --variants solver "
                    "--rows problem\n"),
      std::string::npos)
      << hint.out;
  const ProgramResult named = surefoot(text + "--paired --out named");
  ASSERT_EQ(named.code, 0) << named.err;
  EXPECT_NE(named.out.find("new takes strictly less"), std::string::npos) << named.out;
  EXPECT_NE(named.out.find("at most 2"), std::string::npos);
  EXPECT_EQ(surefoot("verify named").code, 0);

  write("short.csv", table(200, 20, true));
  expect_complaint(surefoot("certify a.csv short.csv --paired --quantiles 0.5"), "rows", {"problems"});
  EXPECT_EQ(surefoot("certify a.csv short.csv --out other").out.find("The same problems"), std::string::npos);
  expect_complaint(surefoot("certify a.csv --paired"), "one", {"there is one variant"});
  expect_complaint(surefoot("certify a.csv - --paired"), "input", {"standard input"});
  expect_complaint(surefoot("certify a.csv b.csv --paired --allow-dependence"), "dependence",
                   {"--paired: cannot stand beside --allow-dependence"});
}

TEST_F(Program, ComparesTwoCertificates) {
  write("slow.csv", table(800, 20, true));
  write("fast.csv", table(800, 20, true, 2, 0.5));
  ASSERT_EQ(surefoot("certify slow.csv --names solver --metric residual --out slow").code, 0);
  ASSERT_EQ(surefoot("certify fast.csv --names solver --metric residual --out fast").code, 0);
  const ProgramResult text = surefoot("compare slow/certificate.json fast/certificate.json --out both");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("With confidence 0.97, all of these hold together"), std::string::npos) << text.out;
  const std::string slow = "solver (slow/certificate.json)";
  const std::string fast = "solver (fast/certificate.json)";
  const std::string needs = " needs fewer iterations than ";
  EXPECT_NE(unwrapped(text.out).find(fast + needs + slow), std::string::npos) << text.out;
  EXPECT_EQ(unwrapped(text.out).find(slow + needs + fast), std::string::npos) << text.out;
  for (const char* file :
       {"report.html", "comparison.json", "tables/compared_iterations.tex", "tables/compared_success.md"})
    EXPECT_TRUE(std::filesystem::exists(folder_ / "both" / file)) << file;
  const ProgramResult json = surefoot("compare slow/certificate.json fast/certificate.json --json");
  EXPECT_EQ(json.out, slurp(folder_ / "both" / "comparison.json"));
  const Json comparison = Json::parse(json.out);
  EXPECT_NEAR(comparison.at("confidence").at("delta").get<double>(), 0.03, 1e-12);
  int better = 0;
  for (const Json& cell : comparison.at("pairs").at(0).at("success")) {
    if (cell.at("better") != "B") continue;
    ++better;
    EXPECT_GT(cell.at("b").at("at_least").get<double>(), cell.at("a").at("at_most").get<double>());
  }
  EXPECT_GT(better, 0);
}

TEST_F(Program, RefusesToCompareWhatIsNoCertificate) {
  write("table.csv", table(50, 5, true));
  ASSERT_EQ(surefoot("certify table.csv --out a").code, 0);
  ASSERT_EQ(surefoot("certify table.csv --metric distance --out b").code, 0);
  write("forged.json", shell("sed 's/\"failures\": 50/\"failures\": 0/' a/certificate.json").out);
  write("broken.json", "{\"surefoot_certificate\": 1");
  const std::string a = "compare a/certificate.json ";
  expect_refused(a + "b/certificate.json", {"different metrics", "'metric'", "'distance'"});
  expect_refused(a + "missing.json", {"missing.json"});
  expect_refused(a + "broken.json", {"broken.json"});
  const ProgramResult forged = surefoot(a + "forged.json");
  EXPECT_EQ(forged.code, 1) << "refuted, not refused";
  EXPECT_NE(forged.err.find("forged.json: this certificate does not hold"), std::string::npos) << forged.err;
  expect_refused(a + "a/certificate.json", {"same certificate", "table"});
  expect_refused(a + "table.csv", {"table.csv"});
  expect_refused(a + "b/certificate.json --variants table", {"--variants", "comma"});
  expect_refused(a + "b/certificate.json --delta 2", {"outside (0, 1)"});
}

/// Cells of a row of a Markdown table, without backquotes.
std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells;
  for (const char letter : line) {
    if (letter == '|') {
      cells.emplace_back();
    } else if (letter != '`' && !cells.empty()) {
      cells.back() += letter;
    }
  }
  for (std::string& cell : cells) {
    cell.erase(0, cell.find_first_not_of(' '));
    cell.erase(cell.find_last_not_of(' ') + 1);
  }
  return cells;
}

TEST_F(Program, DocumentedDefaultsAreThoseOfTheHelp) {
  const std::string page = slurp(std::string(SUREFOOT_SOURCE_DIR) + "/docs/reference_verbs.md");
  std::istringstream lines(page.substr(page.find("## Defaults")));
  std::size_t compared = 0;
  for (std::string line; std::getline(lines, line) && line.rfind("## All", 0) != 0;) {
    const std::vector<std::string> cells = cells_of(line);
    if (cells.size() < 3 || cells[0].rfind("--", 0) != 0 || cells[0][2] == '-') continue;
    std::istringstream verbs(cells[2]);
    for (std::string verb; std::getline(verbs, verb, ',');) {
      const ProgramResult help = surefoot(verb + " --help");
      ASSERT_EQ(help.code, 0) << verb;
      const std::size_t at = help.out.find("\n  " + cells[0] + " ");
      ASSERT_NE(at, std::string::npos) << verb << cells[0];
      const std::string entry = help.out.substr(at, help.out.find("\n  --", at + 3) - at);
      const std::size_t value = entry.find("=" + cells[1]);
      ASSERT_NE(value, std::string::npos) << verb << entry;
      const char next = entry.at(value + 1 + cells[1].size());
      EXPECT_TRUE(next == ' ' || next == '\n') << verb << entry;
      ++compared;
    }
  }
  EXPECT_GT(compared, 30U);
}

TEST_F(Program, TheDocumentedExperimentsAreThoseOfTheHelp) {
  const std::string page = slurp(std::string(SUREFOOT_SOURCE_DIR) + "/docs/reference_verbs.md");
  const std::string begin = "`reproduce all` runs ";
  const std::size_t at = page.find(begin) + begin.size();
  std::string names = page.substr(at, page.find(", each", at) - at);
  names.replace(names.find(" and "), 5, ", ");
  EXPECT_NE(unwrapped(surefoot("reproduce --help").out).find(names + " or all"), std::string::npos) << names;
}

}  // namespace
