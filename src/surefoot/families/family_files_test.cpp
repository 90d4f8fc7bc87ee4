#include "surefoot/families/family_files.hpp"

#include "surefoot/io/npy.hpp"
#include "surefoot/io/sha256.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

namespace surefoot::families {
namespace {

constexpr const char* identity = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n";

/// A QP of two variables and two rows, three problems.
class FamilyFolder : public ::testing::Test {
 protected:
  FamilyFolder() {
    folder_.write("P.mtx", identity);
    folder_.write("A.mtx", identity);
    folder_.write("q.csv", "1,2\n-1,0.5\n0,-3\n");
    folder_.write("l.csv", "-1,-1\n");
    folder_.write("u.csv", "1,1\n");
  }
  test_support::TemporaryFolder folder_;
};

TEST_F(FamilyFolder, IsReadByItsNamesAndRemembersWhatWasRead) {
  FamilyFiles files(folder_.path(), {});
  const problems::Qp problem = files.read_qp();
  EXPECT_EQ(problem.instances(), 3);
  EXPECT_EQ(problem.q(2, 1), -3.0);
  ASSERT_EQ(files.files().size(), 5U);
  EXPECT_EQ(files.files()[2].name, "q");
  EXPECT_EQ(files.files()[2].sha256, io::sha256_hex("1,2\n-1,0.5\n0,-3\n"));
}

TEST_F(FamilyFolder, AFileThatIsGivenStandsBeforeTheFolder) {
  const std::string other = folder_.write("other.csv", "5,5\n");
  FamilyFiles files(folder_.path(), {{"q", other}, {"l", ""}});
  const problems::Qp problem = files.read_qp();
  EXPECT_EQ(problem.q(0, 0), 5.0);
  EXPECT_EQ(problem.l(0, 0), -1.0);
}

TEST_F(FamilyFolder, ATwoDimensionalArrayIsOneMatrixForAll) {
  problems::Table square(2, 2);
  square << 2, 0, 0, 3;
  folder_.write("P.npy", io::npy_bytes(square));
  std::filesystem::remove(folder_ / "P.mtx");
  const problems::Qp problem = FamilyFiles(folder_.path(), {}).read_qp();
  ASSERT_EQ(problem.P.size(), 1U);
  EXPECT_EQ(problem.P[0].coeff(1, 1), 3.0);
}

TEST_F(FamilyFolder, AnArrayThatDoesNotFitIsRefused) {
  problems::Table rows(1, 4);
  rows << 2, 0, 0, 2;
  folder_.write("A.npy", io::npy_bytes(rows));
  std::filesystem::remove(folder_ / "A.mtx");
  FamilyFiles files(folder_.path(), {});
  EXPECT_INPUT_ERROR(files.read_qp(), "A");  // 1 x 4 does not fit two variables
}

TEST_F(FamilyFolder, MistakesNameTheFile) {
  std::filesystem::remove(folder_ / "u.csv");
  FamilyFiles files(folder_.path(), {});
  EXPECT_INPUT_ERROR(files.read_qp(), "has no u{.csv,.csv.gz,.npy}, and --u is not given");
  folder_.write("u.csv", "1,1,1\n");
  EXPECT_INPUT_ERROR(FamilyFiles(folder_.path(), {}).read_qp(), "u.csv: u");
  folder_.write("q.csv", "0,1\n1,2\n");
  EXPECT_INPUT_ERROR(FamilyFiles(folder_.path(), {}).read_table("q"), "the header that pandas writes");
  EXPECT_INPUT_ERROR(FamilyFiles(folder_ / "nowhere", {}), "nowhere: is not a folder");
  EXPECT_INPUT_ERROR(FamilyFiles("", {}).read_table("q"), "--q: no file is given, and no folder");
}

TEST_F(FamilyFolder, ErrorsOfAnArgumentGetItsFile) {
  FamilyFiles files(folder_.path(), {});
  (void)files.read_qp();
  EXPECT_INPUT_ERROR(files.with_file_names([] { throw InputError("q: is bad"); }), "q.csv: q: is bad");
  EXPECT_EQ(
      test_support::input_error([&] { files.with_file_names([] { throw InputError("quite another"); }); }),
      "quite another");
}

}  // namespace
}  // namespace surefoot::families
