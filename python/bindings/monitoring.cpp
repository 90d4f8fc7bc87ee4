#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/monitoring/watch.hpp"
#include "surefoot/monitoring/watched.hpp"
#include "surefoot/monitoring/words.hpp"

#include "arrays.hpp"
#include "held_certificate.hpp"
#include "rooms.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace py = pybind11;

namespace surefoot::python {

namespace {

using monitoring::Watch;
using monitoring::WatchOptions;
using Values = py::array_t<double, py::array::c_style | py::array::forcecast>;

std::vector<double> numbers_of(const Values& values, const char* what) {
  require(values.ndim() == 1, "{}: has shape {}, must be one number per problem", what, shape_text(values));
  return {values.data(), values.data() + values.size()};
}

/// What the package makes an Alarm of.
using SaidAlarm = std::tuple<Index, Index, double, std::string,
                             std::vector<std::tuple<std::string, double, double, Index, Index>>,
                             std::optional<double>, std::string>;
SaidAlarm said(const Watch& watch, const monitoring::Alarm& alarm) {
  std::vector<std::tuple<std::string, double, double, Index, Index>> claims;
  for (std::size_t c = 0; c < alarm.claims.size(); ++c) {
    const monitoring::WatchedClaim& claim = watch.options().claims[c];
    claims.emplace_back(claim.text, claim.rate.rate, alarm.claims[c].evidence, alarm.claims[c].failures,
                        alarm.claims[c].solves);
  }
  std::string words = monitoring::alarm_text(watch, alarm);
  words.pop_back();
  return {alarm.solve,       alarm.line,
          alarm.evidence,    watch.options().claims[alarm.strongest].text,
          std::move(claims), alarm.reference_evidence,
          std::move(words)};
}

std::optional<SaidAlarm> update(Watch& watch, double value) {
  if (!watch.update(value)) return std::nullopt;
  return said(watch, watch.last_alarm());
}

std::unique_ptr<Watch> make_watch(WatchOptions options, double arl, double alpha, bool outcomes,
                                  const std::optional<Values>& reference, std::uint64_t seed) {
  options.rule = {arl, alpha};
  options.outcomes = outcomes;
  if (reference) options.reference = numbers_of(*reference, "reference");
  options.seed = seed;
  return std::make_unique<Watch>(std::move(options));
}

}  // namespace

void add_monitoring(py::module_& module) {
  py::class_<Watch>(module, "Watch")
      .def(py::init([](const HeldCertificate& certificate, const std::vector<std::string>& claims,
                       const std::string& variant, double arl, double alpha, bool outcomes,
                       const std::optional<Values>& reference, std::uint64_t seed) {
        const certify::ParsedCertificate parsed = certify::parse_certificate(certificate.text());
        const certify::Verification verification = certify::verify(parsed);
        require(verification.holds(), "certificate: does not hold: {}",
                verification.findings.empty() ? "" : verification.findings.front());
        return make_watch(monitoring::watch_of(parsed, claims, variant), arl, alpha, outcomes, reference,
                          seed);
      }))
      .def_static(
          "of_rate",
          [](double rate, double tolerance, double arl, double alpha, bool outcomes,
             const std::optional<Values>& reference, std::uint64_t seed) {
            WatchOptions options;
            options.claims = {{outcomes ? "the rate" : "below the tolerance", {tolerance, true, rate}}};
            return make_watch(std::move(options), arl, alpha, outcomes, reference, seed);
          })
      .def("update", update)
      .def("update_many",
           [](Watch& self, const Values& values) {
             require(values.ndim() == 1, "values: has shape {}, must have one dimension", shape_text(values));
             std::vector<SaidAlarm> alarms;
             for (py::ssize_t i = 0; i < values.size(); ++i) {
               if (std::optional<SaidAlarm> alarm = update(self, values.data()[i]))
                 alarms.push_back(std::move(*alarm));
             }
             return alarms;
           })
      .def_property_readonly("solves", &Watch::solves)
      .def_property_readonly("alarms", &Watch::alarms)
      .def_property_readonly("evidence", &Watch::evidence)
      .def_property_readonly("threshold", &Watch::threshold)
      .def_property_readonly("reference_evidence", &Watch::reference_evidence)
      .def_property_readonly("claims",
                             [](const Watch& self) {
                               std::vector<std::tuple<std::string, double, Index>> claims;
                               for (std::size_t c = 0; c < self.options().claims.size(); ++c)
                                 claims.emplace_back(self.options().claims[c].text,
                                                     self.options().claims[c].rate.rate, self.failures(c));
                               return claims;
                             })
      .def("promise", [](const Watch& self) { return monitoring::promise_of(self); })
      .def("metrics", [](const Watch& self) { return monitoring::prometheus_text(self); })
      .def("state", [](const Watch& self) { return py::bytes(self.saved()); })
      .def("restore", [](Watch& self, const py::bytes& state, const std::string& name) {
        self.restore(std::string_view(state), name);
      });
}

}  // namespace surefoot::python
