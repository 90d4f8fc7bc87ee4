#include "surefoot/bounds/pac_bayes.hpp"
#include "surefoot/certify/learned.hpp"
#include "surefoot/certify/pac_bayes.hpp"
#include "surefoot/runs/named_metric.hpp"

#include "rooms.hpp"

#include <pybind11/pybind11.h>

namespace py = pybind11;

namespace surefoot::python {

/// Defaults of arguments that have no struct on the Python side, from the structs that hold them.
void add_defaults(py::module_& module) {
  const bounds::PriorGrid grid;
  const certify::CalibrationOptions calibration;
  py::dict all;
  all["lambda_max"] = grid.lambda_max;
  all["b"] = grid.b;
  all["draws"] = calibration.draws;
  all["seed"] = calibration.seed;
  all["prior_samples"] = calibration.prior_samples;
  all["calibration_share"] = certify::PacBayesOptions().calibration_share;
  all["iterations"] = runs::usual_iterations;
  all["metric"] = runs::usual_metric;
  module.attr("defaults") = all;
}

}  // namespace surefoot::python
