#include "surefoot/certify/ask.hpp"
#include "surefoot/certify/shift_part.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/experiments/verifying.hpp"

#include "begin_work.hpp"
#include "exit_codes.hpp"
#include "verbs.hpp"
#include "work_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>

namespace {

struct AskArguments {
  std::string certificate;
  std::string claim;
  std::string variant;
  std::optional<double> tolerate;
  std::uint64_t memory_limit = 0;
};

}  // namespace

void add_ask_verb(CLI::App& app, int& exit_code) {
  using namespace surefoot;
  const auto arguments = std::make_shared<AskArguments>();
  CLI::App* verb = app.add_subcommand(
      "ask",
      "Whether a claim that is chosen after looking is certified, what is if it is not, and how far problems "
      "may change");
  verb->add_option("certificate", arguments->certificate, "certificate.json")->required();
  verb->add_option(
      "--claim", arguments->claim,
      "\"SHARE% below|at most VALUE [after K|within K]\": after, at step K; within, from step K on. "
      "Without the step or the share: the best that holds");
  verb->add_option("--tolerate", arguments->tolerate,
                   "a share that would be enough, in (0, 1): how far problems may come from another "
                   "distribution before the claim, or each declared claim, promises less");
  verb->add_option("--variant", arguments->variant, "name of one variant [all of them]");
  add_memory_option(*verb, arguments->memory_limit);
  verb->footer(
      "Example: surefoot ask surefoot-report/certificate.json --claim \"50% below 1 within 10\"\n"
      "         surefoot ask surefoot-report/certificate.json --tolerate 0.95\n"
      "Exit code 0: it is certified, of every variant that was asked about; 1: it is not. With --tolerate, 0: a "
      "claim promises the share; 1: none does.");
  verb->callback([arguments, &exit_code] {
    require(!arguments->claim.empty() || arguments->tolerate, "ask: give --claim or --tolerate");
    if (!arguments->claim.empty()) certify::parse_claim(arguments->claim, certify::ShareIs::optional);
    if (arguments->tolerate)
      require(*arguments->tolerate > 0 && *arguments->tolerate < 1,
              "tolerate: a share of {} is outside (0, 1)", *arguments->tolerate);
    begin_work();
    experiments::require_memory_of_certificates({arguments->certificate}, arguments->memory_limit);
    const certify::Certificate certificate =
        certify::read_held_certificate(arguments->certificate).certificate;
    if (arguments->tolerate) {
      const certify::Tolerated tolerated =
          certify::tolerated_shifts(certificate, *arguments->tolerate, arguments->variant, arguments->claim);
      fmt::print("{}", certify::to_text(certificate, tolerated));
      exit_code = tolerated.survived.empty() ? refuted : holds;
      return;
    }
    const std::vector<certify::Answer> answers =
        certify::ask(certificate, arguments->claim, arguments->variant);
    for (const certify::Answer& answer : answers) fmt::print("{}", certify::to_text(certificate, answer));
    exit_code = std::ranges::all_of(answers, &certify::Answer::holds) ? holds : refuted;
  });
}
