#include "surefoot/report/page.hpp"

#include "surefoot/report/assets.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>

#include <map>

namespace surefoot::report {
namespace {

/// One pass over the template, so that {{places}} in user text stay text.
std::string with_places_filled(std::string_view text, const std::map<std::string_view, std::string>& places) {
  std::string result;
  for (std::size_t begin = text.find("{{"); begin != std::string_view::npos; begin = text.find("{{")) {
    const std::size_t end = text.find("}}", begin);
    result += text.substr(0, begin);
    result += places.at(text.substr(begin + 2, end - begin - 2));
    text.remove_prefix(end + 2);
  }
  return result.append(text);
}

std::string section_html(const Section& section) {
  const std::string_view name = section.heading.empty() ? section.link : section.heading;
  std::string html =
      fmt::format("<section id=\"{}\" aria-label=\"{}\">\n", html_escaped(section.id), html_escaped(name));
  if (!section.heading.empty()) html += fmt::format("<h2>{}</h2>\n", html_escaped(section.heading));
  return html + section.html + "</section>\n\n";
}

/// JSON inside a page: "<" in a string must not end the script.
std::string inert_json(std::string_view source) {
  std::string text;
  for (const char letter : source) {
    if (letter == '<') {
      text += "\\u003c";
    } else {
      text += letter;
    }
  }
  return text;
}

std::string scripts_html(const Page& page) {
  if (page.chart_data.empty() || !has_chart_library()) return "";
  return fmt::format(
      "<script type=\"application/json\" "
      "id=\"chart-data\">{}</script>\n<script>{}</script>\n<script>\n{}</script>\n",
      inert_json(page.chart_data), chart_library, page_script);
}

}  // namespace

bool has_chart_library() {
  return !chart_library.empty();
}

std::string html_prose(std::string_view text) {
  std::string html = html_escaped(text);
  for (std::size_t at = html.find(" %"); at != std::string::npos; at = html.find(" %", at)) {
    html.replace(at, 1, "&nbsp;");
  }
  return html;
}

std::string html_paragraph(std::string_view text, std::string_view css_class) {
  if (text.empty()) return "";
  return css_class.empty() ? fmt::format("<p>{}</p>\n", html_prose(text))
                           : fmt::format("<p class=\"{}\">{}</p>\n", css_class, html_prose(text));
}

std::string html_list(const std::vector<std::string>& lines) {
  std::string html = "<ul>\n";
  for (const std::string& line : lines) html += fmt::format("<li>{}</li>\n", html_prose(line));
  return html + "</ul>\n";
}

std::string html_scrolling(const TextTable& table, std::string_view css_class, std::string_view label) {
  return fmt::format("<div class=\"scroll {}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n{}</div>\n",
                     css_class, html_escaped(label), to_html(table));
}

std::string html_folded(std::string_view summary, const std::string& content) {
  return fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n", html_escaped(summary), content);
}

std::string page_html(const Page& page) {
  std::string nav;
  std::string sections;
  for (const Section& section : page.sections) {
    nav += fmt::format("<a href=\"#{}\">{}</a>\n", html_escaped(section.id), html_escaped(section.link));
    sections += section_html(section);
  }
  return with_places_filled(page_template, {
                                               {"title", html_escaped(page.title)},
                                               {"version", html_escaped(page.version)},
                                               {"style", std::string(page_style)},
                                               {"subtitle", html_prose(page.subtitle)},
                                               {"nav", nav},
                                               {"sections", sections},
                                               {"scripts", scripts_html(page)},
                                           });
}

}  // namespace surefoot::report
