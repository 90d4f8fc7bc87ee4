#include "checkpointing.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/io/atomic_file.hpp"

#include "say.hpp"
#include "stopping.hpp"
#include "whole_number.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

using namespace surefoot;

namespace {

// Of the verb with the verbs above it: "run qp".
std::string full_name(const CLI::App& verb) {
  const CLI::App* parent = verb.get_parent();
  if (parent == nullptr || parent->get_parent() == nullptr) return verb.get_name();
  return full_name(*parent) + ' ' + verb.get_name();
}

std::string file_stem(std::string verb) {
  std::replace(verb.begin(), verb.end(), ' ', '-');
  return verb;
}

// What other numbers of processes left cannot be gone on with: each counted another part of the runs. Files
// of this work begin with `beginning`.
void require_as_many_processes(const CheckpointOptions& options, const std::string& beginning) {
  const std::string own_ending =
      ranks().several() ? fmt::format("-of-{}.checkpoint", ranks().count()) : ".checkpoint";
  for (const auto& entry : std::filesystem::directory_iterator(options.folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(beginning) || !name.ends_with(".checkpoint")) continue;
    const bool of_several = name.find(".rank-") != std::string::npos;
    require(
        name.ends_with(own_ending) && of_several == ranks().several(),
        "{}: was left by another number of processes than the {} of now; go on with as many, or remove it",
        entry.path().string(), ranks().count());
  }
}

}  // namespace

void CheckpointOptions::prepare() const {
  require(!resume || !folder.empty(),
          "--resume needs --checkpoint DIR, the folder of what is to be gone on with");
  if (!folder.empty()) io::prepare_output_folder(folder);
  ranks().barrier();  // the first makes the folder that all write to
}

std::filesystem::path CheckpointOptions::file(const std::string& verb) const {
  if (folder.empty()) return {};
  return folder / (file_stem(verb) + ".checkpoint");
}

std::filesystem::path CheckpointOptions::own_file(const std::string& verb) const {
  if (folder.empty() || !ranks().several()) return file(verb);
  return folder /
         fmt::format("{}.rank-{}-of-{}.checkpoint", file_stem(verb), ranks().rank(), ranks().count());
}

std::string CheckpointOptions::how_to_go_on() const {
  if (folder.empty()) return "nothing is kept; with --checkpoint DIR one can go on";
  return fmt::format("what is done is kept in {}; go on with: {}{}", folder.string(), command_line(),
                     resume ? "" : " --resume");
}

void add_checkpoint_options(CLI::App& verb, CheckpointOptions& options, const std::string& usual) {
  verb.add_option("--checkpoint", options.folder,
                  fmt::format("keep what is done in this folder while the work goes on{}",
                              usual.empty() ? "" : " [" + usual + "]"));
  verb.add_flag("--resume", options.resume, "go on from the checkpoint in that folder, if there is one");
  verb.add_option("--checkpoint-seconds", options.seconds, "time between checkpoints")
      ->capture_default_str()
      ->check(finite_nonnegative);
}

io::Configuration configuration_of(const CLI::App& verb, const io::Configuration& data) {
  constexpr std::array<std::string_view, 13> no_matter{
      "folder",         "--help",       "--out",    "--json",
      "--threads",      "--checkpoint", "--resume", "--checkpoint-seconds",
      "--memory-limit", "--settings",   "--quiet",  "--ledger",
      "--look-again"};
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
  if (options.resume) require_as_many_processes(options, file_stem(name) + '.');
  auto journal = std::make_unique<certify::CountJournal>(
      io::CheckpointFile(file, configuration_of(verb, data), options.seconds,
                         io::CheckpointFile::Writer::each),
      options.resume, StopSignals::check);
  if (journal->resumed()) say_gone_on_from(file);
  return journal;
}

void write_table(const problems::Table& table, ByteWriter& to) {
  to.number(table.rows());
  to.list(std::vector<double>(table.data(), table.data() + table.size()));
}

problems::Table read_table(ByteReader& from) {
  const auto rows = from.number<Index>();
  const std::vector<double> values = from.list<double>();
  const auto size = static_cast<Index>(values.size());
  require(rows >= 1 && size % rows == 0, "table of a checkpoint: {} numbers in {} rows", size, rows);
  return Eigen::Map<const problems::Table>(values.data(), rows, size / rows);
}

problems::Table kept_table(certify::CountJournal& journal, const std::function<problems::Table()>& make) {
  const std::optional<std::string> left = journal.begin();
  if (!ranks().any(!left)) {  // processes make it together, or not at all
    ByteReader from(*left, "table of a checkpoint");
    problems::Table table = read_table(from);
    from.finish();
    return table;
  }
  problems::Table table = make();
  if (journal.keeps()) {
    ByteWriter to;
    write_table(table, to);
    journal.keep(to.take());
  }
  return table;
}

namespace {

constexpr const char* part_name = "part";

}  // namespace

PartJournals::PartJournals(std::filesystem::path folder, io::Configuration configuration, double seconds)
    : place_{std::move(folder), true, seconds}, configuration_(std::move(configuration)) {
  place_.prepare();
  require_as_many_processes(place_, fmt::format("{}-", part_name));
}

PartJournals::~PartJournals() {
  try {
    if (current_) current_->flush();
  } catch (const std::exception&) {  // the disk is full, say: that part is done again
  }
}

certify::CountJournal& PartJournals::next(const std::string& weights) {
  if (current_) current_->flush();
  current_.reset();
  const std::string part = fmt::format("{} {}", part_name, ++parts_);
  io::Configuration configuration = configuration_;
  configuration.emplace_back("part", part);
  configuration.emplace_back("weights", weights);
  const auto open = [&](bool resume) {
    return std::make_unique<certify::CountJournal>(
        io::CheckpointFile(place_.own_file(part), configuration, place_.seconds,
                           io::CheckpointFile::Writer::each),
        resume, StopSignals::check);
  };
  try {
    current_ = open(true);
    if (current_->resumed() && !said_) say_gone_on_from(place_.folder);
    said_ = said_ || current_->resumed();
  } catch (const InputError& error) {
    say(fmt::format("{}; this part is done again", error.what()));
    current_ = open(false);
  }
  return *current_;
}

void say_gone_on_from(const std::filesystem::path& checkpoint) {
  if (ranks().first()) say("goes on from " + checkpoint.string());
}
