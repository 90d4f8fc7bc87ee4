#include "surefoot/certify/claim_text.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <vector>

namespace surefoot::certify {
namespace {

/// The words of a text, one after the other; a percent sign is a word of its own.
class Words {
 public:
  explicit Words(std::string_view text) : text_(text) {
    std::string word;
    const auto end_word = [&] {
      if (!word.empty()) words_.push_back(word);
      word.clear();
    };
    for (const char c : text) {
      if (c == ' ' || c == '\t' || c == '%') end_word();
      if (c == '%') words_.emplace_back("%");
      if (c != ' ' && c != '\t' && c != '%') word += c;
    }
    end_word();
  }

  [[nodiscard]] bool at_end() const { return next_ == words_.size(); }
  [[nodiscard]] std::string peek() const { return at_end() ? "" : words_[next_]; }
  bool take(std::string_view word) {
    if (peek() != word) return false;
    ++next_;
    return true;
  }
  template <class T>
  T number(std::string_view what) {
    T value{};
    const std::string word = peek();
    const auto [rest, error] = std::from_chars(word.data(), word.data() + word.size(), value);
    if (word.empty() || error != std::errc() || rest != word.data() + word.size()) fail(what);
    ++next_;
    return value;
  }
  /// Of the word that comes next.
  [[noreturn]] void fail(std::string_view expected) const {
    const std::string place =
        at_end() ? "at its end" : fmt::format("at word {}, '{}'", next_ + 1, io::printable(peek()));
    throw InputError(fmt::format("claim '{}': {}: expected {} (as in '95% below 3e-4 within 60')",
                                 io::printable(text_), place, expected));
  }
  /// Of the word that was taken last.
  [[noreturn]] void fail_before(std::string_view expected) {
    --next_;
    fail(expected);
  }

 private:
  std::string_view text_;
  std::vector<std::string> words_;
  std::size_t next_ = 0;
};

}  // namespace

ClaimText parse_claim(std::string_view text, ShareIs share) {
  Words words(text);
  ClaimText claim;
  const bool begins_with_value = words.peek() == "below" || words.peek() == "at";
  if (share == ShareIs::required || !begins_with_value) {
    const std::string word = words.peek();
    const double percent = words.number<double>(
        share == ShareIs::required ? "a share such as 95%" : "a share such as 95%, 'below' or 'at most'");
    // 99.9% is the double nearest to 0.999, which a division by 100 is not always.
    claim.share = percent / 100;
    const std::string shifted = word + "e-2";
    double decimal = 0;
    const auto [rest, error] = std::from_chars(shifted.data(), shifted.data() + shifted.size(), decimal);
    if (error == std::errc() && rest == shifted.data() + shifted.size()) claim.share = decimal;
    if (!(*claim.share > 0 && *claim.share < 1)) words.fail_before("a share between 0% and 100%");
    if (!words.take("%")) words.fail("'%'");
  }
  if (words.take("at")) {
    claim.strict = false;
    if (!words.take("most")) words.fail("'most'");
  } else if (!words.take("below")) {
    words.fail("'below' or 'at most'");
  }
  claim.value = words.number<double>("a number");
  if (!std::isfinite(claim.value)) words.fail_before("a finite number");
  if (words.at_end()) return claim;
  if (words.take("after"))
    claim.when = ClaimText::When::after;
  else if (words.take("within"))
    claim.when = ClaimText::When::within;
  else
    words.fail("'after' or 'within', or nothing");
  claim.step = words.number<Index>("a whole number of steps");
  if (claim.step < 0) words.fail_before("a number of steps that is not negative");
  if (!words.at_end()) words.fail("nothing more");
  return claim;
}

std::string to_text(const ClaimText& claim) {
  std::string text = claim.share ? fmt::format("{}% ", exact_label(100 * *claim.share)) : "";
  text += fmt::format("{} {}", claim.strict ? "below" : "at most", exact_label(claim.value));
  if (claim.when != ClaimText::When::unsaid)
    text += fmt::format(" {} {}", claim.when == ClaimText::When::after ? "after" : "within", claim.step);
  return text;
}

}  // namespace surefoot::certify
