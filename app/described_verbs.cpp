#include "described_verbs.hpp"

#include <utility>

namespace {

std::string takes(const CLI::Option& option) {
  if (option.get_items_expected_max() == 0) return "";
  const std::string type = option.get_type_name().empty() ? "TEXT" : option.get_type_name();
  return option.get_default_str().empty() ? type : type + "=" + option.get_default_str();
}

void describe(const CLI::App& verb, std::vector<std::string> words, std::vector<DescribedVerb>& found) {
  DescribedVerb described{std::move(words), verb.get_description(), {}, {}, {}, verb.get_footer()};
  for (const CLI::Option* option : verb.get_options()) {
    DescribedOption entry{{}, option->get_description(), takes(*option), option->get_group()};
    if (option->nonpositional()) {
      for (const std::string& name : option->get_snames()) entry.names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) entry.names.push_back("--" + name);
      described.options.push_back(std::move(entry));
    } else {
      entry.names.push_back(option->get_name(true));
      described.arguments.push_back(std::move(entry));
    }
  }
  const std::vector<const CLI::App*> inner = verb.get_subcommands([](const CLI::App*) { return true; });
  for (const CLI::App* each : inner)
    described.verbs.push_back({{each->get_name()}, each->get_description(), "", ""});
  const std::vector<std::string> path = described.words;
  found.push_back(std::move(described));
  for (const CLI::App* each : inner) {
    std::vector<std::string> longer = path;
    longer.push_back(each->get_name());
    describe(*each, std::move(longer), found);
  }
}

}  // namespace

std::vector<DescribedVerb> described_verbs(const CLI::App& program) {
  std::vector<DescribedVerb> found;
  describe(program, {}, found);
  return found;
}
