#include "surefoot/certify/evidence.hpp"

#include "surefoot/certify/certificate_json.hpp"

#include <nlohmann/json.hpp>

namespace surefoot::certify {

namespace {

using EvidenceJson = nlohmann::ordered_json;

// Whether the field is there, in any of the items of the lists on its way.
bool present(const EvidenceJson& json, std::string_view field) {
  if (json.is_array()) {
    for (const EvidenceJson& item : json)
      if (present(item, field)) return true;
    return false;
  }
  if (field.empty()) return true;
  const std::size_t dot = field.find('.');
  const auto found = json.is_object() ? json.find(std::string(field.substr(0, dot))) : json.end();
  if (found == json.end() || found->is_null()) return false;
  const std::string_view rest = dot == std::string_view::npos ? "" : field.substr(dot + 1);
  return rest.empty() || present(*found, rest);
}

}  // namespace

std::string_view name(Evidence evidence) {
  switch (evidence) {
    case Evidence::arithmetic:
      return "arithmetic";
    case Evidence::data:
      return "data";
    case Evidence::weights:
      return "weights";
    case Evidence::rerun:
      return "rerun";
    case Evidence::nothing:
      return "nothing";
  }
  return "";
}

const std::vector<FieldCheck>& field_checks() {
  static const std::vector<FieldCheck> checks{
      {"format", Evidence::arithmetic, Evidence::arithmetic},
  };
  return checks;
}

std::vector<std::string> taken_on_trust(const Certificate& certificate, const Checked& checked) {
  const EvidenceJson json = EvidenceJson::parse(to_json(certificate));
  std::vector<std::string> fields;
  const bool repeatable = certificate.rerun != "null";
  for (const FieldCheck& check : field_checks()) {
    const Evidence found_by =
        (repeatable ? check.in_runs : check.in_tables).value_or(check.in_runs.value_or(Evidence::nothing));
    const bool covered = found_by == Evidence::arithmetic ||
                         (found_by == Evidence::data && (checked.data || checked.rerun)) ||
                         (found_by == Evidence::weights && (checked.weights || checked.rerun)) ||
                         (found_by == Evidence::rerun && checked.rerun);
    if (!covered && present(json, check.field)) fields.emplace_back(check.field);
  }
  return fields;
}

std::vector<std::string> missing_in_format(const Certificate& certificate) {
  if (certificate.format > 1) return {};
  return {"how the table was read",
          "whether its rows look independent",
          "which samples were counted, and how often before",
          "every recorded step",
          "the sentences to quote",
          "the command that makes the runs again"};
}

}  // namespace surefoot::certify
