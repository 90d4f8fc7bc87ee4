#include "surefoot/experiments/toml_text.hpp"

#include <algorithm>

namespace surefoot::experiments {

namespace {

// Deeper than any file of ours; the parser, and what it returns, recurse once for each.
constexpr int deepest = 16;

/// Walks over the text as the parser will, without recursion, and refuses what is nested too deep: brackets,
/// and dots between the parts of a key or a header. Where the text is no TOML, the parser stops no later than
/// here.
class DepthCheck {
 public:
  DepthCheck(const std::string& file, std::string_view text) : file_(file), text_(text) {}

  void operator()() {
    while (at_ < text_.size()) {
      const char letter = text_[at_];
      if (letter == '"' || letter == '\'') {
        skip_string(letter);
        continue;
      }
      if (letter == '#') {
        at_ = std::min(text_.find('\n', at_), text_.size());
        continue;
      }
      ++at_;
      if (letter == '\n') ++line_;
      if (letter == '[' || letter == '{') limit(++depth_);
      if (letter == ']' || letter == '}') depth_ = std::max(0, depth_ - 1);
      if (letter == '.') limit(++parts_);
      if (std::string_view("=,[]{}\n").find(letter) != std::string_view::npos) parts_ = 0;
    }
  }

 private:
  void limit(int depth) const {
    require(depth <= deepest, "{}:{}: keys, tables or lists are nested deeper than {}", file_, line_,
            deepest);
  }

  void skip_string(char quote) {
    const bool many_lines =
        text_.substr(at_).starts_with(quote == '"' ? std::string_view("\"\"\"") : std::string_view("'''"));
    at_ += many_lines ? 3 : 1;
    for (; at_ < text_.size(); ++at_) {
      if (text_[at_] == '\n') {
        if (!many_lines) return;
        ++line_;
      }
      if (text_[at_] == '\\' && quote == '"') {
        ++at_;
        continue;
      }
      if (text_[at_] != quote) continue;
      if (!many_lines || text_.substr(at_ + 1).starts_with(std::string(2, quote))) {
        at_ += many_lines ? 3 : 1;
        return;
      }
    }
  }

  const std::string& file_;
  std::string_view text_;
  std::size_t at_ = 0;
  int line_ = 1;
  int depth_ = 0;
  int parts_ = 0;
};

}  // namespace

toml::table parse_toml(const std::string& file, std::string_view text) {
  require(text.size() <= longest_toml, "{}: is longer than {} bytes", file, longest_toml);
  DepthCheck(file, text)();
  try {
    return toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    throw InputError(fmt::format("{}:{}: {}", file, static_cast<unsigned>(error.source().begin.line),
                                 error.description()));
  }
}

}  // namespace surefoot::experiments
