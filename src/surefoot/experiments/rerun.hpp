#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/verify.hpp"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

/// How the runs of a certificate were made, as a command of the program that makes them again. The command
/// names its files by digest, so that it does not matter where they lie.
namespace surefoot::experiments {

/// A file that a command reads: the option that names it ("": it stands alone), its name and SHA-256.
struct RerunFile {
  std::string option;
  std::string file;  ///< without folders
  std::string sha256;
  bool in_folder = false;  ///< the option names the folder that the file lies in
};

/// Names of options, with dashes, and their values.
using RerunOptions = std::vector<std::pair<std::string, std::string>>;

struct RerunCommand {
  std::vector<std::string> words;  ///< the verb and what stands alone, "run qp"
  RerunOptions options = {};
  std::vector<RerunFile> files = {};
  std::string certificate = {};  ///< folder of the certificate inside the output folder
  std::string kernels = {};      ///< level of the kernels (core/kernels.hpp); empty: not recorded
};

/// Whether results do not depend on the option, or it says where to write: it is neither recorded nor
/// repeated.
bool is_left_out_of_reruns(const std::string& option);

/// As certificates record it (Certificate::rerun), with the kernels of this process.
std::string rerun_record(const RerunCommand& command);
/// The inverse for a certificate from anywhere. InputError unless it asks for nothing but a verb that makes
/// certificates, with options that write nowhere and files that are named by their digests.
RerunCommand rerun_command(const certify::Certificate& certificate);

/// Runs the certificate's command again in a temporary folder, with its files found by digest in `folder` or
/// one level below, and compares everything that it writes. The kernels are those that the certificate
/// records, or `kernels` if that is not empty. Returns why they are others, in words; empty: they are not.
/// InputError if the certificate has no such command, a file is not there, or the command fails.
std::string rerun_and_compare(const certify::Certificate& certificate, const std::filesystem::path& folder,
                              certify::Verification& verification, const std::string& kernels = "");

}  // namespace surefoot::experiments
