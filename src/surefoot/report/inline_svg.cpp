#include "surefoot/report/inline_svg.hpp"

#include "surefoot/report/text.hpp"

#include <fmt/format.h>

#include <utility>

namespace surefoot::report {
namespace {

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

std::string rewritten_tag(std::string tag, std::string_view prefix) {
  for (const char* opening : {" id=\"", " id='", "href=\"#", "href='#", "url(#"}) {
    replace_all(tag, opening, std::string(opening) + std::string(prefix));
  }
  replace_all(tag, " color=\"black\"", "");
  for (const char* black : {"'black'", "\"black\"", "'rgb(  0,   0,   0)'", "\"rgb(0,0,0)\""}) {
    replace_all(tag, black, "\"currentColor\"");
  }
  return tag;
}

std::string attribute(std::string_view tag, std::string_view name) {
  const std::string opening = std::string(name) + "=\"";
  const std::size_t begin = tag.find(opening);
  if (begin == std::string_view::npos) return "";
  const std::size_t from = begin + opening.size();
  return std::string(tag.substr(from, tag.find('"', from) - from));
}

std::string root_tag(std::string_view tag, std::string_view description) {
  return fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" xmlns:xlink=\"http://www.w3.org/1999/xlink\" viewBox=\"{}\" "
      "role=\"img\" aria-label=\"{}\">",
      html_escaped(attribute(tag, "viewBox")), html_escaped(description));
}

}  // namespace

std::string inline_svg(std::string_view svg, std::string_view prefix, std::string_view description) {
  std::string result;
  std::size_t at = svg.find("<svg");
  for (bool first = true; at < svg.size(); first = false) {
    const std::size_t end = std::min(svg.find('>', at), svg.size() - 1) + 1;
    const std::string_view tag = svg.substr(at, end - at);
    const std::size_t next = std::min(svg.find('<', end), svg.size());
    result += first ? root_tag(tag, description) : rewritten_tag(std::string(tag), prefix);
    result += svg.substr(end, next - end);
    at = next;
  }
  return result;
}

}  // namespace surefoot::report
