#include "surefoot/io/atomic_file.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/folder_names.hpp"
#include "surefoot/io/text.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <memory>
#include <mutex>
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

constexpr std::string_view temporary_beginning = ".surefoot-";
constexpr std::string_view temporary_ending = ".tmp";

}  // namespace

/// A new file in `folder` under a name nobody else has; removed again unless it was renamed. With a `mode` it
/// has exactly that. It is locked while its process lives, which is how leftovers are told from files in use.
class TemporaryFile {
 public:
  explicit TemporaryFile(const fs::path& folder, std::optional<mode_t> mode = std::nullopt) {
    static std::atomic<unsigned> counter{0};
    constexpr int attempts = 1000;
    int error = EEXIST;
    for (int attempt = 0; attempt < attempts && error == EEXIST; ++attempt) {
      path_ = folder / fmt::format("{}{}-{}{}", temporary_beginning, ::getpid(), counter++, temporary_ending);
      descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
                           mode.value_or(everybody) & everybody);
      error = descriptor_ < 0 ? errno : 0;
      if (error == 0 && !is_kept()) {
        ::close(descriptor_);
        descriptor_ = -1;
        error = EEXIST;
      }
    }
    require_written(error, "{}: cannot write in this folder: {}", folder);
    if (mode) ::fchmod(descriptor_, *mode);  // a file system without modes has none to keep
    const std::lock_guard lock(list_lock);
    next_ = std::exchange(first, this);
    if (next_ != nullptr) next_->previous_ = this;
  }
  ~TemporaryFile() {
    {
      const std::lock_guard lock(list_lock);
      (previous_ == nullptr ? first : previous_->next_) = next_;
      if (next_ != nullptr) next_->previous_ = previous_;
    }
    remove();
    ::close(descriptor_);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;

  /// Both return 0 or the system's error number.
  [[nodiscard]] int write(std::string_view content) const {
    while (!content.empty()) {
      const ssize_t written = ::write(descriptor_, content.data(), content.size());
      if (written < 0 && errno != EINTR) return errno;
      if (written > 0) content.remove_prefix(static_cast<std::size_t>(written));
    }
    return ::fsync(descriptor_) == 0 ? 0 : errno;
  }

  void remove() const noexcept {
    if (!renamed_) ::unlink(path_.c_str());
  }

  int rename_to(const fs::path& destination) {
    if (::rename(path_.c_str(), destination.c_str()) != 0) return errno;
    renamed_ = true;
    return 0;
  }

 private:
  /// Locks the file; false if it was taken for a leftover before that.
  [[nodiscard]] bool is_kept() const {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) return false;
    struct stat status {};
    return ::fstat(descriptor_, &status) != 0 || status.st_nlink > 0;
  }

  fs::path path_;
  int descriptor_ = -1;
  bool renamed_ = false;
  // A list of all that there are, which takes no memory of its own.
  TemporaryFile* previous_ = nullptr;
  TemporaryFile* next_ = nullptr;
  inline static TemporaryFile* first = nullptr;
  inline static std::mutex list_lock;

  friend void remove_unfinished_files() noexcept;
};

void remove_unfinished_files() noexcept {
  const std::unique_lock lock(TemporaryFile::list_lock, std::try_to_lock);
  if (!lock) return;
  for (const TemporaryFile* file = TemporaryFile::first; file != nullptr; file = file->next_) file->remove();
}

namespace {

// Those that no process holds.
void remove_leftovers(const fs::path& folder) {
  for (const std::string& name : names_in(folder)) {
    if (!is_temporary_name(name)) continue;
    const fs::path path = folder / name;
    const int descriptor = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    struct stat status {};
    if (::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
        ::flock(descriptor, LOCK_EX | LOCK_NB) == 0)
      ::unlink(path.c_str());
    ::close(descriptor);
  }
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

}  // namespace

bool is_temporary_name(const fs::path& path) {
  const std::string name = path.filename().string();
  return name.starts_with(temporary_beginning) && name.ends_with(temporary_ending);
}

void sync_folder(const fs::path& folder) {
  const int descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  ::fsync(descriptor);
  ::close(descriptor);
}

struct StagedFiles::File {
  // Not an aggregate: GCC does not destroy what was made where a later member of one throws (GCC PR 66139).
  File(const fs::path& folder, std::optional<mode_t> mode, fs::path to)
      : temporary(folder, mode), destination(std::move(to)) {}
  TemporaryFile temporary;
  fs::path destination;
};

StagedFiles::StagedFiles() = default;
StagedFiles::~StagedFiles() = default;

void StagedFiles::add(const fs::path& path, std::string_view content) {
  const std::string name = printable(path.string());
  require(path.has_filename(), "'{}' is not a file name", name);
  const fs::file_status status = status_of(path);
  require(!fs::is_directory(status), "{}: is a directory, not a file", name);
  require(!fs::exists(status) || fs::is_regular_file(status), "{}: is not a regular file", name);
  std::error_code error;
  const fs::path destination = fs::is_symlink(path, error) ? fs::weakly_canonical(path, error) : path;
  const fs::path folder = folder_of(destination);
  check_folder(folder);
  std::optional<mode_t> mode;  // a file that is replaced keeps its own
  if (fs::exists(status)) mode = static_cast<mode_t>(status.permissions()) & every_permission;
  files_.push_back(std::make_unique<File>(folder, mode, destination));
  const int failure = files_.back()->temporary.write(content);
  require_written(failure, cannot_write, path);
}

void StagedFiles::commit() {
  std::set<fs::path> folders;
  for (const std::unique_ptr<File>& file : files_) {
    const int failure = file->temporary.rename_to(file->destination);
    require_written(failure, cannot_write, file->destination);
    folders.insert(folder_of(file->destination));
  }
  for (const fs::path& folder : folders) sync_folder(folder);
  files_.clear();
}

namespace {

void write_beside_and_rename(const std::vector<FileContent>& files) {
  StagedFiles staged;
  for (const FileContent& file : files) staged.add(file.path, file.content);
  staged.commit();
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

void create_folders(const fs::path& folder) {
  if (!ranks().first()) return;
  std::vector<fs::path> made;
  std::error_code error;
  for (fs::path each = folder; !each.empty() && !fs::exists(each, error); each = each.parent_path())
    made.push_back(each);
  fs::create_directories(folder, error);
  std::error_code ignored;
  require_written(fs::is_directory(folder, ignored) ? 0 : std::max(error.value(), 1),
                  "{}: cannot create this folder: {}", folder);
  for (const fs::path& each : made) sync_folder(folder_of(each));
}

void prepare_output_folder(const fs::path& folder) {
  if (!ranks().first()) return;
  require(!folder.empty(), "the name of the output folder is empty");
  const fs::file_status before = status_of(folder);
  require(!fs::exists(before) || fs::is_directory(before), "{}: is a file, not a folder",
          printable(folder.string()));
  create_folders(folder);
  remove_leftovers(folder);
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
