// A stranger's own operator, put through the contract of operators from the installed package.
#include <gtest/gtest-spi.h>
#include <gtest/gtest.h>
#include <surefoot/surefoot.hpp>
#include <surefoot/testing/operator_contract.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

namespace {

using surefoot::Index;
using namespace surefoot::algorithms;

/// x <- x + (b_i - x) / 2 for problem i, b_i of three numbers: one step halves the distance from b_i.
class Halving final : public Operator {
  struct Room : Workspace {
    std::vector<double> b;
  };
  static constexpr Index n = 3;

 public:
  explicit Halving(bool mixes_lanes = false) : mixes_lanes_(mixes_lanes) {}
  static double b(Index instance, Index i) { return std::sin(static_cast<double>(instance * n + i + 1)); }

  [[nodiscard]] std::string_view name() const override { return "halving"; }
  [[nodiscard]] Index instances() const override { return 20; }
  [[nodiscard]] Index state_size() const override { return n; }
  [[nodiscard]] Index primal_size() const override { return n; }
  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override {
    return std::make_unique<Room>();
  }
  void load(Index first, Index count, Workspace& room) const override {
    auto& values = static_cast<Room&>(room).b;
    values.clear();
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < width(); ++j) values.push_back(b(first + std::min(j, count - 1), i));
  }
  void start(Batch z, Workspace&) const override { std::fill(z.data, z.data + z.rows * z.width, 0.0); }
  void step(Index, Batch z, Workspace& room, double* residual) const override {
    const auto& values = static_cast<Room&>(room).b;
    if (residual != nullptr) std::fill(residual, residual + z.width, 0.0);
    for (Index i = 0; i < n; ++i) {
      for (Index j = 0; j < z.width; ++j) {
        const Index from = mixes_lanes_ ? 0 : j;
        const double change = 0.5 * (values[static_cast<std::size_t>(i * z.width + from)] - z.row(i)[j]);
        z.row(i)[j] += change;
        if (residual != nullptr) residual[j] = std::hypot(residual[j], change);
      }
    }
  }

 private:
  bool mixes_lanes_;
};

surefoot::problems::Table solutions() {
  surefoot::problems::Table table(20, 3);
  for (Index i = 0; i < 20; ++i)
    for (Index j = 0; j < 3; ++j) table(i, j) = Halving::b(i, j);
  return table;
}

TEST(OwnOperator, PassesTheContract) {
  surefoot::testing::expect_operator_contract(Halving(), solutions());
}

TEST(OwnOperator, ThatMixesProblemsDoesNot) {
  // Nonfatal failures are what is wanted here.
  ::testing::TestPartResultArray failures;
  {
    ::testing::ScopedFakeTestPartResultReporter reporter(
        ::testing::ScopedFakeTestPartResultReporter::INTERCEPT_ONLY_CURRENT_THREAD, &failures);
    surefoot::testing::expect_operator_contract(Halving(true), solutions());
  }
  EXPECT_GT(failures.size(), 0);
}

TEST(OwnOperator, IsCertified) {
  const auto certificate =
      surefoot::certify::certify_run(Halving(), surefoot::runs::fixed_point_residual(), {}, {.steps = 30});
  EXPECT_FALSE(certificate.success.empty());
  EXPECT_TRUE(
      surefoot::certify::verify(surefoot::certify::parse_certificate(surefoot::certify::to_json(certificate)))
          .holds());
}

}  // namespace
