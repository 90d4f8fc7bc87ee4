#include "surefoot/io/gzip.hpp"

#include "surefoot/core/error.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <new>

namespace surefoot::io {
namespace {

constexpr int gzip_format = 16;  // added to the window's bits
constexpr int usual_memory = 8;

class Deflater {
 public:
  Deflater() {
    if (deflateInit2(&stream_, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + gzip_format, usual_memory,
                     Z_DEFAULT_STRATEGY) != Z_OK)
      throw std::bad_alloc();
  }
  Deflater(const Deflater&) = delete;
  Deflater& operator=(const Deflater&) = delete;
  ~Deflater() { deflateEnd(&stream_); }

  std::string whole(std::string_view bytes) {
    require(bytes.size() <= std::numeric_limits<uInt>::max(), "gzip: {} bytes are too many at once",
            bytes.size());
    std::string result(deflateBound(&stream_, static_cast<uLong>(bytes.size())), '\0');
    // zlib does not write there.
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream_.avail_in = static_cast<uInt>(bytes.size());
    stream_.next_out = reinterpret_cast<Bytef*>(result.data());
    stream_.avail_out = static_cast<uInt>(result.size());
    require(deflate(&stream_, Z_FINISH) == Z_STREAM_END, "gzip: zlib does not end");
    result.resize(stream_.total_out);
    return result;
  }

 private:
  z_stream stream_{};
};

}  // namespace

std::string gzipped(std::string_view bytes) {
  return Deflater().whole(bytes);
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  constexpr std::size_t in = 3;
  constexpr std::size_t out = 4;
  constexpr std::uint32_t lowest = 63;
  std::string text;
  text.reserve((bytes.size() + in - 1) / in * out);
  for (std::size_t at = 0; at < bytes.size(); at += in) {
    const std::size_t count = std::min(in, bytes.size() - at);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < in; ++i)
      group = group << 8U | (i < count ? static_cast<unsigned char>(bytes[at + i]) : 0U);
    for (std::size_t i = 0; i < out; ++i)
      text += i <= count ? letters[group >> (6 * (out - 1 - i)) & lowest] : '=';
  }
  return text;
}

}  // namespace surefoot::io
