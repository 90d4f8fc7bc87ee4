#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// Checks of certificates, proofs and folders of results: what `verify` does.
namespace surefoot::experiments {

struct VerifyOptions {
  std::string certificate;           ///< certificate.json, proof.json, or the folder of a result
  std::vector<std::string> data;     ///< one table per variant: counted again
  std::vector<std::string> weights;  ///< one file per variant: read again
  std::string rerun;                 ///< folder with the files of the command, which is run again
  std::string kernels;               ///< that it is run with; empty: those that the certificate records
  std::uint64_t memory_limit = 0;
};

struct VerifiedResult {
  bool holds = false;
  std::string text;  ///< what was checked and what differs, for the terminal
};

/// A folder with one certificate is that certificate; of more, each is verified from its counts.
VerifiedResult verify_result(VerifyOptions options);

/// ResourceError if there is no room for certificates in these files; one that cannot be looked at is left to
/// its reader.
void require_memory_of_certificates(const std::vector<std::filesystem::path>& files, std::uint64_t limit);

}  // namespace surefoot::experiments
