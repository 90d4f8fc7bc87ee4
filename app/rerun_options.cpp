#include "rerun_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

using namespace surefoot::experiments;

RerunOptions rerun_options(const CLI::App& verb, const std::vector<RerunFile>& files,
                           const RerunOptions& effective) {
  RerunOptions options;
  for (const CLI::Option* option : verb.get_options()) {
    const std::string name = option->get_name();
    const bool is_file =
        std::ranges::any_of(files, [&](const RerunFile& file) { return file.option == name; });
    if (!name.starts_with("--") || is_file || is_left_out_of_reruns(name)) continue;
    const auto set = std::ranges::find(effective, name, &RerunOptions::value_type::first);
    // Defaults too: a later version may have others.
    const std::string value = set != effective.end() ? set->second
                              : option->count() > 0  ? fmt::format("{}", fmt::join(option->results(), ","))
                                                     : option->get_default_str();
    if (!value.empty()) options.emplace_back(name, value);
  }
  return options;
}
