#include "surefoot/core/utf8.hpp"

namespace surefoot {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

std::size_t sequence_length(unsigned char lead) {
  if (lead < 0x80) return 1;
  if (lead >= 0xC2 && lead < 0xE0) return 2;
  if (lead >= 0xE0 && lead < 0xF0) return 3;
  if (lead >= 0xF0 && lead < 0xF5) return 4;
  return 0;
}

bool is_scalar_value(std::uint32_t value, std::size_t bytes) {
  constexpr std::uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
  return value >= smallest[bytes] && value <= 0x10FFFF && (value < 0xD800 || value > 0xDFFF);
}

bool within(std::uint32_t value, std::uint32_t first, std::uint32_t last) {
  return value >= first && value <= last;
}

bool is_white_space(std::uint32_t c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0x2028 || c == 0x2029;
}

bool is_combining(std::uint32_t c) {
  return within(c, 0x300, 0x36F) || within(c, 0x200B, 0x200F) || within(c, 0xFE00, 0xFE0F);
}

bool is_wide(std::uint32_t c) {
  return within(c, 0x1100, 0x115F) || within(c, 0x2E80, 0xA4CF) || within(c, 0xAC00, 0xD7A3) ||
         within(c, 0xF900, 0xFAFF) || within(c, 0xFF00, 0xFF60) || within(c, 0x1F300, 0x1FAFF) ||
         within(c, 0x20000, 0x3FFFD);
}

std::size_t columns_of(std::uint32_t c) {
  if (is_combining(c)) return 0;
  return is_wide(c) ? 2 : 1;
}

}  // namespace

CodePoint decode_utf8(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const std::size_t bytes = sequence_length(lead);
  if (bytes == 0 || bytes > text.size()) return {};
  std::uint32_t value = bytes == 1 ? lead : lead & (0x7FU >> bytes);
  for (std::size_t i = 1; i < bytes; ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if ((byte & 0xC0U) != 0x80) return {};
    value = (value << 6U) | (byte & 0x3FU);
  }
  if (!is_scalar_value(value, bytes)) return {};
  return {value, bytes};
}

bool is_control(std::uint32_t c) {
  return c < 0x20 || within(c, 0x7F, 0x9F) || within(c, 0x2028, 0x202E) || within(c, 0x2066, 0x2069);
}

std::string single_line(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    const std::size_t bytes = point.bytes == 0 ? 1 : point.bytes;
    if (point.bytes != 0 && is_white_space(point.value)) {
      result += ' ';
    } else if (point.bytes == 0 || is_control(point.value) || point.value == 0xFFFE ||
               point.value == 0xFFFF) {
      result += replacement;
    } else {
      result += text.substr(0, bytes);
    }
    text.remove_prefix(bytes);
  }
  return result;
}

std::size_t display_width(std::string_view text) {
  std::size_t width = 0;
  while (!text.empty()) {
    const CodePoint point = decode_utf8(text);
    width += point.bytes == 0 ? 1 : columns_of(point.value);
    text.remove_prefix(point.bytes == 0 ? 1 : point.bytes);
  }
  return width;
}

std::string shortened(std::string_view text, std::size_t width) {
  std::string clean = single_line(text);
  if (display_width(clean) <= width) return clean;
  std::string result;
  std::size_t used = 1;
  for (std::string_view rest = clean; !rest.empty();) {
    const CodePoint point = decode_utf8(rest);
    used += columns_of(point.value);
    if (used > width) break;
    result += rest.substr(0, point.bytes);
    rest.remove_prefix(point.bytes);
  }
  return result + "\u2026";
}

}  // namespace surefoot
