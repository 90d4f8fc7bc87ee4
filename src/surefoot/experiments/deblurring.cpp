#include "surefoot/families/deblurring.hpp"

#include "surefoot/algorithms/detail/osqp_averaging.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/bounds/worst_case.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/experiments/experiment.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/io/idx.hpp"
#include "surefoot/runs/run.hpp"
#include "surefoot/runs/solve_qp.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <numbers>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace surefoot::experiments {

namespace {

constexpr Index deblurring_horizon = 16000;
constexpr Index deblurring_quick_horizon = 500;
constexpr Index pictured_letters = 8;
constexpr double solution_accuracy = 1e-9;
constexpr const char* images_file = "emnist-letters-train-images-idx3-ubyte";
/// Ten natural logarithms, the unit of the paper's NMSE table, in decibels.
constexpr double paper_unit_in_decibels = std::numbers::log10e;

struct Letters {
  problems::Table images;  ///< the samples, then those of the picture
  std::string source;      ///< in words
};

/// A random order, so that neighbours in the file (often of one writer) are not neighbours here.
std::vector<std::size_t> shuffled(std::size_t count, std::uint64_t seed) {
  std::vector<std::size_t> order(count);
  std::iota(order.begin(), order.end(), std::size_t{0});
  RandomStream random(seed, "letters-order", 0);
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

/// EMNIST stores images transposed.
Letters read_letters(const std::string& folder, std::uint64_t seed, Index count, Index side) {
  const std::string path = letters_file(folder);
  const io::IdxArray file = io::read_idx(path);
  const auto d = static_cast<std::size_t>(side);
  require(file.shape.size() == 3 && file.shape[1] == d && file.shape[2] == d,
          "{}: must hold images of {} x {} pixels", path, side, side);
  require(static_cast<std::size_t>(count) <= file.shape[0],
          "{}: has {} letters, but {} are needed (--samples and {} for the picture)", path, file.shape[0],
          count, pictured_letters);
  const std::vector<std::size_t> order = shuffled(file.shape[0], seed);
  Letters letters{problems::Table(count, side * side),
                  fmt::format("EMNIST letters, {} of {} from {}", count, file.shape[0],
                              std::filesystem::path(path).filename().string())};
  for (Index i = 0; i < count; ++i) {
    const std::uint8_t* image = file.values.data() + order[static_cast<std::size_t>(i)] * d * d;
    for (Index row = 0; row < side; ++row) {
      for (Index column = 0; column < side; ++column) {
        letters.images(i, row * side + column) = image[column * side + row] / 255.0;
      }
    }
  }
  return letters;
}

Letters letters_of(const Settings& settings, Index side) {
  const Index count = settings.samples + pictured_letters;
  if (!settings.letters.empty()) return read_letters(settings.letters, settings.seed, count, side);
  return {families::draw_letters(settings.seed, count, 0, side),
          "letters drawn by this program (--letters takes the real ones)"};
}

families::DeblurringOptions family_options(const Settings& settings) {
  families::DeblurringOptions options;
  options.blur = families::parse_blur(settings.blur);
  return options;
}

problems::Table checked_solutions(const problems::Qp& problem) {
  runs::QpSolveOptions how;
  how.interrupt = host().check;
  problems::Table solutions = runs::solve_qp(problem, how);
  const Index n = problem.variables();
  for (Index i = 0; i < solutions.rows(); ++i) {
    const problems::Vector x = solutions.row(i).head(n);
    const problems::Vector y = solutions.row(i).segment(n, n);
    const double error = runs::qp_error(problem, i, x, y);
    require(error <= solution_accuracy, "letter {}: solved to {} only, {} is needed", i,
            upper_bound_value(error), exact_label(solution_accuracy));
  }
  return solutions;
}

/// The largest distance of the cold start to a solution, in the variables in which OSQP is averaged.
double largest_distance(const problems::Qp& problem, const algorithms::OsqpOptions& options,
                        const problems::Table& solutions) {
  const problems::Vector start = problems::Vector::Zero(solutions.cols());
  double largest = 0;
  for (Index i = 0; i < solutions.rows(); ++i) {
    const algorithms::OsqpAveraging averaging(problem, i, options);
    require(averaging.consistent(start.data()), "letter {}: the cold start is not one that a step leaves", i);
    largest = std::max(largest, averaging.distance(start.data(), problems::table_row(solutions, i)));
  }
  return largest;
}

std::vector<double> decibel_tolerances() {
  std::vector<double> tolerances{-40, -30, -20};
  for (const double natural : {-40.0, -30.0, -20.0}) tolerances.push_back(natural * paper_unit_in_decibels);
  std::sort(tolerances.begin(), tolerances.end());
  return tolerances;
}

std::vector<Subject> letter_subjects(const problems::Table& solutions, Index pixels) {
  const auto images = std::make_shared<const problems::Table>(solutions.leftCols(pixels));
  return {{"residual", runs::fixed_point_residual(), {1e-4, 1e-3, 1e-2}, {}},
          {"nmse", runs::nmse(images), decibel_tolerances(), {}}};
}

std::string explanation(const Settings& settings) {
  std::string text = settings.letters.empty() ? "letters drawn here are not the paper's EMNIST letters"
                                              : "other letters of EMNIST than the paper's";
  if (families::parse_blur(settings.blur) == families::Blur::gaussian)
    text += ", and a Gaussian blur instead of its box";
  return text;
}

void add_tables(Output& output, const Settings& settings, const std::vector<Measured>& measured,
                double dist0) {
  ComparisonPlan residual{"Iterations until a share of letters has a fixed-point residual below a tolerance",
                          PaperTable("deblurring/paper_residual.csv")};
  residual.worst_case = {dist0,
                         "OSQP is 1/2-averaged in (x, w + y), but the distance is 1.1 times the largest one "
                         "seen, ||(x*, w* + y*)|| of these letters"};
  residual.explanation = explanation(settings);
  output.add(compare(measured[0], "residual", residual));
  ComparisonPlan natural{"The same for the NMSE as the paper's table measures it: ten natural logarithms",
                         PaperTable("deblurring/paper_nmse.csv")};
  natural.tolerance_factor = paper_unit_in_decibels;
  natural.explanation = explanation(settings) + ", and the paper measures from its own solutions";
  output.add(compare(measured[1], "nmse_paper", natural));
  ComparisonPlan decibels{"The same for the NMSE in dB, as the paper defines it",
                          PaperTable("deblurring/paper_nmse.csv")};
  decibels.same_metric = false;
  output.add(compare(measured[1], "nmse", decibels));
}

std::vector<double> image_of(const problems::Table& table, Index row, Index pixels) {
  return {table.data() + row * table.cols(), table.data() + row * table.cols() + pixels};
}

/// Letters that are not among the samples.
report::ImageGrid letter_grid(const families::Deblurring& family, const Settings& settings,
                              const problems::Table& images, Index steps) {
  const Index side = family.options().side;
  const Index pixels = side * side;
  const problems::Table originals = images.bottomRows(pictured_letters);
  const problems::Table observed = family.observe(originals, settings.seed, settings.samples);
  const problems::Qp problem = family.problem(observed);
  const algorithms::Osqp osqp(problem, algorithms::OsqpOptions::paper());
  report::ImageGrid grid;
  grid.name = "letters";
  grid.side = side;
  grid.caption = fmt::format(
      "{} letters that are not among the samples: blurred with noise, after k steps of "
      "OSQP, solved, original.",
      pictured_letters);
  const auto add_row = [&](const std::string& label, const problems::Table& table) {
    report::ImageGrid::Row& row = grid.rows.emplace_back();
    row.label = label;
    for (Index i = 0; i < pictured_letters; ++i) row.images.push_back(image_of(table, i, pixels));
  };
  add_row("blurred", observed);
  for (const Index k : {Index{10}, Index{100}, Index{1000}}) {
    if (k > steps) continue;
    runs::RunOptions options;
    options.steps = k;
    add_row(fmt::format("after {} steps", k), runs::run_iterates(osqp, {}, options));
  }
  add_row("solved", checked_solutions(problem));
  add_row("original", originals);
  return grid;
}

std::string run_json(const Settings& settings, Index steps, const std::string& letters) {
  return nlohmann::ordered_json{
      {"experiment", "deblurring"},  {"letters", letters},
      {"blur", settings.blur},       {"solver", "OSQP, no scaling, rho = sigma = alpha = 1, cold start"},
      {"samples", settings.samples}, {"steps", steps},
      {"seed", settings.seed}}
      .dump();
}

}  // namespace

std::optional<std::string> find_letters(const std::string& folder) {
  for (const char* ending : {".gz", ""}) {
    const std::filesystem::path path = std::filesystem::path(folder) / (std::string(images_file) + ending);
    if (std::filesystem::exists(path)) return path.string();
  }
  return std::nullopt;
}

std::string letters_file(const std::string& folder) {
  const std::optional<std::string> found = find_letters(folder);
  require(found.has_value(), "--letters: there is no {}.gz in '{}'", images_file, folder);
  return *found;
}

static Index deblurring_steps(const Settings& settings) {
  const Index horizon = settings.quick() ? deblurring_quick_horizon : deblurring_horizon;
  return settings.steps > 0 ? settings.steps : horizon;
}

static void run_deblurring(const Settings& settings, Output& output) {
  const Index steps = deblurring_steps(settings);
  const families::Deblurring family(family_options(settings));
  const Index side = family.options().side;
  const Letters letters = letters_of(settings, side);
  const problems::Qp problem =
      family.problem(family.observe(letters.images.topRows(settings.samples), settings.seed));
  const problems::Table solutions =
      kept_table(settings.journals->next(), [&] { return checked_solutions(problem); });
  const algorithms::Osqp osqp(problem, algorithms::OsqpOptions::paper());
  runs::RunOptions options;
  options.steps = steps;
  const std::vector<Measured> measured =
      measure(osqp, letter_subjects(solutions, side * side), options, settings.journals->next());

  fmt::print("Deblurring by OSQP: {} letters, {} blur, {} steps, seed {}\nLetters: {}\n",
             count_label(settings.samples), settings.blur, count_label(steps), settings.seed, letters.source);
  add_tables(output, settings, measured,
             bounds::estimated_initial_distance(largest_distance(problem, osqp.options(), solutions)));
  for (const Measured& subject : measured) {
    output.add(success_figure(subject));
    output.add(quantile_figure(subject));
  }
  const report::PageFigure picture = output.add_picture(letter_grid(family, settings, letters.images, steps));
  const std::string run = run_json(settings, steps, letters.source);
  output.add(certificate_of(measured[0], "OSQP on deblurring of letters", "OSQP", run), "", {picture}, true);
  output.add(certificate_of(measured[1], "OSQP on deblurring of letters: NMSE", "OSQP", run), "nmse",
             {picture}, true);
}

Experiment deblurring() {
  return {.name = "deblurring",
          .title = "Deblurring of letters",
          .samples = 1000,
          .usual_samples = "1000",
          .usual_steps = "16000, quick 500",
          .paper_seconds = 30,
          .quick_seconds = 5,
          .bytes =
              [](const Settings& settings) {
                return bytes_of(40e6, 110e3, settings.samples, 6e3, deblurring_steps(settings));
              },
          .own_options = {"--letters", "--blur"},
          .example = "--letters ../emnist --scale quick",
          .run = run_deblurring};
}

}  // namespace surefoot::experiments
