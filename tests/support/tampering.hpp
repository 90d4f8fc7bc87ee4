#pragma once

#include "surefoot/certify/certificate_json.hpp"

#include <nlohmann/json.hpp>

#include <set>
#include <string>

namespace surefoot::test {

/// Pointers to every number of a document.
inline void collect_numbers(const nlohmann::ordered_json& value, const std::string& pointer,
                            std::set<std::string>& found) {
  if (value.is_number()) found.insert(pointer);
  if (!value.is_structured()) return;
  for (const auto& [key, child] : value.items()) collect_numbers(child, pointer + "/" + key, found);
}

/// With the digest made to fit again, what is left is the mathematics.
inline std::string resealed(nlohmann::ordered_json body) {
  body["digest"] = {{"algorithm", "sha256"}, {"value", ""}};
  body["digest"]["value"] = certify::parse_certificate(body.dump()).computed_digest;
  return body.dump();
}

}  // namespace surefoot::test
