#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <optional>
#include <vector>

namespace surefoot::certify {

namespace {

using RepeatedJson = nlohmann::ordered_json;

/// The repetition with the earlier looks that were stated: they are history, which no run repeats. The
/// samples themselves are compared where the repetition names them.
Certificate with_history_of(const Certificate& stated, Certificate repeated) {
  if (repeated.variants.size() != stated.variants.size()) return repeated;
  std::vector<SampleProvenance> provenance;
  for (std::size_t i = 0; i < stated.variants.size(); ++i) {
    const std::optional<SampleProvenance>& said = stated.variants[i].provenance;
    if (!said) return repeated;
    if (!repeated.variants[i].provenance) return repeated;
    provenance.push_back(*repeated.variants[i].provenance);
    provenance.back().earlier_looks = said->earlier_looks;
  }
  set_provenance(repeated, provenance);
  return repeated;
}

/// The repetition with the proof that was stated, where both answer the same question: multipliers depend on
/// the build, and verify() replays those of the certificate.
Certificate with_proof_of(const Certificate& stated, Certificate repeated) {
  const auto asked = [](const Certificate& certificate) {
    RepeatedJson part = RepeatedJson::parse(certificate.worst_case);
    if (part.is_null()) return part;
    RepeatedJson& proof = part["proof"];
    for (RepeatedJson& bound : proof["bounds"]) bound = bound.at("steps");
    proof.erase("surefoot_version");
    proof.erase("digest");
    return part;
  };
  if (asked(stated) == asked(repeated)) repeated.worst_case = stated.worst_case;
  return repeated;
}

RepeatedJson comparable(const Certificate& certificate) {
  RepeatedJson json = RepeatedJson::parse(to_json(certificate));
  json.erase("digest");
  json.erase("surefoot_version");
  return json;
}

}  // namespace

void compare_repeated(const Certificate& stated, const Certificate& repeated, Verification& verification) {
  const RepeatedJson said = comparable(stated);
  const RepeatedJson found = comparable(with_proof_of(stated, with_history_of(stated, repeated)));
  for (const RepeatedJson& change : RepeatedJson::diff(said, found)) {
    const auto path = change.at("path").get<std::string>();
    const RepeatedJson::json_pointer pointer(path);
    const auto text = [&](const RepeatedJson& json) {
      return json.contains(pointer) ? io::excerpt(json.at(pointer).dump()) : std::string("nothing");
    };
    verification.findings.push_back(
        fmt::format("rerun: {} is {}, the repeated runs give {}", path.substr(1), text(said), text(found)));
  }
}

}  // namespace surefoot::certify
