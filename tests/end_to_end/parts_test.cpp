#include "surefoot/core/random.hpp"
#include "surefoot/io/sha256.hpp"

#include "support/contains.hpp"
#include "support/program.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>

namespace {

using surefoot::test::contains;
using surefoot::testing::ProgramResult;
using surefoot::testing::slurp;

/// Tables that are counted in parts by the program and certified together.
class Parts : public surefoot::testing::ProgramTest {
 protected:
  static constexpr const char* header = "k=1,k=2,k=5\n";
  static std::string table(int first, int count) {
    std::string text = header;
    for (int row = first; row < first + count; ++row) {
      surefoot::RandomStream random(4, "rows of a test in parts", static_cast<std::uint64_t>(row));
      text += fmt::format("{:.17g},{:.17g},{:.17g}\n", random.uniform(), 0.2 * random.uniform(),
                          0.004 * random.uniform());
    }
    return text;
  }
  [[nodiscard]] ProgramResult counted(const std::string& name, int first, int count,
                                      const std::string& options) const {
    write(name + ".csv", table(first, count));
    return surefoot(fmt::format("certify {0}.csv --tally {0}.tally {1}", name, options));
  }
  // One line that begins with `start`, exit code 2, and no result.
  void expect_refused(const std::string& arguments, const std::string& start) const {
    const ProgramResult result = surefoot(arguments + " --out refused");
    EXPECT_EQ(result.code, 2) << arguments << result.out;
    EXPECT_TRUE(contains(result.err, start)) << result.err;
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "refused" / "certificate.json"));
  }
};

TEST_F(Parts, OfATableAreTheCertificateOfTheTable) {
  write("whole.csv", table(0, 900));
  const std::string source = fmt::format("--source whole.csv --source-sha256 {} --tolerances 1e-3,1e-2",
                                         surefoot::io::sha256_hex(table(0, 900)));
  for (const int first : {600, 0, 300}) {
    const ProgramResult part =
        counted(fmt::format("p{}", first), first, 300, fmt::format("{} --first-row {}", source, first));
    ASSERT_EQ(part.code, 0) << part.err;
    EXPECT_TRUE(contains(part.out, fmt::format("rows {} .. {} of whole.csv", first, first + 299)))
        << part.out;
  }
  ASSERT_EQ(surefoot("certify whole.csv --tolerances 1e-3,1e-2 --out one").code, 0);
  const ProgramResult all = surefoot("certify p600.tally p0.tally p300.tally --out all");
  ASSERT_EQ(all.code, 0) << all.err;
  EXPECT_EQ(slurp(folder_ / "all/certificate.json"), slurp(folder_ / "one/certificate.json"));
  EXPECT_EQ(slurp(folder_ / "all/report.html"), slurp(folder_ / "one/report.html"));
}

TEST_F(Parts, FirstRowsOutsideWhatIsCountedAreRefusedBeforeTheCount) {
  write("t.csv", table(0, 300));
  for (const char* first : {"-5", "-1", "1000000000000001", "9223372036854775800"}) {
    const ProgramResult result =
        surefoot(fmt::format("certify t.csv --tally a --source s --first-row {}", first));
    EXPECT_EQ(result.code, 2) << first << result.err;
    EXPECT_EQ(result.err, fmt::format("surefoot: --first-row: {} is outside 0 .. 1000000000000000\n", first));
    EXPECT_FALSE(std::filesystem::exists(folder_ / "a"));
  }
  const ProgramResult none_left = surefoot("certify t.csv --tally a --source s --first-row 1000000000000000");
  EXPECT_EQ(none_left.code, 2) << none_left.err;
}

TEST_F(Parts, ThatAreFilesOfTheirOwnAreVerifiedByThem) {
  for (const int part : {0, 1, 2})
    ASSERT_EQ(counted(fmt::format("p{}", part), 100 * part, 80 + 20 * part, "").code, 0);
  ASSERT_EQ(surefoot("certify p2.tally p0.tally p1.tally --out all").code, 0);
  const ProgramResult verified = surefoot("verify all/certificate.json --data p0.csv p1.csv p2.csv");
  EXPECT_EQ(verified.code, 0) << verified.out << verified.err;
  EXPECT_EQ(surefoot("verify all/certificate.json --data p1.csv p0.csv p2.csv").code, 1);
  ASSERT_EQ(surefoot("certify p0.tally p1.tally p2.tally --out other").code, 0);
  EXPECT_EQ(slurp(folder_ / "all/certificate.json"), slurp(folder_ / "other/certificate.json"));
}

TEST_F(Parts, AreRefusedInOneLine) {
  ASSERT_EQ(counted("a", 0, 100, "--source seeds").code, 0);
  ASSERT_EQ(counted("b", 60, 100, "--source seeds --first-row 60").code, 0);
  ASSERT_EQ(counted("c", 100, 100, "--source seeds --first-row 100 --tolerances 1e-3").code, 0);
  ASSERT_EQ(counted("d", 200, 100, "--source seeds --first-row 200").code, 0);
  ASSERT_EQ(counted("again", 0, 100, "--source seeds --first-row 100").code, 0);
  expect_refused("certify a.tally b.tally", "b.tally: rows 60 .. 99 of seeds are counted already");
  expect_refused("certify a.tally a.tally", "a.tally: rows 0 .. 99 of seeds are counted already");
  expect_refused("certify a.tally c.tally",
                 "c.tally: declares something else than the tallies before it: tolerances");
  expect_refused("certify a.tally d.tally", "rows 100 .. 199 of seeds are not counted");
  expect_refused("certify a.tally again.tally", "100 of 200 rows repeat an earlier row");
  expect_refused("certify a.tally a.csv", "a.csv: is no tally, and a.tally is one");
  expect_refused("certify a.tally --tolerances 1", "--tolerances: cannot stand beside tallies");
  std::string bytes = slurp(folder_ / "a.tally");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write("damaged.tally", bytes);
  expect_refused("certify damaged.tally", "damaged.tally: is damaged: its checksum does not match");
  write("short.tally", bytes.substr(0, 60));
  expect_refused("certify a.tally short.tally", "short.tally: is damaged");
  write("other.tally", "surefoot tally 9\n");
  expect_refused("certify other.tally", "other.tally: is a tally of another version of the format");
}

TEST_F(Parts, ArePartsOfTablesWithAColumnPerStep) {
  write("a.csv", table(0, 50));
  const auto expect_no_tally = [&](const std::string& options, const std::string& message) {
    const ProgramResult result = surefoot("certify a.csv --tally a.tally " + options);
    EXPECT_EQ(result.code, 2) << options;
    EXPECT_TRUE(contains(result.err, message)) << result.err;
    EXPECT_FALSE(std::filesystem::exists(folder_ / "a.tally")) << options;
  };
  expect_no_tally("--first-row 5", "--first-row: is a row of --source");
  expect_no_tally("--source x --source-sha256 12", "--source-sha256: '12' is not 64 hexadecimal digits");
  expect_no_tally("--scalar", "--tally: is of tables with a column per step");
  expect_no_tally("--sequence", "--sequence: cannot stand beside --tally");
  expect_no_tally("--json", "--json: cannot stand beside --tally");
  EXPECT_TRUE(contains(surefoot("certify a.csv --first-row 5").err, "--first-row: is for --tally"));
  const ProgramResult over = surefoot("certify a.csv --tally a.csv");
  EXPECT_EQ(over.code, 2);
  EXPECT_TRUE(contains(over.err, "a.csv is there and is no tally; it is not written over"));
  EXPECT_EQ(slurp(folder_ / "a.csv"), table(0, 50));
}

TEST_F(Parts, AFolderThatIsStreamedAndChangesIsRefused) {
  std::string q;
  for (int i = 0; i < 9000; ++i) {
    surefoot::RandomStream random(1, "linear terms of a test", static_cast<std::uint64_t>(i));
    q += fmt::format("{},{}\n", 3 * random.normal(), 2 * random.normal());
  }
  const std::string identity = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n";
  for (const auto& [name, text] : {std::pair{"P.mtx", identity}, {"A.mtx", identity}, {"q.csv", q}})
    write(name, text);
  write("l.csv", "-1,-1\n");
  write("u.csv", "1,1\n");
  const ProgramResult result = shell(
      "$SUREFOOT run qp . --iterations 20000 --stream --threads 1 --out refused & "
      "while kill -0 $!; do sleep 0.2; echo 1,2 >> q.csv; done 2>/dev/null; wait $!");
  EXPECT_EQ(result.code, 2) << result.out;
  EXPECT_TRUE(contains(result.err, "q.csv: changed while it was streamed")) << result.err;
  EXPECT_FALSE(std::filesystem::exists(folder_ / "refused" / "certificate.json"));
  const ProgramResult other = surefoot("run qp . --iterations 5 --stream --save-traces --out refused");
  EXPECT_EQ(other.code, 2);
  EXPECT_TRUE(contains(other.err, "--save-traces: cannot stand beside --stream")) << other.err;
}

}  // namespace
