#include "surefoot/core/error.hpp"
#include "surefoot/core/version.hpp"

#include "verbs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <new>
#include <string>

namespace {

constexpr int success = 0;
constexpr int internal_error = 1;
constexpr int bad_input = 2;

// One line, whatever the message holds.
void complain(std::string message) {
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "surefoot: {}\n", message);
}

}  // namespace

int main(int argc, char** argv) {
  int exit_code = success;
  try {
    CLI::App app("Guarantees for optimizers from samples: how good is the answer after k steps?");
    app.name("surefoot");
    app.set_version_flag("--version", std::string(surefoot::version));
    app.require_subcommand(1);
    app.footer("Example: surefoot certify results.csv\nEach verb has its own --help.");
    add_certify_verb(app, exit_code);
    add_verify_verb(app, exit_code);
    add_bound_verb(app);
    try {
      app.parse(argc, argv);
    } catch (const CLI::Success& request) {  // --help, --version
      return app.exit(request);
    } catch (const CLI::ParseError& error) {
      complain(std::string(error.what()) + " (see surefoot --help)");
      return bad_input;
    }
  } catch (const surefoot::InputError& error) {
    complain(error.what());
    return bad_input;
  } catch (const std::bad_alloc&) {
    complain("out of memory");
    return bad_input;
  } catch (const std::exception& error) {
    complain(fmt::format("internal error: {}", error.what()));
    return internal_error;
  }
  return exit_code;
}
