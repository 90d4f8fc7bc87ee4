#include "say.hpp"

#include "surefoot/io/text.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

void say(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  say_as_is("surefoot: " + surefoot::io::printable(message) + '\n');
}

void say_as_is(std::string_view text) {
  (void)std::fwrite(text.data(), 1, text.size(), stderr);
  (void)std::fflush(stderr);
}
