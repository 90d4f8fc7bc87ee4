#include "command_line.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/nearest_name.hpp"
#include "surefoot/core/version.hpp"

#include "exit_codes.hpp"
#include "help_groups.hpp"
#include "settings.hpp"
#include "verbs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

namespace {

struct NamedVerb {
  std::string_view name;
  void (*add)(CLI::App& app, int& exit_code);
  const char* group;  // of the help
};

// In the order of --help.
constexpr std::array all_verbs{
    NamedVerb{"run", add_run_verb, "Evidence"},
    NamedVerb{"certify", [](CLI::App& app, int&) { add_certify_verb(app); }, "Evidence"},
    NamedVerb{"verify", add_verify_verb, "Read"},
    NamedVerb{"ask", add_ask_verb, "Read"},
    NamedVerb{"compare", add_compare_verb, "Read"},
    NamedVerb{"plan", [](CLI::App& app, int&) { add_plan_verb(app); }, "Numbers"},
    NamedVerb{"bound", [](CLI::App& app, int&) { add_bound_verb(app); }, "Numbers"},
    NamedVerb{"worst-case", add_worst_case_verb, "Numbers"},
    NamedVerb{"tune", add_tune_verb, "Improve"},
    NamedVerb{"train", [](CLI::App& app, int&) { add_train_verb(app); }, "Improve"},
    NamedVerb{"calibrate", [](CLI::App& app, int&) { add_calibrate_verb(app); }, "Improve"},
    NamedVerb{"monitor", add_monitor_verb, "Deploy"},
    NamedVerb{"export", [](CLI::App& app, int&) { add_export_verb(app); }, "Deploy"},
    NamedVerb{"reproduce", [](CLI::App& app, int&) { add_reproduce_verb(app); }, "Research"},
    NamedVerb{"completion", [](CLI::App& app, int&) { add_completion_verb(app); }, "Setup"},
    NamedVerb{"manual", [](CLI::App& app, int&) { add_manual_verb(app); }, "Setup"},
};

std::vector<CLI::App*> verbs_of(CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

CLI::App* find_verb(CLI::App& app, const std::string& name) {
  const std::vector<CLI::App*> verbs = verbs_of(app);
  const auto found =
      std::find_if(verbs.begin(), verbs.end(), [&](CLI::App* verb) { return verb->get_name() == name; });
  return found == verbs.end() ? nullptr : *found;
}

/// Every option that the verb takes, with dashes.
std::vector<std::string> option_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string suggestion(const std::string& text, const std::vector<std::string>& names) {
  const std::string nearest = surefoot::nearest_name(text, names);
  return nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest);
}

// What the parser found wrong, what may have been meant, and whose --help has more.
std::string explanation(CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
  CLI::App* verb = &app;
  std::string help = "surefoot";
  for (const std::string& word : words) {
    if (word.empty() || word.front() == '-') break;
    CLI::App* inner = find_verb(*verb, word);
    const std::vector<CLI::App*> known = verbs_of(*verb);
    if (inner == nullptr && !known.empty()) {  // before that a verb is missing
      std::vector<std::string> names;
      for (const CLI::App* each : known) names.push_back(each->get_name());
      return fmt::format("'{}' is not a verb; known are {}{} (see {} --help)", word, fmt::join(names, ", "),
                         suggestion(word, names), help);
    }
    if (inner == nullptr) break;
    verb = inner;
    help += ' ' + word;
  }
  std::string meant;
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    for (const std::string& word : words) {
      const std::string name = word.substr(0, word.find('='));
      if (meant.empty() && name.starts_with("--") && verb->get_option_no_throw(name) == nullptr)
        meant = suggestion(name, option_names(*verb));
    }
  }
  return fmt::format("{}{} (see {} --help)", error.what(), meant, help);
}

// For the verbs that take settings from a file, those settings as arguments: `run qp FOLDER`, `tune qp
// FOLDER` and --settings FILE. A folder's settings are those of `run`: `tune` takes what it knows of them.
std::vector<std::string> with_family_settings(CLI::App& app, const std::vector<std::string>& all) {
  if (all.size() < 3 || (all[0] != "run" && all[0] != "tune")) return all;
  const CLI::App* verb = find_verb(*app.get_subcommand(all[0]), all[1]);
  const CLI::App* also = all[0] == "tune" ? find_verb(*app.get_subcommand("run"), all[1]) : nullptr;
  if (verb == nullptr || verb->get_option_no_throw("--settings") == nullptr) return all;
  const std::vector<std::string> given(all.begin() + 2, all.end());
  std::string settings;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].starts_with("--settings=")) settings = given[i].substr(11);
    if (given[i] == "--settings" && i + 1 < given.size()) settings = given[i + 1];
    const std::filesystem::path in_folder = std::filesystem::path(given[i]) / "settings.toml";
    if (settings.empty() && !given[i].starts_with("-") && std::filesystem::exists(in_folder))
      settings = in_folder.string();
  }
  if (settings.empty()) return all;
  std::vector<std::string> result{all[0], all[1]};
  for (std::string& argument : with_settings(*verb, settings, given, also))
    result.push_back(std::move(argument));
  return result;
}

}  // namespace

std::unique_ptr<CLI::App> make_command_line(int& exit_code, std::string_view only) {
  auto app = std::make_unique<CLI::App>(
      "Guarantees for optimizers from samples: how good is the answer after k steps?");
  app->name("surefoot");
  app->set_version_flag("--version", std::string(surefoot::version));
  // Taken out of the words before they are parsed (kernel_choice); it stands here for the help.
  app->add_option(
         "--kernels",
         "level of the instructions that solvers are run with, for every verb: v2, v3, v4; default: the best one that this machine has")
      ->type_name("LEVEL");
  app->require_subcommand(1);
  app->footer("Example: surefoot certify results.csv\nEach verb has its own --help.");
  for (const NamedVerb& verb : all_verbs) {
    if (!only.empty() && only != verb.name) continue;
    verb.add(*app, exit_code);
    CLI::App* added = app->get_subcommand(std::string(verb.name));
    added->group(verb.group);
    help_groups::arrange(*added);
  }
  return app;
}

void parse_words(CLI::App& app, std::vector<std::string> words) {
  std::reverse(words.begin(), words.end());  // as the parser wants them
  app.parse(std::move(words));
}

int run_command_line(const std::vector<std::string>& words) {
  int exit_code = holds;
  const std::unique_ptr<CLI::App> app = make_command_line(exit_code);
  try {
    parse_words(*app, with_family_settings(*app, words));
  } catch (const CLI::Success& request) {  // --help, --version
    return app->exit(request);
  } catch (const CLI::ParseError& error) {
    throw surefoot::InputError(explanation(*app, error, words));
  }
  return exit_code;
}
