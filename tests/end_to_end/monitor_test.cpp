// A certificate in service, through the program: streams, states, kills, metrics, pages, constants for C.
#include "surefoot/core/random.hpp"

#include "support/contains.hpp"
#include "support/program.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <sstream>
#include <string>
#include <vector>

namespace {

using surefoot::test::contains;
using surefoot::testing::ProgramResult;
using surefoot::testing::ProgramTest;
using surefoot::testing::slurp;
using Json = nlohmann::json;

class Monitor : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    std::string table = "k=1,k=2\n";
    surefoot::RandomStream random(1, "monitor test", 0);
    for (int i = 0; i < 1000; ++i) table += fmt::format("3,{:.9g}\n", random.uniform());
    write("good.csv", table);
    ASSERT_EQ(surefoot("certify good.csv --tolerances 1,2 --metric residual --out made").code, 0);
  }

  /// `solves` values below 1, and from solve `change` on every fifth is 1.5.
  static std::string stream(int solves, int change, std::uint64_t seed = 0) {
    surefoot::RandomStream random(2, "monitor stream", seed);
    std::string text;
    for (int t = 1; t <= solves; ++t)
      text += t >= change && random.uniform() < 0.2 ? "1.5\n" : fmt::format("{:.9g}\n", random.uniform());
    return text;
  }
  static std::vector<Json> events(const std::string& text) {
    std::vector<Json> all;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) all.push_back(Json::parse(line));
    return all;
  }
  [[nodiscard]] ProgramResult monitor(const std::string& arguments) const {
    return surefoot("monitor made/certificate.json " + arguments);
  }
};

TEST_F(Monitor, EndsWithZeroWithoutAnAlarmAndWithOneAtTheFirst) {
  write("good.txt", stream(3000, 4000));
  write("bad.txt", stream(3000, 2000));
  const ProgramResult good = monitor("< good.txt");
  EXPECT_EQ(good.code, 0) << good.err;
  EXPECT_EQ(good.err, "");
  EXPECT_TRUE(
      contains(good.out, "Watching the residual of good:\n  - below 1 after 2 (certified failure rate"));
  EXPECT_TRUE(contains(good.out, "the mean number of solves to an alarm is at least 1e6"));
  EXPECT_TRUE(contains(good.out, "does not promise"));
  EXPECT_TRUE(contains(good.out, "End of the stream: 3,000 solves, no alarm"));
  const ProgramResult bad = monitor("< bad.txt");
  EXPECT_EQ(bad.code, 1);
  EXPECT_TRUE(contains(bad.out, "\nALARM at solve 2,0"));
  EXPECT_TRUE(contains(bad.out, "'below 1 after 2': since about solve "));
  EXPECT_FALSE(contains(bad.out, "End of the stream"));
  const ProgramResult on = monitor("--keep-going --json < bad.txt");
  EXPECT_EQ(on.code, 1);
  const std::vector<Json> all = events(on.out);
  EXPECT_EQ(all.front()["event"], "start");
  EXPECT_EQ(all.back()["event"], "end");
  EXPECT_EQ(all.back()["solves"], 3000);
  EXPECT_GT(all.back()["alarms"], 3);
  EXPECT_EQ(all.size(), 2 + all.back()["alarms"].get<std::size_t>());
  const Json& first = all[1]["claims"][0];
  EXPECT_NEAR(first["since_solve"].get<double>(), 2000, 30);
  EXPECT_NEAR(first["present_rate"].get<double>(), 0.2, 0.15);
  const ProgramResult test = monitor("--alpha 1e-3 --keep-going --json < bad.txt");
  EXPECT_EQ(test.code, 1);
  EXPECT_EQ(events(test.out).back()["alarms"], 1);
  EXPECT_EQ(monitor("--alpha 1e-3 < good.txt").code, 0);
  EXPECT_EQ(monitor("").code, 0);  // a stream without lines
}

TEST_F(Monitor, ReadsOutcomesGapsNanAndLinesThatAreNoNumbers) {
  write("mixed.txt", "0.5\n\n nan \nresidual\n1e-3,2\r\n0.25\r\n-inf\n3");
  const ProgramResult mixed = monitor("--json < mixed.txt");
  EXPECT_EQ(mixed.code, 0);
  const Json end = events(mixed.out).back();
  EXPECT_EQ(end["lines"], 8);
  EXPECT_EQ(end["solves"], 7);
  EXPECT_EQ(end["gaps"], 1);
  EXPECT_EQ(end["unreadable"], 2);
  EXPECT_EQ(end["claims"][0]["failures"], 4);
  EXPECT_EQ(std::count(mixed.err.begin(), mixed.err.end(), '\n'), 1);
  EXPECT_TRUE(contains(mixed.err, "standard input, line 4: 'residual' is not a number; it counts as failed"));
  EXPECT_TRUE(
      contains(monitor("< mixed.txt").out, "2 lines were no number: counted as failed.\n1 line was blank"));
  const ProgramResult refused = monitor("--refuse-unreadable --state s < mixed.txt");
  EXPECT_EQ(refused.code, 2);
  EXPECT_TRUE(contains(refused.err, "line 4: 'residual' is not a number"));
  write("outcomes.txt", "0\n1\n0\n2\nnan\n");
  const ProgramResult outcomes = monitor("--outcomes --claim \"below 1 after 2\" --json < outcomes.txt");
  EXPECT_EQ(outcomes.code, 0) << outcomes.err;
  EXPECT_EQ(events(outcomes.out).back()["claims"][0]["failures"], 3);
  EXPECT_TRUE(contains(outcomes.err, "line 4: '2' is not 0 or 1"));
}

TEST_F(Monitor, GoesOnFromItsStateByteForByte) {
  const std::string all = stream(4000, 3000);
  write("all.txt", all);
  std::size_t half = 0;
  for (int i = 0; i < 1777; ++i) half = all.find('\n', half) + 1;
  write("first.txt", all.substr(0, half));
  write("second.txt", all.substr(half));
  const std::string options = "--keep-going --json --reference good.csv ";
  const ProgramResult whole = monitor(options + "--state whole < all.txt");
  EXPECT_EQ(monitor(options + "--state parts < first.txt").code, 0);
  const ProgramResult second = monitor(options + "--state parts < second.txt");
  EXPECT_EQ(slurp(folder_ / "whole"), slurp(folder_ / "parts"));
  EXPECT_EQ(events(whole.out).back(), events(second.out).back());
  EXPECT_EQ(whole.code, 1);
  EXPECT_EQ(second.code, 1);

  // Killed in the middle of the stream; then the stream from its beginning.
  const ProgramResult killed =
      shell("mkfifo pipe; $SUREFOOT monitor made/certificate.json " + options +
            "--state killed --state-seconds 0 < pipe > killed.out & pid=$!; exec 3>pipe; cat first.txt >&3; "
            "for i in $(seq 200); do grep -q . killed 2>/dev/null && break; sleep 0.05; done; sleep 0.5; "
            "kill -9 $pid; exec 3>&-; wait $pid");
  EXPECT_EQ(killed.code, 137);
  const ProgramResult again = monitor(options + "--state killed --replay < all.txt");
  EXPECT_EQ(slurp(folder_ / "whole"), slurp(folder_ / "killed"));
  EXPECT_EQ(events(whole.out).back(), events(again.out).back());
  EXPECT_EQ(monitor(options + "--state killed --replay < first.txt").code, 2);
}

TEST_F(Monitor, SaysAnAlarmAtOnceAndKeepsItsStateWhenItIsStopped) {
  write("bad.txt", stream(300, 1));
  const ProgramResult stopped = shell(
      "mkfifo pipe; $SUREFOOT monitor made/certificate.json --keep-going --state s --state-seconds 100 < pipe > "
      "said.txt & pid=$!; exec 3>pipe; cat bad.txt >&3; for i in $(seq 200); do grep -q ALARM said.txt && break; "
      "sleep 0.05; done; grep -q ALARM said.txt && echo in-time; printf '0.5\\n0.5\\n' >&3; sleep 0.5; kill -TERM "
      "$pid; wait $pid");
  EXPECT_EQ(stopped.code, 143);
  EXPECT_TRUE(contains(stopped.out, "in-time"));
  EXPECT_TRUE(contains(stopped.err,
                       "stopped by SIGTERM; the same command continues with the next line of the stream"));
  const ProgramResult on = monitor("--state s --json");
  EXPECT_EQ(events(on.out).back()["solves"], 302);
}

TEST_F(Monitor, RefusesTheStateOfOtherWorkByName) {
  ASSERT_EQ(surefoot("certify good.csv --tolerances 1,2 --title other --out other").code, 0);
  ASSERT_EQ(monitor("--claim \"below 1 after 2\" --state s").code, 0);
  const auto refused = [&](const std::string& arguments, const std::string& part) {
    const ProgramResult result = surefoot("monitor " + arguments + " --state s");
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_TRUE(contains(result.err, part)) << result.err;
    EXPECT_EQ(result.out, "");
  };
  refused("other/certificate.json --claim \"below 1 after 2\"",
          "s: belongs to another configuration: the certificate is '");
  refused("made/certificate.json --claim \"below 2 after 2\"",
          "the claim is 'below 1 after 2' there and 'below 2 after 2' here");
  refused("made/certificate.json --claim \"below 1 after 2\" --arl 100", "the alarm is 'arl 1000000' there");
  write("s", "no state");
  refused("made/certificate.json --claim \"below 1 after 2\"", "s: is not a checkpoint");
}

TEST_F(Monitor, RefusesBadInputInOneLine) {
  const auto refused = [&](const std::string& arguments, const std::string& part) {
    const ProgramResult result = surefoot("monitor " + arguments);
    EXPECT_EQ(result.code, 2) << arguments;
    EXPECT_TRUE(contains(result.err, part)) << arguments << ": " << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_EQ(result.out, "");
  };
  const std::string made = "made/certificate.json ";
  refused("missing.json", "missing.json");
  refused(made + "--claim \"99.999% below 1 after 2\"", "is not certified; certified is: ");
  refused(made + "--claim \"above 1\"", "claim 'above 1'");
  refused(made + "--variant bad", "there is no variant 'bad'; the certificate has good");
  refused(made + "--arl 0", "arl: 0 is not between");
  refused(made + "--alpha 2", "alpha: 2 is not between");
  refused(made + "--alpha 0.1 --arl 100", "--a");
  refused(made + "--outcomes", "--outcomes: say with --claim");
  refused(made + "--replay", "--replay: needs --state");
  refused(made + "--reference missing.csv", "missing.csv");
  refused(made + "--reference good.csv --reference-step 7", "good.csv: has no column of step 7");
  refused(made + "--out made", "--out: made is the folder of the certificate");
  const ProgramResult closed = monitor("<&-");
  EXPECT_EQ(closed.code, 2);
  EXPECT_TRUE(contains(closed.err, "standard input: cannot read")) << closed.err;
  write("few.csv", "1\n2\n3\n");
  refused(made + "--reference few.csv", "3 values are too few");
}

TEST_F(Monitor, WritesMetricsAPageAndStatus) {
  write("bad.txt", stream(3000, 2000));
  const ProgramResult result =
      monitor("--keep-going --json --every 1000 --metrics m.prom --out page < bad.txt");
  EXPECT_EQ(result.code, 1) << result.err;
  int status = 0;
  for (const Json& event : events(result.out)) status += event["event"] == "status" ? 1 : 0;
  EXPECT_EQ(status, 3);
  const std::string metrics = slurp(folder_ / "m.prom");
  EXPECT_TRUE(contains(metrics, "\nsurefoot_monitor_solves_total 3000\n"));
  EXPECT_TRUE(contains(metrics, "surefoot_monitor_failures_total{claim=\"below 1 after 2\"} "));
  const std::string page = slurp(folder_ / "page" / "report.html");
  EXPECT_TRUE(contains(page, "Evidence over time"));
  EXPECT_TRUE(contains(page, "ALARM at solve 2,0"));
  EXPECT_TRUE(slurp(folder_ / "page" / "evidence.csv").starts_with("solve,evidence\n"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "page" / "manifest.json"));
  EXPECT_EQ(monitor("--metrics /nowhere/m.prom").code, 2);
}

TEST_F(Monitor, SeesAChangeThatNoRateShows) {
  std::string text = stream(1000, 2000);
  surefoot::RandomStream random(3, "monitor shift", 0);
  for (int i = 0; i < 500; ++i) text += fmt::format("{:.9g}\n", 0.4 + 0.6 * random.uniform());
  write("shift.txt", text);
  EXPECT_EQ(monitor("< shift.txt").code, 0);
  const ProgramResult seen = monitor("--reference good.csv < shift.txt");
  EXPECT_EQ(seen.code, 1);
  EXPECT_TRUE(contains(seen.out, "The distribution of the residual has changed against the reference."));
}

TEST_F(Monitor, ExportsConstantsForC) {
  const ProgramResult result =
      surefoot("export made/certificate.json --claim \"95% below 1 after 2\" --c own.h --name own");
  EXPECT_EQ(result.code, 0) << result.err;
  EXPECT_TRUE(contains(result.out, "Written to own.h: the constants own for surefoot/monitor.h"));
  const std::string text = slurp(folder_ / "own.h");
  EXPECT_TRUE(contains(text, "95% below 1 after 2 (certified failure rate at most 5"));
  EXPECT_TRUE(contains(text, "static const surefoot_monitor_constants own = {1, 0, 1, "));
  EXPECT_EQ(surefoot("export made/certificate.json --c own.h --name 1x").code, 2);
  EXPECT_EQ(surefoot("export made/certificate.json").code, 2);
  EXPECT_EQ(surefoot("export made/certificate.json --c /nowhere/own.h").code, 2);
}

}  // namespace
