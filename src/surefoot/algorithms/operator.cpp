#include "surefoot/algorithms/operator.hpp"

#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>

namespace surefoot::algorithms {

namespace {

constexpr EnumNames<Quantity, 13> quantity_names{
    {{Quantity::objective, "objective"},
     {Quantity::primal_residual, "primal residual (Euclidean norm)"},
     {Quantity::dual_residual, "dual residual (Euclidean norm)"},
     {Quantity::constraint_violation, "constraint violation (infinity norm)"},
     {Quantity::optimality_residual, "optimality residual"},
     {Quantity::largest_error, "largest error"},
     {Quantity::prim_res, "prim_res (infinity norm)"},
     {Quantity::dual_res, "dual_res (infinity norm)"},
     {Quantity::duality_gap, "duality_gap"},
     {Quantity::prim_res_rel, "prim_res / its tolerance"},
     {Quantity::dual_res_rel, "dual_res / its tolerance"},
     {Quantity::duality_gap_rel, "duality_gap / its tolerance"},
     {Quantity::unsolved, "solver state (0: solved, 1: not yet)"}}};

}  // namespace

std::string_view to_string(Quantity quantity) {
  return name_in(quantity_names, quantity);
}

Settings Operator::settings() const {
  return {{"solver", std::string(name())}};
}

bool AveragedMap::fits(Index /*instance*/, const double* /*iterate*/) const {
  return true;
}

DeclaredMap Operator::declared_map() const {
  return {nullptr, "no class of operators is known that its step belongs to"};
}

void Operator::read(ConstBatch z, Workspace& /*workspace*/, Index first, Index count, double* out) const {
  std::copy_n(z.row(first), count * z.width, out);
}

void Operator::write(ConstBatch iterate, Workspace& /*workspace*/, Batch z) const {
  std::copy_n(iterate.data, iterate.rows * iterate.width, z.data);
}

void Operator::reload(const Index* /*instances*/, Workspace& /*workspace*/) const {
  throw InputError(fmt::format("{}: lanes are loaded together", name()));
}

Ending Operator::ending(ConstBatch /*z*/, Index /*lane*/) const {
  throw InputError(fmt::format("{}: has no stopping test", name()));
}

bool Operator::finished(ConstBatch /*z*/, Index /*count*/) const {
  return false;
}

bool Operator::knows(Quantity /*quantity*/) const {
  return false;
}

void Operator::prepare_measures(Workspace& /*workspace*/) const {}

void Operator::measure(Quantity quantity, Index /*k*/, ConstBatch /*z*/, Workspace& /*workspace*/,
                       double* /*value*/) const {
  throw InputError(fmt::format("{}: has no {}", name(), to_string(quantity)));
}

void DifferentiableStep::measure_vjp(Quantity quantity, Index /*k*/, ConstBatch /*z*/,
                                     const double* /*d_value*/, Batch /*cotangent*/,
                                     Workspace& /*workspace*/) const {
  throw InputError(fmt::format("{}: its derivative is not known here", to_string(quantity)));
}

void DifferentiableStep::start_from(ConstBatch /*numbers*/, Batch /*z*/, Workspace& /*workspace*/) const {
  throw InputError("start_from: a start is the state itself");
}

void DifferentiableStep::start_from_vjp(ConstBatch /*numbers*/, ConstBatch /*cotangent*/,
                                        Batch /*derivative*/, Workspace& /*workspace*/) const {
  throw InputError("start_from_vjp: a start is the state itself");
}

}  // namespace surefoot::algorithms
