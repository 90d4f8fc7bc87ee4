#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"

#include "output.hpp"
#include "progress.hpp"
#include "verbs.hpp"
#include "whole_number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

namespace {

using namespace surefoot;

struct CertifyOptions {
  std::vector<std::string> files;
  std::vector<std::string> names;
  std::string steps;
  double confidence = 0.99;
  std::vector<std::string> claims{"success", "quantile", "budget"};
  std::string simultaneous = "all";
  std::string risk_method = "exact";
  std::string quantile_method = "exact";
  std::string budget_method = "settling";
  double success_delta = 0;
  double quantile_delta = 0;
  double budget_delta = 0;
  Index first_step = 1;
  int threads = 0;
  certify::Options certify;
  OutputOptions output;
};

std::vector<Index> parse_steps(const std::string& text) {
  std::vector<Index> steps;
  for (const std::string& part : CLI::detail::split(text, ',')) {
    std::size_t used = 0;
    Index step = -1;
    try {
      step = std::stoll(part, &used);
    } catch (const std::exception&) {
      used = 0;
    }
    require(used > 0 && used == part.size() && step >= 0, "--steps: '{}' is not a step number (or 'all')",
            part);
    steps.push_back(step);
  }
  return steps;
}

// osqp_cold.csv.gz is called osqp_cold; standard input stdin.
std::string variant_name(const std::string& path) {
  if (path == "-") return "stdin";
  std::string name = std::filesystem::path(path).filename().string();
  for (const char* ending : {".gz", ".csv", ".npy", ".txt", ".tsv"}) {
    const std::string end = ending;
    if (name.size() > end.size() && name.ends_with(end)) name.resize(name.size() - end.size());
  }
  return name;
}

std::vector<std::string> variant_names(const CertifyOptions& options) {
  if (!options.names.empty()) {
    require(options.names.size() == options.files.size(), "--names: {} names for {} files",
            options.names.size(), options.files.size());
    return options.names;
  }
  std::vector<std::string> names;
  std::set<std::string> seen;
  for (const std::string& file : options.files) {
    std::string name = variant_name(file);
    for (int copy = 2; seen.contains(name); ++copy) name = fmt::format("{} ({})", variant_name(file), copy);
    seen.insert(name);
    names.push_back(name);
  }
  return names;
}

certify::Options claims_of(const CertifyOptions& options) {
  certify::Options result = options.certify;
  require(options.confidence > 0 && options.confidence < 1, "--confidence: {} is outside (0, 1)",
          options.confidence);
  // The decimal 0.99 leaves the decimal 0.01, not 0.010000000000000009.
  result.delta = std::stod(fmt::format("{:.15g}", 1.0 - options.confidence));
  require(options.simultaneous == "all" || options.simultaneous == "each",
          "--simultaneous: '{}' is not one of all, each", options.simultaneous);
  result.simultaneous =
      options.simultaneous == "all" ? certify::Simultaneity::all : certify::Simultaneity::each;
  for (const std::string& claim : options.claims) {
    require(claim == "success" || claim == "quantile" || claim == "budget",
            "--claims: '{}' is not one of success, quantile, budget", claim);
  }
  const auto claimed = [&](const char* kind) {
    return std::find(options.claims.begin(), options.claims.end(), kind) != options.claims.end();
  };
  result.success_rates = claimed("success");
  result.quantiles_claimed = claimed("quantile");
  result.budgets = claimed("budget");
  result.risk_method = bounds::parse_risk_method(options.risk_method);
  result.quantile_method = bounds::parse_quantile_method(options.quantile_method);
  result.budget_method = bounds::parse_budget_method(options.budget_method);
  if (options.success_delta != 0) result.success_delta = options.success_delta;
  if (options.quantile_delta != 0) result.quantile_delta = options.quantile_delta;
  if (options.budget_delta != 0) result.budget_delta = options.budget_delta;
  result.all_steps = options.steps == "all";
  if (!options.steps.empty() && !result.all_steps) result.steps = parse_steps(options.steps);
  result.validate();
  return result;
}

certify::Certificate certify_files(const CertifyOptions& options) {
  require(std::count(options.files.begin(), options.files.end(), "-") <= 1,
          "standard input can be read only once");
  const std::vector<std::string> names = variant_names(options);
  certify::Options claims = claims_of(options);
  std::vector<std::unique_ptr<certify::RunTable>> tables;
  std::vector<std::vector<Index>> recorded;
  for (const std::string& file : options.files) {
    tables.push_back(std::make_unique<certify::RunTable>(file, options.first_step));
    recorded.push_back(tables.back()->steps());
    if (!tables.back()->notice().empty())
      fmt::print(stderr, "surefoot: {}: {}\n", file, tables.back()->notice());
  }
  claims = certify::resolved(claims, recorded);
  std::vector<certify::Counted> variants;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    Progress progress("reading " + names[i]);
    const runs::TallySpec spec = certify::tally_spec(claims, tables[i]->steps());
    runs::Tally tally = tables[i]->count(spec, [&](Index done, Index total) {
      progress.update(static_cast<double>(done) / 1e6, static_cast<double>(total) / 1e6, "MB");
    });
    certify::Variant variant;
    variant.name = names[i];
    variant.source = options.files[i] == "-" ? "standard input"
                                             : std::filesystem::path(options.files[i]).filename().string();
    variant.sha256 = tables[i]->sha256();
    variants.push_back({variant, std::move(tally)});
  }
  return certify::certify(claims, variants);
}

void add_claim_options(CLI::App& verb, CertifyOptions& options) {
  verb.add_option(
          "--tolerances", options.certify.tolerances,
          "increasing list, e.g. 1e-4,1e-2; below it is success [1e-4,1e-3,1e-2,1e-1; -40,..,-10 for dB]")
      ->delimiter(',');
  verb.add_option("--quantiles", options.certify.quantiles, "increasing list in (0, 1)")
      ->delimiter(',')
      ->capture_default_str();
  verb.add_option("--steps", options.steps,
                  "steps that claims speak of: a list, or all [up to 60, spread out]");
  verb.add_option("--confidence", options.confidence, "of the whole certificate, in (0, 1)")
      ->capture_default_str();
  verb.add_option("--claims", options.claims, "kinds of claims: success,quantile,budget")
      ->delimiter(',')
      ->capture_default_str();
  verb.add_option("--simultaneous", options.simultaneous,
                  "all: all claims hold together with the confidence; each: each claim alone does")
      ->capture_default_str();
  verb.add_option("--risk-method", options.risk_method, "exact, kl or pinsker")->capture_default_str();
  verb.add_option("--quantile-method", options.quantile_method, "exact or grid")->capture_default_str();
  verb.add_option("--budget-method", options.budget_method, "settling, first-hit or paper")
      ->capture_default_str();
  verb.add_option("--success-delta", options.success_delta,
                  "delta of each success rate claim [a share of the total]");
  verb.add_option("--quantile-delta", options.quantile_delta,
                  "delta of each quantile claim [a share of the total]");
  verb.add_option("--budget-delta", options.budget_delta,
                  "delta of each budget claim [a share of the total]");
}

void run(const CertifyOptions& options) {
  set_threads(options.threads);
  // Before the work: a folder that cannot be written must not cost an hour of reading.
  options.output.prepare();
  write_certificate(certify_files(options), options.output);
}

}  // namespace

void add_certify_verb(CLI::App& app, int& exit_code) {
  const auto options = std::make_shared<CertifyOptions>();
  CLI::App* verb = app.add_subcommand(
      "certify",
      "Certificate and report from a table of any solver's results: a row per problem, a column per step");
  verb->add_option("files", options->files,
                   "CSV (also gzipped), NumPy .npy, or - for standard input; one per variant")
      ->required();
  verb->add_option("--names", options->names, "names of the variants [the file names]")->delimiter(',');
  add_claim_options(*verb, *options);
  verb->add_option("--metric", options->certify.metric, "name of the metric")->capture_default_str();
  verb->add_option("--unit", options->certify.unit, "its unit; dB makes decibel defaults");
  verb->add_option("--title", options->certify.title, "title of the report");
  verb->add_option("--first-step", options->first_step, "step of the first column if the header does not say")
      ->check(whole_number)
      ->capture_default_str();
  verb->add_option("--threads", options->threads, "threads [all cores]")->check(whole_number);
  add_output_options(*verb, options->output);
  verb->footer(
      "Example: surefoot certify cold.csv warm.csv --tolerances 1e-3,1e-2 --quantiles 0.9,0.99\n"
      "Rows must be independent problems; tolerances and steps must be chosen without looking at the "
      "results.");
  verb->callback([options, &exit_code] {
    run(*options);
    exit_code = 0;
  });
}
