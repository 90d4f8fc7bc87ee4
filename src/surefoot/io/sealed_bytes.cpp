#include "surefoot/io/sealed_bytes.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/sha256.hpp"

namespace surefoot::io {

namespace {

constexpr std::size_t seal_digits = 64;

}  // namespace

std::string sealed_bytes(std::string_view heading, const std::function<void(ByteWriter&)>& write_body) {
  ByteWriter to;
  to.bytes(heading);
  write_body(to);
  std::string bytes = to.take();
  bytes.append(sha256_hex(bytes));
  return bytes;
}

std::string_view sealed_body(std::string_view bytes, std::string_view heading, const std::string& name) {
  require(bytes.starts_with(heading) && bytes.size() >= heading.size() + seal_digits,
          "{}: is damaged: it ends early", name);
  const std::string_view sealed = bytes.substr(0, bytes.size() - seal_digits);
  require(sha256_hex(sealed) == bytes.substr(sealed.size()), "{}: is damaged: its checksum does not match",
          name);
  return sealed.substr(heading.size());
}

}  // namespace surefoot::io
