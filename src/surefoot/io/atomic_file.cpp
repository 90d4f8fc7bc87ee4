#include "surefoot/io/atomic_file.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/text.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <optional>
#include <set>
#include <system_error>
#include <utility>
#include <vector>

namespace surefoot::io {

namespace {

namespace fs = std::filesystem;

constexpr const char* cannot_write = "{}: cannot write: {}";

void require_written(int error, const char* message, const fs::path& path) {
  if (error == 0) return;
  const std::string text = fmt::format(fmt::runtime(message), printable(path.string()), reason(error));
  if (is_lack_of_room(error)) throw ResourceError(text);
  throw InputError(text);
}

constexpr mode_t everybody = 0666;  // less the umask
constexpr mode_t every_permission = 0777;

/// A new file in `folder` under a name nobody else has; removed again unless it was renamed. With a `mode` it
/// has exactly that.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& folder, std::optional<mode_t> mode = std::nullopt) {
    static std::atomic<unsigned> counter{0};
    constexpr int attempts = 1000;
    int error = EEXIST;
    for (int attempt = 0; attempt < attempts && error == EEXIST; ++attempt) {
      path_ = folder / fmt::format(".surefoot-{}-{}.tmp", ::getpid(), counter++);
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                           mode.value_or(everybody) & everybody);
      error = descriptor_ < 0 ? errno : 0;
    }
    require_written(error, "{}: cannot write in this folder: {}", folder);
    if (mode) ::fchmod(descriptor_, *mode);  // a file system without modes has none to keep
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
    if (!renamed_) ::unlink(path_.c_str());
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Both return 0 or the system's error number.
  int write(std::string_view content) {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno != EINTR) return errno;
      if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
    }
    if (::fsync(descriptor_) != 0) return errno;
    const int status = ::close(descriptor_);
    descriptor_ = -1;
    return status == 0 ? 0 : errno;
  }

  int rename_to(const fs::path& destination) {
    if (::rename(path_.c_str(), destination.c_str()) != 0) return errno;
    renamed_ = true;
    return 0;
  }

 private:
  fs::path path_;
  int descriptor_ = -1;
  bool renamed_ = false;
};

// Makes the rename itself durable; a file system that cannot do so has still renamed.
void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

// Throws where the system cannot say what is there; what is not permitted is told by what is tried next.
fs::file_status status_of(const fs::path& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (status.type() == fs::file_type::none && error.value() != EACCES)
    require_written(error.value(), cannot_write, path);
  return status;
}

void check_folder(const fs::path& folder) {
  const fs::file_status status = status_of(folder);
  require(fs::exists(status), "{}: no such folder", printable(folder.string()));
  require(fs::is_directory(status), "{}: is a file, not a folder", printable(folder.string()));
}

void write_beside_and_rename(const std::vector<FileContent>& files) {
  std::vector<std::pair<std::unique_ptr<TemporaryFile>, fs::path>> written;
  for (const FileContent& file : files) {
    const std::string name = printable(file.path.string());
    require(file.path.has_filename(), "'{}' is not a file name", name);
    const fs::file_status status = status_of(file.path);
    require(!fs::is_directory(status), "{}: is a directory, not a file", name);
    require(!fs::exists(status) || fs::is_regular_file(status), "{}: is not a regular file", name);
    std::error_code error;
    const fs::path destination =
        fs::is_symlink(file.path, error) ? fs::weakly_canonical(file.path, error) : file.path;
    const fs::path folder = folder_of(destination);
    check_folder(folder);
    std::optional<mode_t> mode;  // a file that is replaced keeps its own
    if (fs::exists(status)) mode = static_cast<mode_t>(status.permissions()) & every_permission;
    written.emplace_back(std::make_unique<TemporaryFile>(folder, mode), destination);
    const int failure = written.back().first->write(file.content);
    require_written(failure, cannot_write, file.path);
  }
  for (auto& [temporary, destination] : written) {
    const int failure = temporary->rename_to(destination);
    require_written(failure, cannot_write, destination);
  }
  std::set<fs::path> folders;
  for (const auto& [temporary, destination] : written) folders.insert(folder_of(destination));
  for (const fs::path& folder : folders) sync_folder(folder);
}

}  // namespace

void write_files_atomically(const std::vector<FileContent>& files) {
  if (ranks().first()) write_beside_and_rename(files);
}

void write_own_file_atomically(const fs::path& path, std::string_view content) {
  write_beside_and_rename({{path, content}});
}

void write_file_atomically(const fs::path& path, std::string_view content) {
  write_files_atomically({{path, content}});
}

void prepare_output_folder(const fs::path& folder) {
  if (!ranks().first()) return;
  require(!folder.empty(), "the name of the output folder is empty");
  const fs::file_status before = status_of(folder);
  require(!fs::exists(before) || fs::is_directory(before), "{}: is a file, not a folder",
          printable(folder.string()));
  std::error_code error;
  fs::create_directories(folder, error);
  if (!fs::is_directory(status_of(folder)))
    require_written(error ? error.value() : ENOENT, "{}: cannot create this folder: {}", folder);
  const TemporaryFile probe(folder);
}

void remove_output(const fs::path& path) {
  if (ranks().first()) fs::remove_all(path);
}

std::string read_file(const fs::path& path, std::size_t limit) {
  const auto source = open_raw_bytes(path.string() == "-" ? "./-" : path.string());
  std::vector<char> content;
  const std::size_t bytes = read_growing(*source, content, limit);
  require(source->peek(1).empty(), "{}: is larger than {} bytes", source->name(), limit);
  return {content.data(), bytes};
}

}  // namespace surefoot::io
