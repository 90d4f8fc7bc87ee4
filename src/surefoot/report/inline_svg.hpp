#pragma once

#include <string>
#include <string_view>

namespace surefoot::report {

/// An SVG of gnuplot made ready to stand in a page beside others: no prolog, ids begin with `prefix`, colours
/// black and none follow the page, `description` for those who do not see it.
std::string inline_svg(std::string_view svg, std::string_view prefix, std::string_view description);

}  // namespace surefoot::report
