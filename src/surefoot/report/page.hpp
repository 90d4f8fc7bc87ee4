#pragma once

#include "surefoot/report/text_table.hpp"

#include <string>
#include <string_view>
#include <vector>

/// One self-contained page: no request leaves it (its security policy forbids any), readable without scripts
/// and in print.
namespace surefoot::report {

struct Section {
  std::string id;
  std::string heading;  ///< empty: none, and the section is called by its link
  std::string link;     ///< its name in the list of sections
  std::string html;
};

struct Page {
  std::string title;
  std::string subtitle;
  std::string version;
  std::vector<Section> sections;
  std::string chart_data;  ///< JSON for page.js; empty: nothing is interactive
};

std::string page_html(const Page& page);

/// Whether pages have interactive figures: the charting library was there when this was built.
bool has_chart_library();

// ---- parts of sections; text is escaped

/// A number and its % sign stay on one line.
std::string html_prose(std::string_view text);
/// Empty text gives none.
std::string html_paragraph(std::string_view text, std::string_view css_class = "");
std::string html_list(const std::vector<std::string>& lines);
/// A table that scrolls by itself on narrow screens, by keyboard too.
std::string html_scrolling(const TextTable& table, std::string_view css_class, std::string_view label);
std::string html_folded(std::string_view summary, const std::string& content);

}  // namespace surefoot::report
