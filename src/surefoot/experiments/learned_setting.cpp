#include "surefoot/experiments/learned_setting.hpp"

#include "surefoot/algorithms/code_networks.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/families/family_key.hpp"
#include "surefoot/io/text.hpp"

#include <cmath>
#include <memory>
#include <vector>

namespace surefoot::experiments {

namespace {

class Metadata {
 public:
  Metadata(const learning::Posterior& posterior, const std::string& file)
      : metadata_(posterior.metadata), file_(file) {}
  [[nodiscard]] bool has(const char* key) const { return metadata_.contains(key); }
  [[nodiscard]] std::string text(const char* key) const {
    const auto found = metadata_.find(key);
    require(found != metadata_.end(), "{}: its metadata do not say '{}': was it trained by surefoot train?",
            file_, key);
    return found->second;
  }
  [[nodiscard]] Index whole(const char* key) const {
    long long value = 0;
    require(io::parse_integer(text(key), value) && value >= 0, "{}: '{}' is '{}', not a whole number", file_,
            key, io::excerpt(text(key)));
    return value;
  }
  [[nodiscard]] double number(const char* key) const {
    double value = 0;
    require(io::parse_number(text(key), value) && std::isfinite(value), "{}: '{}' is '{}', not a number",
            file_, key, io::excerpt(text(key)));
    return value;
  }

 private:
  const std::map<std::string, std::string>& metadata_;
  const std::string& file_;
};

}  // namespace

bool LearnedSetting::same_model(const LearnedSetting& other) const {
  return model == other.model && steps == other.steps && family_seed == other.family_seed &&
         families::key_of(family).constants == families::key_of(other.family).constants;
}

LearnedSetting setting_of(const learning::Posterior& posterior, const std::string& file) {
  const Metadata metadata(posterior, file);
  require(metadata.text("family") == "sparse-coding",
          "{}: the family '{}' is not known; known is sparse-coding", file,
          io::excerpt(metadata.text("family")));
  LearnedSetting setting;
  setting.model = metadata.text("model");
  setting.steps = metadata.whole("steps");
  setting.family_seed = static_cast<std::uint64_t>(metadata.whole("family.seed"));
  setting.family.measurements = metadata.whole("family.measurements");
  setting.family.variables = metadata.whole("family.variables");
  setting.family.density = metadata.number("family.density");
  setting.family.noise = metadata.number("family.noise");
  setting.samples = metadata.whole("samples");
  setting.first = metadata.whole("samples.first");
  if (metadata.has("seen.first")) {
    setting.seen_first = metadata.whole("seen.first");
    setting.seen_last = metadata.whole("seen.last");
    require(setting.seen_first <= setting.seen_last, "{}: 'seen.first' is {}, after 'seen.last', {}", file,
            setting.seen_first, setting.seen_last);
  }
  setting.family.validate();
  (void)checked_sum("samples", setting.first, setting.samples);
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
  return {families::key_of(setting.family).text(), static_cast<Index>(setting.family_seed),
          std::string(families::to_string(set)), first, count};
}

certify::SampleRange training_range(const LearnedSetting& setting, Index first, Index last) {
  return samples_range(setting, families::SampleSet::training, first,
                       checked_sum("seen.last", last - first, Index{1}));
}

runs::Metric code_nmse(std::shared_ptr<const problems::SparseCodes> codes) {
  const auto measure = [codes = std::move(codes)](const runs::MetricInput& input, double* value) {
    // Not kept for the thread: the C library aborts where it cannot register what ends with one.
    const auto width = static_cast<std::size_t>(input.iterate.width);
    const auto target =
        std::make_unique_for_overwrite<double[]>(static_cast<std::size_t>(codes->variables()) * width);
    std::vector<double> norm(width, 0.0);
    codes->write_codes(input.first, input.count, input.iterate.width, target.get());
    std::fill_n(value, width, 0.0);
    for (Index i = 0; i < codes->variables(); ++i) {
      const double* z = input.iterate.row(i);
      const double* code = target.get() + static_cast<std::size_t>(i) * width;
      for (std::size_t j = 0; j < width; ++j) {
        value[j] += (z[j] - code[j]) * (z[j] - code[j]);
        norm[j] += code[j] * code[j];
      }
    }
    // Not std::max: a NaN must stay one.
    for (std::size_t j = 0; j < width; ++j) {
      const double decibel = 10 * std::log10(value[j] / norm[j]);
      value[j] = decibel < -3000.0 ? -3000.0 : decibel;
    }
  };
  return runs::own_metric("NMSE", measure, "dB");
}

LearnedBench make_bench(const LearnedSetting& setting, families::SampleSet set, Index count, Index first) {
  LearnedBench bench;
  const families::SparseCoding family(setting.family_seed, setting.family);
  bench.codes = std::make_shared<problems::SparseCodes>(family.draw(set, count, first));
  bench.op = algorithms::make_code_network(
      setting.model, bench.codes, {.steps = setting.steps, .precision = algorithms::Precision::twice});
  bench.metric = code_nmse(bench.codes);
  bench.sampling = setting.model == "tilista" || setting.model == "lista" ? "pre-activations" : "weights";
  return bench;
}

}  // namespace surefoot::experiments
