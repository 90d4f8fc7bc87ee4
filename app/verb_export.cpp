#include "begin_work.hpp"
#include "verbs.hpp"
#include "watch_options.hpp"

#include <fmt/format.h>

#include <memory>

void add_export_verb(CLI::App& app) {
  using namespace surefoot;
  const auto options = std::make_shared<experiments::ExportOptions>();
  CLI::App* verb =
      app.add_subcommand("export", "Constants of a monitor for controllers in C (surefoot/monitor.h)");
  add_watch_options(*verb, options->watch);
  verb->add_option("--c", options->c_file, "C header to write")->required();
  verb->add_option("--name", options->name, "of the variable in it")->capture_default_str();
  verb->footer(
      "Example: surefoot export surefoot-report/certificate.json --claim \"99% below 1e-3 after 20\" --c "
      "residual_monitor.h --name residual_monitor");
  verb->callback([options] {
    options->validate();
    begin_work();
    fmt::print("{}", experiments::export_monitor(*options));
  });
}
