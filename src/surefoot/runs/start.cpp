#include "surefoot/runs/start.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"

#include <utility>

namespace surefoot::runs {

using problems::Table;

Start given_start(Table iterates) {
  return {std::make_shared<const Table>(std::move(iterates))};
}

Start nearest_neighbour_start(const Table& parameters, const Table& base_parameters,
                              const Table& base_iterates) {
  require(base_parameters.rows() >= 1, "base_parameters: has no rows");
  require(base_parameters.rows() == base_iterates.rows(), "base_iterates: has {} rows, must have {}",
          base_iterates.rows(), base_parameters.rows());
  require(base_parameters.cols() == parameters.cols(), "base_parameters: has {} columns, must have {}",
          base_parameters.cols(), parameters.cols());
  Table iterates(parameters.rows(), base_iterates.cols());
  parallel_blocks(parameters.rows(), [&](Index instance) {
    Index nearest = 0;
    (base_parameters.rowwise() - parameters.row(instance)).rowwise().squaredNorm().minCoeff(&nearest);
    iterates.row(instance) = base_iterates.row(nearest);
  });
  return given_start(std::move(iterates));
}

}  // namespace surefoot::runs
