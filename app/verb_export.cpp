#include "surefoot/core/error.hpp"
#include "surefoot/experiments/export_weights.hpp"

#include "begin_work.hpp"
#include "verbs.hpp"
#include "watch_options.hpp"

#include <fmt/format.h>

#include <memory>

void add_export_verb(CLI::App& app) {
  using namespace surefoot;
  const auto options = std::make_shared<experiments::ExportOptions>();
  const auto weights = std::make_shared<experiments::ExportWeightsOptions>();
  CLI::App* verb =
      app.add_subcommand("export",
                         "For controllers in C: constants of a monitor (surefoot/monitor.h) from a "
                         "certificate, or a learned start or schedule from weights.safetensors");
  add_watch_options(*verb, options->watch);
  verb->add_option("--c", options->c_file, "C file to write")->required();
  verb->add_option("--name", options->name, "of what is in it")->capture_default_str();
  verb->add_option("--certificate", weights->certificate,
                   "of weights: their certificate, whose SHA-256 stands in the file");
  verb->add_option("--problems", weights->folder,
                   "of weights: folder of the problems [where they were learned from]");
  verb->footer(
      "Example: surefoot export surefoot-report/certificate.json --claim \"99% below 1e-3 after 20\" --c "
      "residual_monitor.h --name residual_monitor");
  verb->callback([options, weights, verb] {
    const bool learned = options->watch.certificate.extension() == ".safetensors";
    for (const char* option : {"--claim", "--variant", "--arl", "--alpha"})
      require(!learned || verb->count(option) == 0, "{}: is for monitors, and {} holds weights", option,
              options->watch.certificate.string());
    for (const char* option : {"--certificate", "--problems"})
      require(learned || verb->count(option) == 0, "{}: is for weights (.safetensors)", option);
    if (!learned) {
      options->validate();
      begin_work();
      fmt::print("{}", experiments::export_monitor(*options));
      return;
    }
    weights->weights = options->watch.certificate;
    weights->c_file = options->c_file;
    weights->name = options->name;
    weights->validate();
    begin_work();
    fmt::print("{}", experiments::export_weights(*weights));
  });
}
