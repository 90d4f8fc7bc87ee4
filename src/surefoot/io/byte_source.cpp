#include "surefoot/io/byte_source.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>
#include <system_error>

namespace surefoot::io {

namespace {

// A piece this long is hashed while it is still in the cache.
constexpr std::size_t piece_bytes = std::size_t{256} << 10U;

class Descriptor {
 public:
  Descriptor(int number, bool owned) : number_(number), owned_(owned) {}
  ~Descriptor() {
    if (owned_ && number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
  bool owned_;
};

// Does not wait for somebody to open the other end of a pipe: that is waited for with the input.
int open_for_reading(const std::string& path) {
  const int number = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (number >= 0) ::fcntl(number, F_SETFL, ::fcntl(number, F_GETFL) & ~O_NONBLOCK);
  return number;
}

// Returns when there is input, an end or an error; what stops the work is asked for again and again.
void wait_for_input(int number, const std::string& name) {
  constexpr int milliseconds = 100;
  pollfd input{number, POLLIN, 0};
  for (int ready = 0; (ready = ::poll(&input, 1, milliseconds)) <= 0;) {
    require(ready == 0 || errno == EINTR, "{}: cannot read: {}", name, reason(errno));
    if (interrupt_of_waiting()) interrupt_of_waiting()();
  }
}

class FileSource final : public ByteSource {
 public:
  explicit FileSource(const std::string& path)
      : ByteSource(path == "-" ? "standard input" : printable(path)),
        file_(path == "-" ? STDIN_FILENO : open_for_reading(path), path != "-") {
    require(!path.empty(), "a file name is empty");
    require(file_.number() >= 0, "{}: cannot open: {}", name(), reason(errno));
    struct stat status {};
    require(::fstat(file_.number(), &status) == 0, "{}: cannot read: {}", name(), reason(errno));
    require(!S_ISDIR(status.st_mode), "{}: is a directory, not a file", name());
    // Standard input may stand in the middle of a file.
    waits_ = S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || S_ISCHR(status.st_mode);
    if (S_ISREG(status.st_mode) && path != "-") total_ = status.st_size;
    if (S_ISREG(status.st_mode))
      at_least_ = status.st_size - std::max<off_t>(0, ::lseek(file_.number(), 0, SEEK_CUR));
    ::posix_fadvise(file_.number(), 0, 0, POSIX_FADV_SEQUENTIAL);
  }

  std::string sha256() override { return hash_.hex(); }
  [[nodiscard]] std::string sha256_so_far() const override { return hash_.hex_so_far(); }
  [[nodiscard]] Index bytes_read() const override { return fetched_; }
  [[nodiscard]] Index bytes_total() const override { return total_; }

 protected:
  std::size_t fetch(char* into, std::size_t bytes) override {
    ssize_t got = 0;
    do {
      if (waits_) wait_for_input(file_.number(), name());
      got = ::read(file_.number(), into, std::min(bytes, piece_bytes));
    } while (got < 0 && errno == EINTR);
    require(got >= 0, "{}: cannot read: {}", name(), reason(errno));
    require(got > 0 || fetched_ >= at_least_, "{}: has become shorter while it was read: {} bytes of {}",
            name(), fetched_, at_least_);
    hash_.update(into, static_cast<std::size_t>(got));
    fetched_ += got;
    return static_cast<std::size_t>(got);
  }

  // Special files such as those of /proc say size 0.
  [[nodiscard]] std::optional<Index> unfetched() const override {
    return total_ > 0 ? std::optional(std::max(total_ - fetched_, Index{0})) : std::nullopt;
  }

 private:
  Descriptor file_;
  Sha256 hash_;
  Index fetched_ = 0;
  Index total_ = 0;
  bool waits_ = false;  // input may not be there yet
  Index at_least_ = 0;  // as many as there were in the beginning; 0: not known
};

class FilePart final : public ByteSource {
 public:
  FilePart(const std::string& path, Index first, Index last)
      : ByteSource(printable(path)),
        file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC), true),
        first_(first),
        at_(first),
        last_(last) {
    require(file_.number() >= 0, "{}: cannot open: {}", name(), reason(errno));
    ::posix_fadvise(file_.number(), first, last - first, POSIX_FADV_SEQUENTIAL);
  }

  std::string sha256() override { return {}; }
  [[nodiscard]] std::string sha256_so_far() const override { return hash_.hex_so_far(); }
  [[nodiscard]] Index bytes_read() const override { return at_ - first_; }
  [[nodiscard]] Index bytes_total() const override { return last_ - first_; }

 protected:
  std::size_t fetch(char* into, std::size_t bytes) override {
    const std::size_t wanted = std::min(bytes, static_cast<std::size_t>(last_ - at_));
    if (wanted == 0) return 0;
    ssize_t got = 0;
    do {
      got = ::pread(file_.number(), into, wanted, at_);
    } while (got < 0 && errno == EINTR);
    require(got >= 0, "{}: cannot read: {}", name(), reason(errno));
    require(got > 0, "{}: has become shorter while it was read: {} bytes of {}", name(), at_, last_);
    hash_.update(into, static_cast<std::size_t>(got));
    at_ += got;
    return static_cast<std::size_t>(got);
  }
  [[nodiscard]] std::optional<Index> unfetched() const override { return last_ - at_; }

 private:
  Descriptor file_;
  Sha256 hash_;
  Index first_;
  Index at_;
  Index last_;
};

class MemorySource final : public ByteSource {
 public:
  MemorySource(const std::string& name, std::string data)
      : ByteSource(printable(name)), data_(std::move(data)) {}

  std::string sha256() override { return sha256_hex(data_); }
  [[nodiscard]] std::string sha256_so_far() const override {
    return sha256_hex(std::string_view(data_).substr(0, fetched_));
  }
  [[nodiscard]] Index bytes_read() const override { return static_cast<Index>(fetched_); }
  [[nodiscard]] Index bytes_total() const override { return static_cast<Index>(data_.size()); }

 protected:
  std::size_t fetch(char* into, std::size_t bytes) override {
    const std::size_t got = data_.copy(into, bytes, fetched_);
    fetched_ += got;
    return got;
  }

  [[nodiscard]] std::optional<Index> unfetched() const override {
    return static_cast<Index>(data_.size() - fetched_);
  }

 private:
  std::string data_;
  std::size_t fetched_ = 0;
};

/// One or more gzip members, back to back.
class GunzipSource final : public ByteSource {
 public:
  explicit GunzipSource(std::unique_ptr<ByteSource> compressed)
      : ByteSource(compressed->name()), compressed_(std::move(compressed)), input_(piece_bytes) {
    constexpr int gzip_only = 16;
    if (inflateInit2(&stream_, MAX_WBITS + gzip_only) != Z_OK) throw std::bad_alloc();
  }
  ~GunzipSource() override { inflateEnd(&stream_); }
  GunzipSource(const GunzipSource&) = delete;
  GunzipSource& operator=(const GunzipSource&) = delete;

  std::string sha256() override { return compressed_->sha256(); }
  [[nodiscard]] std::string sha256_so_far() const override { return compressed_->sha256_so_far(); }
  [[nodiscard]] Index bytes_read() const override { return compressed_->bytes_read(); }
  [[nodiscard]] Index bytes_total() const override { return compressed_->bytes_total(); }

 protected:
  std::size_t fetch(char* into, std::size_t bytes) override {
    const auto room = static_cast<uInt>(std::min(bytes, std::size_t{1} << 30U));
    stream_.next_out = reinterpret_cast<Bytef*>(into);
    stream_.avail_out = room;
    while (stream_.avail_out == room && have_input()) inflate_some();
    return room - stream_.avail_out;
  }

  [[nodiscard]] std::optional<Index> unfetched() const override { return std::nullopt; }

 private:
  // Makes compressed bytes available; false at the end of the last member.
  bool have_input() {
    if (stream_.avail_in == 0) {
      stream_.next_in = reinterpret_cast<Bytef*>(input_.data());
      stream_.avail_in = static_cast<uInt>(compressed_->read(input_.data(), input_.size()));
    }
    require(stream_.avail_in > 0 || between_members_, "{}: gzip data is truncated", name());
    return stream_.avail_in > 0;
  }

  void inflate_some() {
    if (between_members_) inflateReset(&stream_);
    between_members_ = false;
    const int status = inflate(&stream_, Z_NO_FLUSH);
    if (status == Z_MEM_ERROR) throw std::bad_alloc();
    require(status == Z_OK || status == Z_STREAM_END || status == Z_BUF_ERROR, "{}: gzip data is damaged: {}",
            name(), stream_.msg != nullptr ? stream_.msg : "invalid data");
    between_members_ = status == Z_STREAM_END;
  }

  std::unique_ptr<ByteSource> compressed_;
  std::vector<char> input_;
  z_stream stream_{};
  bool between_members_ = false;
};

}  // namespace

std::size_t ByteSource::read(char* into, std::size_t bytes) {
  std::size_t filled = peeked_.copy(into, bytes);
  peeked_.erase(0, filled);
  while (filled < bytes) {
    const std::size_t got = fetch(into + filled, bytes - filled);
    if (got == 0) break;
    filled += got;
  }
  return filled;
}

std::string_view ByteSource::peek(std::size_t bytes) {
  while (peeked_.size() < bytes) {
    const std::size_t before = peeked_.size();
    peeked_.resize(bytes);
    const std::size_t got = fetch(peeked_.data() + before, bytes - before);
    peeked_.resize(before + got);
    if (got == 0) break;
  }
  return std::string_view(peeked_).substr(0, bytes);
}

std::optional<Index> ByteSource::remaining() const {
  const std::optional<Index> rest = unfetched();
  return rest ? std::optional(*rest + static_cast<Index>(peeked_.size())) : std::nullopt;
}

std::unique_ptr<ByteSource> open_raw_bytes(const std::string& path) {
  return std::make_unique<FileSource>(path);
}

std::unique_ptr<ByteSource> open_part_of_file(const std::string& path, Index first, Index last) {
  return std::make_unique<FilePart>(path, first, std::max(first, last));
}

std::unique_ptr<ByteSource> open_bytes(const std::string& path) {
  return gunzip_if_compressed(open_raw_bytes(path));
}

std::string sha256_of_file(const std::string& path, const Interrupt& interrupt) {
  FileSource source(path);
  std::vector<char> piece(piece_bytes);
  while (source.read(piece.data(), piece.size()) > 0) {
    if (interrupt) interrupt();
  }
  return source.sha256();
}

std::unique_ptr<ByteSource> memory_bytes(const std::string& name, std::string data) {
  return std::make_unique<MemorySource>(name, std::move(data));
}

std::unique_ptr<ByteSource> gunzip_if_compressed(std::unique_ptr<ByteSource> source) {
  if (source->peek(2) != "\x1f\x8b") return source;
  return std::make_unique<GunzipSource>(std::move(source));
}

std::size_t read_growing(ByteSource& source, std::vector<char>& buffer, std::size_t bytes) {
  std::size_t filled = 0;
  while (filled < bytes) {
    if (buffer.size() < bytes && buffer.size() < filled + piece_bytes) {
      buffer.resize(std::min(bytes, std::max(2 * filled, filled + piece_bytes)));
    }
    const std::size_t wanted = std::min(bytes, buffer.size()) - filled;
    const std::size_t got = source.read(buffer.data() + filled, wanted);
    filled += got;
    if (got < wanted) break;
  }
  return filled;
}

}  // namespace surefoot::io
