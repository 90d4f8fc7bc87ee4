#include "surefoot/algorithms/detail/anderson.hpp"

#include "surefoot/core/random.hpp"

#include <Eigen/Cholesky>
#include <Eigen/LU>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace surefoot::algorithms {
namespace {

using DenseMatrix = Eigen::MatrixXd;
using DenseVector = Eigen::VectorXd;
constexpr int memory_width = AndersonMemory::W;

struct Noted {
  Buffer count = make_buffer(1, memory_width);
  Buffer accelerated = make_buffer(1, memory_width);
  Buffer residual = make_buffer(1, memory_width);
  AndersonNotes notes() { return {count.data(), accelerated.data(), residual.data()}; }
};

/// One lane, densely: the definition.
struct PlainAnderson {
  AndersonOptions options;
  Index columns = 0;
  DenseMatrix S, Y;
  DenseVector x, f;
  Index count = 0;
  bool accelerated = false;

  PlainAnderson(Index rows, const AndersonOptions& given)
      : options(given), columns(std::min(rows, given.lookback)), S(DenseMatrix::Zero(rows, columns)), Y(S) {}
  DenseVector apply(const DenseVector& image, const DenseVector& point) {
    accelerated = false;
    DenseVector result = image;
    if (count > 0) {
      const Index place = (count - 1) % columns;
      const DenseVector g = point - image;
      S.col(place) = point - x;
      Y.col(place) = g - (x - f);
      if (count >= columns) {
        const DenseMatrix& A = options.type_1 ? S : Y;
        const double r = options.regularization > 0 ? options.regularization * A.norm() * Y.norm()
                                                    : -options.regularization;
        const DenseMatrix system = A.transpose() * Y + r * DenseMatrix::Identity(columns, columns);
        const DenseVector gamma = system.fullPivLu().solve(A.transpose() * g);
        result = image - (S - Y) * gamma;
        result = options.relaxation * result + (1 - options.relaxation) * (point - S * gamma);
        accelerated = true;
      }
    }
    x = point;
    f = image;
    ++count;
    return result;
  }
};

TEST(Anderson, IsTheDefinitionInEveryLane) {
  std::vector<AndersonOptions> all(4);
  for (AndersonOptions& options : all) options.lookback = 4;
  all[1].type_1 = false;
  all[2].regularization = -1e-3;
  all[2].relaxation = 0.7;
  all[3].lookback = 30;  // as many as there are rows
  for (const AndersonOptions& options : all) {
    constexpr Index rows = 9;
    AndersonMemory memory(rows, options);
    Noted noted;
    std::vector<PlainAnderson> plain(memory_width, PlainAnderson(rows, options));
    RandomStream stream(3, "anderson test", 0);
    Index accelerated = 0;
    for (int step = 0; step < 25; ++step) {
      Buffer x = make_buffer(rows, memory_width);
      Buffer f = make_buffer(rows, memory_width);
      for (double& value : x) value = stream.normal();
      for (double& value : f) value = stream.normal();
      const Buffer image = f;
      memory.apply(step, f.data(), x.data(), noted.notes());
      for (int lane = 0; lane < memory_width; ++lane) {
        DenseVector point(rows);
        DenseVector at(rows);
        for (Index i = 0; i < rows; ++i) {
          point[i] = x[i * memory_width + lane];
          at[i] = image[i * memory_width + lane];
        }
        const DenseVector expected = plain[lane].apply(at, point);
        EXPECT_EQ(noted.accelerated[lane] != 0, plain[lane].accelerated);
        EXPECT_NEAR(noted.residual[lane], step > 0 ? (point - at).norm() : noted.residual[lane], 1e-12);
        accelerated += plain[lane].accelerated ? 1 : 0;
        for (Index i = 0; i < rows; ++i)
          EXPECT_NEAR(f[i * memory_width + lane], expected[i], 1e-7 * (1 + expected.norm()))
              << step << " " << lane;
      }
    }
    EXPECT_GT(accelerated, 0);
  }
}

TEST(Anderson, SolvesALinearFixedPointInAsManyColumnsAsItHasRows) {
  constexpr Index rows = 5;
  AndersonOptions options;
  options.lookback = rows;
  AndersonMemory memory(rows, options);
  Noted noted;
  RandomStream stream(5, "anderson test", 1);
  DenseMatrix M(rows, rows);
  for (double& value : M.reshaped()) value = 0.3 * stream.normal();
  const DenseVector offset = DenseVector::Ones(rows);
  const DenseVector solution = (DenseMatrix::Identity(rows, rows) - M).fullPivLu().solve(offset);
  DenseVector x = DenseVector::Zero(rows);
  double error = 1;
  for (int step = 0; step < rows + 2; ++step) {
    const DenseVector image = M * x + offset;
    Buffer point = make_buffer(rows, memory_width);
    Buffer f = make_buffer(rows, memory_width);
    for (Index i = 0; i < rows; ++i) {
      for (int lane = 0; lane < memory_width; ++lane) {
        point[i * memory_width + lane] = x[i];
        f[i * memory_width + lane] = image[i];
      }
    }
    memory.apply(step, f.data(), point.data(), noted.notes());
    for (Index i = 0; i < rows; ++i) x[i] = f[i * memory_width + 3];
    error = (x - solution).norm();
  }
  EXPECT_LT(error, 1e-5 * solution.norm());
}

TEST(Anderson, SafeguardTakesBackWhatMakesTheResidualGrow) {
  constexpr Index rows = 3;
  AndersonOptions options;
  options.lookback = 2;
  AndersonMemory memory(rows, options);
  Noted noted;
  RandomStream stream(7, "anderson test", 2);
  Buffer image;
  for (int step = 0; step < 4; ++step) {
    Buffer x = make_buffer(rows, memory_width);
    image = make_buffer(rows, memory_width);
    for (double& value : x) value = stream.normal();
    for (double& value : image) value = stream.normal();
    Buffer f = image;
    memory.apply(step, f.data(), x.data(), noted.notes());
  }
  for (int lane = 0; lane < memory_width; ++lane) ASSERT_EQ(noted.accelerated[lane], 1);
  Buffer x = make_buffer(rows, memory_width);
  Buffer f = make_buffer(rows, memory_width);
  for (int lane = 0; lane < memory_width; ++lane)
    f[lane] = (lane % 2 == 0 ? 0.99 : 1.01) * noted.residual[lane];  // |x - f| just below or above
  memory.safeguard(f.data(), x.data(), noted.notes());
  for (int lane = 0; lane < memory_width; ++lane) {
    EXPECT_EQ(noted.accelerated[lane], 0);
    EXPECT_EQ(noted.count[lane], lane % 2 == 0 ? 4 : 0);
    EXPECT_EQ(f[memory_width + lane], lane % 2 == 0 ? 0.0 : image[memory_width + lane]);
  }
}

TEST(Anderson, WeightsThatAreNoNumbersStartAnewFromTheLastPoint) {
  constexpr Index rows = 4;
  AndersonOptions options;
  options.lookback = 2;
  AndersonMemory memory(rows, options);
  Noted noted;
  RandomStream stream(9, "anderson test", 3);
  for (int step = 0; step < 3; ++step) {
    Buffer x = make_buffer(rows, memory_width);
    Buffer f = make_buffer(rows, memory_width);
    for (Index i = 0; i < rows * memory_width; ++i) {
      x[i] = i % memory_width == 2 ? 0.0 : stream.normal();  // lane 2 does not move: S = Y = 0
      f[i] = i % memory_width == 2 ? 1.0 : stream.normal();
    }
    memory.apply(step, f.data(), x.data(), noted.notes());
    EXPECT_EQ(f[2], 1.0);
  }
  EXPECT_EQ(noted.count[2], 1);
  EXPECT_EQ(noted.accelerated[2], 0);
  EXPECT_EQ(noted.count[3], 3);
  EXPECT_EQ(noted.accelerated[3], 1);
}

}  // namespace
}  // namespace surefoot::algorithms
