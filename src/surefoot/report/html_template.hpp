#pragma once

#include <string_view>

namespace surefoot::report {

/// report.html with {{places}} to fill.
extern const std::string_view html_template;

}  // namespace surefoot::report
