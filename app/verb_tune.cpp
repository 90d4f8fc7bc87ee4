#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/looks.hpp"
#include "surefoot/experiments/tune_family.hpp"
#include "surefoot/experiments/tune_files.hpp"
#include "surefoot/io/npy.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/runs/named_metric.hpp"

#include "begin_work.hpp"
#include "claims.hpp"
#include "exit_codes.hpp"
#include "output.hpp"
#include "rerun_options.hpp"
#include "stopping.hpp"
#include "tune_options.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"
#include "work_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;

struct TuneArguments {
  std::string folder;
  std::map<std::string, std::string> files;
  std::string settings;  // told apart before parsing, see command_line.cpp
  FamilyTuneOptions options;
  TuneSearchArguments search;
  int threads = 0;
  problems::Cones cones;
  bool save_traces = false;
  OutputOptions output{"surefoot-tune", false};
  CheckpointOptions checkpoint;
  LookOptions looks;
};

certify::SampleRange range_of(const families::FamilyFiles& files, Part part) {
  const certify::SampleRange all = problems_by_digest(files, part.end());
  return {all.family, all.seed, all.set, part.first, part.count};
}

void tune_family(const CLI::App& verb, TuneArguments& arguments, const std::string& solver,
                 const std::function<std::unique_ptr<FamilyTunable>(families::FamilyFiles&)>& read,
                 int& exit_code) {
  set_threads(arguments.threads);
  begin_work();
  const auto folder = std::make_unique<io::ResultFolder>(arguments.output.folder, is_file_of_tuning);
  arguments.checkpoint.prepare();
  arguments.options.tune.checkpoints = !arguments.checkpoint.folder.empty();
  families::FamilyFiles files(arguments.folder, arguments.files);
  const std::unique_ptr<FamilyTunable> subject = read(files);
  io::Configuration data;
  std::vector<RerunFile> rerun_files;
  for (const families::FamilyFiles::Read& each : files.files()) {
    data.emplace_back("--" + each.name, each.sha256);
    rerun_files.push_back(
        {"--" + each.name, std::filesystem::path(each.file).filename().string(), each.sha256});
  }
  const TuneSplit split = split_problems(subject->problems(), arguments.options.tune, subject->has_default());
  const certify::Independence independence =
      subject->independence(split, arguments.folder.empty() ? "problems" : arguments.folder);
  // Problems that were searched are no longer fit to certify these settings: they are looked at too.
  const certify::SampleRange certified = range_of(files, split.certified);
  LookBook looks(arguments.looks, "tune", configuration_of(verb, data), arguments.checkpoint.resume);
  looks.announce({range_of(files, split.search), certified}, solver);
  const auto journal = open_journal(arguments.checkpoint, verb, data);
  TuneResult result = [&] {
    const StopSignals signals(how_to_go_on(arguments.checkpoint));
    return tune(*subject, subject->problems(), arguments.options.tune, *journal);
  }();
  certify::Certificate& certificate = result.certificate;
  certificate.title = fmt::format("{} tuned for {}", solver, arguments.options.tune.target);
  for (certify::Variant& variant : certificate.variants) variant.independence = independence;
  certificate.run = tune_record(*subject, files, arguments.options, result);
  certificate.rerun = rerun_record({{"tune", verb.get_name()},
                                    rerun_options(verb, rerun_files, arguments.search.effective(result)),
                                    rerun_files});
  std::vector<certify::SampleProvenance> provenance;
  for (const certify::SampleProvenance& look : looks.record()) {
    if (look.range == certified) provenance.assign(certificate.variants.size(), look);
  }
  certify::set_provenance(certificate, provenance);

  std::vector<report::ReportFile> others;
  const std::string package = verb.get_name() == "qp" ? "osqp" : "scs";
  const problems::Cones* cones = verb.get_name() == "qp" ? nullptr : &arguments.cones;
  others.push_back(
      {tune_names::settings, settings_toml(result.winner, solver, arguments.options.iterations, cones)});
  others.push_back({tune_names::keywords, settings_keywords(result.winner, package)});
  others.push_back(
      {tune_names::snippet, settings_snippet(result.winner, package,
                                             fmt::format("Settings of {} for {}, tuned by surefoot.", package,
                                                         arguments.options.tune.target))});
  if (arguments.save_traces) {
    others.push_back({tune_names::default_traces, io::npy_bytes(result.default_traces->values)});
    others.push_back({tune_names::tuned_traces, io::npy_bytes(result.tuned_traces.values)});
    for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
      certify::Variant& variant = certificate.variants[v];
      const report::ReportFile& traces = others[others.size() - 2 + v];
      variant.source = traces.name;
      variant.sha256 = io::sha256_hex(traces.content);
      variant.reading = {certify::unlabelled_columns({variant.first_step, variant.last_step})};
    }
  }
  write_tuning(*subject, arguments.options.tune, result, arguments.output, *folder, std::move(others));
  if (!result.after) exit_code = refuted;
  journal->close();
}

void add_tune_common(CLI::App& verb, TuneArguments& arguments, const std::vector<std::string>& files,
                     const std::string& axes) {
  verb.add_option("folder", arguments.folder, "folder with the files below, and settings.toml if it has one");
  for (const std::string& name : files) {
    verb.add_option("--" + name, arguments.files[name], "file of " + name + " [" + name + " in the folder]");
  }
  verb.add_option("--settings", arguments.settings,
                  "TOML file with any of these options [settings.toml in the folder]");
  add_tune_options(verb, arguments.options.tune, arguments.search);
  verb.add_option(
      "--over", arguments.options.over,
      fmt::format("settings to search, between commas; with a range as in rho=1e-3:1e3:log, or choices "
                  "as in scaling=0|10 [{}]",
                  axes));
  verb.add_option("--iterations", arguments.options.iterations, "iterations of each run")
      ->check(whole_number)
      ->capture_default_str();
  verb.add_option("--metric", arguments.options.metric,
                  fmt::format("{}", fmt::join(runs::metric_names(), ", ")))
      ->capture_default_str();
  verb.add_option("--threads", arguments.threads, "threads [all cores]")->check(whole_number);
  verb.add_flag("--save-traces", arguments.save_traces,
                "write the traces of both too, so that verify --data can count them again");
  add_dependence_option(verb, arguments.options.allow_dependence);
  add_output_options(verb, arguments.output);
  add_checkpoint_options(verb, arguments.checkpoint);
  add_look_options(verb, arguments.looks);
  add_memory_option(verb, arguments.options.memory_limit);
}

void add_tune_qp(CLI::App& tune, int& exit_code) {
  const auto arguments = std::make_shared<TuneArguments>();
  CLI::App* verb = tune.add_subcommand("qp", "Settings of OSQP on quadratic programs");
  add_tune_common(*verb, *arguments, {"P", "A", "q", "l", "u"}, usual_osqp_axes());
  verb->footer("Example: surefoot tune qp examples/mpc --target \"90% below 1e-4\"");
  verb->callback([arguments, verb, &exit_code] {
    arguments->search.check(arguments->options.tune);
    arguments->options.validate();
    (void)osqp_axes_of(arguments->options);
    tune_family(
        *verb, *arguments, "OSQP",
        [&](families::FamilyFiles& files) { return tunable_qp(files, arguments->options); }, exit_code);
  });
}

void add_tune_cone(CLI::App& tune, int& exit_code) {
  const auto arguments = std::make_shared<TuneArguments>();
  CLI::App* verb = tune.add_subcommand("cone", "Settings of SCS on cone programs");
  add_tune_common(*verb, *arguments, {"P", "A", "b", "c"}, usual_scs_axes());
  add_cone_options(*verb, arguments->cones);
  verb->footer("Example: surefoot tune cone examples/portfolio --target \"90% below 1e-4\"");
  verb->callback([arguments, verb, &exit_code] {
    arguments->search.check(arguments->options.tune);
    arguments->options.validate();
    arguments->cones.validate();
    (void)scs_axes_of(arguments->options);
    tune_family(
        *verb, *arguments, "SCS",
        [&](families::FamilyFiles& files) {
          return tunable_cone(files, arguments->cones, arguments->options);
        },
        exit_code);
  });
}

}  // namespace

void add_tune_verb(CLI::App& app, int& exit_code) {
  CLI::App* tune =
      app.add_subcommand("tune", "Find better settings and certify them: tune qp, tune cone, tune command");
  tune->require_subcommand(1);
  tune->footer("Example: surefoot tune qp examples/mpc --target \"90% below 1e-4\"");
  add_tune_qp(*tune, exit_code);
  add_tune_cone(*tune, exit_code);
  add_tune_command(*tune, exit_code);
}
