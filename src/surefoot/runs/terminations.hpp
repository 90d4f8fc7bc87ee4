#pragma once

#include "surefoot/algorithms/stopping.hpp"
#include "surefoot/problems/matrix.hpp"
#include "surefoot/runs/run.hpp"

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace surefoot::runs {

/// What a solver's stopping test says of all instances: a row each. Kept as numbers, so that checkpoints and
/// processes share them as they share traces.
class Terminations {
 public:
  /// For so many instances; those that no sink received are `running`.
  explicit Terminations(Index instances = 0);
  explicit Terminations(problems::Table numbers);

  /// The sink of RunOptions; it writes here, and must not outlive this.
  [[nodiscard]] std::function<void(Index, const algorithms::Ending&)> sink();
  [[nodiscard]] Index instances() const { return numbers_.rows(); }
  [[nodiscard]] algorithms::Ending operator[](Index instance) const;
  /// Where the stopping test itself ended the run, else infinity.
  [[nodiscard]] double iterations(Index instance) const;
  /// How many have each status, those of none left out, in the order of the statuses.
  [[nodiscard]] std::vector<std::pair<algorithms::SolverStatus, Index>> counts() const;
  /// The smallest of the iterations to termination that at least this part of the instances needs no more
  /// than.
  [[nodiscard]] double iterations_of(double part) const;
  /// instance,status,iterations,prim_res,dual_res,duality_gap,obj_val,rho,rho_updates, 17 digits.
  /// What `solver` adapts is its column: rho, or the scale of scs.
  [[nodiscard]] std::string csv(std::string_view solver = "osqp") const;

  [[nodiscard]] problems::Table& numbers() { return numbers_; }
  [[nodiscard]] const problems::Table& numbers() const { return numbers_; }

 private:
  problems::Table numbers_;
};

}  // namespace surefoot::runs
