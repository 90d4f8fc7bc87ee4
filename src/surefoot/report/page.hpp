#pragma once

#include "surefoot/report/text_table.hpp"

#include <string>
#include <string_view>
#include <vector>

/// One self-contained page: no request leaves it (its security policy forbids any), readable without scripts
/// and in print. It has the SHA-256 of its own text, and a script that recomputes it and the claims of the
/// certificate inside (checker.js, self_check.js).
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
  std::string chart_data;        ///< JSON for page.js; empty: nothing is interactive
  std::string certificate = {};  ///< its text, which the page recomputes; empty: it is of none, or of several
};

std::string page_html(const Page& page);

/// Of a page's text what its SHA-256 is of: the letters of its HTML without tags, pictures and blanks.
std::string letters_of_html(std::string_view html);

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
