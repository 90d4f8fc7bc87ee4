#include "watch_options.hpp"

#include "work_options.hpp"

using namespace surefoot;

void add_watch_options(CLI::App& verb, experiments::WatchChoice& choice) {
  verb.add_option("certificate", choice.certificate, "certificate.json")->required();
  verb.add_option(
          "--claim", choice.claims,
          "\"[SHARE%] below|at most VALUE [after K|within K]\", certified by it; may be repeated, then "
          "evidence is averaged. Without the share: the largest that is certified [the success rates "
          "at the last step, for every tolerance]")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  verb.add_option("--variant", choice.variant, "the one in service [the only one]");
  CLI::Option* arl =
      verb.add_option("--arl", choice.rule.arl, "detector: mean number of solves to a false alarm, at least")
          ->default_str("1e6");
  verb.add_option("--alpha", choice.rule.alpha,
                  "test instead: probability that an alarm is ever false, if the certificate is true")
      ->excludes(arl);
  add_memory_option(verb, choice.memory_limit);
}
