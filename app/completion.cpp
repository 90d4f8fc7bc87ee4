#include "completion.hpp"

#include "surefoot/core/error.hpp"

#include "help_groups.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace {

/// The first sentence or clause, in one line, short enough for a list.
std::string in_short(std::string text) {
  constexpr std::size_t longest = 70;
  std::replace(text.begin(), text.end(), '\n', ' ');
  text.erase(std::min(text.find_first_of(";:"), text.size()));
  if (const std::size_t bracket = text.find(" ["); bracket != std::string::npos) text.erase(bracket);
  if (text.size() <= longest) return text;
  const std::size_t space = text.rfind(' ', longest);
  return text.substr(0, space == std::string::npos ? longest : space) + " ...";
}

/// With the group of the option behind it, where there are several.
std::string described_shortly(const DescribedOption& option) {
  const bool grouped =
      !option.group.empty() && option.group != "Options" && option.group != help_groups::common;
  return in_short(option.description) + (grouped ? fmt::format(" ({})", option.group) : "");
}

/// In single quotes, for every shell.
std::string quoted_word(const std::string& text) {
  std::string quoted = "'";
  for (const char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return quoted + "'";
}

std::vector<std::string> offered(const DescribedVerb& verb) {
  std::vector<std::string> words;
  for (const DescribedOption& inner : verb.verbs) words.push_back(inner.names.front());
  for (const DescribedOption& option : verb.options)
    for (const std::string& name : option.names)
      if (name.starts_with("--")) words.push_back(name);
  return words;
}

/// "certify", "run", "run qp": paths of verbs, in quotes.
std::string path_of(const DescribedVerb& verb) {
  return fmt::format("{}", fmt::join(verb.words, " "));
}

// In bash and zsh: the verb that the words before the one being written come to.
std::string known_paths(const std::vector<DescribedVerb>& verbs) {
  std::vector<std::string> paths;
  for (const DescribedVerb& verb : verbs)
    if (!verb.words.empty()) paths.push_back(fmt::format("\"{}\"", path_of(verb)));
  return fmt::format("{}", fmt::join(paths, " | "));
}

std::string bash_script(const std::vector<DescribedVerb>& verbs) {
  std::string script = fmt::format(
      R"(# bash completion of surefoot: source this file, or put it into bash-completion's folder as "surefoot".
_surefoot() {{
  local word=${{COMP_WORDS[COMP_CWORD]}} verb= words= i
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case "${{verb:+$verb }}${{COMP_WORDS[i]}}" in
      {}) verb="${{verb:+$verb }}${{COMP_WORDS[i]}}" ;;
    esac
  done
  case "$verb" in
)",
      known_paths(verbs));
  for (const DescribedVerb& verb : verbs)
    script += fmt::format("    \"{}\") words=\"{}\" ;;\n", path_of(verb), fmt::join(offered(verb), " "));
  script += R"(  esac
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
  if [ ${#COMPREPLY[@]} -eq 0 ]; then
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$word")
  fi
}
complete -F _surefoot surefoot
)";
  return script;
}

std::string zsh_script(const std::vector<DescribedVerb>& verbs) {
  const auto entry = [](const std::string& name, const std::string& description) {
    std::string escaped;
    for (const char c : description) escaped += c == ':' ? std::string("\\:") : std::string(1, c);
    return fmt::format("      {}\n", quoted_word(name + ":" + escaped));
  };
  std::string script = fmt::format(R"(#compdef surefoot
# zsh completion of surefoot: put this file into a folder of $fpath as "_surefoot".
_surefoot() {{
  local verb= i
  local -a verbs options
  for ((i = 2; i < CURRENT; ++i)); do
    case "${{verb:+$verb }}${{words[i]}}" in
      {}) verb="${{verb:+$verb }}${{words[i]}}" ;;
    esac
  done
  case "$verb" in
)",
                                   known_paths(verbs));
  for (const DescribedVerb& verb : verbs) {
    script += fmt::format("    \"{}\")\n", path_of(verb));
    script += "      verbs=(\n";
    for (const DescribedOption& inner : verb.verbs)
      script += entry(inner.names.front(), in_short(inner.description));
    script += "      )\n      options=(\n";
    for (const DescribedOption& option : verb.options)
      for (const std::string& name : option.names)
        if (name.starts_with("--")) script += entry(name, described_shortly(option));
    script += "      ) ;;\n";
  }
  script += R"(  esac
  if [[ ${words[CURRENT]} == -* ]]; then
    _describe -o option options
  elif ((${#verbs})); then
    _describe verb verbs
  else
    _files
  fi
}
_surefoot "$@"
)";
  return script;
}

std::string fish_script(const std::vector<DescribedVerb>& verbs) {
  std::string script =
      "# fish completion of surefoot: put this file into a folder of $fish_complete_path as "
      "\"surefoot.fish\".\n";
  for (const DescribedVerb& verb : verbs) {
    std::string condition = "__fish_use_subcommand";
    if (!verb.words.empty()) {
      condition.clear();
      for (const std::string& word : verb.words)
        condition += fmt::format("{}__fish_seen_subcommand_from {}", condition.empty() ? "" : "; and ", word);
    }
    std::string before;  // a verb of this verb is not there yet
    for (const DescribedOption& inner : verb.verbs) before += " " + inner.names.front();
    if (!before.empty() && !verb.words.empty()) condition += "; and not __fish_seen_subcommand_from" + before;
    for (const DescribedOption& inner : verb.verbs)
      script += fmt::format("complete -c surefoot -f -n {} -a {} -d {}\n", quoted_word(condition),
                            inner.names.front(), quoted_word(in_short(inner.description)));
    for (const DescribedOption& option : verb.options)
      for (const std::string& name : option.names)
        if (name.starts_with("--"))
          script += fmt::format("complete -c surefoot -n {} -l {} -d {}{}\n", quoted_word(condition),
                                name.substr(2), quoted_word(described_shortly(option)),
                                option.takes.empty() ? "" : " -r");
  }
  return script;
}

}  // namespace

std::string completion_script(const std::string& shell, const std::vector<DescribedVerb>& verbs) {
  if (shell == "bash") return bash_script(verbs);
  if (shell == "zsh") return zsh_script(verbs);
  surefoot::require(shell == "fish", "completion: '{}' is not one of bash, zsh, fish", shell);
  return fish_script(verbs);
}
