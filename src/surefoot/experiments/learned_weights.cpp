#include "surefoot/experiments/learned_weights.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/io/text.hpp"

#include <utility>

namespace surefoot::experiments {

namespace {

const std::string& metadata_at(const learning::Posterior& posterior, const std::string& key,
                               const std::string& file) {
  const auto found = posterior.metadata.find(key);
  require(found != posterior.metadata.end(),
          "{}: its metadata do not say '{}': was it trained by surefoot train?", file, key);
  return found->second;
}

}  // namespace

void describe_weights(learning::Posterior& posterior, const std::vector<Field>& fields,
                      const FamilyKey& family) {
  posterior.metadata["family"] = family.name;
  for (const Field& field : fields) {
    const std::string text = field.metadata_text();
    if (!field.metadata.empty() && (field.required || !text.empty()))
      posterior.metadata[field.metadata] = text;
  }
}

void describe_weights(learning::Posterior& posterior, LearnedSetting setting) {
  setting.seen_first = setting.first;
  setting.seen_last = setting.first + setting.samples - 1;
  describe_weights(posterior, setting.fields(), setting.family());
}

LearnedSetting setting_of(const learning::Posterior& posterior, const std::string& file) {
  const std::string& model = metadata_at(posterior, "model", file);
  LearnedSetting setting;
  try {
    setting = learned_optimizer(model).defaults;
  } catch (const InputError& error) {
    throw InputError(file + ": " + error.what());
  }
  const std::string& family = metadata_at(posterior, "family", file);
  require(family == setting.family().name, "{}: the family of {} is {}, not '{}'", file, setting.model,
          setting.family().name, io::excerpt(family));
  for (const Field& field : setting.fields()) {
    if (field.required || posterior.metadata.contains(field.metadata))
      field.set(metadata_at(posterior, field.metadata, file), file);
  }
  require(setting.seen_first <= setting.seen_last, "{}: 'seen.first' is {}, after 'seen.last', {}", file,
          setting.seen_first, setting.seen_last);
  try {
    setting.validate();
  } catch (const InputError& error) {
    throw InputError(file + ": " + error.what());
  }
  return setting;
}

void note_missing_digest(const learning::Posterior& posterior, const std::string& file) {
  if (!posterior.has_digest && ranks().first())
    host().say(file +
               ": weights of an earlier version, without a digest of their own: damage would not be noticed");
}

void require_digest(const learning::Posterior& posterior, const std::string& file) {
  require(
      posterior.has_digest,
      "{}: weights of an earlier version, without a digest of their own: which samples they depend on cannot "
      "be trusted; train them again",
      file);
}

certify::SampleRange samples_range(const LearnedSetting& setting, families::SampleSet set, Index first,
                                   Index count) {
  const bool is_row = setting.has_rows() && set != families::SampleSet::training;
  return {setting.family().text(), static_cast<Index>(setting.family_seed),
          is_row ? certify::data_set : std::string(families::to_string(set)), first, count};
}

certify::SampleRange training_range(const LearnedSetting& setting, Index first, Index last) {
  return samples_range(setting, families::SampleSet::training, first,
                       checked_sum("seen.last", last - first, Index{1}));
}

}  // namespace surefoot::experiments
