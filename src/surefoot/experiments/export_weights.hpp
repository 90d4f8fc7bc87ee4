#pragma once

#include <filesystem>
#include <string>

/// Learned starts and schedules for controllers in C: what `export` does with weights.
namespace surefoot::experiments {

struct ExportWeightsOptions {
  std::filesystem::path weights;
  std::filesystem::path c_file;
  std::string name = "surefoot_exported";  ///< of the function, or of the arrays
  std::filesystem::path certificate;       ///< of these weights, to be named in the file; may be empty
  std::string folder = {};  ///< of the problems, where they no longer lie where they were learned from

  void validate() const;
};

/// Writes one C99 file that needs nothing else. A learned start of OSQP: the network at its means, and the
/// (x, y, z) that OSQP begins with, from parameters and bounds of a problem: the numbers that `run qp
/// --start` begins with, to the last bit where both use fused multiply-adds or neither does. A schedule of
/// OSQP: rho and alpha of each step. What was exported, in words. InputError for weights of other models, for
/// starts of SCS, and for problems that are equilibrated each on its own.
std::string export_weights(const ExportWeightsOptions& options);

}  // namespace surefoot::experiments
