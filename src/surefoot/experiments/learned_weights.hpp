#pragma once

#include "surefoot/certify/learned.hpp"
#include "surefoot/experiments/learned_setting.hpp"
#include "surefoot/families/sample_set.hpp"
#include "surefoot/learning/posterior.hpp"

#include <string>
#include <vector>

/// What the metadata of trained weights say.
namespace surefoot::experiments {

/// Writes the fields that weights have (Field::metadata), and the name of the family.
void describe_weights(learning::Posterior& posterior, const std::vector<Field>& fields,
                      const FamilyKey& family);
/// The same for weights that depend on the setting's own samples alone.
void describe_weights(learning::Posterior& posterior, LearnedSetting setting);

/// The setting that metadata describe; InputError names what is missing. `file` is for errors.
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

}  // namespace surefoot::experiments
