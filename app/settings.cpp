#include "settings.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/experiments/toml_text.hpp"
#include "surefoot/io/atomic_file.hpp"

#include <algorithm>
#include <array>

using surefoot::InputError;
using surefoot::experiments::longest_toml;
using surefoot::experiments::read_toml;

namespace {

// A family that somebody else made must not choose which files of the user are written or replaced.
constexpr std::array<std::string_view, 5> not_in_files{"--out", "--checkpoint", "--resume", "--ledger",
                                                       "--settings"};

std::string place(const std::string& path, const toml::node& node) {
  return fmt::format("{}:{}", path, static_cast<unsigned>(node.source().begin.line));
}

// The text that would stand on the command line.
std::string as_argument(const std::string& where, const std::string& key, const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{:.17g}", number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  if (const auto* list = node.as_array()) {
    std::string joined;
    for (const toml::node& item : *list) {
      surefoot::require(!item.is_array() && !item.is_table(), "{}: '{}' must be a list of numbers or texts",
                        where, key);
      joined += (joined.empty() ? "" : ",") + as_argument(where, key, item);
    }
    return joined;
  }
  throw InputError(fmt::format("{}: '{}' is neither a number, a text nor a list", where, key));
}

bool is_given(const std::vector<std::string>& arguments, const std::string& option) {
  return std::any_of(arguments.begin(), arguments.end(), [&](const std::string& argument) {
    return argument == option || argument.starts_with(option + "=");
  });
}

void add_table(const CLI::App& verb, const CLI::App* also, const std::string& path, const toml::table& table,
               const std::vector<std::string>& given, std::vector<std::string>& arguments) {
  for (const auto& [key_text, node] : table) {
    const std::string key(key_text.str());
    if (const auto* inner = node.as_table()) {
      add_table(verb, also, path, *inner, given, arguments);
      continue;
    }
    std::string option = "--" + key;
    std::replace(option.begin(), option.end(), '_', '-');
    if (verb.get_option_no_throw(option) == nullptr && also != nullptr &&
        also->get_option_no_throw(option) != nullptr)
      continue;
    surefoot::require(verb.get_option_no_throw(option) != nullptr, "{}: '{}' is not a setting of '{}'",
                      place(path, node), key, verb.get_name());
    surefoot::require(std::find(not_in_files.begin(), not_in_files.end(), option) == not_in_files.end(),
                      "{}: '{}' says where files go; only the command line may ({})", place(path, node), key,
                      option);
    if (is_given(given, option)) continue;
    arguments.push_back(option + "=" + as_argument(place(path, node), key, node));
  }
}

}  // namespace

std::vector<std::string> with_settings(const CLI::App& verb, const std::string& path,
                                       const std::vector<std::string>& arguments, const CLI::App* also) {
  return with_settings_text(verb, path, surefoot::io::read_file(path, longest_toml), arguments, also);
}

std::vector<std::string> with_settings_text(const CLI::App& verb, const std::string& path,
                                            std::string_view text, const std::vector<std::string>& arguments,
                                            const CLI::App* also) {
  std::vector<std::string> all = arguments;
  return read_toml(path, text, [&](const toml::table& table) {
    add_table(verb, also, path, table, arguments, all);
    return all;
  });
}
