#include "surefoot/bounds/kl.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"

#include "begin_work.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <string>
#include <utility>

namespace {

using surefoot::Index;
using Json = nlohmann::ordered_json;

struct BoundOptions {
  double q = 0;
  double c = 0;
  Index failures = 0;
  Index samples = 0;
  double quantile = 0;
  double delta = 0;
  std::string method = "exact";
  bool json = false;
};

// A number on standard output: 17 significant digits, or an object with its arguments.
void print(const BoundOptions& options, Json arguments, const char* name, double value) {
  if (options.json) {
    arguments[name] = value;
    fmt::print("{}\n", arguments.dump());
  } else {
    fmt::print("{:.17g}\n", value);
  }
}

void print(const BoundOptions& options, Json arguments, const char* name, Index value) {
  if (options.json) {
    arguments[name] = value;
    fmt::print("{}\n", arguments.dump());
  } else {
    fmt::print("{}\n", value);
  }
}

void add_kl_inverse(CLI::App& bound, const std::shared_ptr<BoundOptions>& options) {
  CLI::App* verb = bound.add_subcommand("kl-inverse", "sup{ p : kl(q||p) <= c }, rounded up");
  verb->add_option("--q", options->q, "observed rate, in [0, 1]")->required();
  verb->add_option("--c", options->c, "divergence, at least 0")->required();
  verb->add_flag("--json", options->json, "print a JSON object");
  verb->footer("Example: surefoot bound kl-inverse --q 0.1 --c 0.01");
  verb->callback([options] {
    begin_work();
    print(*options, {{"q", options->q}, {"c", options->c}}, "kl_inverse",
          surefoot::bounds::kl_inverse(options->q, options->c));
  });
}

void add_risk(CLI::App& bound, const std::shared_ptr<BoundOptions>& options) {
  CLI::App* verb =
      bound.add_subcommand("risk", "upper bound on the failure probability from failures in samples");
  verb->add_option("--failures", options->failures, "runs that failed")->required()->check(whole_number);
  verb->add_option("--samples", options->samples, "runs in all")->required()->check(whole_number);
  verb->add_option("--delta", options->delta, "the bound may be false with this probability")->required();
  verb->add_option("--method", options->method, "exact, kl or pinsker")->capture_default_str();
  verb->add_flag("--json", options->json, "print a JSON object");
  verb->footer("Example: surefoot bound risk --failures 3 --samples 1000 --delta 1e-4 --method exact");
  verb->callback([options] {
    const auto method = surefoot::bounds::parse_risk_method(options->method);
    begin_work();
    print(*options,
          {{"failures", options->failures},
           {"samples", options->samples},
           {"delta", options->delta},
           {"method", options->method}},
          "risk",
          surefoot::bounds::risk_upper_bound(options->failures, options->samples, options->delta, method));
  });
}

void add_rank(CLI::App& bound, const std::shared_ptr<BoundOptions>& options) {
  CLI::App* verb = bound.add_subcommand(
      "rank",
      "the smallest rank r such that the r-th smallest of the samples bounds the quantile; 0: none exists");
  verb->add_option("--samples", options->samples, "number of samples")->required()->check(whole_number);
  verb->add_option("--quantile", options->quantile, "in (0, 1)")->required();
  verb->add_option("--delta", options->delta, "the bound may be false with this probability")->required();
  verb->add_flag("--json", options->json, "print a JSON object");
  verb->footer("Example: surefoot bound rank --samples 1000 --quantile 0.9 --delta 0.0081");
  verb->callback([options] {
    begin_work();
    print(*options,
          {{"samples", options->samples}, {"quantile", options->quantile}, {"delta", options->delta}}, "rank",
          surefoot::bounds::order_statistic_rank(options->samples, options->quantile, options->delta));
  });
}

}  // namespace

void add_bound_verb(CLI::App& app) {
  CLI::App* bound = app.add_subcommand("bound", "One bound as a number: kl-inverse, risk or rank");
  bound->require_subcommand(1);
  bound->footer("Example: surefoot bound risk --failures 3 --samples 1000 --delta 1e-4");
  const auto options = std::make_shared<BoundOptions>();
  add_kl_inverse(*bound, options);
  add_risk(*bound, options);
  add_rank(*bound, options);
}
