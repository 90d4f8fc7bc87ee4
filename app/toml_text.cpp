#include "toml_text.hpp"

toml::table parse_toml(const std::string& file, std::string_view text) {
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw surefoot::InputError(fmt::format(
        "{}:{}: {}", file, static_cast<unsigned>(error.source().begin.line), error.description()));
  }
}
