#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/verify.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

/// How the runs of a certificate were made, as a command of this program that makes them again, and that
/// repetition. The command names its files by digest, so that it does not matter where they lie.

/// A file that a command reads: the option that names it ("": it stands alone), its name and SHA-256.
struct RerunFile {
  std::string option;
  std::string file;  ///< without folders
  std::string sha256;
  bool in_folder = false;  ///< the option names the folder that the file lies in
};

/// Names of options, with dashes, and their values.
using RerunOptions = std::vector<std::pair<std::string, std::string>>;

/// `words` are the verb and what stands alone, "run qp". `certificate`: folder of the certificate inside the
/// output folder.
std::string rerun_record(const std::vector<std::string>& words, const RerunOptions& options,
                         const std::vector<RerunFile>& files, const std::string& certificate = "");

/// All options of the verb that results depend on, as given or by default, but for those that name files;
/// `effective` holds those whose values something else has set.
RerunOptions rerun_options(const CLI::App& verb, const std::vector<RerunFile>& files,
                           const RerunOptions& effective = {});

/// Runs the certificate's command again in a temporary folder, with its files found by digest in `folder` or
/// one level below, and compares everything that it writes. InputError if the certificate has no such
/// command, a file is not there, or the command fails.
void rerun_and_compare(const surefoot::certify::Certificate& certificate, const std::filesystem::path& folder,
                       surefoot::certify::Verification& verification);
