#pragma once

#include "surefoot/algorithms/learned_operator.hpp"
#include "surefoot/certify/learned.hpp"
#include "surefoot/families/sparse_coding.hpp"
#include "surefoot/learning/posterior.hpp"
#include "surefoot/problems/sparse_codes.hpp"
#include "surefoot/runs/metric.hpp"

#include <memory>
#include <string>

/// Which family and model a posterior was trained for: the registry of learned optimizers.
struct LearnedSetting {
  std::string model;  ///< alista, glista, tilista, lista
  surefoot::Index steps = 10;
  std::uint64_t family_seed = 0;
  surefoot::families::SparseCodingOptions family;
  surefoot::Index samples = 0;  ///< training samples first .. first + samples - 1
  surefoot::Index first = 0;
  /// Training samples that the weights depend on, also through what they started from: first and last. -1:
  /// not on record.
  surefoot::Index seen_first = -1;
  surefoot::Index seen_last = -1;

  /// Whether both are of the same model on the same family.
  [[nodiscard]] bool same_model(const LearnedSetting& other) const;
};

/// From the metadata of a weights file; InputError names what is missing.
LearnedSetting setting_of(const surefoot::learning::Posterior& posterior, const std::string& file);

/// Says so where weights have no digest of their own (format 1): damage would not be noticed.
void note_missing_digest(const surefoot::learning::Posterior& posterior, const std::string& file);
/// InputError then: for weights whose metadata a guarantee rests on, a prior's say.
void require_digest(const surefoot::learning::Posterior& posterior, const std::string& file);

/// Samples of a set of its family, as certificates and ledgers name them.
surefoot::certify::SampleRange samples_range(const LearnedSetting& setting, surefoot::families::SampleSet set,
                                             surefoot::Index first, surefoot::Index count);

/// A learned optimizer on samples of its family, with the metric of its certificates.
struct LearnedBench {
  std::shared_ptr<const surefoot::problems::SparseCodes> codes;
  std::unique_ptr<surefoot::algorithms::LearnedOperator> op;
  surefoot::runs::Metric metric;
  std::string sampling;  ///< what its draws are: weights or pre-activations
};

LearnedBench make_bench(const LearnedSetting& setting, surefoot::families::SampleSet set,
                        surefoot::Index count, surefoot::Index first = 0);

/// 10 log10(||z - z*||^2 / ||z*||^2) dB of codes kept sparse; never below -3000 dB.
surefoot::runs::Metric code_nmse(std::shared_ptr<const surefoot::problems::SparseCodes> codes);
