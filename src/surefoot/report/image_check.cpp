#include "surefoot/report/image_check.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

namespace surefoot::report {
namespace {

constexpr std::string_view xml_blanks = " \t\r\n";

/// The rest after `end`, which must come; none: it does not.
std::optional<std::string_view> after(std::string_view text, std::string_view end) {
  const std::size_t at = text.find(end);
  if (at == std::string_view::npos) return std::nullopt;
  return text.substr(at + end.size());
}

/// Length of a tag up to its '>'; a '>' inside quotes is none. 0: it does not end.
std::size_t tag_length(std::string_view text) {
  char quote = '\0';
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quote != '\0') {
      if (text[i] == quote) quote = '\0';
    } else if (text[i] == '"' || text[i] == '\'') {
      quote = text[i];
    } else if (text[i] == '>') {
      return i + 1;
    }
  }
  return 0;
}

/// Opens and closes the elements of a text one by one.
class Elements {
 public:
  /// Takes the tag at the front, or what stands for one; false: it is none.
  bool take(std::string_view& text) {
    if (text.starts_with("<!--")) return skip(text, "-->");
    if (text.starts_with("<![CDATA[")) return skip(text, "]]>");
    if (text.starts_with("<?")) return skip(text, "?>");
    const std::size_t length = tag_length(text);
    if (length == 0) return false;
    const std::string_view tag = text.substr(0, length);
    text.remove_prefix(length);
    if (tag.starts_with("<!")) return true;  // DOCTYPE
    const bool closes = tag.starts_with("</");
    const std::size_t begin = closes ? 2 : 1;
    const std::string_view name = tag.substr(begin, tag.find_first_of(" \t\r\n/>", begin) - begin);
    if (name.empty()) return false;
    if (closes) {
      if (open_.empty() || open_.back() != name) return false;
      open_.pop_back();
    } else {
      if (open_.empty() && (roots_++ > 0 || name != "svg")) return false;
      if (!tag.ends_with("/>")) open_.push_back(name);
    }
    return true;
  }
  [[nodiscard]] bool inside() const { return !open_.empty(); }
  [[nodiscard]] bool complete() const { return open_.empty() && roots_ == 1; }

 private:
  static bool skip(std::string_view& text, std::string_view end) {
    const std::optional<std::string_view> rest = after(text, end);
    if (rest) text = *rest;
    return rest.has_value();
  }

  std::vector<std::string_view> open_;
  int roots_ = 0;
};

}  // namespace

bool is_whole_svg(std::string_view text) {
  Elements elements;
  while (!text.empty()) {
    if (text.front() == '<') {
      if (!elements.take(text)) return false;
      continue;
    }
    const std::string_view between = text.substr(0, std::min(text.find('<'), text.size()));
    if (!elements.inside() && between.find_first_not_of(xml_blanks) != std::string_view::npos) return false;
    text.remove_prefix(between.size());
  }
  return elements.complete();
}

bool is_whole_pdf(std::string_view bytes) {
  const std::size_t end = bytes.find_last_not_of(xml_blanks);
  return bytes.starts_with("%PDF-") && end != std::string_view::npos &&
         bytes.substr(0, end + 1).ends_with("%%EOF");
}

}  // namespace surefoot::report
