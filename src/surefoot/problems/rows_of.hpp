#pragma once

#include "surefoot/problems/cone_program.hpp"
#include "surefoot/problems/lasso.hpp"
#include "surefoot/problems/qp.hpp"
#include "surefoot/problems/quadratic.hpp"

#include <vector>

namespace surefoot::problems {

/// Rows of a table in this order; a table of one row, which all instances share, stays as it is.
Table rows_of(const Table& table, const std::vector<Index>& instances);
/// The family of these instances, in this order. InputError if one is not there.
Qp rows_of(const Qp& problem, const std::vector<Index>& instances);
ConeProgram rows_of(const ConeProgram& problem, const std::vector<Index>& instances);
Quadratic rows_of(const Quadratic& problem, const std::vector<Index>& instances);
Lasso rows_of(const Lasso& problem, const std::vector<Index>& instances);

}  // namespace surefoot::problems
