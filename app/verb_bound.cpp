#include "surefoot/bounds/methods.hpp"
#include "surefoot/experiments/named_bounds.hpp"

#include "begin_work.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <memory>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

namespace {

using namespace surefoot;
using experiments::BoundArguments;
using Json = nlohmann::ordered_json;

/// One of several: how far the other distribution is.
std::function<Json()> add_divergences(CLI::App& verb, const std::shared_ptr<BoundArguments>& given) {
  const auto add = [&](bounds::Divergence divergence, const char* text) {
    verb.add_option_function<double>(
        fmt::format("--{}", bounds::name(divergence)),
        [given, divergence](double radius) {
          given->shifts.push_back({divergence, radius});
        },
        text);
  };
  add(bounds::Divergence::kl, "Kullback-Leibler divergence from it, in nats");
  add(bounds::Divergence::total_variation, "total variation distance, half of L1, in [0, 1]");
  add(bounds::Divergence::chi_squared, "chi^2 divergence from it");
  add(bounds::Divergence::density_ratio, "how many times its density may be exceeded, at least 1");
  return [given] { return Json(bounds::to_text(given->shifts.front())); };
}

/// Adds the option of that name, and returns how it is written in JSON.
std::function<Json()> add_argument(CLI::App& verb, const std::string& name,
                                   const std::shared_ptr<BoundArguments>& given) {
  const auto add = [&](auto BoundArguments::*member, const char* text) {
    CLI::Option* option = verb.add_option("--" + name, (*given).*member, text);
    if constexpr (std::is_same_v<decltype(member), Index BoundArguments::*>) option->check(whole_number);
    name == "method" ? option->capture_default_str() : option->required();
    return [given, member] { return Json((*given).*member); };
  };
  if (name == "risk") return add(&BoundArguments::risk, "failure probability, in [0, 1]");
  if (name == "shift") return add_divergences(verb, given);
  if (name == "q") return add(&BoundArguments::q, "observed rate, in [0, 1]");
  if (name == "c") return add(&BoundArguments::c, "divergence, at least 0");
  if (name == "failures") return add(&BoundArguments::failures, "runs that failed");
  if (name == "samples") return add(&BoundArguments::samples, "runs in all");
  if (name == "quantile") return add(&BoundArguments::quantile, "in (0, 1)");
  if (name == "method") return add(&BoundArguments::method, "exact, kl or pinsker");
  return add(&BoundArguments::delta, "the bound may be false with this probability");
}

}  // namespace

void add_bound_verb(CLI::App& app) {
  CLI::App* all =
      app.add_subcommand("bound", "One bound as a number: kl-inverse, risk, rank, level, anytime or shift");
  all->require_subcommand(1);
  all->footer("Example: surefoot bound risk --failures 3 --samples 1000 --delta 1e-4");
  for (const experiments::NamedBound& bound : experiments::named_bounds()) {
    const auto given = std::make_shared<BoundArguments>();
    const auto json = std::make_shared<bool>(false);
    CLI::App* verb = all->add_subcommand(bound.name, bound.description);
    std::vector<std::function<Json()>> written;
    for (const std::string& name : bound.arguments) written.push_back(add_argument(*verb, name, given));
    verb->add_flag("--json", *json, "print a JSON object");
    verb->footer(fmt::format("Example: surefoot bound {} {}", bound.name, bound.example));
    verb->callback([&bound, given, json, written] {
      bounds::parse_risk_method(given->method);
      begin_work();
      const auto value = bound.compute(*given);
      Json object = Json::object();
      for (std::size_t i = 0; i < written.size(); ++i) object[bound.arguments[i]] = written[i]();
      std::visit([&](auto number) { object[bound.result] = number; }, value);
      if (*json)
        fmt::print("{}\n", object.dump());
      else if (const double* number = std::get_if<double>(&value))
        fmt::print("{:.17g}\n", *number);
      else
        fmt::print("{}\n", std::get<Index>(value));
    });
  }
}
