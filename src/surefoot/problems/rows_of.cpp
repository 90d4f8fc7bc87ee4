#include "surefoot/problems/rows_of.hpp"

#include "surefoot/core/error.hpp"

namespace surefoot::problems {
namespace {

void require_instances(Index there, const std::vector<Index>& instances) {
  require(!instances.empty(), "instances: there are none");
  for (const Index instance : instances)
    require(instance >= 0 && instance < there, "instances: {} is outside 0 .. {}", instance, there - 1);
}

std::vector<SparseMatrix> matrices_of(const std::vector<SparseMatrix>& all,
                                      const std::vector<Index>& instances) {
  if (all.size() <= 1) return all;
  std::vector<SparseMatrix> chosen;
  chosen.reserve(instances.size());
  for (const Index instance : instances) chosen.push_back(all[static_cast<std::size_t>(instance)]);
  return chosen;
}

}  // namespace

Table rows_of(const Table& table, const std::vector<Index>& instances) {
  if (table.rows() <= 1) return table;
  Table chosen(static_cast<Index>(instances.size()), table.cols());
  for (std::size_t i = 0; i < instances.size(); ++i)
    chosen.row(static_cast<Index>(i)) = table.row(instances[i]);
  return chosen;
}

Qp rows_of(const Qp& problem, const std::vector<Index>& instances) {
  require_instances(problem.instances(), instances);
  Qp chosen;
  chosen.P = matrices_of(problem.P, instances);
  chosen.A = matrices_of(problem.A, instances);
  chosen.q = rows_of(problem.q, instances);
  chosen.l = rows_of(problem.l, instances);
  chosen.u = rows_of(problem.u, instances);
  chosen.kronecker_factor = problem.kronecker_factor;
  return chosen;
}

ConeProgram rows_of(const ConeProgram& problem, const std::vector<Index>& instances) {
  require_instances(problem.instances(), instances);
  ConeProgram chosen;
  chosen.P = matrices_of(problem.P, instances);
  chosen.A = matrices_of(problem.A, instances);
  chosen.b = rows_of(problem.b, instances);
  chosen.c = rows_of(problem.c, instances);
  chosen.cones = problem.cones;
  return chosen;
}

Quadratic rows_of(const Quadratic& problem, const std::vector<Index>& instances) {
  require_instances(problem.instances(), instances);
  return {problem.P, rows_of(problem.c, instances)};
}

Lasso rows_of(const Lasso& problem, const std::vector<Index>& instances) {
  require_instances(problem.instances(), instances);
  return {problem.D, rows_of(problem.b, instances), problem.weight};
}

}  // namespace surefoot::problems
