#pragma once

#include "surefoot/certify/certificate.hpp"

#include <nlohmann/json.hpp>

namespace surefoot::report {

/// For page.js: everything that follows from the claims of a certificate (certify/ask.hpp), so that a reader
/// may move tolerance, share and iteration freely and reads the numbers that `surefoot ask` gives. Null if
/// the certificate has no bands.
nlohmann::ordered_json free_choice(const certify::Certificate& certificate);

}  // namespace surefoot::report
