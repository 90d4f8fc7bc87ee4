#include "work_options.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/memory_cap.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/experiments/memory_needs.hpp"

#include "stopping.hpp"
#include "whole_number.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>

using namespace surefoot;
using namespace surefoot::experiments;

namespace {

// Of the verb with the verbs above it: "run qp".
std::string full_name(const CLI::App& verb) {
  const CLI::App* parent = verb.get_parent();
  if (parent == nullptr || parent->get_parent() == nullptr) return verb.get_name();
  return full_name(*parent) + ' ' + verb.get_name();
}

}  // namespace

std::string how_to_go_on(const CheckpointOptions& options) {
  if (options.folder.empty()) return "nothing is kept; with --checkpoint DIR it could be resumed";
  std::string command = command_line();
  // What stands after -- is of another program.
  if (!options.resume) command.insert(std::min(command.find(" -- "), command.size()), " --resume");
  return fmt::format("what is done is kept in {}; resume with: {}", options.folder.string(), command);
}

void add_checkpoint_options(CLI::App& verb, CheckpointOptions& options, const std::string& usual) {
  verb.add_option("--checkpoint", options.folder,
                  fmt::format("checkpoint directory: interrupted work can be resumed from it{}",
                              usual.empty() ? "" : " [" + usual + "]"));
  verb.add_flag("--resume", options.resume, "resume from the checkpoint in that directory, if there is one");
  verb.add_option("--checkpoint-seconds", options.seconds, "time between checkpoints")
      ->capture_default_str()
      ->check(finite_nonnegative);
}

io::Configuration configuration_of(const CLI::App& verb, const io::Configuration& data) {
  constexpr std::array<std::string_view, 15> no_matter{
      "folder",         "--help",       "--out",     "--json",
      "--threads",      "--checkpoint", "--resume",  "--checkpoint-seconds",
      "--memory-limit", "--settings",   "--quiet",   "--ledger",
      "--look-again",   "--jobs",       "--max-runs"};
  io::Configuration all{{"work", full_name(verb)}, {"version", std::string(version)}};
  for (const CLI::Option* option : verb.get_options()) {
    const std::string name = option->get_name();
    const bool file =
        std::any_of(data.begin(), data.end(), [&](const auto& each) { return each.first == name; });
    if (file || std::find(no_matter.begin(), no_matter.end(), name) != no_matter.end()) continue;
    all.emplace_back(name, fmt::format("{}", fmt::join(option->results(), " ")));
  }
  all.insert(all.end(), data.begin(), data.end());
  return all;
}

std::unique_ptr<certify::CountJournal> open_journal(const CheckpointOptions& options, const CLI::App& verb,
                                                    const io::Configuration& data) {
  const std::string name = full_name(verb);
  const std::filesystem::path file = options.own_file(name);
  if (options.resume) require_as_many_processes(options, checkpoint_stem(name) + '.');
  auto journal = std::make_unique<certify::CountJournal>(
      io::CheckpointFile(file, configuration_of(verb, data), options.seconds,
                         io::CheckpointFile::Writer::each),
      options.resume, StopSignals::check);
  if (journal->resumed()) say_gone_on_from(file);
  return journal;
}

void add_memory_option(CLI::App& verb, std::uint64_t& limit) {
  verb.parse_complete_callback([&limit] { cap_memory(limit); });
  verb.add_option(
          "--memory-limit", limit,
          "take no more memory than this, as 500MB or 4GB; work that needs more is refused [available memory]")
      ->transform(CLI::Validator(
          [](std::string& text) {
            if (text.empty() || text.front() < '0' || text.front() > '9')
              return "'" + text + "' is not a size, as 500MB or 4GB";
            return CLI::AsSizeValue(true)(text);
          },
          "SIZE [b, kB, MB, ...]"));
}

void add_ledger_option(CLI::App& verb, LookOptions& options) {
  verb.add_option("--ledger", options.ledger,
                  "file of the looks at hold-out samples, which folders and users may share");
}

void add_look_options(CLI::App& verb, LookOptions& options) {
  add_ledger_option(verb, options);
  verb.add_flag("--look-again", options.again,
                "allow samples that were looked at before; the certificate records how often");
}
