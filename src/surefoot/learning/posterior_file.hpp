#pragma once

#include "surefoot/io/byte_source.hpp"
#include "surefoot/learning/posterior.hpp"

#include <filesystem>
#include <string>

/// Posteriors in the safetensors format: tensors mean.NAME, log_variance.NAME and prior_mean.NAME (rows x
/// cols) for every block, prior_log_variance (one number per block), all F64. The posterior's metadata are
/// the file's, and besides surefoot.format, surefoot.blocks (a JSON list: the order of the blocks),
/// surefoot.lambda_max, surefoot.b and surefoot.sha256: the SHA-256 of the file that all the rest would make.
/// Every reader checks it. Files of format 1 have none.
namespace surefoot::learning {

/// The bytes that save_posterior writes.
std::string posterior_bytes(const Posterior& posterior);
/// Their SHA-256, which is the file's: how certificates and checkpoints name weights.
std::string posterior_sha256(const Posterior& posterior);
/// SHA-256 of the file that the posterior would make without its metadata: the same whatever they say.
std::string numbers_sha256(const Posterior& posterior);

/// Written atomically: a reader sees the old file or the new one.
void save_posterior(const Posterior& posterior, const std::filesystem::path& path);

/// InputError names the file and what is missing, damaged or does not fit.
Posterior load_posterior(const std::filesystem::path& path);
Posterior load_posterior(io::ByteSource& source);

/// InputError unless the posterior's blocks are the operator's: names, order, shapes.
void require_layout(const Posterior& posterior, const algorithms::WeightLayout& layout);

}  // namespace surefoot::learning
