#pragma once

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/monitoring/watch.hpp"

#include <string>
#include <vector>

namespace surefoot::monitoring {

/// What a certificate proves about the claims, as a watch takes it: the rate of a claim that names a share is
/// what the share leaves, where that is certified, and of one that does not, what the largest certified share
/// leaves (certify/ask.hpp). Without claims, the success rates of its last step, for each tolerance with one.
///
/// InputError if a claim is not certified, with what is; if the certificate has several variants and none is
/// named; or if its claims do not hold together.
WatchOptions watch_of(const certify::ParsedCertificate& certificate, const std::vector<std::string>& claims,
                      const std::string& variant = "");

}  // namespace surefoot::monitoring
