#include "surefoot/algorithms/stopping.hpp"

#include "surefoot/core/enum_names.hpp"

namespace surefoot::algorithms {

namespace {

constexpr EnumNames<SolverStatus, 15> status_names{
    {{SolverStatus::running, "unsolved"},
     {SolverStatus::solved, "solved"},
     {SolverStatus::solved_inaccurate, "solved inaccurate"},
     {SolverStatus::primal_infeasible, "primal infeasible"},
     {SolverStatus::primal_infeasible_inaccurate, "primal infeasible inaccurate"},
     {SolverStatus::dual_infeasible, "dual infeasible"},
     {SolverStatus::dual_infeasible_inaccurate, "dual infeasible inaccurate"},
     {SolverStatus::maximum_iterations_reached, "maximum iterations reached"},
     {SolverStatus::non_convex, "problem non convex"},
     {SolverStatus::infeasible, "infeasible"},
     {SolverStatus::unbounded, "unbounded"},
     {SolverStatus::solved_at_last, "solved (inaccurate - reached max_iters)"},
     {SolverStatus::infeasible_at_last, "infeasible (inaccurate - reached max_iters)"},
     {SolverStatus::unbounded_at_last, "unbounded (inaccurate - reached max_iters)"},
     {SolverStatus::failed, "failure"}}};

}  // namespace

std::string_view to_string(SolverStatus status) {
  return name_in(status_names, status);
}

bool is_decided(SolverStatus status) {
  return status == SolverStatus::solved || status == SolverStatus::primal_infeasible ||
         status == SolverStatus::dual_infeasible || status == SolverStatus::non_convex ||
         status == SolverStatus::infeasible || status == SolverStatus::unbounded;
}

}  // namespace surefoot::algorithms
