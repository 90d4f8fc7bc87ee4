#pragma once

#include "surefoot/certify/certificate_json.hpp"

#include <optional>
#include <string>
#include <utility>

namespace surefoot::python {

/// A certificate as Python holds it. What users see of it is its text, as the program writes it, made when it
/// is first asked for.
class HeldCertificate {
 public:
  HeldCertificate(certify::Certificate certificate, std::string run) : certificate_(std::move(certificate)) {
    certificate_.run = std::move(run);
  }
  /// Read from a text, which is kept as it is.
  explicit HeldCertificate(std::string text)
      : certificate_(certify::parse_certificate(text).certificate), text_(std::move(text)) {}

  [[nodiscard]] const certify::Certificate& certificate() const { return certificate_; }
  [[nodiscard]] const std::string& text() const {
    if (!text_) text_ = certify::to_json(certificate_);
    return *text_;
  }

 private:
  certify::Certificate certificate_;
  mutable std::optional<std::string> text_;  // filled under the interpreter lock
};

}  // namespace surefoot::python
