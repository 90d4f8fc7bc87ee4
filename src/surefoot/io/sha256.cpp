#include "surefoot/io/sha256.hpp"

// The plain functions: they allocate nothing and cannot fail. Those that OpenSSL 3 advises instead load
// providers at first use, which crashes where memory is short.
#define OPENSSL_SUPPRESS_DEPRECATED
#include <fmt/format.h>
#include <openssl/sha.h>

#include <array>

namespace surefoot::io {

struct Sha256::Context {
  SHA256_CTX state;
};

Sha256::Sha256() : context_(std::make_unique<Context>()) {
  SHA256_Init(&context_->state);
}

Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(const void* data, std::size_t bytes) {
  SHA256_Update(&context_->state, data, bytes);
}

std::string Sha256::hex() {
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  SHA256_Final(digest.data(), &context_->state);
  std::string text;
  for (const unsigned char byte : digest) text += fmt::format("{:02x}", byte);
  return text;
}

std::string Sha256::hex_so_far() const {
  Sha256 copy;
  *copy.context_ = *context_;
  return copy.hex();
}

std::string sha256_hex(std::string_view data) {
  Sha256 hash;
  hash.update(data.data(), data.size());
  return hash.hex();
}

bool is_sha256_hex(std::string_view text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

}  // namespace surefoot::io
