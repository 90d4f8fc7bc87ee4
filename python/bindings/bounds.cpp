#include "surefoot/bounds/anytime.hpp"
#include "surefoot/bounds/band.hpp"
#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/bounds/group_average.hpp"
#include "surefoot/bounds/iteration_budget.hpp"
#include "surefoot/bounds/kl.hpp"
#include "surefoot/bounds/pac_bayes.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"
#include "surefoot/bounds/sample_size.hpp"
#include "surefoot/bounds/shift.hpp"
#include "surefoot/bounds/worst_case.hpp"
#include "surefoot/core/error.hpp"

#include "rooms.hpp"
#include "vectorised.hpp"

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

namespace surefoot::python {

namespace {

using Object = py::object;

py::array_t<double> as_array(const std::vector<double>& values) {
  return py::array_t<double>(static_cast<py::ssize_t>(values.size()), values.data());
}

void add_kl(py::module_& module) {
  module.def("kl", [](const Object& q, const Object& p) {
    return vectorised<double, double>(bounds::kl, {"q", "p"}, q, p);
  });
  module.def("kl_inverse", [](const Object& q, const Object& c) {
    return vectorised<double, double>(bounds::kl_inverse, {"q", "c"}, q, c);
  });
  module.def("kl_inverse_with_derivatives", [](const Object& q, const Object& c) {
    const auto all = [](double rate, double divergence) {
      const bounds::KlInverse value = bounds::kl_inverse_with_derivatives(rate, divergence);
      return std::array{value.p, value.dp_dq, value.dp_dc};
    };
    return vectorised<double, double>(all, {"q", "c"}, q, c);
  });
}

void add_counts(py::module_& module) {
  module.def("risk_upper_bound", [](const Object& failures, const Object& samples, const Object& delta,
                                    const std::string& method) {
    const auto of = [how = bounds::parse_risk_method(method)](Index f, Index n, double d) {
      return bounds::risk_upper_bound(f, n, d, how);
    };
    return vectorised<Index, Index, double>(of, {"failures", "samples", "delta"}, failures, samples, delta);
  });
  module.def("success_lower_bound", [](const Object& failures, const Object& samples, const Object& delta,
                                       const std::string& method) {
    const auto of = [how = bounds::parse_risk_method(method)](Index f, Index n, double d) {
      return bounds::success_lower_bound(f, n, d, how);
    };
    return vectorised<Index, Index, double>(of, {"failures", "samples", "delta"}, failures, samples, delta);
  });
  module.def("clopper_pearson_upper", [](const Object& failures, const Object& samples, const Object& delta) {
    return vectorised<Index, Index, double>(bounds::clopper_pearson_upper, {"failures", "samples", "delta"},
                                            failures, samples, delta);
  });
  module.def("binomial_cdf_upper", [](const Object& k, const Object& n, const Object& p) {
    return vectorised<Index, Index, double>(bounds::binomial_cdf_upper, {"k", "n", "p"}, k, n, p);
  });
  module.def("binomial_tail_upper", [](const Object& k, const Object& n, const Object& p) {
    return vectorised<Index, Index, double>(bounds::binomial_tail_upper, {"k", "n", "p"}, k, n, p);
  });
  module.def("order_statistic_rank", [](const Object& samples, const Object& quantile, const Object& delta) {
    return vectorised<Index, double, double>(bounds::order_statistic_rank, {"samples", "quantile", "delta"},
                                             samples, quantile, delta);
  });
  module.def("empirical_rank", [](const Object& samples, const Object& quantile) {
    return vectorised<Index, double>(bounds::empirical_rank, {"samples", "quantile"}, samples, quantile);
  });
}

void add_bounds_after_looking(py::module_& module) {
  module.def("band_level", [](const Object& samples, const Object& delta) {
    return vectorised<Index, double>(bounds::band_level, {"samples", "delta"}, samples, delta);
  });
  module.def("band_share", [](const Object& samples, const Object& count, const Object& level) {
    return vectorised<Index, Index, double>(bounds::band_share, {"samples", "count", "level"}, samples, count,
                                            level);
  });
  module.def("anytime_upper", [](const Object& failures, const Object& samples, const Object& delta) {
    return vectorised<Index, Index, double>(bounds::anytime_upper, {"failures", "samples", "delta"}, failures,
                                            samples, delta);
  });
  module.def("sequence_upper", [](const Object& failures, const Object& samples, const Object& delta) {
    return vectorised<Index, Index, double>(bounds::sequence_upper, {"failures", "samples", "delta"},
                                            failures, samples, delta);
  });
  module.def("samples_needed", [](const Object& failures, const Object& share, const Object& delta) {
    return vectorised<Index, double, double>(bounds::samples_needed, {"failures", "share", "delta"}, failures,
                                             share, delta);
  });
  module.def(
      "group_average_upper", [](const std::vector<double>& shares, double delta, const std::string& method) {
        std::vector<bounds::GroupShare> groups;
        for (const double share : shares) groups.push_back({share, 1});
        require(method == "betting" || method == "kl", "method: '{}' is neither betting nor kl", method);
        return method == "kl" ? bounds::group_average_kl(groups, delta)
                              : bounds::group_average_betting(groups, delta);
      });
}

void add_shifts(py::module_& module) {
  module.def("risk_under_shift", [](const Object& risk, const std::string& divergence, const Object& radius) {
    const auto of = [by = bounds::parse_divergence(divergence)](double r, double far) {
      return bounds::risk_under_shift(r, {by, far});
    };
    return vectorised<double, double>(of, {"risk", "radius"}, risk, radius);
  });
  module.def("shift_margin", [](const Object& risk, const Object& tolerated, const std::string& divergence) {
    const auto of = [by = bounds::parse_divergence(divergence)](double r, double t) {
      return bounds::shift_margin(r, t, by);
    };
    return vectorised<double, double>(of, {"risk", "tolerated"}, risk, tolerated);
  });
}

void add_rates(py::module_& module) {
  module.def("linear_rate_residual", [](const Object& beta, const Object& k, const Object& dist0) {
    return vectorised<double, Index, double>(bounds::linear_rate_residual, {"beta", "k", "dist0"}, beta, k,
                                             dist0);
  });
  module.def("averaged_rate_residual", [](const Object& alpha, const Object& k, const Object& dist0) {
    return vectorised<double, Index, double>(bounds::averaged_rate_residual, {"alpha", "k", "dist0"}, alpha,
                                             k, dist0);
  });
}

}  // namespace

void add_bounds(py::module_& module) {
  add_kl(module);
  add_counts(module);
  add_bounds_after_looking(module);
  add_shifts(module);
  add_rates(module);
  module.def("pac_bayes_risk", [](const Object& risk, const Object& regularizer) {
    return vectorised<double, double>(bounds::pac_bayes_risk, {"expected_empirical_risk", "regularizer"},
                                      risk, regularizer);
  });
  module.def("calibrated_risk", [](const Object& failures, const Object& runs, const Object& omega) {
    return vectorised<Index, Index, double>(bounds::calibrated_risk, {"failures", "runs", "omega"}, failures,
                                            runs, omega);
  });
  module.def("delta_of_confidence", &bounds::delta_of_confidence);
  module.def("residual_grid", [] { return as_array(bounds::residual_grid()); });
  module.def("decibel_grid", [] { return as_array(bounds::decibel_grid()); });
  module.def("regression_grid", [] { return as_array(bounds::regression_grid()); });
}

}  // namespace surefoot::python
