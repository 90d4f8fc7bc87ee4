#include "surefoot/families/deblurring.hpp"

#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/families/sample_set.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <string_view>
#include <vector>

namespace surefoot::families {

using problems::Matrix;
using problems::Qp;
using problems::SparseMatrix;
using problems::Table;
using problems::Vector;

namespace {

constexpr EnumNames<Blur, 2> blur_names{{{Blur::box, "box"}, {Blur::gaussian, "gaussian"}}};

}  // namespace

std::string_view to_string(Blur blur) {
  return name_in(blur_names, blur);
}

Blur parse_blur(std::string_view name) {
  return value_in(blur_names, "--blur", name);
}

void DeblurringOptions::validate() const {
  require(side >= 2 && side <= 1024, "side: is {}, must be in 2 .. 1024", side);
  require(taps >= 1 && taps % 2 == 1 && taps <= 2 * side - 1, "taps: is {}, must be odd and at most {}", taps,
          2 * side - 1);
  require(std::isfinite(box_value) && box_value > 0, "box_value: is {}, must be > 0", box_value);
  require(std::isfinite(deviation) && deviation > 0, "deviation: is {}, must be > 0", deviation);
  require(std::isfinite(noise) && noise >= 0, "noise: is {}, must be >= 0", noise);
  require(std::isfinite(weight) && weight >= 0, "weight: is {}, must be >= 0", weight);
}

Deblurring::Deblurring(DeblurringOptions options) : options_(options) {
  options_.validate();
  const Index reach = options_.taps / 2;
  Vector taps = Vector::Constant(reach + 1, options_.box_value);
  if (options_.blur == Blur::gaussian) {
    for (Index i = 0; i <= reach; ++i) {
      const double distance = static_cast<double>(i) / options_.deviation;
      taps[i] = std::exp(-0.5 * distance * distance);
    }
    taps /= 2 * taps.sum() - taps[0];
  }
  b_ = Matrix::Zero(options_.side, options_.side);
  for (Index i = 0; i < options_.side; ++i) {
    for (Index j = 0; j < options_.side; ++j) {
      if (std::abs(i - j) <= reach) b_(i, j) = taps[std::abs(i - j)];
    }
  }
}

Table Deblurring::observe(const Table& images, std::uint64_t seed, Index first) const {
  const Index d = options_.side;
  require(images.cols() == d * d, "images: have {} pixels, must have {}", images.cols(), d * d);
  require_samples(std::max<Index>(images.rows(), 1), first);
  Table observations(images.rows(), d * d);
  for (Index i = 0; i < images.rows(); ++i) {
    const Eigen::Map<const Table> image(images.data() + i * d * d, d, d);
    Eigen::Map<Table> observed(observations.data() + i * d * d, d, d);
    observed = b_ * image * b_.transpose();
    RandomStream stream(seed, "deblurring-noise", static_cast<std::uint64_t>(first + i));
    for (Index pixel = 0; pixel < d * d; ++pixel) {
      observations(i, pixel) += options_.noise * stream.normal();
    }
  }
  return observations;
}

Qp Deblurring::problem(const Table& observations) const {
  const Index d = options_.side;
  require(observations.cols() == d * d, "observations: have {} pixels, must have {}", observations.cols(),
          d * d);
  Qp problem;
  const Matrix G = b_.transpose() * b_;
  problem.kronecker_factor = G;
  std::vector<Eigen::Triplet<double, int>> entries;
  for (int i = 0; i < d; ++i) {
    for (int k = 0; k < d; ++k) {
      if (G(i, k) == 0) continue;
      for (int j = 0; j < d; ++j) {
        for (int l = 0; l < d; ++l) {
          if (G(j, l) != 0) {
            entries.emplace_back(static_cast<int>(i * d + j), static_cast<int>(k * d + l), G(i, k) * G(j, l));
          }
        }
      }
    }
  }
  problem.P.emplace_back(d * d, d * d);
  problem.P[0].setFromTriplets(entries.begin(), entries.end());
  problem.A.emplace_back(d * d, d * d);
  problem.A[0].setIdentity();
  problem.q.resize(observations.rows(), d * d);
  for (Index i = 0; i < observations.rows(); ++i) {
    const Eigen::Map<const Table> observed(observations.data() + i * d * d, d, d);
    Eigen::Map<Table> q(problem.q.data() + i * d * d, d, d);
    q = (-(b_.transpose() * observed * b_)).array() + options_.weight;
  }
  problem.l = Table::Zero(1, d * d);
  problem.u = Table::Ones(1, d * d);
  return problem;
}

namespace {

struct Point {
  double x;
  double y;
};

/// Strokes of the capital letters, y downwards: polylines over a 5 x 5 grid of points named by two digits
/// (column, row), strokes parted by spaces.
constexpr std::array<std::string_view, 26> skeletons = {"042044 1232",
                                                        "0004 0030413202 0232433404",
                                                        "4130100103143443",
                                                        "0004 003041433404",
                                                        "40000444 0232",
                                                        "400004 0232",
                                                        "41301001031434434222",
                                                        "0004 4044 0242",
                                                        "2024 1030 1434",
                                                        "3033241403",
                                                        "0004 4002 0244",
                                                        "000444",
                                                        "0400224044",
                                                        "04004440",
                                                        "20100103143443413020",
                                                        "040030413202",
                                                        "20100103143443413020 2344",
                                                        "040030413202 2244",
                                                        "41301001123243341403",
                                                        "0040 2024",
                                                        "000314344340",
                                                        "002440",
                                                        "0014223440",
                                                        "0044 4004",
                                                        "002240 2224",
                                                        "00400444"};

std::vector<std::vector<Point>> strokes_of(std::string_view skeleton) {
  std::vector<std::vector<Point>> strokes;
  std::size_t place = 0;
  while (place < skeleton.size()) {
    std::size_t end = skeleton.find(' ', place);
    if (end == std::string_view::npos) end = skeleton.size();
    const std::string_view digits = skeleton.substr(place, end - place);
    std::vector<Point> stroke;
    for (std::size_t i = 0; i + 1 < digits.size(); i += 2) {
      stroke.push_back({(digits[i] - '0') / 4.0, (digits[i + 1] - '0') / 4.0});
    }
    if (stroke.size() >= 2) strokes.push_back(std::move(stroke));
    place = end + 1;
  }
  return strokes;
}

/// Corners rounded: Chaikin's subdivision, ends kept.
std::vector<Point> rounded(const std::vector<Point>& stroke) {
  std::vector<Point> points = stroke;
  for (int pass = 0; pass < 3; ++pass) {
    std::vector<Point> finer = {points.front()};
    for (std::size_t i = 0; i + 1 < points.size(); ++i) {
      const Point a = points[i];
      const Point b = points[i + 1];
      finer.push_back({0.75 * a.x + 0.25 * b.x, 0.75 * a.y + 0.25 * b.y});
      finer.push_back({0.25 * a.x + 0.75 * b.x, 0.25 * a.y + 0.75 * b.y});
    }
    finer.push_back(points.back());
    points = std::move(finer);
  }
  return points;
}

double squared_distance(Point p, Point a, Point b) {
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double length = dx * dx + dy * dy;
  const double t = length > 0 ? std::clamp(((p.x - a.x) * dx + (p.y - a.y) * dy) / length, 0.0, 1.0) : 0.0;
  const double ex = p.x - a.x - t * dx;
  const double ey = p.y - a.y - t * dy;
  return ex * ex + ey * ey;
}

void draw_letter(RandomStream& stream, Index side, double* pixels) {
  const std::string_view skeleton = skeletons[stream.below(skeletons.size())];
  const double angle = 0.15 * stream.normal();
  const double shear = 0.15 * stream.normal();
  const double width = stream.uniform(0.45, 0.7);
  const double height = stream.uniform(0.6, 0.75);
  const double shift_x = stream.uniform(-0.05, 0.05);
  const double shift_y = stream.uniform(-0.05, 0.05);
  const double pen = stream.uniform(0.035, 0.06);
  // Elastic deformation: a few smooth waves of random direction and phase.
  struct Wave {
    double kx, ky, phase, dx, dy;
  };
  std::array<Wave, 4> waves{};
  for (Wave& wave : waves) {
    wave = {2 * std::numbers::pi * stream.uniform(-1.2, 1.2),
            2 * std::numbers::pi * stream.uniform(-1.2, 1.2), stream.uniform(0, 2 * std::numbers::pi),
            0.025 * stream.normal(), 0.025 * stream.normal()};
  }
  const auto place = [&](Point p) {
    const double x = (p.x - 0.5) * width;
    const double y = (p.y - 0.5) * height;
    const double slanted = x + shear * y;
    Point q{0.5 + shift_x + std::cos(angle) * slanted - std::sin(angle) * y,
            0.5 + shift_y + std::sin(angle) * slanted + std::cos(angle) * y};
    Point moved = q;
    for (const Wave& wave : waves) {
      const double value = std::sin(wave.kx * q.x + wave.ky * q.y + wave.phase);
      moved.x += wave.dx * value;
      moved.y += wave.dy * value;
    }
    return moved;
  };
  std::fill_n(pixels, side * side, 0.0);
  const double pixel = 1.0 / static_cast<double>(side);
  for (const std::vector<Point>& corners : strokes_of(skeleton)) {
    std::vector<Point> points = rounded(corners);
    for (Point& point : points) point = place(point);
    for (Index i = 0; i < side; ++i) {
      for (Index j = 0; j < side; ++j) {
        const Point centre{(static_cast<double>(j) + 0.5) * pixel, (static_cast<double>(i) + 0.5) * pixel};
        double nearest = infinity;
        for (std::size_t k = 0; k + 1 < points.size(); ++k) {
          nearest = std::min(nearest, squared_distance(centre, points[k], points[k + 1]));
        }
        // Full ink within the pen, fading over one pixel.
        const double ink = std::clamp((pen + pixel - std::sqrt(nearest)) / (1.5 * pixel), 0.0, 1.0);
        double& value = pixels[i * side + j];
        value = std::max(value, std::round(255 * ink) / 255);
      }
    }
  }
}

}  // namespace

Table draw_letters(std::uint64_t seed, Index count, Index first, Index side) {
  require_samples(count, first);
  require(side >= 8 && side <= 1024, "side: is {}, must be in 8 .. 1024", side);
  Table letters(count, side * side);
  parallel_blocks(count, [&](Index i) {
    RandomStream stream(seed, "letters", static_cast<std::uint64_t>(first + i));
    draw_letter(stream, side, letters.data() + i * side * side);
  });
  return letters;
}

}  // namespace surefoot::families
