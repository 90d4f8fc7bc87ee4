#include "surefoot/experiments/rerun.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/kernel_libraries.hpp"
#include "surefoot/core/kernels.hpp"
#include "surefoot/experiments/files_by_digest.hpp"
#include "surefoot/experiments/loop_files.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/json_dump.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/report/process.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <optional>
#include <set>

namespace surefoot::experiments {

namespace fs = std::filesystem;

namespace {

using RerunJson = nlohmann::ordered_json;

// These name files: a certificate may ask for files by their digests alone.
const std::set<std::string>& options_of_files() {
  static const std::set<std::string> names = [] {
    std::set<std::string> all{"--P",        "--A",        "--q",         "--l",     "--u",
                              "--b",        "--c",        "--start",     "--prior", "--letters",
                              "--problems", "--schedule", "--parameters"};
    for (const std::string& name : loop_file_names()) all.insert("--" + name);
    return all;
  }();
  return names;
}

// Verbs that a certificate may ask for. Nothing else is ever run for one.
bool may_be_repeated(const std::vector<std::string>& words) {
  if (words.size() == 2 && words[0] == "run")
    return words[1] == "qp" || words[1] == "cone" || words[1] == "loop";
  if (words.size() == 2 && words[0] == "tune") return words[1] == "qp" || words[1] == "cone";
  if (words.size() == 1) return words[0] == "calibrate";
  if (words.size() == 3 && words[0] == "run" && words[1] == "family")
    return !words[2].empty() && words[2].front() != '-';
  return words.size() == 2 && words[0] == "reproduce" && !words[1].empty() && words[1].front() != '-';
}

class TemporaryFolder {
 public:
  TemporaryFolder() {
    std::string pattern = (fs::temp_directory_path() / "surefoot-rerun-XXXXXX").string();
    require(mkdtemp(pattern.data()) != nullptr, "{}: cannot make a temporary folder", pattern);
    path_ = pattern;
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

fs::path file_of_rerun(const fs::path& folder, const RerunFile& wanted) {
  const std::optional<fs::path> found = file_by_digest({folder}, wanted.file, wanted.sha256);
  require(found.has_value(), "--rerun: {} holds no file with the SHA-256 of {} ({})", folder.string(),
          io::excerpt(wanted.file), wanted.sha256);
  return *found;
}

struct UsableKernels {
  std::string level;       // that the repetition is made with
  std::string difference;  // in words, if it is not the recorded one
};

UsableKernels usable_kernels(const std::string& recorded, const std::string& asked) {
  const std::string wanted = asked.empty() ? recorded : full_kernel_name(asked);
  UsableKernels use{std::string(kernel_level()), ""};
  const bool usable = can_start_with(wanted);
  if (usable) use.level = wanted;
  if (recorded.empty() || recorded == use.level) return use;
  const std::string why = usable ? "--kernels asks for others"
                          : kernels_of_package(wanted) && !machine_has(wanted)
                              ? "this machine lacks their instructions"
                              : "this program does not have them";
  use.difference =
      fmt::format("the runs were made with the kernels {} and repeated with {} ({}): last bits may differ",
                  io::excerpt(recorded), use.level, why);
  return use;
}

std::string with_kernels(const std::string& rerun, const std::string& level) {
  RerunJson json = RerunJson::parse(rerun);
  if (level.empty()) {
    json.erase("kernels");
  } else {
    json["kernels"] = level;
  }
  return io::json_dump(json);
}

}  // namespace

bool is_left_out_of_reruns(const std::string& option) {
  static const std::set<std::string> names{"--help",         "--version", "--settings",
                                           "--threads",      "--out",     "--json",
                                           "--checkpoint",   "--resume",  "--checkpoint-seconds",
                                           "--memory-limit", "--ledger",  "--quiet",
                                           "--look-again",   "--folder",  "--kernels"};
  return names.contains(option);
}

std::string rerun_record(const RerunCommand& command) {
  RerunJson json{{"words", command.words},
                 {"options", RerunJson::object()},
                 {"files", RerunJson::array()},
                 {"certificate", command.certificate},
                 {"kernels", kernel_level()}};
  for (const auto& [name, value] : command.options) json["options"][name] = value;
  for (const RerunFile& file : command.files)
    json["files"].push_back({{"option", file.option},
                             {"file", file.file},
                             {"sha256", file.sha256},
                             {"in_folder", file.in_folder}});
  return io::json_dump(json);
}

RerunCommand rerun_command(const certify::Certificate& certificate) {
  const RerunJson run = RerunJson::parse(certificate.run, nullptr, false);
  if (certificate.rerun == "null" && run.is_object() && run.contains("command") &&
      run["command"].is_array()) {
    throw InputError(
        fmt::format("--rerun: the runs are those of another program, which is not run for a certificate: {}",
                    io::excerpt(io::json_dump(run["command"]), 200)));
  }
  require(certificate.rerun != "null",
          "--rerun: the certificate does not record a command that makes its runs again");
  RerunCommand command;
  try {
    const RerunJson json = RerunJson::parse(certificate.rerun);
    command.words = json.at("words").get<std::vector<std::string>>();
    for (const auto& [name, value] : json.at("options").items())
      command.options.emplace_back(name, value.get<std::string>());
    for (const RerunJson& file : json.at("files"))
      command.files.push_back({file.at("option"), file.at("file"), file.at("sha256"), file.at("in_folder")});
    command.certificate = json.at("certificate");
    command.kernels = json.value("kernels", "");
  } catch (const RerunJson::exception&) {
    throw InputError("--rerun: the certificate's command is not one that this program records");
  }
  require(may_be_repeated(command.words), "--rerun: '{}' is not a command that is run for a certificate",
          io::excerpt(fmt::format("{}", fmt::join(command.words, " "))));
  const auto plain = [](const std::string& name) {
    return !name.empty() && name.find('/') == std::string::npos && name != "." && name != "..";
  };
  for (const auto& [name, value] : command.options) {
    require(name.starts_with("--") && name.find('=') == std::string::npos && !is_left_out_of_reruns(name) &&
                !options_of_files().contains(name),
            "--rerun: the certificate's command may not have the option '{}'", io::excerpt(name));
  }
  for (const RerunFile& file : command.files) {
    require(plain(file.file) && !is_left_out_of_reruns(file.option) &&
                (file.option.empty() || options_of_files().contains(file.option)),
            "--rerun: the certificate's command may not read '{}' by '{}'", io::excerpt(file.file),
            io::excerpt(file.option));
  }
  const fs::path inside = fs::path(command.certificate).lexically_normal();
  require(inside.is_relative() && (inside.empty() || *inside.begin() != ".."),
          "--rerun: '{}' is not a folder of a certificate", io::excerpt(command.certificate));
  return command;
}

std::string rerun_and_compare(const certify::Certificate& certificate, const fs::path& folder,
                              certify::Verification& verification, const std::string& kernels) {
  const RerunCommand command = rerun_command(certificate);
  const UsableKernels use = usable_kernels(command.kernels, kernels);
  require(fs::is_directory(folder), "--rerun: {} is not a folder", folder.string());
  const TemporaryFolder work;
  std::vector<std::string> arguments{"/proc/self/exe"};
  arguments.insert(arguments.end(), command.words.begin(), command.words.end());
  std::map<std::string, fs::path> folders;  // by the options that name them
  for (std::size_t i = 0; i < command.files.size(); ++i) {
    const RerunFile& file = command.files[i];
    const auto known = file.in_folder ? folders.find(file.option) : folders.end();
    const bool is_new = known == folders.end();
    // Several files may have one name: each gets a folder of its own, unless an option names that of all.
    const fs::path inside = is_new ? work.path() / std::to_string(i) : known->second;
    if (is_new) fs::create_directory(inside);
    if (is_new && file.in_folder) folders.emplace(file.option, inside);
    fs::create_symlink(fs::absolute(file_of_rerun(folder, file)), inside / file.file);
    const std::string path = (file.in_folder ? inside : inside / file.file).string();
    if (is_new) arguments.push_back(file.option.empty() ? path : file.option + "=" + path);
  }
  for (const auto& [name, value] : command.options) arguments.push_back(name + "=" + value);
  arguments.push_back("--kernels=" + use.level);
  // A repetition is no look: what it shows was shown before, and its ledger goes with the folder.
  if (command.words.front() == "calibrate") arguments.emplace_back("--look-again");
  const fs::path out = work.path() / "out";
  arguments.push_back("--out=" + out.string());
  const report::ProcessResult result = report::run_process(arguments, "");
  // As before, the claim that was waited for does not hold, or what was sought is not certified.
  constexpr int undecided = 3;
  constexpr int refuted = 1;
  const bool done = result.exit_code == 0 ||
                    (result.exit_code == undecided && command.words.front() == "run") ||
                    (result.exit_code == refuted && command.words.front() == "tune");
  require(result.started && done, "--rerun: the certificate's command failed: {}",
          io::excerpt(result.errors));
  certify::ParsedCertificate repeated = certify::parse_certificate(
      io::read_file((out / command.certificate / "certificate.json").string(), certify::largest_certificate));
  if (!use.difference.empty() || command.kernels.empty())
    repeated.certificate.rerun = with_kernels(repeated.certificate.rerun, command.kernels);
  certify::compare_repeated(certificate, repeated.certificate, verification);
  return use.difference;
}

}  // namespace surefoot::experiments
