#pragma once

#include <string>

namespace surefoot::io {

/// The text of any JSON value. Names of files, titles and options may hold bytes that are no UTF-8: they
/// become U+FFFD, where the library would throw.
template <class Json>
std::string json_dump(const Json& json, int indent = -1) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace surefoot::io
