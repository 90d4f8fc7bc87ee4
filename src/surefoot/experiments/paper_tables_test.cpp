#include "surefoot/experiments/paper_tables.hpp"

#include "surefoot/experiments/data.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>

namespace surefoot::experiments {
namespace {

namespace fs = std::filesystem;

const fs::path source = SUREFOOT_SOURCE_DIR;

std::string content(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST(PaperTables, AreTheFilesOfTheSourceTree) {
  std::size_t tables = 0;
  for (const DataFile& file : data_files()) {
    EXPECT_EQ(file.text, content(source / "experiments" / file.name)) << file.name;
    if (!file.name.ends_with(".csv")) continue;
    ++tables;
    EXPECT_GE(PaperTable(file.name).rows(), 7) << file.name;
  }
  EXPECT_EQ(tables, 8U);
}

TEST(PaperTables, AreThePapersOwn) {
  const fs::path papers = source.parent_path() / "shared" / "paper-tables";
  if (!fs::exists(papers)) GTEST_SKIP() << "../shared is not here";
  const std::map<std::string, std::string> names{
      {"robust_kalman/paper_residual.csv", "robust_kalman_fp.csv"},
      {"robust_kalman/paper_pairs.csv", "robust_kalman_custom.csv"},
      {"deblurring/paper_residual.csv", "mnist_fp.csv"},
      {"deblurring/paper_nmse.csv", "mnist_nmse.csv"},
      {"sparse_coding/paper_quantiles.csv", "sparse_coding.csv"},
      {"l2ws/paper_residual.csv", "unconstrained_qp.csv"},
      {"maml/paper_sup.csv", "maml.csv"},
      {"maml/paper_mse.csv", "maml_inf.csv"}};
  for (const auto& [name, original] : names) {
    EXPECT_EQ(data_file(name), content(papers / original)) << name;
  }
}

TEST(PaperTables, GiveNumbersByColumnAndRow) {
  const PaperTable residual("robust_kalman/paper_residual.csv");
  ASSERT_EQ(residual.rows(), 9);
  EXPECT_EQ(residual.quantile(3), 0.9);
  EXPECT_EQ(residual.at(3, "worst"), 6.4e7);
  EXPECT_EQ(residual.count_at(3, "cold_start"), 144);
  EXPECT_EQ(paper_bound_from(residual, 3, 10), std::nullopt);
  EXPECT_EQ(paper_bound_from(residual, 3, 1000), 154);
  EXPECT_EQ(paper_bound_from(residual, 3, 500), std::nullopt);
  EXPECT_EQ(residual.find(0.99, 1e-4), 8);
  EXPECT_EQ(residual.find(0.99, 1e-5), std::nullopt);
  EXPECT_EQ(PaperTable("maml/paper_sup.csv").at(6, "maml_bound"), std::nullopt);
  EXPECT_EQ(PaperTable("maml/paper_mse.csv").at(0, "maml_emp"), 0.009);
}

TEST(PaperTables, RefuseWhatIsNoTable) {
  EXPECT_INPUT_ERROR(PaperTable("nobody/paper.csv"), "experiments/nobody/paper.csv: there is no such file");
  EXPECT_INPUT_ERROR(PaperTable("t", "quantile,tol\n30\n"), "1 cells under 2 columns");
  EXPECT_INPUT_ERROR(PaperTable("t", "quantile,tol\n30,x\n"), "'x' is not a number");
  EXPECT_INPUT_ERROR(PaperTable("t", "quantile,tol\n-,1\n"), "a row without its share");
}

}  // namespace
}  // namespace surefoot::experiments
