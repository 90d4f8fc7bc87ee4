#include "surefoot/experiments/field.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/families/family_key.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <filesystem>

namespace surefoot::experiments {

namespace {

std::string text_of(bool value) {
  return value ? "true" : "false";
}
std::string text_of(std::uint64_t value) {
  return fmt::format("{}", value);
}
std::string text_of(const std::string& value) {
  return value;
}
std::string text_of(algorithms::Precision value) {
  return std::string(to_string(value));
}
template <class T>
std::string text_of(const T& value) {
  return families::constant_text(value);
}

/// Reads the text of one field; errors name it.
class FieldReader {
 public:
  FieldReader(const Field& field, const std::string& text, const std::string& where)
      : field_(field), text_(text), where_(where) {}

  void operator()(Index* value) const { *value = whole(text_); }
  void operator()(std::uint64_t* value) const {
    const auto [rest, error] = std::from_chars(text_.data(), text_.data() + text_.size(), *value);
    check(error == std::errc() && rest == text_.data() + text_.size(), "a whole number");
  }
  void operator()(double* value) const {
    check(io::parse_number(text_, *value) && std::isfinite(*value), "a number");
  }
  void operator()(bool* value) const {
    check(text_ == "true" || text_ == "false", "true or false");
    *value = text_ == "true";
  }
  void operator()(std::string* value) const { *value = text_; }
  void operator()(std::vector<Index>* value) const {
    value->clear();
    for (std::size_t begin = 0; begin <= text_.size() && !text_.empty();) {
      const std::size_t end = std::min(text_.find(';', begin), text_.size());
      value->push_back(whole(text_.substr(begin, end - begin)));
      begin = end + 1;
    }
  }
  void operator()(algorithms::Precision* value) const {
    check(text_ == "single" || text_ == "double", "single or double");
    *value = algorithms::parse_precision(text_);
  }

 private:
  [[nodiscard]] Index whole(const std::string& text) const {
    long long value = 0;
    check(io::parse_integer(text, value) && value >= 0, "a whole number");
    return value;
  }
  void check(bool right, const char* wanted) const {
    require(right, "{}: '{}' is '{}', not {}", where_, field_.name(), io::excerpt(text_), wanted);
  }
  const Field& field_;
  const std::string& text_;
  const std::string& where_;
};

}  // namespace

std::string Field::name() const {
  if (!metadata.empty()) return metadata;
  return table.empty() ? key : table + "." + key;
}

std::string Field::text() const {
  return std::visit([](const auto* at) { return text_of(*at); }, value);
}

std::string Field::metadata_text() const {
  const std::string all = text();
  std::filesystem::path path = std::filesystem::path(all).lexically_normal();
  if (!is_place || !path.is_absolute()) return all;
  if (!path.has_filename()) path = path.parent_path();  // folder/
  return path.filename().string();
}

void Field::set(const std::string& text, const std::string& where) const {
  std::visit(FieldReader(*this, text, where), value);
}

}  // namespace surefoot::experiments
