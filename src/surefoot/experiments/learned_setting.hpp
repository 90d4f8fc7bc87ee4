#pragma once

#include "surefoot/algorithms/learned_operator.hpp"
#include "surefoot/certify/learned.hpp"
#include "surefoot/families/sparse_coding.hpp"
#include "surefoot/learning/posterior.hpp"
#include "surefoot/problems/sparse_codes.hpp"
#include "surefoot/runs/metric.hpp"

#include <memory>
#include <string>

namespace surefoot::experiments {

/// Which family and model a posterior was trained for: the registry of learned optimizers.
struct LearnedSetting {
  std::string model;  ///< alista, glista, tilista, lista
  Index steps = 10;
  std::uint64_t family_seed = 0;
  families::SparseCodingOptions family;
  Index samples = 0;  ///< training samples first .. first + samples - 1
  Index first = 0;
  /// Training samples that the weights depend on, also through what they started from: first and last. -1:
  /// not on record.
  Index seen_first = -1;
  Index seen_last = -1;

  /// Whether both are of the same model on the same family.
  [[nodiscard]] bool same_model(const LearnedSetting& other) const;
};

/// From the metadata of a weights file; InputError names what is missing.
LearnedSetting setting_of(const learning::Posterior& posterior, const std::string& file);

/// Says so where weights have no digest of their own (format 1): damage would not be noticed.
void note_missing_digest(const learning::Posterior& posterior, const std::string& file);
/// InputError then: for weights whose metadata a guarantee rests on, a prior's say.
void require_digest(const learning::Posterior& posterior, const std::string& file);

/// Samples of a set of its family, as certificates and ledgers name them.
certify::SampleRange samples_range(const LearnedSetting& setting, families::SampleSet set, Index first,
                                   Index count);

/// Training samples first .. last, likewise; InputError if they are too many to count.
certify::SampleRange training_range(const LearnedSetting& setting, Index first, Index last);

/// A learned optimizer on samples of its family, with the metric of its certificates.
struct LearnedBench {
  std::shared_ptr<const problems::SparseCodes> codes;
  std::unique_ptr<algorithms::LearnedOperator> op;
  runs::Metric metric;
  std::string sampling;  ///< what its draws are: weights or pre-activations
};

LearnedBench make_bench(const LearnedSetting& setting, families::SampleSet set, Index count, Index first = 0);

/// 10 log10(||z - z*||^2 / ||z*||^2) dB of codes kept sparse; never below -3000 dB.
runs::Metric code_nmse(std::shared_ptr<const problems::SparseCodes> codes);

}  // namespace surefoot::experiments
