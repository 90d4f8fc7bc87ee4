#include "manual.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cstddef>
#include <string>
#include <vector>

namespace {

/// Text that troff prints as it is.
std::string plain(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\') {
      escaped += "\\e";
    } else if (c == '-') {
      escaped += "\\-";
    } else if (escaped.empty() && (c == '.' || c == '\'')) {
      escaped += std::string("\\&") + c;
    } else {
      escaped += c;
    }
  }
  return escaped;
}

/// Lines as they are, each in a line of its own.
std::string lines_of(const std::string& text) {
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {  // a stream would end where it finds no memory
    const std::size_t end = std::min(text.find('\n', at), text.size());
    lines += (lines.empty() ? "" : ".br\n") + plain(text.substr(at, end - at)) + "\n";
    at = end + 1;
  }
  return lines;
}

std::string tagged(const DescribedOption& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.names) names.push_back("\\fB" + plain(name) + "\\fR");
  const std::string takes = option.takes.empty() ? "" : " \\fI" + plain(option.takes) + "\\fR";
  return fmt::format(".TP\n{}{}\n{}", fmt::join(names, ", "), takes, lines_of(option.description));
}

std::string section(const char* title, const std::vector<DescribedOption>& entries) {
  if (entries.empty()) return "";
  std::string text = fmt::format(".SH {}\n", title);
  for (const DescribedOption& entry : entries) text += tagged(entry);
  return text;
}

/// A part for each group of options, in the order of --help.
std::string grouped_section(const std::vector<DescribedOption>& options) {
  std::vector<std::string> groups;
  for (const DescribedOption& option : options)
    if (std::ranges::count(groups, option.group) == 0) groups.push_back(option.group);
  if (groups.size() < 2) return section("OPTIONS", options);
  std::string text = ".SH OPTIONS\n";
  for (const std::string& group : groups) {
    text += fmt::format(".SS {}\n", plain(group));
    for (const DescribedOption& option : options)
      if (option.group == group) text += tagged(option);
  }
  return text;
}

}  // namespace

std::string manual_name(const DescribedVerb& verb) {
  return verb.words.empty() ? "surefoot" : fmt::format("surefoot-{}", fmt::join(verb.words, "-"));
}

std::string manual_page(const DescribedVerb& verb, const std::string& of_version) {
  const std::string name = manual_name(verb);
  std::string title = name;
  std::transform(title.begin(), title.end(), title.begin(), [](unsigned char c) { return std::toupper(c); });
  std::string page =
      fmt::format(".TH {} 1 \"\" \"Surefoot {}\" \"Surefoot\"\n", plain(title), plain(of_version));
  page += fmt::format(".SH NAME\n{} \\- {}\n", plain(name), plain(verb.description));
  page += fmt::format(".SH SYNOPSIS\n\\fBsurefoot{}\\fR", verb.words.empty() ? "" : " ");
  if (!verb.words.empty())
    page += fmt::format("\\fB{}\\fR", plain(fmt::format("{}", fmt::join(verb.words, " "))));
  if (!verb.verbs.empty()) page += " \\fIVERB\\fR";
  if (!verb.options.empty()) page += " [\\fIOPTIONS\\fR]";
  for (const DescribedOption& argument : verb.arguments)
    page += " \\fI" + plain(argument.names.front()) + "\\fR";
  page += "\n";
  page += section("VERBS", verb.verbs);
  page += section("ARGUMENTS", verb.arguments);
  page += grouped_section(verb.options);
  if (!verb.footer.empty()) page += ".SH NOTES\n" + lines_of(verb.footer);
  page +=
      ".SH EXIT STATUS\n"
      "0: done, what was asked holds; 1: refuted; 2: input or usage; 3: undecided; 4: memory or disk; 5: internal "
      "error; 129, 130, 143: stopped by a signal.\n";
  if (!verb.words.empty()) {
    DescribedVerb above = verb;
    above.words.pop_back();
    page += fmt::format(".SH SEE ALSO\n.BR {} (1)\n", plain(manual_name(above)));
  }
  return page;
}
