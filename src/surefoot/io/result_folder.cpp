#include "surefoot/io/result_folder.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/folder_names.hpp"
#include "surefoot/io/json_parse.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace surefoot::io {

namespace fs = std::filesystem;

namespace {

constexpr const char* manifest_format = "surefoot-manifest";
constexpr int manifest_version = 1;
constexpr std::size_t largest_manifest = std::size_t{64} << 20;
constexpr const char* lock_name = ".surefoot-lock";

/// Inside a folder, and no other way to write the same name.
bool is_name_inside(const std::string& name) {
  const fs::path path(name);
  if (name.empty() || path.is_absolute() || !path.has_filename() ||
      path.lexically_normal().generic_string() != name || name.find('\0') != std::string::npos)
    return false;
  return std::ranges::none_of(path, [](const fs::path& part) { return part == ".." || part == "."; });
}

bool is_checkpoint_or_ledger(const fs::path& path) {
  return path.extension() == ".checkpoint" || path.filename() == "ledger.jsonl";
}

/// What a new result does not remove although it does not have it.
bool stays(const fs::path& path) {
  return is_checkpoint_or_ledger(path) || path.extension() == ".safetensors";
}

bool is_inner_manifest(const fs::path& path) {
  return path.filename() == manifest_name && path.has_parent_path();
}

/// What stands in the way of looking at a file says nothing of the file: an error of the system, never a
/// finding.
[[noreturn]] void cannot_be_read(const fs::path& path, const std::error_code& error) {
  throw std::system_error(error, printable(path.string()) + ": cannot be read");
}

bool is_regular(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none || status.type() == fs::file_type::unknown)
    cannot_be_read(path, error);
  return fs::is_regular_file(status);
}

bool is_there(const fs::path& path) {
  std::error_code error;
  return fs::exists(fs::symlink_status(path, error));
}

std::uint64_t size_of(const fs::path& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error) cannot_be_read(path, error);
  return bytes;
}

Manifest::File digest_of(const fs::path& path) {
  return {size_of(path), sha256_of_file(path.string()), false};
}

/// Whether no folder on the way to a file inside is a link to another place.
bool is_really_inside(const fs::path& folder, const fs::path& name) {
  fs::path place = folder;
  for (const fs::path& part : name.parent_path()) {
    place /= part;
    std::error_code error;
    if (!fs::is_directory(fs::symlink_status(place, error))) return false;
  }
  return true;
}

/// Regular files inside, by their names; folders with a manifest of their own are left out.
void add_files_inside(const fs::path& folder, const fs::path& below, std::vector<std::string>& files) {
  for (const std::string& each : names_in(inside(folder, below))) {
    const fs::path name = below / each;
    std::error_code error;
    const fs::file_status status = fs::symlink_status(folder / name, error);
    if (status.type() == fs::file_type::none) cannot_be_read(folder / name, error);
    if (fs::is_directory(status)) {
      const bool readable = ::access((folder / name).c_str(), R_OK | X_OK) == 0;
      if (readable && !is_regular(folder / name / manifest_name)) add_files_inside(folder, name, files);
    } else if (name != lock_name && name != manifest_name && !is_temporary_name(name)) {
      files.push_back(name.generic_string());
    }
  }
}

std::vector<std::string> files_inside(const fs::path& folder) {
  std::vector<std::string> files;
  add_files_inside(folder, {}, files);
  std::ranges::sort(files);
  return files;
}

/// Whether there is nothing that could be somebody's: what a run that was stopped early leaves does not
/// count.
bool is_as_good_as_empty(const fs::path& folder) {
  return std::ranges::all_of(names_in(folder), [&](const std::string& name) {
    const fs::path path = folder / name;
    std::error_code error;
    const fs::file_status status = fs::symlink_status(path, error);
    if (status.type() == fs::file_type::none) cannot_be_read(path, error);
    if (fs::is_directory(status)) return is_as_good_as_empty(path);
    return name == lock_name || is_temporary_name(name) || is_checkpoint_or_ledger(name);
  });
}

/// None if there is no manifest, or that of another program. What cannot be told from a damaged one of ours
/// is one: whoever wants to write there is refused.
std::optional<std::string> manifest_text(const fs::path& folder) {
  const fs::path path = folder / manifest_name;
  if (!is_regular(path)) return std::nullopt;
  std::string text = read_file(path, largest_manifest);
  if (!is_manifest(text) && text.find(manifest_format) == std::string::npos) return std::nullopt;
  return text;
}

void add_findings(const fs::path& folder, const fs::path& below, FolderCheck& check) {
  const auto named = [&](const std::string& name) { return printable((below / name).generic_string()); };
  const std::optional<std::string> text = manifest_text(inside(folder, below));
  std::optional<Manifest> manifest;
  try {
    if (text) manifest = parse_manifest((inside(folder, below) / manifest_name).string(), *text);
  } catch (const InputError& error) {
    check.findings.emplace_back(error.what());
    return;
  }
  if (!manifest) {
    check.findings.push_back(fmt::format("{}: is no manifest of Surefoot", named(manifest_name)));
    return;
  }
  if (!manifest->complete) {
    check.findings.push_back(
        fmt::format("{}: the folder is not complete: a run that wrote there was stopped, or still writes",
                    named(manifest_name)));
    return;
  }
  for (const auto& [name, file] : manifest->files) {
    const fs::path path = inside(folder, below) / name;
    ++check.files;
    if (!is_regular(path)) {
      check.findings.push_back(
          fmt::format("{}: is listed in {} and missing", named(name), named(manifest_name)));
    } else if (size_of(path) != file.bytes || sha256_of_file(path.string()) != file.sha256) {
      check.findings.push_back(
          fmt::format("{}: is not what {} lists: its SHA-256 differs", named(name), named(manifest_name)));
    } else if (is_inner_manifest(name)) {
      add_findings(folder, below / fs::path(name).parent_path(), check);
    }
  }
  for (const std::string& name : files_inside(inside(folder, below))) {
    const bool listed_below = std::ranges::any_of(manifest->files, [&](const auto& each) {
      return is_inner_manifest(each.first) &&
             name.starts_with(fs::path(each.first).parent_path().generic_string() + '/');
    });
    if (!manifest->files.contains(name) && !listed_below && !stays(name)) check.others.push_back(named(name));
  }
}

void add_names(const fs::path& folder, const fs::path& below, std::vector<std::string>& names) {
  const std::optional<Manifest> manifest = read_manifest(inside(folder, below));
  if (!manifest) return;
  for (const auto& [name, file] : manifest->files) {
    names.push_back((below / name).generic_string());
    if (is_inner_manifest(name)) add_names(folder, below / fs::path(name).parent_path(), names);
  }
}

}  // namespace

std::string to_json(const Manifest& manifest) {
  using Json = nlohmann::ordered_json;
  Json files = Json::array();
  for (const auto& [name, file] : manifest.files) {
    Json each{{"name", name}};
    if (!file.sha256.empty()) {
      each["bytes"] = file.bytes;
      each["sha256"] = file.sha256;
    }
    if (file.earlier) each["earlier"] = true;
    files.push_back(std::move(each));
  }
  const Json json{{"format", manifest_format},
                  {"format_version", manifest_version},
                  {"version", version},
                  {"complete", manifest.complete},
                  {"files", std::move(files)}};
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + '\n';
}

bool is_manifest(std::string_view text) {
  const auto json = nlohmann::json::parse(text, nullptr, false);
  return json.is_object() && json.contains("format") && is_text(json["format"], manifest_format);
}

Manifest parse_manifest(const std::string& source, std::string_view text) {
  const auto wrong = [&](const std::string& what) -> InputError {
    return InputError(fmt::format("{}: {}", printable(source), what));
  };
  try {
    const auto json = nlohmann::json::parse(text);
    if (!is_text(json.at("format"), manifest_format)) throw wrong("is no manifest of Surefoot");
    if (json.at("format_version") != manifest_version) throw wrong("has a version that is not known");
    Manifest manifest;
    manifest.complete = json.at("complete").get<bool>();
    for (const auto& each : json.at("files")) {
      const auto name = each.at("name").get<std::string>();
      if (!is_name_inside(name)) throw wrong(fmt::format("'{}' is no name of a file inside", excerpt(name)));
      Manifest::File file;
      if (each.contains("sha256")) {
        file.sha256 = each.at("sha256").get<std::string>();
        const auto& bytes = each.at("bytes");
        if (!is_sha256_hex(file.sha256) || !bytes.is_number_unsigned())
          throw wrong(fmt::format("'{}' has no size or no digest", excerpt(name)));
        file.bytes = bytes.get<std::uint64_t>();
      } else if (manifest.complete) {
        throw wrong(fmt::format("'{}' has no size or no digest", excerpt(name)));
      }
      file.earlier = each.value("earlier", false);
      if (!manifest.files.emplace(name, std::move(file)).second)
        throw wrong(fmt::format("'{}' is listed twice", excerpt(name)));
    }
    return manifest;
  } catch (const nlohmann::json::exception&) {
    throw wrong("is damaged");
  }
}

std::optional<Manifest> read_manifest(const fs::path& folder) {
  const std::optional<std::string> text = manifest_text(folder);
  if (!text) return std::nullopt;
  return parse_manifest((folder / manifest_name).string(), *text);
}

FolderCheck check_result_folder(const fs::path& folder) {
  FolderCheck check;
  add_findings(folder, {}, check);
  return check;
}

std::vector<std::string> files_of_result(const fs::path& folder) {
  std::vector<std::string> names;
  add_names(folder, {}, names);
  return names;
}

std::optional<fs::path> result_folder_of(const fs::path& file) {
  std::error_code error;
  const fs::path whole = fs::absolute(file, error).lexically_normal();
  for (fs::path folder = whole.parent_path();; folder = folder.parent_path()) {
    try {
      const std::optional<Manifest> manifest = read_manifest(folder);
      if (manifest && manifest->files.contains(whole.lexically_relative(folder).generic_string()))
        return folder;
    } catch (const InputError&) {
      if (folder == whole.parent_path()) return folder;  // damaged, as the check says
    } catch (const std::system_error&) {
      if (folder == whole.parent_path()) throw;  // folders above may be closed to us
    }
    if (folder == folder.parent_path()) return std::nullopt;
  }
}

// ---- writing

/// A lock that ends with its process: on a file, which is removed at the end.
class ResultFolder::Lock {
 public:
  explicit Lock(const fs::path& folder) : path_(folder / lock_name) {
    constexpr int attempts = 100;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
      if (descriptor_ < 0) return;  // whoever writes will be told why
      if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
        const bool taken = errno == EWOULDBLOCK;
        ::close(descriptor_);
        descriptor_ = -1;
        require(!taken, "{}: another run is writing there; wait until it has ended, or choose another folder",
                printable(folder.string()));
        ::unlink(path_.c_str());
        return;  // a file system without locks
      }
      if (is_at_its_place()) return;
      ::close(descriptor_);  // of a run that ended in the meantime
      descriptor_ = -1;
    }
  }
  ~Lock() {
    if (descriptor_ < 0) return;
    ::unlink(path_.c_str());
    ::close(descriptor_);
  }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  [[nodiscard]] bool is_at_its_place() const {
    struct stat held {};
    struct stat there {};
    return ::fstat(descriptor_, &held) == 0 && ::stat(path_.c_str(), &there) == 0 &&
           held.st_ino == there.st_ino && held.st_dev == there.st_dev;
  }

  fs::path path_;
  int descriptor_ = -1;
};

ResultFolder::ResultFolder(fs::path folder, const MayWrite& may_write) : folder_(std::move(folder)) {
  if (!ranks().first()) return;
  prepare_output_folder(folder_);
  lock_ = std::make_unique<Lock>(folder_);
  const std::string name = printable(folder_.string());
  std::optional<Manifest> found = [&] {
    try {
      return read_manifest(folder_);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}; choose another folder, or empty this one", error.what()));
    }
  }();
  require(
      found || is_as_good_as_empty(folder_),
      "{}: has files but no {} of a result of Surefoot, and nothing is written among them; choose another "
      "folder, or empty this one",
      name, manifest_name);
  if (!found) return;
  earlier_ = std::move(*found);
  if (!earlier_.complete) {
    begun_ = true;
    for (const auto& [file, unused] : earlier_.files) marked_.insert(file);
  }
  std::set<fs::path> folders;
  for (const auto& [file, unused] : earlier_.files) {
    if (!is_inner_manifest(file) && fs::path(file).has_parent_path())
      folders.insert(fs::path(file).parent_path());
  }
  for (const fs::path& inner : folders) {
    if (is_there(folder_ / inner) && is_really_inside(folder_, inner / "any"))
      prepare_output_folder(folder_ / inner);
  }
  if (!may_write) return;
  std::vector<std::string> possible;
  for (const std::string& file : files_inside(folder_)) {
    if (may_write(file)) possible.push_back(file);
  }
  require_ours(possible);
}

ResultFolder::~ResultFolder() = default;

void ResultFolder::require_ours(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    require(is_name_inside(name) && name != manifest_name, "'{}' is no name of a file of a result",
            excerpt(name));
    const bool ours = earlier_.files.contains(name) || marked_.contains(name) || !is_there(folder_ / name);
    require(ours, "{}: is not listed in {}, and is not replaced; move it away, or choose another folder",
            printable((folder_ / name).string()), manifest_name);
  }
}

void ResultFolder::mark(const std::vector<std::string>& names) {
  if (begun_ && std::ranges::all_of(names, [&](const auto& name) { return marked_.contains(name); })) return;
  marked_.insert(names.begin(), names.end());
  Manifest unfinished;
  for (const auto& [name, unused] : earlier_.files) unfinished.files[name];
  for (const std::string& name : marked_) unfinished.files[name];
  write_file_atomically(folder_ / manifest_name, to_json(unfinished));
  begun_ = true;
}

void ResultFolder::begin() {
  if (ranks().first()) mark({});
}

void ResultFolder::write(const std::string& name, std::string_view content) {
  if (!ranks().first()) return;
  require_ours({name});
  create_folders((folder_ / name).parent_path());
  StagedFiles staged;
  staged.add(folder_ / name, content);
  mark({name});
  staged.commit();
  now_.files[name] = {content.size(), sha256_hex(content), false};
}

void ResultFolder::add(const std::string& name) {
  if (!ranks().first()) return;
  require(is_name_inside(name) && name != manifest_name, "'{}' is no name of a file of a result",
          excerpt(name));
  mark({name});
  now_.files[name] = digest_of(folder_ / name);
}

Manifest ResultFolder::with_kept(Manifest manifest) const {
  for (const auto& [name, file] : earlier_.files) {
    if (manifest.files.contains(name) || !stays(name) || !is_regular(folder_ / name)) continue;
    Manifest::File kept = file.sha256.empty() ? digest_of(folder_ / name) : file;
    kept.earlier = true;
    manifest.files[name] = std::move(kept);
  }
  return manifest;
}

void ResultFolder::remove_stale(const Manifest& now) const {
  std::set<fs::path> folders;
  for (const auto& [name, unused] : earlier_.files) {
    const bool keep = now.files.contains(name) || stays(name) || is_inner_manifest(name);
    if (keep || !is_really_inside(folder_, name)) continue;
    std::error_code error;
    const fs::file_status status = fs::symlink_status(folder_ / name, error);
    if (fs::is_regular_file(status) || fs::is_symlink(status)) fs::remove(folder_ / name, error);
    folders.insert((folder_ / name).parent_path());
  }
  for (const fs::path& folder : folders) {
    sync_folder(folder);
    std::error_code not_empty;
    if (folder != folder_) fs::remove(folder, not_empty);
  }
}

void ResultFolder::finish(const std::vector<FileContent>& files) {
  if (!ranks().first()) return;
  std::vector<std::string> names;
  for (const FileContent& file : files) names.push_back(file.path.generic_string());
  require_ours(names);
  StagedFiles staged;
  for (const FileContent& file : files) {
    create_folders((folder_ / file.path).parent_path());
    staged.add(folder_ / file.path, file.content);
    now_.files[file.path.generic_string()] = {file.content.size(), sha256_hex(file.content), false};
  }
  now_.complete = true;
  const Manifest whole = with_kept(now_);
  StagedFiles manifest;
  manifest.add(folder_ / manifest_name, to_json(whole));
  mark(names);
  staged.commit();
  remove_stale(whole);
  manifest.commit();
  earlier_ = whole;
  now_ = {};
  marked_.clear();
  begun_ = false;
}

}  // namespace surefoot::io
