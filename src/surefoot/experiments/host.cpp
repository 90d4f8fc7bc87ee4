#include "surefoot/experiments/host.hpp"

#include <fmt/format.h>

#include <utility>

namespace surefoot::experiments {

namespace {

std::function<std::string()>& words_of_whole() {
  static std::function<std::string()> words;
  return words;
}

}  // namespace

Host& host() {
  static Host host;
  return host;
}

WholeProgress::WholeProgress(std::function<std::string()> words) {
  words_of_whole() = std::move(words);
}

WholeProgress::~WholeProgress() {
  words_of_whole() = nullptr;
}

std::string whole_progress() {
  return words_of_whole() ? fmt::format(" ({})", words_of_whole()()) : "";
}

}  // namespace surefoot::experiments
