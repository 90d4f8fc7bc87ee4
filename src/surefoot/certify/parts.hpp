#pragma once

#include "surefoot/certify/certificate.hpp"

#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

/// A part that a certificate of format 2 may have. The text lists the parts it holds; a reader that does not
/// know one of them refuses the certificate by that name, because it could not check it. New kinds of content
/// are new parts; the fields of a part never change their meaning.
struct CertificatePart {
  std::string_view name;
  std::function<bool(const Certificate&)> present;
};

/// All parts that this program knows, in the order in which texts list them.
const std::vector<CertificatePart>& known_parts();

/// The parts that the certificate holds, in that order.
std::vector<std::string> parts_of(const Certificate& certificate);

/// InputError names the first part that this program does not know.
void require_known_parts(const std::vector<std::string>& parts);

}  // namespace surefoot::certify
