// Preset asan: needs the whole library.
// Quick: 1000 inputs.
//
// Any words as a command line, through the parser and every check of options up to where a verb would open
// its first file: what is refused is refused in one line, and nothing else is thrown.
#include "begin_work.hpp"
#include "command_line.hpp"
#include "fuzz_support.hpp"

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

namespace {

struct WorkBegins {};

// A cap on memory would be one on the fuzzer.
void without_memory_cap(CLI::App& app) {
  app.parse_complete_callback(nullptr);
  for (CLI::App* verb : app.get_subcommands([](const CLI::App*) { return true; })) without_memory_cap(*verb);
}

// A word is a line.
std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    words.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

}  // namespace

void begin_work() {
  throw WorkBegins();
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::vector<std::string> words = words_of(surefoot::fuzz::text_of(data, size));
  if (words.empty()) return 0;
  int exit_code = 0;
  const auto app = make_command_line(exit_code, words.front());  // all verbs take ten times as long to make
  without_memory_cap(*app);
  surefoot::fuzz::message_of([&] {
    try {
      parse_words(*app, words);
      std::abort();  // a verb did its work
    } catch (const WorkBegins&) {
    } catch (const CLI::ParseError&) {
    }
  });
  return 0;
}
