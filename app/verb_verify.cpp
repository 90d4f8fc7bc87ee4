#include "surefoot/experiments/verifying.hpp"

#include "begin_work.hpp"
#include "exit_codes.hpp"
#include "kernel_choice.hpp"
#include "verbs.hpp"
#include "work_options.hpp"

#include <fmt/format.h>

#include <memory>

void add_verify_verb(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<surefoot::experiments::VerifyOptions>();
  CLI::App* verb = app.add_subcommand(
      "verify", "Recompute every claim of a certificate from its counts, or from the data");
  verb->add_option(
          "certificate", options->certificate,
          "certificate.json, the proof.json of a worst case, the record of a paired comparison, or the folder of a "
          "result")
      ->required();
  verb->add_option("--data", options->data, "the tables it was made from, one per variant: count them again");
  verb->add_option("--weights", options->weights,
                   "learned optimizers: their weights, one per variant; KL and B are computed again");
  verb->add_option(
          "--rerun", options->rerun,
          "make the runs again with the command that the certificate records, and compare all of it; its "
          "files are looked for in this folder, by their digests [.]")
      ->expected(0, 1)
      ->default_str(".");
  add_memory_option(*verb, options->memory_limit);
  verb->footer(
      "Example: surefoot verify surefoot-report/certificate.json --data results.csv\n"
      "         surefoot verify surefoot-report/certificate.json --rerun examples/mpc\n"
      "Exit code 0: it holds; 1: it does not; 2: it cannot be checked.");
  verb->callback([options, &exit_code] {
    begin_work();
    options->kernels = kernel_choice::asked();
    const surefoot::experiments::VerifiedResult result = surefoot::experiments::verify_result(*options);
    fmt::print("{}", result.text);
    exit_code = result.holds ? holds : refuted;
  });
}
