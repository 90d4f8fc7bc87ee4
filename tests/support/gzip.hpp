#pragma once

#include <zlib.h>

#include <cstdlib>
#include <string>
#include <string_view>

namespace surefoot::test_support {

/// One gzip member holding `text`.
inline std::string gzip(std::string_view text) {
  z_stream stream{};
  constexpr int gzip_format = 16;
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, MAX_WBITS + gzip_format, 8,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    std::abort();
  }
  std::string packed(deflateBound(&stream, text.size()) + 64, '\0');
  std::string input(text);
  stream.next_in = reinterpret_cast<Bytef*>(input.data());
  stream.avail_in = static_cast<uInt>(input.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<uInt>(packed.size());
  if (deflate(&stream, Z_FINISH) != Z_STREAM_END) std::abort();
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

}  // namespace surefoot::test_support
