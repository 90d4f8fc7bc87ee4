#pragma once

#include <string_view>

/// What programs that draw give back may have been cut: a full disk, a program that was ended. These say
/// whether an image is whole.
namespace surefoot::report {

/// One element `svg` with all that it opens closed in order, and nothing after it.
bool is_whole_svg(std::string_view text);

/// Begins and ends as a PDF does.
bool is_whole_pdf(std::string_view bytes);

}  // namespace surefoot::report
