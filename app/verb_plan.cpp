#include "surefoot/bounds/confidence_budget.hpp"
#include "surefoot/experiments/planning.hpp"
#include "surefoot/report/text.hpp"
#include "surefoot/report/text_table.hpp"

#include "begin_work.hpp"
#include "claims.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <memory>

void add_plan_verb(CLI::App& app) {
  using namespace surefoot;
  const auto options = std::make_shared<experiments::PlanOptions>();
  const auto confidence = std::make_shared<double>(confidence_of(options->delta));
  CLI::App* verb = app.add_subcommand("plan", "How many runs a claim needs, for 0, 1, 2, ... failures");
  verb->add_option("--share", options->share, "that is to succeed")->capture_default_str();
  verb->add_option("--confidence", *confidence, "of the claim")->capture_default_str();
  verb->add_option("--expected", options->expected,
                   "assumed failure rate: adds the chance to show the claim");
  verb->add_option("--chance", options->chance, "that is wanted, with --expected")->capture_default_str();
  verb->add_option("--seconds-per-run", options->seconds_per_run, "adds how long it takes");
  verb->footer("Example: surefoot plan --share 0.99 --confidence 0.99 --expected 0.002");
  verb->callback([options, confidence] {
    options->delta = bounds::delta_of_confidence(*confidence);
    options->validate();
    begin_work();
    const experiments::Plan plan = experiments::plan(*options);
    fmt::print("{}\n\n{}", report::wrapped(experiments::plan_sentence(*options, plan), 100, "", ""),
               report::to_text(experiments::plan_table(*options, plan)));
  });
}
