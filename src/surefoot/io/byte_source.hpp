#pragma once

#include "surefoot/core/interruption.hpp"
#include "surefoot/core/types.hpp"

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace surefoot::io {

/// Where the bytes of every reader come from: a file, standard input, memory, or the gunzipped bytes of
/// another source. Failures throw InputError naming the source.
class ByteSource {
 public:
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  /// What error messages call it: the path as given (unprintable bytes escaped), or "standard input".
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Fills `into` with the next `bytes` bytes; fewer only at the end of the source.
  std::size_t read(char* into, std::size_t bytes);

  /// The next `bytes` bytes without consuming them; fewer only at the end. Valid until the next call.
  std::string_view peek(std::size_t bytes);

  /// How many bytes read() will still give, where this is known without reading.
  [[nodiscard]] std::optional<Index> remaining() const;

  /// SHA-256 of the original bytes (gzip: compressed); call once, after read() has met the end.
  [[nodiscard]] virtual std::string sha256() = 0;
  /// The same of the original bytes consumed so far.
  [[nodiscard]] virtual std::string sha256_so_far() const = 0;

  /// Original bytes consumed, and how many there are (0 if unknown).
  [[nodiscard]] virtual Index bytes_read() const = 0;
  [[nodiscard]] virtual Index bytes_total() const = 0;

 protected:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  /// At most `bytes` > 0 bytes; 0 only at the end.
  virtual std::size_t fetch(char* into, std::size_t bytes) = 0;
  [[nodiscard]] virtual std::optional<Index> unfetched() const = 0;

 private:
  std::string name_;
  std::string peeked_;
};

/// The bytes as they are: a file, or standard input for "-".
std::unique_ptr<ByteSource> open_raw_bytes(const std::string& path);

/// Bytes first .. last-1 of a file; InputError if it ends before. They are not hashed.
std::unique_ptr<ByteSource> open_part_of_file(const std::string& path, Index first, Index last);

/// The bytes of a file or of standard input ("-"), gunzipped if they begin as gzip does.
std::unique_ptr<ByteSource> open_bytes(const std::string& path);

/// Of the bytes of a file as they lie on disk, in hexadecimal.
std::string sha256_of_file(const std::string& path, const Interrupt& interrupt = nullptr);

/// A copy of `data`, called `name` in messages.
std::unique_ptr<ByteSource> memory_bytes(const std::string& name, std::string data);

/// `source`, gunzipped if its bytes begin as gzip does.
std::unique_ptr<ByteSource> gunzip_if_compressed(std::unique_ptr<ByteSource> source);

/// Makes `buffer` at least `bytes` long and fills its front; returns how many bytes there were. The buffer
/// grows only as bytes arrive, so a size claimed by a damaged file costs no memory.
std::size_t read_growing(ByteSource& source, std::vector<char>& buffer, std::size_t bytes);

}  // namespace surefoot::io
