#include "surefoot/experiments/experiment.hpp"

#include "surefoot/core/build.hpp"
#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/experiments/rerun.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/json_dump.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/io/sha256.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <system_error>

namespace surefoot::experiments {

namespace fs = std::filesystem;

namespace {

constexpr const char* mark_name = "finished.json";
constexpr const char* checkpoints_name = "checkpoints";
constexpr std::size_t largest_mark = std::size_t{256} << 20;
constexpr std::size_t digits_of_folder = 12;

constexpr EnumNames<Size, 2> size_names{{{Size::paper, "paper"}, {Size::quick, "quick"}}};

/// Everything that the results depend on.
std::string settings_json(const Experiment& experiment, const Settings& settings) {
  nlohmann::ordered_json json{{"experiment", experiment.name}, {"version", version},
                              {"build", build_id()},           {"scale", settings.scale},
                              {"seed", settings.seed},         {"samples", settings.samples},
                              {"steps", settings.steps}};
  if (experiment.has_option("--letters")) {
    json["blur"] = settings.blur;
    json["letters"] = settings.letters.empty() ? "drawn" : io::sha256_of_file(letters_file(settings.letters));
  }
  if (experiment.has_option("--models")) json["models"] = settings.models;
  if (experiment.has_option("--epochs")) json["epochs"] = settings.epochs;
  return io::json_dump(json);
}

/// The command that makes the experiment's certificates again.
std::string rerun_of(const Experiment& experiment, const Settings& settings, const std::string& certificate) {
  RerunOptions options{{"--seed", std::to_string(settings.seed)}, {"--scale", settings.scale}};
  std::vector<RerunFile> files;
  const auto add = [&](const char* option, Index value) {
    if (value > 0) options.emplace_back(option, std::to_string(value));
  };
  add("--samples", settings.samples);
  add("--steps", settings.steps);
  add("--epochs", settings.epochs);
  if (!settings.models.empty()) options.emplace_back("--models", settings.models);
  if (experiment.has_option("--letters")) {
    options.emplace_back("--blur", settings.blur);
    if (!settings.letters.empty()) {
      const fs::path file = letters_file(settings.letters);
      files.push_back({"--letters", file.filename().string(), io::sha256_of_file(file), true});
    }
  }
  return rerun_record({{"reproduce", experiment.name}, options, files, certificate});
}

bool is_as_left(const fs::path& folder, const RecordedCertificate& certificate) {
  const fs::path file = folder / certificate.folder / "certificate.json";
  return fs::exists(file) && io::sha256_hex(io::read_file(file, largest_mark)) == certificate.sha256;
}

}  // namespace

std::string_view to_string(Size size) {
  return name_in(size_names, size);
}

Size parse_size(std::string_view name) {
  return value_in(size_names, "--scale", name);
}

std::string experiments_with(const std::string& option) {
  std::vector<std::string> names;
  for (const Experiment& experiment : all_experiments()) {
    if (experiment.has_option(option)) names.push_back(experiment.name);
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string example_commands() {
  std::string text;
  for (const Experiment& experiment : all_experiments()) {
    if (!experiment.example.empty())
      text += fmt::format("{}surefoot reproduce {} {}\n", text.empty() ? "Example: " : "         ",
                          experiment.name, experiment.example);
  }
  return text;
}

bool Experiment::has_option(const std::string& option) const {
  return std::find(own_options.begin(), own_options.end(), option) != own_options.end();
}

std::string experiment_names() {
  std::vector<std::string> names;
  for (const Experiment& experiment : all_experiments()) names.push_back(experiment.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

const Experiment& experiment_named(const std::string& name) {
  for (const Experiment& experiment : all_experiments()) {
    if (experiment.name == name) return experiment;
  }
  throw InputError(fmt::format("'{}' is not an experiment; known are {}, and all for all of them", name,
                               experiment_names()));
}

double bytes_of(double fixed, double by_sample, Index samples, double by_step, Index steps) {
  return fixed + by_sample * static_cast<double>(samples) + by_step * static_cast<double>(steps);
}

std::optional<Finished> finished_before(const Experiment& experiment, const Settings& settings) {
  const fs::path mark = settings.folder / mark_name;
  if (!fs::exists(mark)) return std::nullopt;
  try {
    const auto json = nlohmann::ordered_json::parse(io::read_file(mark, largest_mark));
    const std::string digest = io::sha256_hex(settings_json(experiment, settings));
    if (json.at("settings_sha256") != digest) return std::nullopt;
    Finished finished{parse_record(json.at("record").dump()), json.at("seconds")};
    for (const RecordedCertificate& certificate : finished.record.certificates) {
      if (!is_as_left(settings.folder, certificate)) return std::nullopt;
    }
    if (!io::check_result_folder(settings.folder).findings.empty()) return std::nullopt;
    return finished;
  } catch (const nlohmann::json::exception&) {
    return std::nullopt;  // not ours, or damaged: the experiment is done again
  }
}

Finished run_experiment(const Experiment& experiment, Settings settings) {
  MemoryNeeds needs(settings.memory_limit);
  if (experiment.bytes != nullptr)
    needs.add_bytes("samples, solutions and counts", experiment.bytes(settings));
  needs.require_fit();
  Output output(settings.folder, experiment.name,
                [&](const std::string& certificate) { return rerun_of(experiment, settings, certificate); });
  io::remove_output(settings.folder / mark_name);
  const std::string text = settings_json(experiment, settings);
  const std::string digest = io::sha256_hex(text);
  const bool own_folder = settings.checkpoint.folder.empty();
  const fs::path all_checkpoints =
      own_folder ? settings.folder / checkpoints_name : settings.checkpoint.folder;
  settings.checkpoints = all_checkpoints / digest.substr(0, digits_of_folder);
  PartJournals journals(settings.checkpoints, {{"work", "reproduce"}, {"settings", text}},
                        settings.checkpoint.seconds);
  settings.journals = &journals;
  const auto begin = std::chrono::steady_clock::now();
  experiment.run(settings, output);
  host().check();  // a program that drew a figure may have been stopped too
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Finished finished{output.record(), seconds};
  nlohmann::ordered_json mark{{"settings", nlohmann::ordered_json::parse(text)},
                              {"settings_sha256", digest},
                              {"seconds", seconds},
                              {"record", nlohmann::ordered_json::parse(to_json(finished.record))}};
  output.finish(mark_name, io::json_dump(mark, 1) + '\n');
  journals.close();
  // Others may have checkpoints there too, of other settings.
  io::remove_output(settings.checkpoints);
  std::error_code not_empty;
  if (own_folder && ranks().first()) fs::remove(all_checkpoints, not_empty);
  return finished;
}

}  // namespace surefoot::experiments
