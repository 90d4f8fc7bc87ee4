#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace surefoot::certify {

namespace {

using RepeatedJson = nlohmann::ordered_json;

RepeatedJson comparable(const Certificate& certificate) {
  RepeatedJson json = RepeatedJson::parse(to_json(certificate));
  json.erase("digest");
  json.erase("surefoot_version");
  return json;
}

}  // namespace

void compare_repeated(const Certificate& stated, const Certificate& repeated, Verification& verification) {
  const RepeatedJson said = comparable(stated);
  const RepeatedJson found = comparable(repeated);
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
