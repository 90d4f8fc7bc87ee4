#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstddef>
#include <string_view>

namespace surefoot::io {

/// What texts of JSON from elsewhere may be.
struct JsonLimits {
  std::size_t deepest = 64;
  std::size_t most_fields = 10'000;  ///< of an object: each name is compared with all before it
};

/// The values of a text. InputError that begins with `what` if it is nested deeper, an object has more
/// fields, or a name is given twice in one object; exceptions of the library if it is not JSON. The limits
/// are looked at in a pass of their own: the library's callback goes through all of a list at the end of each
/// of its objects.
nlohmann::ordered_json parse_json(std::string_view what, std::string_view text, const JsonLimits& limits);

/// Whether a value of JSON is this text. The library's own comparison makes a value of the text in a function
/// that may not throw, so that a failed allocation would end the program.
template <class Json>
bool is_text(const Json& value, std::string_view text) {
  const auto* string = value.template get_ptr<const typename Json::string_t*>();
  return string != nullptr && *string == text;
}

}  // namespace surefoot::io
