#include "help_groups.hpp"

#include <algorithm>
#include <iterator>
#include <sstream>
#include <vector>

namespace help_groups {

namespace {

constexpr const char* usual = "Options";  // the name that CLI11 gives

std::set<std::string> words_of(const std::string& text) {
  std::istringstream from(text);
  return {std::istream_iterator<std::string>(from), {}};
}

std::string group_of(const CLI::Option& option) {
  const std::string name = option.get_name();
  if (names_in(statistics).contains(name) || name.ends_with("-delta")) return statistics;
  return names_in(advanced).contains(name) ? advanced : common;
}

}  // namespace

const std::set<std::string>& names_in(const std::string& group) {
  static const std::set<std::string> of_statistics = words_of(
      "--steps --claims --simultaneous --choose --risk-method --budget-method --quantile-method --average-method "
      "--range --thresholds --cvar --shift --anytime --until --max-runs --group --sequence --append --worst-case "
      "--dist0 --estimated-dist0 --allow-dependence --delta --prior --draws --paper-draws --learn-then-test "
      "--search-share --shares --tube-share");
  static const std::set<std::string> of_advanced = words_of(
      "--checkpoint --resume --checkpoint-seconds --memory-limit --ledger --look-again --threads --first-step "
      "--stream --save-traces --jobs --first-seed --first --exact-eps --exact-limit --quiet --record");
  return group == statistics ? of_statistics : of_advanced;
}

void arrange(CLI::App& verb) {
  const std::vector<CLI::Option*> options = verb.get_options();
  const bool several = std::ranges::any_of(options, [](const CLI::Option* option) {
    return option->nonpositional() && (option->get_group() != usual || group_of(*option) != common);
  });
  for (CLI::Option* option : options)
    if (several && option->nonpositional() && option->get_group() == usual) option->group(group_of(*option));
  for (CLI::App* inner : verb.get_subcommands([](const CLI::App*) { return true; })) arrange(*inner);
}

}  // namespace help_groups
