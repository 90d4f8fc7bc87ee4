#include "surefoot/experiments/checkpoints.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/folder_names.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace surefoot::experiments {

std::string checkpoint_stem(std::string work) {
  std::replace(work.begin(), work.end(), ' ', '-');
  return work;
}

void require_as_many_processes(const CheckpointOptions& options, const std::string& beginning) {
  const std::string own_ending =
      ranks().several() ? fmt::format("-of-{}.checkpoint", ranks().count()) : ".checkpoint";
  for (const std::string& name : io::names_in(options.folder)) {
    if (!name.starts_with(beginning) || !name.ends_with(".checkpoint")) continue;
    const bool of_several = name.find(".rank-") != std::string::npos;
    require(
        name.ends_with(own_ending) && of_several == ranks().several(),
        "{}: was left by another number of processes than the {} of now; resume with as many, or remove it",
        (options.folder / name).string(), ranks().count());
  }
}

void CheckpointOptions::prepare() const {
  require(!resume || !folder.empty(), "--resume needs --checkpoint DIR, the directory to resume from");
  if (!folder.empty()) io::prepare_output_folder(folder);
  ranks().barrier();  // the first makes the folder that all write to
}

std::filesystem::path CheckpointOptions::file(const std::string& verb) const {
  if (folder.empty()) return {};
  return folder / (checkpoint_stem(verb) + ".checkpoint");
}

std::filesystem::path CheckpointOptions::own_file(const std::string& verb) const {
  if (folder.empty() || !ranks().several()) return file(verb);
  return folder /
         fmt::format("{}.rank-{}-of-{}.checkpoint", checkpoint_stem(verb), ranks().rank(), ranks().count());
}

void write_table(const problems::Table& table, ByteWriter& to) {
  to.number(table.rows());
  to.list(table.data(), static_cast<std::size_t>(table.size()));
}

problems::Table read_table(ByteReader& from) {
  const auto rows = from.number<Index>();
  const std::vector<double> values = from.list<double>();
  const auto size = static_cast<Index>(values.size());
  require(rows >= 1 && size % rows == 0, "table of a checkpoint: {} numbers in {} rows", size, rows);
  return Eigen::Map<const problems::Table>(values.data(), rows, size / rows);
}

problems::Table kept_table(certify::CountJournal& journal, const std::function<problems::Table()>& make,
                           TableShape shape) {
  const std::optional<std::string> left = journal.begin();
  if (!ranks().any(!left)) {  // processes make it together, or not at all
    ByteReader from(*left, "table of a checkpoint");
    problems::Table table = read_table(from);
    from.finish();
    require((shape.rows == 0 || table.rows() == shape.rows) &&
                (shape.columns == 0 || table.cols() == shape.columns),
            "table of a checkpoint: {} x {}, not {} x {}", table.rows(), table.cols(), shape.rows,
            shape.columns);
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
        resume, host().check);
  };
  try {
    current_ = open(true);
    if (current_->resumed() && !said_) say_gone_on_from(place_.folder);
    said_ = said_ || current_->resumed();
  } catch (const InputError& error) {
    host().say(fmt::format("{}; this part is done again", error.what()));
    current_ = open(false);
  }
  return *current_;
}

void say_gone_on_from(const std::filesystem::path& checkpoint) {
  if (ranks().first()) host().say("resumes from " + checkpoint.string());
}

}  // namespace surefoot::experiments
