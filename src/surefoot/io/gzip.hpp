#pragma once

#include <string>
#include <string_view>

namespace surefoot::io {

/// The bytes as a gzip file (RFC 1952) without name and time: the same bytes for the same text and version of
/// zlib.
std::string gzipped(std::string_view bytes);

/// RFC 4648, with padding.
std::string base64(std::string_view bytes);

}  // namespace surefoot::io
