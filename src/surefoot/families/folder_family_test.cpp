#include "surefoot/families/folder_family.hpp"

#include "surefoot/families/family_key.hpp"
#include "surefoot/io/gzip.hpp"
#include "surefoot/io/sha256.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace surefoot::families {
namespace {

constexpr const char* unit_matrix = "%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1\n2 2 1\n";

class FolderFamily : public ::testing::Test {
 protected:
  FolderFamily() {
    for (const char* name : {"P.mtx", "A.mtx", "D.mtx"}) folder_.write(name, unit_matrix);
    folder_.write("q.csv", "1,2\n-1,0.5\n0,-3\n");
    folder_.write("l.csv", "-1,-1\n");
    folder_.write("u.csv", "1,1\n");
    folder_.write("c.csv", "1,2\n3,4\n5,6\n");
    folder_.write("b.csv", "7,8\n9,10\n");
    folder_.write("weight.csv", "0.25\n");
  }
  [[nodiscard]] FolderOptions options(FolderKind kind) const {
    FolderOptions options;
    options.kind = to_string(kind);
    options.folder = folder_.path().string();
    return options;
  }
  test_support::TemporaryFolder folder_;
};

TEST_F(FolderFamily, ReadsEveryKindAndChoosesRows) {
  FolderOptions qp = options(FolderKind::qp);
  const FolderProblems some = rows_of_folder(qp, read_folder(qp), 1, 2);
  EXPECT_EQ(std::get<problems::Qp>(some).instances(), 2);
  EXPECT_EQ(std::get<problems::Qp>(some).q(1, 1), -3.0);
  EXPECT_EQ(std::get<problems::Qp>(some).l.rows(), 1);
  FolderOptions quadratic = options(FolderKind::quadratic);
  const FolderProblems last = rows_of_folder(quadratic, read_folder(quadratic), 2, 1);
  EXPECT_EQ(std::get<problems::Quadratic>(last).c(0, 0), 5.0);
  FolderOptions lasso = options(FolderKind::lasso);
  const FolderProblems all = read_folder(lasso);
  EXPECT_EQ(std::get<problems::Lasso>(all).weight, 0.25);
  EXPECT_EQ(std::get<problems::Lasso>(all).b(1, 1), 10.0);
  for (const Index first : {-1, 1, 2})
    EXPECT_INPUT_ERROR((void)rows_of_folder(lasso, all, first, 2), "has problems 0 .. 1; samples ");
}

TEST_F(FolderFamily, IsKnownByTheDigestsOfItsFiles) {
  FolderOptions qp = options(FolderKind::qp);
  EXPECT_TRUE(key_of(qp).constants.empty());
  std::vector<FamilyFiles::Read> read;
  (void)read_folder(qp, &read);
  ASSERT_EQ(read.size(), 5U);
  const FamilyKey key = key_of(qp);
  EXPECT_EQ(key.name, "files");
  EXPECT_EQ(key.constants.size(), 5U);
  EXPECT_EQ(key.constants.at("u"), io::sha256_hex("1,1\n"));
  EXPECT_NO_THROW((void)read_folder(qp));
  folder_.write("u.csv", "1,2\n");
  EXPECT_INPUT_ERROR((void)read_folder(qp), "u.csv: is not the file that the weights were trained on");
}

TEST_F(FolderFamily, RefusesWhatIsNotThere) {
  FolderOptions none = options(FolderKind::qp);
  none.folder = "";
  EXPECT_INPUT_ERROR((void)read_folder(none), "folder: there is none");
  none.folder = folder_ / "elsewhere";
  EXPECT_INPUT_ERROR((void)read_folder(none), "elsewhere: is not a folder");
  EXPECT_EQ(bytes_of_folder(none), 0);
  none.kind = "tree";
  EXPECT_INPUT_ERROR(none.validate(), "kind: 'tree' is not one of qp, quadratic, lasso");
  std::filesystem::remove(folder_ / "weight.csv");
  FolderOptions lasso = options(FolderKind::lasso);
  EXPECT_INPUT_ERROR((void)read_folder(lasso), "has no weight");
  folder_.write("weight.csv", "0.25,1\n");
  EXPECT_INPUT_ERROR((void)read_folder(lasso), "weight.csv: has 2 numbers, the weight of |z| is one");
  EXPECT_GT(bytes_of_folder(lasso), 100);
}

TEST_F(FolderFamily, BytesAreThoseOfItsNumbersPackedOrNot) {
  const std::filesystem::path numbers = folder_ / "numbers";
  std::filesystem::create_directory(numbers);
  FolderOptions many;
  many.folder = numbers.string();
  std::string text;
  for (int i = 0; i < 20000; ++i) text += "0,1,0,1\n";
  const auto bytes_of = [&](const std::string& name, const std::string& content) {
    folder_.write("numbers/" + name, content);
    const double bytes = bytes_of_folder(many);
    std::filesystem::remove(numbers / name);
    return bytes;
  };
  constexpr double held = 80000.0 * 8;
  for (const double bytes : {bytes_of("q.csv", text), bytes_of("q.csv.gz", io::gzipped(text))}) {
    EXPECT_GE(bytes, held);
    EXPECT_LE(bytes, 1.1 * held);
  }
  EXPECT_LT(static_cast<double>(io::gzipped(text).size()), held / 100) << "the size of the file says little";
}

}  // namespace
}  // namespace surefoot::families
