#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

namespace surefoot::io {

/// Incremental SHA-256 (OpenSSL).
class Sha256 {
 public:
  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(const void* data, std::size_t bytes);
  /// The digest in 64 hexadecimal digits; call once, at the end.
  std::string hex();
  /// The digest of what came so far; more may follow.
  [[nodiscard]] std::string hex_so_far() const;

 private:
  struct Context;
  std::unique_ptr<Context> context_;
};

std::string sha256_hex(std::string_view data);
/// Whether the text can be a digest: 64 hexadecimal digits in lower case.
bool is_sha256_hex(std::string_view text);

}  // namespace surefoot::io
