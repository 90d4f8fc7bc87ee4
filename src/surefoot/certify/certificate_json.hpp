#pragma once

#include "surefoot/certify/certificate.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

/// The largest file that is read as a certificate.
inline constexpr std::size_t largest_certificate = std::size_t{256} << 20;

/// The certificate as JSON text (schema/certificate.schema.json), with a digest: the SHA-256 of the compact
/// text of everything else. A bound that says nothing is null.
std::string to_json(const Certificate& certificate);

struct ParsedCertificate {
  Certificate certificate;
  std::vector<std::string> statements;  ///< sentences to quote, as they stand there
  std::string recorded_digest;
  std::string computed_digest;
  bool canonical = false;  ///< holds exactly the fields that to_json writes, as it writes them
};

/// Reads what to_json wrote, from any source: InputError names the field that is missing or wrong.
ParsedCertificate parse_certificate(std::string_view text);

}  // namespace surefoot::certify
