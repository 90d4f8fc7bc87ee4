#include "surefoot/report/page.hpp"

#include "surefoot/io/gzip.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/report/assets.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

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

/// Larger ones are checked by the program alone; the page says so.
constexpr std::size_t largest_certificate = std::size_t{1} << 19;

std::string certificate_html(const std::string& text) {
  if (text.empty()) return "";
  const std::string packed = io::base64(io::gzipped(text));
  if (packed.size() > largest_certificate)
    return "<script type=\"application/gzip\" id=\"certificate\" data-left-out=\"\"></script>\n";
  return fmt::format("<script type=\"application/gzip\" id=\"certificate\">{}</script>\n", packed);
}

bool has_charts(const Page& page) {
  return !page.chart_data.empty() && has_chart_library();
}

/// The check reads the text before page.js adds to it.
std::string scripts_html(const Page& page) {
  std::string html = certificate_html(page.certificate);
  if (has_charts(page))
    html += fmt::format("<script type=\"application/json\" id=\"chart-data\">{}</script>\n",
                        inert_json(page.chart_data));
  html += fmt::format("<script>\n{}\n{}</script>\n", page_checker, page_self_check);
  if (has_charts(page))
    html += fmt::format("<script>{}</script>\n<script>\n{}</script>\n", chart_library, page_script);
  return html;
}

std::string digest_of(const Page& page, const std::string& sections) {
  std::string letters = letters_of_html(html_escaped(page.title) + html_prose(page.subtitle) + sections);
  if (has_charts(page)) letters += inert_json(page.chart_data);
  return io::sha256_hex(letters);
}

}  // namespace

bool has_chart_library() {
  return !chart_library.empty();
}

std::string letters_of_html(std::string_view html) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 6> entities{
      {{"&amp;", "&"}, {"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&#39;", "'"}, {"&nbsp;", ""}}};
  constexpr std::string_view blanks = " \t\n\r\f\v";
  constexpr std::string_view picture_ends = "</svg>";
  constexpr std::string_view no_break_space = "\xC2\xA0";
  std::string letters;
  while (!html.empty()) {
    if (html.front() == '<') {
      const bool picture = html.starts_with("<svg");
      const std::size_t end = picture ? html.find(picture_ends) : html.find('>');
      html.remove_prefix(end == std::string_view::npos ? html.size()
                                                       : end + (picture ? picture_ends.size() : 1));
      continue;
    }
    const auto* entity =
        std::ranges::find_if(entities, [&](const auto& each) { return html.starts_with(each.first); });
    if (entity != entities.end()) {
      letters += entity->second;
      html.remove_prefix(entity->first.size());
    } else if (html.starts_with(no_break_space)) {
      html.remove_prefix(no_break_space.size());
    } else {
      if (blanks.find(html.front()) == std::string_view::npos) letters += html.front();
      html.remove_prefix(1);
    }
  }
  return letters;
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
                                               {"text_digest", digest_of(page, sections)},
                                               {"sections", sections},
                                               {"scripts", scripts_html(page)},
                                           });
}

}  // namespace surefoot::report
