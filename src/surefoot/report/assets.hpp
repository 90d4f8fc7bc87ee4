#pragma once

#include <string_view>

namespace surefoot::report {

/// Files that stand inside every page, built into the library: page.html with {{places}} to fill, page.css
/// page.js, checker.js and self_check.js of this folder, and the charting library dygraphs from its package
/// (empty where that was not there at build time).
extern const std::string_view page_template;
extern const std::string_view page_style;
extern const std::string_view page_script;
extern const std::string_view page_checker;
extern const std::string_view page_self_check;
extern const std::string_view chart_library;

}  // namespace surefoot::report
