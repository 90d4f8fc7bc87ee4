// solver_iterates FOLDER [OUTPUT]: the iterates of our OSQP or SCS on one problem, for comparison with the
// solvers' own packages.
//
// FOLDER holds
//   P.mtx, A.mtx    Matrix Market, coordinate real, general or symmetric (P: both triangles, or symmetric)
//   q.txt l.txt u.txt             a quadratic program (OSQP): numbers separated by white space; inf, -inf
//   b.txt c.txt cones.txt         or a cone program (SCS)
//   settings.txt    lines `name value`; may be empty. First `preset fixed` (default), `preset default`
//                   or `preset paper`, then
//                   OSQP: rho sigma alpha scaling equality_factor loose_rho adaptive_rho_interval
//                   adaptive_rho_tolerance check_termination eps_abs eps_rel eps_prim_inf eps_dual_inf
//                   check_dualgap scaled_termination max_iter stop
//                   SCS:  alpha rho_x scale zero_factor tau_factor normalize adaptive_scale
//                   adaptive_diag_scale acceleration_lookback acceleration_interval acceleration_type_1
//                   acceleration_regularization acceleration_relaxation eps_abs eps_rel eps_infeas max_iters
//                   stop returned
//                   both: system sparse|dense|kkt, own 1 (matrices in the lanes, as if each instance had its
//                   own)
//   ks.txt          step counts, each >= 1
// cones.txt has lines `zero 3`, `nonnegative 2`, `second_order 3 4`, `semidefinite 2 3`, `exponential 2`,
// `dual_exponential 1`, `power 0.3 -0.5` in any order; rows of
// A are in this order of cones, semidefinite ones as lower triangles by columns with sqrt(2) off the
// diagonal.
//
// OUTPUT (default FOLDER) receives for each k: x_k.txt, y_k.txt and z_k.txt (OSQP: w, the copy of Ax) or
// s_k.txt (SCS), one number per line with 17 digits, in the problem's own units. OSQP equality rows are those
// with u - l < 1e-4 after scaling. With `preset default` ending.txt has lines `name value` of what the
// stopping test says: status, iterations, prim_res, dual_res, duality_gap, obj_val, rho, rho_updates.

#include "surefoot/algorithms/adaptive_scs.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

namespace {

using namespace surefoot;
using problems::SparseMatrix;
using problems::Table;
namespace fs = std::filesystem;

std::ifstream open(const fs::path& path) {
  std::ifstream file(path);
  require(file.good(), "{}: cannot be read", path.string());
  return file;
}

SparseMatrix read_matrix(const fs::path& path) {
  std::ifstream file = open(path);
  std::string line;
  std::getline(file, line);
  const bool symmetric = line.find("symmetric") != std::string::npos;
  while (std::getline(file, line) && (line.empty() || line[0] == '%')) {
  }
  Index rows = 0;
  Index columns = 0;
  Index entries = 0;
  std::istringstream(line) >> rows >> columns >> entries;
  std::vector<Eigen::Triplet<double, int>> triplets;
  for (Index k = 0; k < entries; ++k) {
    int i = 0;
    int j = 0;
    std::string value;
    require(static_cast<bool>(file >> i >> j >> value), "{}: entry {} is missing", path.string(), k);
    triplets.emplace_back(i - 1, j - 1, std::stod(value));
    if (symmetric && i != j) triplets.emplace_back(j - 1, i - 1, std::stod(value));
  }
  SparseMatrix matrix(rows, columns);
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  return matrix;
}

Table read_vector(const fs::path& path) {
  std::ifstream file = open(path);
  std::vector<double> values;
  for (std::string token; file >> token;) values.push_back(std::stod(token));
  return Eigen::Map<Table>(values.data(), 1, static_cast<Index>(values.size()));
}

std::map<std::string, std::string> read_settings(const fs::path& path) {
  std::ifstream file = open(path);
  std::map<std::string, std::string> settings;
  for (std::string name, value; file >> name >> value;) settings[name] = value;
  return settings;
}

problems::Cones read_cones(const fs::path& path) {
  std::ifstream file = open(path);
  problems::Cones cones;
  for (std::string line; std::getline(file, line);) {
    std::istringstream words(line);
    std::string name;
    if (!(words >> name)) continue;
    if (name == "power") {
      for (double exponent = 0; words >> exponent;) cones.power.push_back(exponent);
      continue;
    }
    for (Index size = 0; words >> size;) {
      if (name == "zero") {
        cones.zero = size;
      } else if (name == "nonnegative") {
        cones.nonnegative = size;
      } else if (name == "second_order") {
        cones.second_order.push_back(size);
      } else if (name == "semidefinite") {
        cones.semidefinite.push_back(size);
      } else if (name == "exponential") {
        cones.exponential = size;
      } else if (name == "dual_exponential") {
        cones.dual_exponential = size;
      } else {
        throw InputError(fmt::format("{}: unknown cone {}", path.string(), name));
      }
    }
  }
  return cones;
}

void write_column(const fs::path& path, const double* lanes, Index rows, Index width) {
  std::ofstream file(path);
  for (Index i = 0; i < rows; ++i) file << fmt::format("{:.17g}\n", lanes[i * width]);
  require(file.good(), "{}: cannot be written", path.string());
}

void run_solver(const fs::path& folder, const fs::path& output) {
  const auto settings = read_settings(folder / "settings.txt");
  const auto number = [&](const char* name, double& value) {
    if (const auto found = settings.find(name); found != settings.end()) value = std::stod(found->second);
  };
  const auto whole = [&](const char* name, Index& value) {
    if (settings.contains(name)) value = std::stol(settings.at(name));
  };
  const auto flag = [&](const char* name, bool& value) {
    if (settings.contains(name)) value = settings.at(name) != "0";
  };
  const bool paper = settings.contains("preset") && settings.at("preset") == "paper";
  const bool as_installed = settings.contains("preset") && settings.at("preset") == "default";
  bool returned = true;
  std::optional<algorithms::SystemKind> kind;
  if (settings.contains("system")) {
    const std::string& name = settings.at("system");
    kind = name == "dense" ? algorithms::SystemKind::dense
           : name == "kkt" ? algorithms::SystemKind::kkt
                           : algorithms::SystemKind::sparse;
  }
  std::vector<SparseMatrix> P = {read_matrix(folder / "P.mtx")};
  std::vector<SparseMatrix> A = {read_matrix(folder / "A.mtx")};
  if (settings.contains("own")) {
    P.push_back(P[0]);
    A.push_back(A[0]);
  }
  std::unique_ptr<algorithms::Operator> op;
  const bool cone = fs::exists(folder / "cones.txt");
  if (cone) {
    problems::ConeProgram problem{P, A, read_vector(folder / "b.txt"), read_vector(folder / "c.txt"),
                                  read_cones(folder / "cones.txt")};
    auto options = paper          ? algorithms::ScsOptions::paper()
                   : as_installed ? algorithms::ScsOptions::defaults()
                                  : algorithms::ScsOptions::package();
    flag("normalize", options.normalize);
    flag("adaptive_scale", options.adaptive_scale);
    flag("adaptive_diag_scale", options.adaptive_diag_scale);
    flag("acceleration_type_1", options.acceleration_type_1);
    flag("stop", options.stop);
    flag("returned", options.returned);
    whole("acceleration_lookback", options.acceleration_lookback);
    whole("acceleration_interval", options.acceleration_interval);
    whole("max_iters", options.max_iters);
    number("acceleration_regularization", options.acceleration_regularization);
    number("acceleration_relaxation", options.acceleration_relaxation);
    number("eps_abs", options.eps_abs);
    number("eps_rel", options.eps_rel);
    number("eps_infeas", options.eps_infeas);
    number("alpha", options.alpha);
    number("rho_x", options.rho_x);
    number("scale", options.scale);
    number("zero_factor", options.zero_factor);
    number("tau_factor", options.tau_factor);
    options.system = kind;
    returned = options.returned;
    op = algorithms::make_scs(problem, options);
  } else {
    problems::Qp problem{
        P, A, read_vector(folder / "q.txt"), read_vector(folder / "l.txt"), read_vector(folder / "u.txt"),
        {}};
    auto options = paper          ? algorithms::OsqpOptions::paper()
                   : as_installed ? algorithms::OsqpOptions::defaults()
                                  : algorithms::OsqpOptions::fixed();
    number("adaptive_rho_tolerance", options.adaptive_rho_tolerance);
    number("eps_abs", options.eps_abs);
    number("eps_rel", options.eps_rel);
    number("eps_prim_inf", options.eps_prim_inf);
    number("eps_dual_inf", options.eps_dual_inf);
    whole("adaptive_rho_interval", options.adaptive_rho_interval);
    whole("check_termination", options.check_termination);
    whole("max_iter", options.max_iter);
    flag("check_dualgap", options.check_dualgap);
    flag("scaled_termination", options.scaled_termination);
    flag("stop", options.stop);
    number("rho", options.rho);
    number("sigma", options.sigma);
    number("alpha", options.alpha);
    number("equality_factor", options.equality_factor);
    number("loose_rho", options.loose_rho);
    if (settings.contains("scaling")) options.scaling = std::stol(settings.at("scaling"));
    options.system = kind;
    op = std::make_unique<algorithms::Osqp>(problem, options);
  }
  std::vector<Index> ks;
  std::ifstream ks_file = open(folder / "ks.txt");
  for (Index k = 0; ks_file >> k;) ks.push_back(k);
  std::sort(ks.begin(), ks.end());
  const Index W = op->width();
  const Index n = A[0].cols();
  const Index m = A[0].rows();
  const auto workspace = op->make_workspace();
  op->load(0, 1, *workspace);
  op->prepare_measures(*workspace);
  algorithms::Buffer state = algorithms::make_buffer(op->state_size(), W);
  algorithms::Buffer result = algorithms::make_buffer(n + 2 * m, W);
  const algorithms::Batch z{state.data(), op->state_size(), W};
  op->start(z, *workspace);
  Index done = 0;
  for (const Index k : ks) {
    for (; done < k; ++done) op->step(done, z, *workspace, nullptr);
    double* x = result.data();
    double* y = x + n * W;
    double* s = y + m * W;
    if (!returned) {
      static_cast<const algorithms::Scs&>(*op).solution(*workspace, x, y, s);
    } else {
      op->read(z, *workspace, 0, n + 2 * m, x);
    }
    write_column(output / fmt::format("x_{}.txt", k), x, n, W);
    write_column(output / fmt::format("y_{}.txt", k), y, m, W);
    write_column(output / fmt::format("{}_{}.txt", cone ? "s" : "z", k), s, m, W);
  }
  if (!op->has_stopping_test()) return;
  const algorithms::Ending ending = op->ending(z, 0);
  std::ofstream file(output / "ending.txt");
  file << fmt::format(
      "status {}\niterations {}\nprim_res {:.17g}\ndual_res {:.17g}\nduality_gap {:.17g}\nobj_val {:.17g}\n"
      "rho {:.17g}\nrho_updates {}\n",
      static_cast<int>(ending.status), ending.iterations, ending.primal_residual, ending.dual_residual,
      ending.duality_gap, ending.objective, ending.rho, ending.rho_updates);
  require(file.good(), "{}: cannot be written", (output / "ending.txt").string());
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2 || argc > 3) {
    std::cerr << "usage: solver_iterates FOLDER [OUTPUT]\n";
    return 2;
  }
  try {
    run_solver(argv[1], argv[argc - 1]);
  } catch (const std::exception& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
  return 0;
}
