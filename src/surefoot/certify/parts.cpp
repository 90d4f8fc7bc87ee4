#include "surefoot/certify/parts.hpp"

#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/version.hpp"

#include <algorithm>

namespace surefoot::certify {

namespace {

template <class Has>
bool any_variant(const Certificate& certificate, const Has& has) {
  return std::ranges::any_of(certificate.variants, has);
}

}  // namespace

const std::vector<CertificatePart>& known_parts() {
  static const std::vector<CertificatePart> all = [] {
    std::vector<CertificatePart> parts;
    for (const ClaimKind* kind : claim_kinds())
      parts.push_back(
          {kind->part(), [kind](const Certificate& certificate) { return kind->size(certificate) > 0; }});
    const std::vector<CertificatePart> others{
        {"recorded_steps",
         [](const Certificate& certificate) {
           return any_variant(certificate, [](const Variant& each) { return !each.recorded_steps.empty(); });
         }},
        {"reading",
         [](const Certificate& certificate) {
           return any_variant(certificate, [](const Variant& each) { return !each.reading.empty(); });
         }},
        {"independence",
         [](const Certificate& certificate) {
           return any_variant(certificate, [](const Variant& each) { return each.independence.has_value(); });
         }},
        {"selection",
         [](const Certificate& certificate) {
           return any_variant(certificate, [](const Variant& each) { return each.selection.has_value(); });
         }},
        {"scalar", [](const Certificate& certificate) { return certificate.scalar; }},
        {"anytime", holds_anytime},
        {"appended",
         [](const Certificate& certificate) {
           return any_variant(certificate, [](const Variant& each) { return !each.appended.empty(); });
         }},
        {"groups",
         [](const Certificate& certificate) {
           return any_variant(certificate, [](const Variant& each) { return each.groups.has_value(); });
         }},
        {"weights",
         [](const Certificate& certificate) {
           return any_variant(certificate, [](const Variant& each) { return each.weights.has_value(); });
         }},
        {"weights_not_read",
         [](const Certificate& certificate) {
           return any_variant(certificate,
                              [](const Variant& each) { return each.weights && !each.weights->read; });
         }},
        {"pac_bayes",
         [](const Certificate& certificate) {
           return any_variant(certificate, [](const Variant& each) { return each.pac_bayes.has_value(); });
         }},
        {"provenance",
         [](const Certificate& certificate) {
           return any_variant(certificate, [](const Variant& each) { return each.provenance.has_value(); });
         }},
        {"run", [](const Certificate& certificate) { return certificate.run != "null"; }},
        {"rerun", [](const Certificate& certificate) { return certificate.rerun != "null"; }},
        {"worst_case", [](const Certificate& certificate) { return certificate.worst_case != "null"; }},
        {"range", [](const Certificate& certificate) { return certificate.range.has_value(); }},
        {"shift", [](const Certificate& certificate) { return certificate.shift.has_value(); }},
        {"closed_loop", [](const Certificate& certificate) { return certificate.loop.has_value(); }},
    };
    parts.insert(parts.end(), others.begin(), others.end());
    return parts;
  }();
  return all;
}

std::vector<std::string> parts_of(const Certificate& certificate) {
  std::vector<std::string> names;
  for (const CertificatePart& part : known_parts())
    if (part.present(certificate)) names.emplace_back(part.name);
  return names;
}

void require_known_parts(const std::vector<std::string>& parts) {
  for (const std::string& name : parts) {
    const bool known =
        std::ranges::any_of(known_parts(), [&](const CertificatePart& part) { return part.name == name; });
    require(known,
            "certificate: surefoot {} does not know its part '{}' and cannot check it; a later version may",
            version, name);
  }
}

}  // namespace surefoot::certify
