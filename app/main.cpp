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

// What the parser found wrong; an unknown verb before that a verb is missing.
std::string explanation(const CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  const auto known = app.get_subcommands([](const CLI::App*) { return true; });
  const bool is_verb = std::any_of(known.begin(), known.end(),
                                   [&](const CLI::App* verb) { return verb->get_name() == first; });
  if (first.empty() || first.front() == '-' || is_verb) return error.what();
  std::string verbs;
  for (const CLI::App* verb : known) verbs += (verbs.empty() ? "" : ", ") + verb->get_name();
  return fmt::format("'{}' is not a verb; known are {}", first, verbs);
}

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
    add_reproduce_verb(app);
    try {
      app.parse(argc, argv);
    } catch (const CLI::Success& request) {  // --help, --version
      return app.exit(request);
    } catch (const CLI::ParseError& error) {
      complain(explanation(app, error, argc, argv) + " (see surefoot --help)");
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
