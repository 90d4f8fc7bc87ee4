#include "surefoot/certify/ask.hpp"
#include "surefoot/certify/verify.hpp"

#include "begin_work.hpp"
#include "exit_codes.hpp"
#include "verbs.hpp"
#include "work_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>

namespace {

struct AskArguments {
  std::string certificate;
  std::string claim;
  std::string variant;
  std::uint64_t memory_limit = 0;
};

}  // namespace

void add_ask_verb(CLI::App& app, int& exit_code) {
  using namespace surefoot;
  const auto arguments = std::make_shared<AskArguments>();
  CLI::App* verb = app.add_subcommand(
      "ask", "Whether a claim that is chosen after looking is certified, and what is if it is not");
  verb->add_option("certificate", arguments->certificate, "certificate.json")->required();
  verb->add_option(
          "--claim", arguments->claim,
          "\"SHARE% below|at most VALUE [after K|within K]\": after, at step K; within, from step K on. "
          "Without the step or the share: the best that holds")
      ->required();
  verb->add_option("--variant", arguments->variant, "name of one variant [all of them]");
  add_memory_option(*verb, arguments->memory_limit);
  verb->footer(
      "Example: surefoot ask surefoot-report/certificate.json --claim \"50% below 1 within 10\"\n"
      "Exit code 0: it is certified, of every variant that was asked about; 1: it is not.");
  verb->callback([arguments, &exit_code] {
    certify::parse_claim(arguments->claim, certify::ShareIs::optional);
    begin_work();
    require_memory_of_certificates({arguments->certificate}, arguments->memory_limit);
    const certify::Certificate certificate =
        certify::read_held_certificate(arguments->certificate).certificate;
    const std::vector<certify::Answer> answers =
        certify::ask(certificate, arguments->claim, arguments->variant);
    for (const certify::Answer& answer : answers) fmt::print("{}", certify::to_text(certificate, answer));
    exit_code = std::ranges::all_of(answers, &certify::Answer::holds) ? holds : refuted;
  });
}
