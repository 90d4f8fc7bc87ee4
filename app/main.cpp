#include "surefoot/core/error.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/io/checkpoint_file.hpp"

#include "exit_codes.hpp"
#include "job.hpp"
#include "last_resort.hpp"
#include "progress.hpp"
#include "say.hpp"
#include "settings.hpp"
#include "stopping.hpp"
#include "verbs.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

namespace {

std::vector<CLI::App*> verbs_of(CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

CLI::App* find_verb(CLI::App& app, const std::string& name) {
  const std::vector<CLI::App*> verbs = verbs_of(app);
  const auto found =
      std::find_if(verbs.begin(), verbs.end(), [&](CLI::App* verb) { return verb->get_name() == name; });
  return found == verbs.end() ? nullptr : *found;
}

// What the parser found wrong; an unknown verb before that a verb is missing.
std::string explanation(CLI::App& app, const CLI::ParseError& error, int argc, char** argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first.empty() || first.front() == '-' || find_verb(app, first) != nullptr) return error.what();
  std::string names;
  for (const CLI::App* verb : verbs_of(app)) names += (names.empty() ? "" : ", ") + verb->get_name();
  return fmt::format("'{}' is not a verb; known are {}", first, names);
}

// For the verbs that take settings from a file, those settings as arguments: `run qp FOLDER` and --settings
// FILE.
std::vector<std::string> arguments_of(CLI::App& app, int argc, char** argv) {
  std::vector<std::string> all(argv + 1, argv + argc);
  if (all.size() < 3 || all[0] != "run") return all;
  const CLI::App* verb = find_verb(*app.get_subcommand("run"), all[1]);
  if (verb == nullptr) return all;
  const std::vector<std::string> given(all.begin() + 2, all.end());
  std::string settings;
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i].starts_with("--settings=")) settings = given[i].substr(11);
    if (given[i] == "--settings" && i + 1 < given.size()) settings = given[i + 1];
    const std::filesystem::path in_folder = std::filesystem::path(given[i]) / "settings.toml";
    if (settings.empty() && !given[i].starts_with("-") && std::filesystem::exists(in_folder))
      settings = in_folder.string();
  }
  if (settings.empty()) return all;
  std::vector<std::string> result{all[0], all[1]};
  for (std::string& argument : with_settings(*verb, settings, given)) result.push_back(std::move(argument));
  return result;
}

// A stream that the caller has closed stays unusable: a file of ours must not get its number, or messages
// would go into it.
void hold_standard_streams() {
  constexpr std::array<std::pair<int, int>, 3> streams{
      {{STDIN_FILENO, O_WRONLY}, {STDOUT_FILENO, O_RDONLY}, {STDERR_FILENO, O_WRONLY}}};
  for (const auto& [stream, wrong_way] : streams) {
    if (::fcntl(stream, F_GETFD) < 0 && errno == EBADF) (void)::open("/dev/null", wrong_way);
  }
}

// These are done in no time, or read what only the first process has.
bool is_for_one_process(int argc, char** argv) {
  const std::string verb = argc > 1 ? argv[1] : "";
  return verb == "verify" || verb == "compare" || verb == "bound" || verb == "worst-case" || verb.empty() ||
         verb.front() == '-';
}

int run_verb(int argc, char** argv) {
  int exit_code = holds;
  CLI::App app("Guarantees for optimizers from samples: how good is the answer after k steps?");
  app.name("surefoot");
  app.set_version_flag("--version", std::string(surefoot::version));
  app.require_subcommand(1);
  app.footer("Example: surefoot certify results.csv\nEach verb has its own --help.");
  add_certify_verb(app);
  add_run_verb(app);
  add_verify_verb(app, exit_code);
  add_compare_verb(app, exit_code);
  add_bound_verb(app);
  add_worst_case_verb(app, exit_code);
  add_train_verb(app);
  add_calibrate_verb(app);
  add_reproduce_verb(app);
  try {
    std::vector<std::string> arguments = arguments_of(app, argc, argv);
    std::reverse(arguments.begin(), arguments.end());  // as the parser wants them
    app.parse(std::move(arguments));
  } catch (const CLI::Success& request) {  // --help, --version
    return app.exit(request);
  } catch (const CLI::ParseError& error) {
    throw surefoot::InputError(explanation(app, error, argc, argv) + " (see surefoot --help)");
  }
  return exit_code;
}

surefoot::Failure system_failure(const std::system_error& error) {
  if (error.code().value() == EAGAIN)  // a thread that could not be started
    return {fmt::format("{}: a thread could not be started", surefoot::experiments::out_of_memory()),
            no_resources};
  const bool room = surefoot::is_lack_of_room(error.code().value()) || error.code().value() == EPIPE;
  return {fmt::format("{}{}", room ? "cannot write: " : "", error.what()), room ? no_resources : bad_input};
}

// What the work ends with: an exit code, and a message if it failed.
surefoot::Failure end_of(const std::function<int()>& work) {
  try {
    return {"", work()};
  } catch (const surefoot::OtherRankFailed& other) {
    return other.failure();
  } catch (const surefoot::Interrupted&) {
    return surefoot::ranks().fail({stopped_line(), stopped_exit_code()});
  } catch (const Refuted& error) {
    return surefoot::ranks().fail({error.what(), refuted});
  } catch (const surefoot::ResourceError& error) {
    return surefoot::ranks().fail({error.what(), no_resources});
  } catch (const surefoot::InputError& error) {
    return surefoot::ranks().fail({error.what(), bad_input});
  } catch (const std::system_error& error) {
    return surefoot::ranks().fail(system_failure(error));
  } catch (const std::length_error&) {  // more than any memory holds
    return surefoot::ranks().fail({surefoot::experiments::out_of_memory(), no_resources});
  } catch (const std::bad_alloc&) {
    return surefoot::ranks().fail({surefoot::experiments::out_of_memory(), no_resources});
  } catch (const std::exception& error) {
    return surefoot::ranks().fail({fmt::format("internal error: {}", error.what()), internal_error});
  }
}

// Says how the work ended; its exit code.
int last_words(surefoot::Failure end) {
  if (end.message.empty() && std::fflush(stdout) != 0)
    end = {"cannot write to standard output", no_resources};
  if (!end.message.empty()) say(end.message);
  const surefoot::io::CheckpointLosses& losses = surefoot::io::checkpoint_losses();
  if (losses.count > 0) {
    say(fmt::format("{} checkpoint{} could not be written: {}", losses.count, losses.count == 1 ? "" : "s",
                    losses.last));
  }
  return end.exit_code;
}

int run_program(int argc, char** argv) {
  std::optional<Job> job;
  return last_words(end_of([&] {
    set_command_line(argc, argv);
    surefoot::io::checkpoint_losses().warn = [](const std::string& why) {
      say(why + "; the work goes on, and what is kept is older");
    };
    surefoot::experiments::host() = {
        .say = [](const std::string& message) { say(message); },
        .progress = [](const std::string& what) { return std::make_unique<TerminalProgress>(what); },
        .check = StopSignals::check,
        .stopped = StopSignals::stopped};
    job.emplace(argc, argv, is_for_one_process(argc, argv));
    if (!job->works()) return int{holds};
    const int exit_code = run_verb(argc, argv);
    surefoot::ranks().barrier();
    return exit_code;
  }));
}

}  // namespace

int main(int argc, char** argv) {
  hold_standard_streams();
  std::signal(SIGXFSZ, SIG_IGN);  // a file too large is an error of writing, which names the file
  std::signal(SIGPIPE, SIG_IGN);  // so is a reader of messages that has gone: hours of work do not end for it
  catch_ends_by_libraries();
  int exit_code = no_resources;
  try {
    exit_code = run_program(argc, argv);
  } catch (const std::bad_alloc&) {  // also for the message
    say_plainly("out of memory");
  }
  end_is_ours();
  return exit_code;
}
