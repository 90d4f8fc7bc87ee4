#include "surefoot/runs/terminations.hpp"

#include "surefoot/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace surefoot::runs {

using algorithms::Ending;
using algorithms::SolverStatus;

namespace {

constexpr Index columns = 8;

}  // namespace

Terminations::Terminations(Index instances) : numbers_(problems::Table::Zero(instances, columns)) {}

Terminations::Terminations(problems::Table numbers) : numbers_(std::move(numbers)) {
  require(numbers_.cols() == columns, "terminations: a table of {} columns, must have {}", numbers_.cols(),
          columns);
}

std::function<void(Index, const Ending&)> Terminations::sink() {
  return [this](Index instance, const Ending& ending) {
    numbers_.row(instance) << static_cast<double>(ending.status), static_cast<double>(ending.iterations),
        ending.primal_residual, ending.dual_residual, ending.duality_gap, ending.objective, ending.rho,
        static_cast<double>(ending.rho_updates);
  };
}

Ending Terminations::operator[](Index instance) const {
  const auto row = numbers_.row(instance);
  return {static_cast<SolverStatus>(static_cast<int>(row[0])),
          static_cast<Index>(row[1]),
          row[2],
          row[3],
          row[4],
          row[5],
          row[6],
          static_cast<Index>(row[7])};
}

double Terminations::iterations(Index instance) const {
  const Ending ending = (*this)[instance];
  return algorithms::is_decided(ending.status) ? static_cast<double>(ending.iterations) : infinity;
}

std::vector<std::pair<SolverStatus, Index>> Terminations::counts() const {
  std::vector<std::pair<SolverStatus, Index>> found;
  for (int status = 0; status <= algorithms::largest_status; ++status) {
    const Index count = (numbers_.col(0).array() == static_cast<double>(status)).count();
    if (count > 0) found.emplace_back(static_cast<SolverStatus>(status), count);
  }
  return found;
}

double Terminations::iterations_of(double part) const {
  require(part > 0 && part <= 1, "part: is {}, must be in (0, 1]", part);
  require(instances() > 0, "terminations: there is no instance");
  std::vector<double> sorted;
  for (Index i = 0; i < instances(); ++i) sorted.push_back(iterations(i));
  std::sort(sorted.begin(), sorted.end());
  const auto rank = static_cast<Index>(std::ceil(part * static_cast<double>(instances())));
  return sorted[static_cast<std::size_t>(std::clamp<Index>(rank - 1, 0, instances() - 1))];
}

std::string Terminations::csv(std::string_view solver) const {
  const std::string_view weight = solver == "scs" ? "scale" : "rho";
  std::string text = fmt::format(
      "instance,status,iterations,prim_res,dual_res,duality_gap,obj_val,{0},{0}_updates\n", weight);
  for (Index i = 0; i < instances(); ++i) {
    const Ending ending = (*this)[i];
    fmt::format_to(std::back_inserter(text), "{},{},{},{:.17g},{:.17g},{:.17g},{:.17g},{:.17g},{}\n", i,
                   algorithms::to_string(ending.status), iterations(i), ending.primal_residual,
                   ending.dual_residual, ending.duality_gap, ending.objective, ending.rho,
                   ending.rho_updates);
  }
  return text;
}

}  // namespace surefoot::runs
