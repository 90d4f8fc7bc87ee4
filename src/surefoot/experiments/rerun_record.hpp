#pragma once

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

/// `words` are the verb and what stands alone, "run qp". `certificate`: folder of the certificate inside the
/// output folder.
std::string rerun_record(const std::vector<std::string>& words, const RerunOptions& options,
                         const std::vector<RerunFile>& files, const std::string& certificate = "");

}  // namespace surefoot::experiments
