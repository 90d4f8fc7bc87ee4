#include "surefoot/bounds/pac_bayes.hpp"

#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/learned.hpp"
#include "surefoot/certify/ledger.hpp"
#include "surefoot/certify/pac_bayes.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/learning/posterior.hpp"
#include "surefoot/learning/posterior_file.hpp"

#include "arrays.hpp"
#include "held_certificate.hpp"
#include "rooms.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace py = pybind11;

namespace surefoot::python {

namespace {

using learning::Posterior;

Reals as_array(const Eigen::VectorXd& vector) {
  return Reals(static_cast<py::ssize_t>(vector.size()), vector.data());
}

Eigen::VectorXd vector_of(const py::object& argument, const char* name) {
  return vector_view(real_array(argument, name), name);
}

bounds::GaussianPair pair_of(const py::object& mean, const py::object& log_variance,
                             const py::object& prior_mean, const std::vector<Index>& groups,
                             const py::object& prior_log_variance) {
  bounds::GaussianPair pair;
  pair.mean = vector_of(mean, "mean");
  pair.log_variance = vector_of(log_variance, "log_variance");
  pair.prior_mean = vector_of(prior_mean, "prior_mean");
  pair.group_size = groups;
  pair.prior_log_variance = vector_of(prior_log_variance, "prior_log_variance");
  return pair;
}

/// Name, rows and columns of a block of weights.
using Block = std::tuple<std::string, Index, Index>;

Posterior make_posterior(const std::vector<Block>& blocks, const py::object& mean,
                         const py::object& log_variance, const py::object& prior_mean,
                         const py::object& prior_log_variance, double lambda_max, double b,
                         const std::map<std::string, std::string>& metadata) {
  Posterior posterior;
  std::vector<Index> groups;
  for (const auto& [name, rows, cols] : blocks) {
    posterior.layout.blocks.push_back({name, rows, cols});
    groups.push_back(rows * cols);
  }
  posterior.gaussians = pair_of(mean, log_variance, prior_mean, groups, prior_log_variance);
  posterior.grid.lambda_max = lambda_max;
  posterior.grid.b = b;
  posterior.metadata = metadata;
  posterior.validate();
  return posterior;
}

/// Weights of one draw: the stream (seed, purpose, index), as the program's calibration draws them.
Reals draw(const Posterior& posterior, std::uint64_t seed, const std::string& purpose, std::uint64_t index) {
  const bounds::GaussianPair& pair = posterior.gaussians;
  Reals weights(static_cast<py::ssize_t>(pair.mean.size()));
  double* out = weights.mutable_data();
  RandomStream random(seed, purpose, index);
  for (Index i = 0; i < pair.mean.size(); ++i)
    out[i] = pair.mean[i] + std::exp(0.5 * pair.log_variance[i]) * random.normal();
  return weights;
}

std::vector<Block> blocks_of(const Posterior& posterior) {
  std::vector<Block> blocks;
  for (const algorithms::WeightBlock& block : posterior.layout.blocks)
    blocks.emplace_back(block.name, block.rows, block.cols);
  return blocks;
}

void add_posterior(py::module_& module) {
  py::class_<Posterior>(module, "Posterior")
      .def(py::init(&make_posterior))
      .def_property_readonly("blocks", &blocks_of)
      .def_property_readonly("mean", [](const Posterior& self) { return as_array(self.gaussians.mean); })
      .def_property_readonly("log_variance",
                             [](const Posterior& self) { return as_array(self.gaussians.log_variance); })
      .def_property_readonly("prior_mean",
                             [](const Posterior& self) { return as_array(self.gaussians.prior_mean); })
      .def_property_readonly(
          "prior_log_variance",
          [](const Posterior& self) { return as_array(self.gaussians.prior_log_variance); })
      .def_property_readonly("lambda_max", [](const Posterior& self) { return self.grid.lambda_max; })
      .def_property_readonly("b", [](const Posterior& self) { return self.grid.b; })
      .def_property_readonly("metadata", [](const Posterior& self) { return self.metadata; })
      .def("kl", [](const Posterior& self) { return bounds::gaussian_kl(self.gaussians); })
      .def("on_grid", [](const Posterior& self) { return bounds::is_on_grid(self.gaussians, self.grid); })
      .def("rounded",
           [](const Posterior& self) {
             Posterior rounded = self;
             learning::round_prior(rounded);
             return rounded;
           })
      .def("regularizer",
           [](const Posterior& self, Index samples, double delta) {
             return bounds::regularizer(self.gaussians, self.grid, samples, delta);
           })
      .def("draw", &draw)
      .def("to_bytes", [](const Posterior& self) { return py::bytes(learning::posterior_bytes(self)); })
      .def_static("from_bytes", [](const std::string& name, const py::bytes& content) {
        const auto source = io::memory_bytes(name, content);
        return learning::load_posterior(*source);
      });
}

struct CalibrationRecord {
  std::string name;
  std::string source;
  std::string weights_source;
  std::string design;
  std::string sampling;
  std::string purpose;
  Index samples = 0;
  Index draws = 1;
  Index seed = 0;
  Index prior_samples = 0;
  std::optional<certify::SampleProvenance> provenance;
};

/// What ran, and with which weights; without a posterior its weights are not known.
certify::Variant variant_of(const CalibrationRecord& record, const Posterior* posterior) {
  certify::Variant variant;
  variant.name = record.name;
  variant.source = record.source;
  variant.provenance = record.provenance;
  if (posterior == nullptr) return variant;
  certify::Weights weights;
  weights.source = record.weights_source;
  weights.sha256 = learning::posterior_sha256(*posterior);
  weights.count = posterior->gaussians.mean.size();
  weights.sampling = record.sampling;
  weights.seed = record.seed;
  weights.purpose = record.purpose;
  variant.weights = weights;
  return variant;
}

/// The same of weights that are not here.
certify::Variant variant_of(const CalibrationRecord& record, const certify::StatedCharge& stated) {
  certify::Variant variant = variant_of(record, nullptr);
  certify::Weights weights;
  weights.source = record.weights_source;
  weights.sha256 = stated.sha256;
  for (const Index size : stated.groups) weights.count = checked_sum("weights", weights.count, size);
  weights.sampling = record.sampling;
  weights.precision = stated.precision;
  weights.seed = record.seed;
  weights.purpose = record.purpose;
  weights.read = false;
  variant.weights = weights;
  return variant;
}

certify::Calibrated calibrated_of(const CalibrationRecord& record, certify::Variant variant,
                                  certify::PacBayes guarantee, runs::Tally&& tally) {
  certify::require_declared_grid({guarantee.lambda_max, guarantee.b}, record.prior_samples);
  certify::Calibrated calibrated{std::move(variant), std::move(guarantee), std::move(tally)};
  calibrated.guarantee.samples = record.samples;
  calibrated.guarantee.prior_samples = record.prior_samples;
  calibrated.guarantee.design = certify::parse_design(record.design);
  calibrated.guarantee.draws = record.draws;
  return calibrated;
}

HeldCertificate certify_calibrated(const certify::PacBayesOptions& resolved_options,
                                   const Posterior& posterior, const CalibrationRecord& record,
                                   runs::Tally* tally, const std::string& run) {
  return {certify::certify(resolved_options, {calibrated_of(record, variant_of(record, &posterior),
                                                            certify::charge(posterior), std::move(*tally))}),
          run};
}

HeldCertificate certify_charged(const certify::PacBayesOptions& resolved_options,
                                const certify::StatedCharge& stated, const CalibrationRecord& record,
                                runs::Tally* tally, const std::string& run) {
  return {certify::certify(resolved_options, {calibrated_of(record, variant_of(record, stated),
                                                            certify::charge(stated), std::move(*tally))}),
          run};
}

/// From samples that training has not seen, weights drawn once for each of them.
HeldCertificate certify_hold_out(const certify::Options& resolved_options,
                                 const std::optional<Posterior>& posterior, const CalibrationRecord& record,
                                 runs::Tally* tally, const std::string& run) {
  return {certify::certify(resolved_options,
                           {{variant_of(record, posterior ? &*posterior : nullptr), std::move(*tally)}}),
          run};
}

HeldCertificate certify_charged_hold_out(const certify::Options& resolved_options,
                                         const certify::StatedCharge& stated, const CalibrationRecord& record,
                                         runs::Tally* tally, const std::string& run) {
  (void)certify::charge(stated);  // what cannot be is refused here too
  return {certify::certify(resolved_options, {{variant_of(record, stated), std::move(*tally)}}), run};
}

/// A look at samples, with what weights carry of earlier ones.
struct LookArguments {
  certify::LookRecord record;
  certify::Look look;
};

LookArguments look_arguments(const certify::SampleRange& range, const std::string& subject,
                             const std::optional<std::string>& ledger, bool again,
                             const std::optional<std::string>& carried, const std::string& by) {
  LookArguments arguments;
  if (ledger) arguments.record.ledgers.emplace_back(*ledger);
  arguments.record.shared = ledger.has_value();
  arguments.record.again = again;
  if (carried) arguments.record.known = certify::parse_ledger("metadata 'looks' of the posterior", *carried);
  arguments.look = {range, by, subject, "", certify::utc_now()};
  return arguments;
}

void add_looks(py::module_& module) {
  using certify::SampleProvenance;
  using certify::SampleRange;
  module.def(
      "check_look",
      [](const SampleRange& range, const std::string& subject, const std::optional<std::string>& ledger,
         bool again, const std::optional<std::string>& carried, const std::string& by) {
        const LookArguments arguments = look_arguments(range, subject, ledger, again, carried, by);
        certify::check_looks(arguments.record, {arguments.look});
      },
      py::arg("range"), py::arg("subject"), py::arg("ledger"), py::arg("again"), py::arg("carried"),
      py::arg("by") = "surefoot.calibrate");
  module.def(
      "record_look",
      [](const SampleRange& range, const std::string& subject, const std::optional<std::string>& ledger,
         bool again, const std::optional<std::string>& carried, const std::string& by) {
        const LookArguments arguments = look_arguments(range, subject, ledger, again, carried, by);
        return certify::record_looks(arguments.record, {arguments.look}).front();
      },
      py::arg("range"), py::arg("subject"), py::arg("ledger"), py::arg("again"), py::arg("carried"),
      py::arg("by") = "surefoot.calibrate");
  module.attr("training_set") = certify::training_set;
  module.attr("hold_out_set") = certify::hold_out_set;
}

void add_calibration(py::module_& module) {
  using certify::PacBayesOptions;
  py::class_<PacBayesOptions>(module, "PacBayesOptions")
      .def(py::init<>())
      .def_readwrite("claims", &PacBayesOptions::claims)
      .def_readwrite("calibration_share", &PacBayesOptions::calibration_share)
      .def_readwrite("prior_means", &PacBayesOptions::prior_means)
      .def_readwrite("candidates", &PacBayesOptions::candidates)
      .def("resolved", [](const PacBayesOptions& self, const std::vector<Index>& steps) {
        return certify::resolved(self, steps);
      });
  py::class_<CalibrationRecord>(module, "CalibrationRecord")
      .def(py::init<>())
      .def_readwrite("name", &CalibrationRecord::name)
      .def_readwrite("source", &CalibrationRecord::source)
      .def_readwrite("weights_source", &CalibrationRecord::weights_source)
      .def_readwrite("design", &CalibrationRecord::design)
      .def_readwrite("sampling", &CalibrationRecord::sampling)
      .def_readwrite("purpose", &CalibrationRecord::purpose)
      .def_readwrite("samples", &CalibrationRecord::samples)
      .def_readwrite("draws", &CalibrationRecord::draws)
      .def_readwrite("seed", &CalibrationRecord::seed)
      .def_readwrite("prior_samples", &CalibrationRecord::prior_samples)
      .def_readwrite("provenance", &CalibrationRecord::provenance);
  using certify::StatedCharge;
  py::class_<StatedCharge>(module, "StatedCharge")
      .def(py::init<>())
      .def_readwrite("sha256", &StatedCharge::sha256)
      .def_readwrite("precision", &StatedCharge::precision)
      .def_readwrite("prior_sha256", &StatedCharge::prior_sha256)
      .def_readwrite("lambda_max", &StatedCharge::lambda_max)
      .def_readwrite("b", &StatedCharge::b)
      .def_readwrite("groups", &StatedCharge::groups)
      .def_readwrite("positions", &StatedCharge::positions)
      .def_readwrite("kl", &StatedCharge::kl);
  module.def("certify_charged", &certify_charged);
  module.def("certify_charged_hold_out", &certify_charged_hold_out);
  module.def("certify_calibrated", &certify_calibrated);
  module.def("certify_hold_out", &certify_hold_out);
  module.attr("stratified_purpose") = std::string(certify::stratified_purpose);
  module.attr("paper_purpose") = std::string(certify::paper_purpose);
  module.attr("hold_out_purpose") = std::string(certify::hold_out_purpose);
}

}  // namespace

void add_pac_bayes(py::module_& module) {
  add_posterior(module);
  add_looks(module);
  add_calibration(module);
  module.def("regularizer_with_gradient", [](const py::object& mean, const py::object& log_variance,
                                             const py::object& prior_mean, const std::vector<Index>& groups,
                                             const py::object& prior_log_variance, Index samples,
                                             double delta, double lambda_max, double b) {
    const bounds::Regularizer result = bounds::regularizer_with_gradient(
        pair_of(mean, log_variance, prior_mean, groups, prior_log_variance), {lambda_max, b}, samples, delta);
    return py::make_tuple(result.value, as_array(result.d_mean), as_array(result.d_log_variance),
                          as_array(result.d_prior_log_variance));
  });
}

}  // namespace surefoot::python
