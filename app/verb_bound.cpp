#include "surefoot/bounds/anytime.hpp"
#include "surefoot/bounds/band.hpp"
#include "surefoot/bounds/kl.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/bounds/risk.hpp"

#include "begin_work.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <array>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace {

using namespace surefoot::bounds;
using surefoot::Index;
using Json = nlohmann::ordered_json;
using Number = std::variant<double, Index>;

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

/// A bound, its arguments by name, and what it is called in JSON.
struct NamedBound {
  const char* name;
  const char* description;
  std::vector<const char*> arguments;
  const char* result;
  Number (*compute)(const BoundOptions&);
  const char* example;
};

const std::array all_bounds{
    NamedBound{"kl-inverse",
               "sup{ p : kl(q||p) <= c }, rounded up",
               {"q", "c"},
               "kl_inverse",
               [](const BoundOptions& o) -> Number { return kl_inverse(o.q, o.c); },
               "--q 0.1 --c 0.01"},
    NamedBound{"risk",
               "upper bound on the failure probability from failures in samples",
               {"failures", "samples", "delta", "method"},
               "risk",
               [](const BoundOptions& o) -> Number {
                 return risk_upper_bound(o.failures, o.samples, o.delta, parse_risk_method(o.method));
               },
               "--failures 3 --samples 1000 --delta 1e-4 --method exact"},
    NamedBound{
        "rank",
        "the smallest rank r such that the r-th smallest of the samples bounds the quantile; 0: none exists",
        {"samples", "quantile", "delta"},
        "rank",
        [](const BoundOptions& o) -> Number { return order_statistic_rank(o.samples, o.quantile, o.delta); },
        "--samples 1000 --quantile 0.9 --delta 0.0081"},
    NamedBound{
        "level",
        "the level at which exact bounds hold for all tolerances and quantiles at once, so that they may be "
        "chosen after looking; rounded down",
        {"samples", "delta"},
        "level",
        [](const BoundOptions& o) -> Number { return band_level(o.samples, o.delta); },
        "--samples 1000 --delta 0.01"},
    NamedBound{
        "anytime",
        "upper bound on the failure probability that stays valid if runs are added and it is looked at again; "
        "rounded up",
        {"failures", "samples", "delta"},
        "risk",
        [](const BoundOptions& o) -> Number { return anytime_upper(o.failures, o.samples, o.delta); },
        "--failures 0 --samples 556 --delta 0.01"}};

/// Adds the option of that name, and returns how it is written in JSON.
std::function<Json()> add_argument(CLI::App& verb, const std::string& name,
                                   const std::shared_ptr<BoundOptions>& options) {
  const auto add = [&](auto BoundOptions::*member, const char* text) {
    CLI::Option* option = verb.add_option("--" + name, (*options).*member, text);
    if constexpr (std::is_same_v<decltype(member), Index BoundOptions::*>) option->check(whole_number);
    if (name == "method")
      option->capture_default_str();
    else
      option->required();
    return [options, member] { return Json((*options).*member); };
  };
  if (name == "q") return add(&BoundOptions::q, "observed rate, in [0, 1]");
  if (name == "c") return add(&BoundOptions::c, "divergence, at least 0");
  if (name == "failures") return add(&BoundOptions::failures, "runs that failed");
  if (name == "samples") return add(&BoundOptions::samples, "runs in all");
  if (name == "quantile") return add(&BoundOptions::quantile, "in (0, 1)");
  if (name == "method") return add(&BoundOptions::method, "exact, kl or pinsker");
  return add(&BoundOptions::delta, "the bound may be false with this probability");
}

}  // namespace

void add_bound_verb(CLI::App& app) {
  CLI::App* all =
      app.add_subcommand("bound", "One bound as a number: kl-inverse, risk, rank, level or anytime");
  all->require_subcommand(1);
  all->footer("Example: surefoot bound risk --failures 3 --samples 1000 --delta 1e-4");
  for (const NamedBound& bound : all_bounds) {
    const auto options = std::make_shared<BoundOptions>();
    CLI::App* verb = all->add_subcommand(bound.name, bound.description);
    std::vector<std::function<Json()>> given;
    for (const char* name : bound.arguments) given.push_back(add_argument(*verb, name, options));
    verb->add_flag("--json", options->json, "print a JSON object");
    verb->footer(fmt::format("Example: surefoot bound {} {}", bound.name, bound.example));
    verb->callback([&bound, options, given] {
      parse_risk_method(options->method);
      begin_work();
      const auto value = bound.compute(*options);
      if (!options->json) {
        if (const double* number = std::get_if<double>(&value))
          fmt::print("{:.17g}\n", *number);
        else
          fmt::print("{}\n", std::get<Index>(value));
        return;
      }
      Json object;
      for (std::size_t i = 0; i < given.size(); ++i) object[bound.arguments[i]] = given[i]();
      std::visit([&](auto number) { object[bound.result] = number; }, value);
      fmt::print("{}\n", object.dump());
    });
  }
}
