#include "surefoot/certify/compare.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/report/comparison.hpp"

#include "begin_work.hpp"
#include "claims.hpp"
#include "exit_codes.hpp"
#include "say.hpp"
#include "verbs.hpp"
#include "work_options.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace surefoot;

struct CompareArguments {
  std::string a;
  std::string b;
  std::vector<std::string> variants;
  double delta = 0.01;
  std::filesystem::path folder;  ///< empty: no files
  bool json = false;
  std::uint64_t memory_limit = 0;
};

report::Compared read_certificate(const std::string& path) {
  certify::ParsedCertificate parsed = certify::read_held_certificate(path);
  return {path, parsed.computed_digest, std::move(parsed.certificate)};
}

certify::CompareOptions options_of(const CompareArguments& arguments) {
  certify::CompareOptions options;
  options.delta = arguments.delta;
  for (const std::string& text : arguments.variants) {
    const std::vector<std::string> names = io::split_list("--variants", text);
    require(names.size() == 2, "--variants: '{}' is not a variant of A and one of B, separated by a comma",
            text);
    options.variants.emplace_back(names[0], names[1]);
  }
  return options;
}

/// Whether anything is provably better on either side.
bool shows_something(const certify::Comparison& comparison) {
  const auto shown = [](const auto& verdicts) {
    return std::ranges::any_of(verdicts,
                               [](const auto& each) { return each.verdict != certify::Verdict::not_shown; });
  };
  return std::ranges::any_of(comparison.pairs, [&](const certify::VariantComparison& pair) {
    return shown(pair.success) || shown(pair.quantile) || shown(pair.budget);
  });
}

ExitCode run(const CompareArguments& arguments) {
  const certify::CompareOptions options = options_of(arguments);
  begin_work();
  require_memory_of_certificates({arguments.a, arguments.b}, arguments.memory_limit);
  const report::Compared a = read_certificate(arguments.a);
  const report::Compared b = read_certificate(arguments.b);
  const certify::Comparison comparison =
      certify::compare(a.certificate, b.certificate, options, a.digest == b.digest);
  if (!arguments.folder.empty()) {
    io::ResultFolder folder(arguments.folder, report::is_file_of_certificate);
    for (const std::string& notice :
         report::write_files(report::comparison_report(a, b, comparison), folder, {}))
      say(notice);
  }
  const ExitCode exit_code = shows_something(comparison) ? holds : undecided;
  if (arguments.json) {
    fmt::print("{}", report::comparison_json(a, b, comparison));
    return exit_code;
  }
  fmt::print("{}", report::terminal_text(a, b, comparison));
  if (!arguments.folder.empty()) {
    fmt::print("\nWritten to {}: report.html, comparison.json, figures and tables for papers\n",
               io::printable(arguments.folder.string()));
  }
  return exit_code;
}

}  // namespace

void add_compare_verb(CLI::App& app, int& exit_code) {
  const auto arguments = std::make_shared<CompareArguments>();
  CLI::App* verb =
      app.add_subcommand("compare", "Two certificates side by side: what is provably better and what is not");
  verb->add_option("a", arguments->a, "certificate.json, called A")->required();
  verb->add_option("b", arguments->b, "the other, called B")->required();
  verb->add_option("--variants", arguments->variants,
                   "a variant of A and one of B, e.g. cold,warm; may be repeated [those of the same name, or "
                   "the only ones]");
  verb->add_option("--delta", arguments->delta,
                   "price of the bounds from the other side, in total; the confidence of all verdicts "
                   "together is one less the deltas of A, of B and this")
      ->capture_default_str();
  verb->add_option("--out", arguments->folder,
                   "write report.html, comparison.json, figures and tables there");
  verb->add_flag("--json", arguments->json, "print the comparison as JSON");
  add_memory_option(*verb, arguments->memory_limit);
  verb->footer(
      "Example: surefoot compare old/certificate.json new/certificate.json --out comparison\n"
      "Exit code 0: something is shown; 1: a certificate does not hold; 3: nothing is shown either way.");
  verb->callback([arguments, &exit_code] { exit_code = run(*arguments); });
}
