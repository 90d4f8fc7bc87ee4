#include "surefoot/certify/ask.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/paired.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/shift_part.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/learning/posterior_file.hpp"
#include "surefoot/report/report.hpp"
#include "surefoot/report/table.hpp"
#include "surefoot/report/text.hpp"

#include "arrays.hpp"
#include "held_certificate.hpp"
#include "interruptible.hpp"
#include "rooms.hpp"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

namespace py = pybind11;

namespace surefoot::python {

namespace {

using certify::Options;

/// An array of float64 or float32 in two dimensions, whatever its strides, read where it lies.
certify::TableView view_of(const py::array& traces) {
  certify::TableView view;
  require(traces.ndim() == 2, "traces: has shape {}, must be problems x steps", shape_text(traces));
  if (py::isinstance<py::array_t<double>>(traces)) {
    view.number = certify::TableView::Number::float64;
  } else if (py::isinstance<py::array_t<float>>(traces)) {
    view.number = certify::TableView::Number::float32;
  } else {
    throw py::type_error("traces: dtype " + std::string(py::str(traces.dtype())) +
                         " is not float64 or float32");
  }
  view.data = static_cast<const std::byte*>(traces.data());
  view.rows = traces.shape(0);
  view.columns = traces.shape(1);
  view.row_bytes = traces.strides(0);
  view.column_bytes = traces.strides(1);
  return view;
}

runs::Tally count_traces(const py::array& traces, const runs::TallySpec& spec,
                         certify::Independence* independence = nullptr) {
  constexpr Index soon_counted = Index{1} << 18;
  const certify::TableView view = view_of(traces);
  if (view.rows * view.columns < soon_counted) return certify::count_view(view, spec, nullptr, independence);
  return interruptible(
      [&](const Interrupt& interrupt) { return certify::count_view(view, spec, interrupt, independence); });
}

runs::Tally count_file(certify::RunTable& table, const runs::TallySpec& spec) {
  return interruptible(
      [&](const Interrupt& interrupt) { return table.count(spec, [&](Index, Index) { interrupt(); }); });
}

/// A property that is a name in Python and an enumeration in C++.
template <class Method, class Parse>
void add_method(py::class_<Options>& options, const char* name, Method Options::*field, const Parse& parse) {
  options.def_property(
      name, [field](const Options& self) { return std::string(bounds::name(self.*field)); },
      [field, parse](Options& self, const std::string& text) { self.*field = parse(text); });
}

void add_options(py::module_& module) {
  py::class_<Options> options(module, "Options");
  options.def(py::init<>())
      .def_readwrite("delta", &Options::delta)
      .def("set_delta",
           [](Options& self, const std::string& kind, double delta) { self.kind_delta[kind] = delta; })
      .def_readwrite("tolerances", &Options::tolerances)
      .def_readwrite("quantiles", &Options::quantiles)
      .def_readwrite("steps", &Options::steps)
      .def_readwrite("all_steps", &Options::all_steps)
      .def_readwrite("grid", &Options::grid)
      .def_readwrite("title", &Options::title)
      .def_readwrite("metric", &Options::metric)
      .def_readwrite("unit", &Options::unit)
      .def("set_simultaneous",
           [](Options& self, const std::string& text) {
             self.simultaneous = certify::parse_simultaneity(text);
           })
      .def("set_shift",
           [](Options& self, const std::string& text) { self.shift = bounds::parse_shift(text); })
      .def("set_choose",
           [](Options& self, const std::string& text) { self.choose = certify::parse_choice(text); })
      .def("set_claims", [](Options& self, const std::vector<std::string>& kinds) {
        for (const std::string& kind : kinds) certify::claim_kind(kind);
        self.kinds = kinds;
      });
  module.def("claim_kinds", [] {
    std::vector<std::pair<std::string, std::string>> parts;
    for (const certify::ClaimKind* kind : certify::claim_kinds())
      parts.emplace_back(kind->name(), kind->part());
    return parts;
  });
  add_method(options, "risk_method", &Options::risk_method, bounds::parse_risk_method);
  add_method(options, "quantile_method", &Options::quantile_method, bounds::parse_quantile_method);
  add_method(options, "budget_method", &Options::budget_method, bounds::parse_budget_method);
  module.def("resolved", [](const Options& given, const std::vector<std::vector<Index>>& recorded) {
    return certify::resolved(given, recorded);
  });
}

void add_counting(py::module_& module) {
  py::class_<certify::Independence>(module, "Independence");
  py::class_<runs::Tally>(module, "Tally").def_property_readonly("samples", &runs::Tally::samples);
  py::class_<certify::RunTable>(module, "RunTable")
      .def(py::init([](const std::string& path, std::optional<Index> first_step) {
        auto table = std::make_unique<certify::RunTable>(path, first_step);
        if (first_step) table->require_first_step(*first_step);
        return table;
      }))
      .def_property_readonly("steps", &certify::RunTable::steps)
      .def_property_readonly("notice", &certify::RunTable::notice)
      .def_property_readonly("reading", &certify::RunTable::reading)
      .def_property_readonly("independence", &certify::RunTable::independence)
      .def_property_readonly("sha256", &certify::RunTable::sha256)
      .def("count", [](certify::RunTable& self, const Options& options) {
        return count_file(self, certify::tally_spec(options, self.steps()));
      });
  module.def("table_name", &certify::table_name);
  module.def("unlabelled_columns", &certify::unlabelled_columns);
  module.def("steps_of_labels", [](const std::vector<std::string>& labels) {
    const certify::ColumnSteps found =
        certify::steps_of_columns(labels, static_cast<Index>(labels.size()), std::nullopt);
    return std::make_tuple(found.steps, found.skipped);
  });
  module.def("count_table",
             [](const py::array& traces, const Options& options, const std::vector<Index>& steps) {
               certify::Independence independence;
               runs::Tally tally = count_traces(traces, certify::tally_spec(options, steps), &independence);
               return std::make_tuple(std::move(tally), independence);
             });
  module.def("count", [](const py::array& traces, const Options& options, const std::vector<Index>& steps) {
    return count_traces(traces, certify::tally_spec(options, steps));
  });
}

/// Name, source, how it was read, SHA-256, counts and what was found in the rows; the counts are taken out of
/// their object.
using CountedVariant = std::tuple<std::string, std::string, std::vector<std::string>, std::string,
                                  runs::Tally*, certify::Independence>;

HeldCertificate certify_counted(const Options& resolved_options, const std::vector<CountedVariant>& given,
                                const std::string& run, bool allow_dependence) {
  std::vector<certify::Counted> variants;
  for (const auto& [name, source, reading, sha256, tally, independence] : given) {
    certify::Variant variant;
    variant.name = name;
    variant.source = source;
    variant.sha256 = sha256;
    variant.reading = reading;
    variant.independence = independence;
    variant.independence->require_none(name, allow_dependence);
    variants.push_back({variant, std::move(*tally)});
  }
  certify::Certificate certificate =
      interruptible([&](const Interrupt&) { return certify::certify(resolved_options, variants); });
  return {std::move(certificate), run};
}

/// Checks a certificate, part by part.
class Verifier {
 public:
  explicit Verifier(const std::string& text) {
    interruptible([&](const Interrupt&) {
      parsed_ = certify::parse_certificate(text);
      verification_ = certify::verify(parsed_);
      return true;
    });
  }

  void recount(std::size_t variant, const py::array& traces, const std::vector<Index>& steps,
               const std::string& sha256) {
    certify::Independence independence;
    const runs::Tally tally =
        count_traces(traces, certify::recount_spec(parsed_.certificate, steps), &independence);
    compare(variant, tally, sha256);
    certify::compare_rows(parsed_.certificate, variant, {}, independence, verification_);
  }
  void recount_file(std::size_t variant, const std::string& path) {
    certify::RunTable table(path, parsed_.certificate.variants.at(variant).first_step);
    const runs::Tally tally = count_file(table, certify::recount_spec(parsed_.certificate, table.steps()));
    compare(variant, tally, table.sha256());
    certify::compare_rows(parsed_.certificate, variant, table.reading(), table.independence(), verification_);
  }
  void reweigh(std::size_t variant, const std::string& name, const std::string& bytes) {
    const auto source = io::memory_bytes(name, bytes);
    certify::compare_weights(parsed_.certificate, variant, learning::load_posterior(*source),
                             io::sha256_hex(bytes), verification_);
  }
  [[nodiscard]] const certify::Verification& result() const { return verification_; }

 private:
  void compare(std::size_t variant, const runs::Tally& tally, const std::string& sha256) {
    interruptible([&](const Interrupt&) {
      certify::compare_recount(parsed_.certificate, variant, tally, sha256, verification_);
      return true;
    });
  }

  certify::ParsedCertificate parsed_;
  certify::Verification verification_;
};

void add_verification(py::module_& module) {
  py::class_<Verifier>(module, "Verifier")
      .def(py::init<const std::string&>())
      .def("recount", &Verifier::recount)
      .def("recount_file", &Verifier::recount_file)
      .def("reweigh", [](Verifier& self, std::size_t variant, const std::string& name,
                         const py::bytes& content) { self.reweigh(variant, name, content); })
      .def_property_readonly("claims", [](const Verifier& self) { return self.result().claims; })
      .def_property_readonly("claims_that_hold",
                             [](const Verifier& self) { return self.result().claims_that_hold; })
      .def_property_readonly("findings", [](const Verifier& self) { return self.result().findings; });
}

/// The sentences to quote and the table of budgets, for a notebook.
std::string summary_html(const certify::Certificate& certificate) {
  const certify::Headline headline = certify::headline(certificate);
  std::string html = "<div class=\"surefoot\"><p>" + report::html_escaped(headline.opening) + "</p>";
  for (const certify::Headline::Group& group : headline.groups) {
    html += "<p><b>" + report::html_escaped(group.variant) + "</b></p><ul>";
    for (const std::string& claim : group.claims) html += "<li>" + report::html_escaped(claim) + "</li>";
    html += "</ul>";
  }
  if (!certificate.budget.empty())
    html += report::to_html(certify::iteration_budgets().table(certificate, 0, {}));
  return html + "</div>";
}

void add_number_text(py::module_& module) {
  module.def("exact_label", &exact_label);
  module.def("upper_bound_value", &upper_bound_value);
  module.def("lower_bound_value", &lower_bound_value);
  module.def("lower_bound_percent", &lower_bound_percent);
  module.def("confidence_label", &confidence_label);
}

/// Runs of a table, or of an array with these steps.
certify::PairedRuns paired_runs(const std::string& name, const py::object& data,
                                const std::vector<Index>& steps, const certify::PairedOptions& options) {
  runs::TallySpec nothing_counted;
  nothing_counted.keep_values = false;
  if (py::isinstance<certify::RunTable>(data)) {
    auto& table = data.cast<certify::RunTable&>();
    certify::PairedRuns runs(name, table.steps(), options);
    table.listen([&](Index, const double* values) { runs.add_run(values); });
    nothing_counted.steps = table.steps();
    count_file(table, nothing_counted);
    certify::Independence found = table.independence();
    found.require_none(name, false);
    return runs;
  }
  const auto array = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(data);
  require(array && array.ndim() == 2, "{}: is not an array of problems x steps", name);
  require(static_cast<Index>(steps.size()) == array.shape(1), "{}: has {} columns, {} steps are named", name,
          array.shape(1), steps.size());
  certify::PairedRuns runs(name, steps, options);
  nothing_counted.steps = steps;
  certify::Independence found;
  count_traces(array, nothing_counted, &found);
  found.require_none(name, false);
  for (py::ssize_t row = 0; row < array.shape(0); ++row) runs.add_run(array.data(row, 0));
  return runs;
}

void add_paired(py::module_& module) {
  module.def("compare_paired",
             [](const std::pair<std::string, std::string>& names, const py::object& a, const py::object& b,
                const std::vector<Index>& steps, const std::vector<std::string>& claims,
                const std::optional<std::vector<double>>& tolerances, const std::vector<double>& shares,
                double delta, const std::optional<double>& allow) {
               certify::PairedOptions options;
               options.delta = delta;
               options.allow = allow;
               options.shares = shares;
               for (const std::string& claim : claims)
                 options.claims.push_back(certify::parse_claim(claim, certify::ShareIs::optional));
               if (tolerances)
                 options.tolerances = *tolerances;
               else if (claims.empty())
                 options.tolerances = certify::default_tolerances("");
               options.validate();
               if (options.claims.empty())
                 options.claims = certify::default_paired_claims(
                     options.tolerances,
                     py::isinstance<certify::RunTable>(a) ? a.cast<certify::RunTable&>().steps() : steps);
               const certify::PairedRuns first = paired_runs(names.first, a, steps, options);
               const certify::PairedRuns second = paired_runs(names.second, b, steps, options);
               const certify::PairedComparison comparison = certify::compare_paired(first, second, options);
               return std::make_tuple(certify::to_json(comparison), certify::to_text(comparison));
             });
}

void add_certificate(py::module_& module) {
  py::class_<HeldCertificate>(module, "Certificate")
      .def(py::init<std::string>())
      .def_property_readonly("text", &HeldCertificate::text)
      .def("terminal_text",
           [](const HeldCertificate& self) { return report::terminal_text(self.certificate()); })
      .def_property_readonly(
          "statements",
          [](const HeldCertificate& self) { return certify::statements_of(self.certificate()); })
      .def("ask",
           [](const HeldCertificate& self, const std::string& claim, const std::string& variant) {
             using Said =
                 std::tuple<std::string, bool, std::string, std::optional<double>, std::optional<Index>,
                            std::string, std::string, std::vector<std::string>>;
             std::vector<Said> answers;
             for (const certify::Answer& answer : certify::ask(self.certificate(), claim, variant)) {
               std::optional<Index> step;
               if (answer.claim.when != certify::ClaimText::When::unsaid) step = answer.claim.step;
               answers.emplace_back(self.certificate().variants[answer.variant].name, answer.holds,
                                    certify::to_text(answer.claim), answer.claim.share, step, answer.sentence,
                                    answer.proof, answer.but);
             }
             return answers;
           })
      .def("tolerated",
           [](const HeldCertificate& self, double share, const std::string& variant,
              const std::string& claim) {
             using Said =
                 std::tuple<std::string, std::string, double, double, double, double, double, double>;
             std::vector<Said> all;
             for (const certify::SurvivedShift& each :
                  certify::tolerated_shifts(self.certificate(), share, variant, claim).survived)
               all.emplace_back(self.certificate().variants[each.variant].name, each.claim, each.share,
                                each.kl, each.total_variation, each.chi_squared, each.density_ratio,
                                each.gaussian);
             return all;
           })
      .def("summary_html", [](const HeldCertificate& self) { return summary_html(self.certificate()); })
      .def("write_report", [](const HeldCertificate& self, const std::filesystem::path& folder) {
        return interruptible(
            [&](const Interrupt&) { return report::write_report(self.certificate(), folder); });
      });
}

}  // namespace

void add_certify(py::module_& module) {
  add_options(module);
  add_number_text(module);
  add_certificate(module);
  add_counting(module);
  add_paired(module);
  add_verification(module);
  module.def("certify", &certify_counted);
  module.def("write_file", [](const std::filesystem::path& path, const py::bytes& content) {
    io::write_file_atomically(path, std::string(content));
  });
}

}  // namespace surefoot::python
