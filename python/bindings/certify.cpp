#include "surefoot/certify/ask.hpp"
#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_long_table.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/counted_rows.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/paired.hpp"
#include "surefoot/certify/part_tally.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/shift_part.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/certify/until.hpp"
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

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
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

/// `groups`: the number of each row's group; none: rows are runs.
void require_groups(const runs::TallySpec& spec, const std::optional<std::vector<Index>>& groups) {
  require(spec.grouped == groups.has_value(), "groups: {}",
          groups ? "the claims are not of groups"
                 : "the claims are of groups, and nobody says which rows belong together");
}

runs::Tally count_traces(const py::array& traces, const runs::TallySpec& spec,
                         certify::Independence* independence = nullptr,
                         const std::optional<std::vector<Index>>& groups = std::nullopt) {
  constexpr Index soon_counted = Index{1} << 18;
  const certify::TableView view = view_of(traces);
  require_groups(spec, groups);
  if (groups)
    return interruptible([&](const Interrupt& interrupt) {
      return certify::count_grouped_view(view, *groups, spec, interrupt, independence);
    });
  if (view.rows * view.columns < soon_counted) return certify::count_view(view, spec, nullptr, independence);
  return interruptible(
      [&](const Interrupt& interrupt) { return certify::count_view(view, spec, interrupt, independence); });
}

/// The same of the next rows of a variant.
void add_traces(certify::CountedRows& rows, const py::array& traces, const runs::TallySpec& spec,
                const std::string& source, const std::string& sha256, const std::vector<std::string>& reading,
                const std::optional<std::vector<Index>>& groups) {
  const certify::TableView view = view_of(traces);
  require_groups(spec, groups);
  interruptible([&](const Interrupt& interrupt) {
    certify::DependenceCheck check(spec.steps);
    runs::Tally tally = groups ? certify::count_groups_into(check, view, *groups, spec, interrupt)
                               : certify::count_view_from(rows.next_row(), view, spec, interrupt, &check);
    rows.add(std::move(tally), check, {source, sha256, 0, reading});
    return true;
  });
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
      .def_readwrite("group", &Options::group)
      .def_readwrite("range", &Options::range)
      .def_readwrite("thresholds", &Options::thresholds)
      .def_readwrite("cvar", &Options::cvar)
      .def("set_sampling",
           [](Options& self, const std::string& rows, bool default_claims) {
             self.sampling = certify::parse_sampling(rows);
             if (default_claims) self.kinds = certify::default_kinds(self.sampling, self.anytime());
           })
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
  add_method(options, "average_method", &Options::average_method, bounds::parse_mean_method);
  module.def("resolved", [](const Options& given, const std::vector<std::vector<Index>>& recorded) {
    return certify::resolved(given, recorded);
  });
}

void add_counting(py::module_& module) {
  py::class_<certify::Independence>(module, "Independence");
  py::class_<runs::Tally>(module, "Tally").def_property_readonly("samples", &runs::Tally::samples);
  py::class_<certify::RunTable>(module, "RunTable")
      .def(py::init([](const std::string& path, std::optional<Index> first_step, const std::string& group) {
        auto table = std::make_unique<certify::RunTable>(path, first_step, io::TableOptions{}, group);
        if (first_step) table->require_first_step(*first_step);
        return table;
      }))
      .def_property_readonly("steps", &certify::RunTable::steps)
      .def_property_readonly("notice", &certify::RunTable::notice)
      .def_property_readonly("grouped", &certify::RunTable::grouped)
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
  module.def(
      "count_table", [](const py::array& traces, const Options& options, const std::vector<Index>& steps,
                        const std::optional<std::vector<Index>>& groups) {
        certify::Independence independence;
        runs::Tally tally = count_traces(traces, certify::tally_spec(options, steps), &independence, groups);
        return std::make_tuple(std::move(tally), independence);
      });
  module.def("count", [](const py::array& traces, const Options& options, const std::vector<Index>& steps) {
    return count_traces(traces, certify::tally_spec(options, steps));
  });
}

/// Reads a table of text, which Ctrl-C ends.
template <class Source>
std::unique_ptr<certify::LongTable> read_long_table(const Source& open, const certify::TableChoice& choice) {
  return interruptible([&](const Interrupt& interrupt) {
    return std::make_unique<certify::LongTable>(open(), choice, io::TableOptions{},
                                                [&](Index, Index) { interrupt(); });
  });
}

void add_long_tables(py::module_& module) {
  using certify::LongTable;
  using certify::TableChoice;
  py::class_<TableChoice>(module, "TableChoice")
      .def(py::init<>())
      .def_readwrite("values", &TableChoice::values)
      .def_readwrite("variants", &TableChoice::variants)
      .def_readwrite("rows", &TableChoice::rows)
      .def_readwrite("steps", &TableChoice::steps)
      .def_readwrite("where", &TableChoice::where)
      .def_readwrite("failed", &TableChoice::failed)
      .def_readwrite("scalar", &TableChoice::scalar)
      .def("set_missing",
           [](TableChoice& self, const std::string& text) { self.missing = certify::parse_missing(text); });
  py::class_<LongTable>(module, "LongTable")
      .def(py::init([](const std::string& path, const TableChoice& choice) {
        return read_long_table([&] { return path; }, choice);
      }))
      .def_static("of_bytes",
                  [](const std::string& name, const py::bytes& content, const TableChoice& choice) {
                    const std::string text = content;
                    return read_long_table([&] { return io::memory_bytes(name, text); }, choice);
                  })
      .def_property_readonly("notices", &LongTable::notices)
      .def_property_readonly("names", [](const LongTable& self) {
        std::vector<std::string> names;
        for (const LongTable::Part& part : self.parts()) names.push_back(part.name);
        return names;
      });
  module.def("metric_of_label", [](const std::string& label) {
    const certify::LabelledMetric metric = certify::metric_of_label(label);
    return std::make_pair(metric.name, metric.unit);
  });
}

/// A table of text, the name of a variant that has none, and where it comes from.
using NamedTable = std::tuple<const certify::LongTable*, std::string, std::string>;

HeldCertificate certify_tables(const Options& options, const std::vector<NamedTable>& tables,
                               const std::string& run, bool allow_dependence) {
  certify::Certificate certificate = interruptible([&](const Interrupt& interrupt) {
    std::vector<const certify::LongTable*> all;
    for (const NamedTable& table : tables) all.push_back(std::get<0>(table));
    const Options resolved = certify::resolved_for(options, all);
    std::vector<certify::Counted> variants;
    for (const auto& [table, name, source] : tables)
      for (certify::Counted& counted : certify::count_variants(*table, resolved, name, tables.size() > 1,
                                                               source, allow_dependence, interrupt))
        variants.push_back(std::move(counted));
    certify::require_different_names(variants);
    return certify::certify(resolved, variants);
  });
  return {std::move(certificate), run};
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
    if (resolved_options.sampling != certify::Sampling::sequence) {
      variant.independence = independence;
      variant.independence->require_none(name, allow_dependence);
    }
    variants.push_back({variant, std::move(*tally)});
  }
  certify::Certificate certificate =
      interruptible([&](const Interrupt&) { return certify::certify(resolved_options, variants); });
  return {std::move(certificate), run};
}

void add_rows(py::module_& module) {
  using certify::CountedRows;
  py::class_<CountedRows>(module, "CountedRows")
      .def(py::init<bool>())
      .def("add_array",
           [](CountedRows& self, const py::array& traces, const Options& options,
              const std::vector<Index>& steps, const std::string& source, const std::string& sha256,
              const std::vector<std::string>& reading, const std::optional<std::vector<Index>>& groups) {
             add_traces(self, traces, certify::tally_spec(options, steps), source, sha256, reading, groups);
           })
      .def("add_file", [](CountedRows& self, certify::RunTable& table, const Options& options,
                          const std::string& source) {
        table.follow(self.next_row());
        runs::Tally tally = count_file(table, certify::tally_spec(options, table.steps()));
        self.add(std::move(tally), table.check(), {source, table.sha256(), 0, table.reading()});
      });
  module.def("options_to_append", [](const HeldCertificate& held) {
    const certify::Verification verification = certify::verify(certify::parse_certificate(held.text()));
    require(verification.holds(), "append: this certificate does not hold: {}",
            verification.holds() ? "" : verification.findings.front());
    return certify::options_to_append(held.certificate());
  });
  module.def("append", [](const HeldCertificate& held, const Options& options,
                          const std::vector<CountedRows*>& rows, bool allow_dependence) {
    std::vector<certify::Counted> variants;
    for (std::size_t i = 0; i < rows.size(); ++i) {
      certify::Variant variant;
      variant.name = held.certificate().variants.at(i).name;
      rows[i]->describe(variant);
      variant.independence->require_none(rows[i]->tables().back().source, allow_dependence);
      variants.push_back({variant, rows[i]->tally()});
    }
    certify::Certificate certificate =
        interruptible([&](const Interrupt&) { return certify::certify(options, variants); });
    certify::require_continues(held.certificate(), certificate);
    return HeldCertificate(std::move(certificate), "null");
  });
}

/// Counts of a part of the samples.
void add_part_tallies(py::module_& module) {
  using certify::PartTally;
  using certify::RowSource;
  py::class_<RowSource>(module, "RowSource")
      .def(py::init([](const std::string& name, const std::string& sha256,
                       const std::vector<std::string>& reading, bool known) {
        return RowSource{name, sha256, reading, known};
      }));
  py::class_<PartTally>(module, "PartTally")
      .def(py::init<Options, std::string>())
      .def("add_array",
           [](PartTally& self, const std::string& variant, const py::array& traces,
              const std::vector<Index>& steps, Index first_row, const RowSource& source) {
             const certify::TableView view = view_of(traces);
             const runs::TallySpec spec = certify::tally_spec(self.options(), steps);
             certify::DependenceCheck check(spec.steps);
             runs::Tally tally = interruptible([&](const Interrupt& interrupt) {
               return certify::count_view_from(first_row, view, spec, interrupt, &check);
             });
             self.add(variant, std::move(tally), std::move(check), first_row, source);
           })
      .def("add_file",
           [](PartTally& self, const std::string& variant, certify::RunTable& table, Index first_row,
              const std::optional<RowSource>& source, const std::string& name) {
             table.follow(first_row);
             runs::Tally tally = count_file(table, certify::tally_spec(self.options(), table.steps()));
             self.add(variant, std::move(tally), table.check(), first_row,
                      source.value_or(RowSource{name, table.sha256(), table.reading()}));
           })
      .def("merge",
           [](PartTally& self, const PartTally& other, const std::string& name) { self.merge(other, name); })
      .def("copy", [](const PartTally& self) { return PartTally(self); })
      .def("bytes",
           [](const PartTally& self) {
             return py::bytes(interruptible([&](const Interrupt&) { return self.bytes(); }));
           })
      .def_static(
          "from_bytes",
          [](const py::bytes& bytes, const std::string& name) {
            const std::string content = bytes;
            return interruptible([&](const Interrupt&) { return PartTally::from_bytes(content, name); });
          })
      .def("certificate",
           [](const PartTally& self, bool allow_dependence) {
             certify::Certificate certificate =
                 interruptible([&](const Interrupt&) { return self.certificate(allow_dependence); });
             const std::string run = certificate.run;
             return HeldCertificate(std::move(certificate), run);
           })
      .def_property_readonly("samples", &PartTally::samples)
      .def_property_readonly("rows", &PartTally::rows);
}

void add_until(py::module_& module) {
  using certify::Until;
  py::class_<Until>(module, "Until")
      .def(py::init<const std::string&>())
      .def_property_readonly("share", &Until::share)
      .def("declare",
           [](const Until& self, const Options& options, bool kinds, bool tolerances, bool quantiles,
              bool steps) {
             return self.declare(options, {kinds, tolerances, quantiles, steps});
           })
      .def("require_recorded", &Until::require_recorded)
      .def("delta",
           [](const Until& self, const Options& resolved_options, const std::vector<Index>& steps) {
             return certify::delta_of_claims(resolved_options, certify::tally_spec(resolved_options, steps),
                                             self.kind());
           })
      .def("fails",
           [](const Until& self, const std::vector<Index>& steps, const std::vector<double>& row) {
             require(row.size() == steps.size(), "run: {} numbers for {} steps", row.size(), steps.size());
             return self.fails(steps, row.data());
           })
      .def("holds",
           [](const Until& self, const HeldCertificate& held) { return self.holds(held.certificate()); });
  py::class_<certify::UntilLooks>(module, "UntilLooks")
      .def(py::init<double, double>())
      .def("add", &certify::UntilLooks::add)
      .def_property_readonly("runs", &certify::UntilLooks::runs)
      .def("next_look", &certify::UntilLooks::next_look);
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

  [[nodiscard]] Options options() const { return certify::options_of(parsed_.certificate); }
  void recount(std::size_t variant, const certify::CountedRows& rows) {
    interruptible([&](const Interrupt&) {
      certify::compare_counted(parsed_.certificate, variant, rows, verification_);
      return true;
    });
  }
  void recount_table(const std::vector<std::size_t>& variants, const std::string& path) {
    interruptible([&](const Interrupt& interrupt) {
      certify::recount_table(
          parsed_.certificate, variants, path, {}, [&](Index, Index) { interrupt(); }, verification_);
      return true;
    });
  }
  void recount_bytes(const std::vector<std::size_t>& variants, const std::string& name,
                     const std::string& bytes) {
    interruptible([&](const Interrupt&) {
      std::vector<certify::Selection> selections;
      for (const std::size_t variant : variants)
        selections.push_back(parsed_.certificate.variants.at(variant).selection.value());
      const certify::LongTable table(io::memory_bytes(name, bytes), certify::TableChoice::of(selections));
      certify::compare_table(parsed_.certificate, variants, table, verification_);
      return true;
    });
  }
  void reweigh(std::size_t variant, const std::string& name, const std::string& bytes) {
    const auto source = io::memory_bytes(name, bytes);
    certify::compare_weights(parsed_.certificate, variant, learning::load_posterior(*source),
                             io::sha256_hex(bytes), verification_);
  }
  [[nodiscard]] const certify::Verification& result() const { return verification_; }
  [[nodiscard]] const certify::Certificate& certificate() const { return parsed_.certificate; }

 private:
  certify::ParsedCertificate parsed_;
  certify::Verification verification_;
};

void add_verification(py::module_& module) {
  py::class_<Verifier>(module, "Verifier")
      .def(py::init<const std::string&>())
      .def("recount", &Verifier::recount)
      .def("variants_by_table",
           [](const Verifier& self) { return certify::variants_by_table(self.certificate()); })
      .def("recount_table", &Verifier::recount_table)
      .def("recount_bytes",
           [](Verifier& self, const std::vector<std::size_t>& variants, const std::string& name,
              const py::bytes& content) { self.recount_bytes(variants, name, content); })
      .def_property_readonly("options", &Verifier::options)
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
  auto given = py::array_t<double, py::array::c_style | py::array::forcecast>::ensure(data);
  require(given && given.ndim() == (options.scalar ? 1 : 2), "{}: is not an array of problems{}", name,
          options.scalar ? ", a number each" : " x steps");
  const py::ssize_t columns = options.scalar ? 1 : given.shape(1);
  const auto array = given.reshape({given.shape(0), columns});
  require(static_cast<Index>(steps.size()) == columns, "{}: has {} columns, {} steps are named", name,
          columns, steps.size());
  certify::PairedRuns runs(name, steps, options);
  nothing_counted.scalar = options.scalar;
  nothing_counted.steps = steps;
  certify::Independence found;
  count_traces(array, nothing_counted, &found);
  found.require_none(name, false);
  for (py::ssize_t row = 0; row < array.shape(0); ++row) runs.add_run(given.data() + row * columns);
  return runs;
}

void add_paired(py::module_& module) {
  using certify::PairedOptions;
  py::class_<PairedOptions>(module, "PairedOptions")
      .def(py::init([](const std::vector<std::string>& claims,
                       const std::optional<std::vector<double>>& tolerances,
                       const std::vector<double>& shares, double delta, const std::optional<double>& allow,
                       bool scalar, const std::string& metric, bool anytime) {
        PairedOptions options;
        options.delta = delta;
        options.allow = allow;
        options.shares = shares;
        options.scalar = scalar;
        options.metric = metric;
        options.anytime = anytime;
        for (const std::string& claim : claims)
          options.claims.push_back(certify::parse_claim(claim, certify::ShareIs::optional));
        if (tolerances)
          options.tolerances = *tolerances;
        else if (claims.empty() && !scalar)
          options.tolerances = certify::default_tolerances("");
        return options;
      }));
  module.def("compare_paired", [](const std::pair<std::string, std::string>& names, const py::object& a,
                                  const py::object& b, const std::vector<Index>& steps,
                                  PairedOptions options) {
    options.validate();
    if (options.claims.empty() && !options.scalar)
      options.claims = certify::default_paired_claims(
          options.tolerances,
          py::isinstance<certify::RunTable>(a) ? a.cast<certify::RunTable&>().steps() : steps);
    const certify::PairedRuns first = paired_runs(names.first, a, steps, options);
    const certify::PairedRuns second = paired_runs(names.second, b, steps, options);
    certify::PairedComparison comparison = certify::compare_paired(first, second, options);
    for (const py::object* side : {&a, &b}) {
      if (!py::isinstance<certify::RunTable>(*side)) continue;
      const auto& table = side->cast<const certify::RunTable&>();
      comparison.tables.push_back({std::filesystem::path(table.path()).filename().string(), table.sha256()});
    }
    return paired_result(comparison);
  });
}

void add_certificate(py::module_& module) {
  py::class_<HeldCertificate>(module, "Certificate")
      .def(py::init<std::string>())
      .def_property_readonly("text", &HeldCertificate::text)
      .def("cvar",
           [](const HeldCertificate& self, std::size_t variant, Index step, double level) {
             require(level >= 0 && level < 1, "level: {} is outside [0, 1)", level);
             const std::optional<double> bound =
                 certify::cvar_bound(self.certificate(), variant, step, level);
             require(bound.has_value(), "step: nothing is claimed about means at step {}", step);
             return *bound;
           })
      .def("with_provenance",
           [](const HeldCertificate& self, const std::vector<certify::SampleProvenance>& provenance) {
             certify::Certificate certificate = self.certificate();
             certify::set_provenance(certificate, provenance);
             std::string run = certificate.run;
             return HeldCertificate(std::move(certificate), std::move(run));
           })
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

void add_provenance(py::module_& module) {
  using certify::SampleProvenance;
  using certify::SampleRange;
  py::class_<SampleRange>(module, "SampleRange")
      .def(py::init(
          [](const std::string& family, Index seed, const std::string& set, Index first, Index count) {
            SampleRange range{family, seed, set, first, count};
            range.validate();
            return range;
          }));
  py::class_<SampleProvenance>(module, "SampleProvenance").def(py::init([](const SampleRange& range) {
    return SampleProvenance{range};
  }));
}

}  // namespace

void add_certify(py::module_& module) {
  add_provenance(module);
  add_options(module);
  add_number_text(module);
  add_certificate(module);
  add_counting(module);
  add_long_tables(module);
  add_rows(module);
  add_part_tallies(module);
  add_until(module);
  add_paired(module);
  add_verification(module);
  module.def("certify", &certify_counted);
  module.def("certify_tables", &certify_tables);
  module.def("write_file", [](const std::filesystem::path& path, const py::bytes& content) {
    io::write_file_atomically(path, std::string(content));
  });
}

}  // namespace surefoot::python
