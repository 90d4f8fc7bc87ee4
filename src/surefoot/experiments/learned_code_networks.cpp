#include "surefoot/algorithms/code_networks.hpp"
#include "surefoot/algorithms/lista.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/experiments/learned_bench.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <vector>

namespace surefoot::experiments {

namespace {

// Training rows and fresh ones lie in the same files: a row that is there twice would be of both.
void require_no_row_twice(const families::OwnSparseCoding& law, const std::string& file) {
  certify::ProblemData rows;
  rows.tables.push_back(certify::view_of(law.codes()));
  if (law.measurements().rows() > 0) rows.tables.push_back(certify::view_of(law.measurements()));
  certify::independence_of_problems(rows).require_none(file, false);
}

}  // namespace

families::OwnSparseCoding CodeNetworks::law(std::uint64_t seed) const {
  families::SparseCodingOptions options = family;
  families::SparseCodingFiles own = files;
  return {seed, options, own};
}

LearnedBench CodeNetworks::bench(const LearnedSetting& setting, const BenchRequest& request) const {
  const families::OwnSparseCoding family_law = law(setting.family_seed);
  if (files.has_rows()) require_no_row_twice(family_law, files.codes.path);
  const auto codes =
      std::make_shared<problems::SparseCodes>(family_law.draw(request.set, request.count, request.first));
  LearnedBench bench;
  try {
    bench.op = algorithms::make_code_network(setting.model, codes,
                                             {.steps = setting.steps, .precision = request.precision});
  } catch (const InputError& error) {
    if (!files.dictionary.given() || !std::string_view(error.what()).starts_with("D: ")) throw;
    throw InputError(files.dictionary.path + ": " + error.what());
  }
  bench.metric = code_nmse(codes);
  if (!request.for_training) return bench;
  bench.target = [codes](Index first, Index count, algorithms::Batch target) {
    codes->write_codes(first, count, target.width, target.data);
  };
  bench.refresh = [codes, op = bench.op.get(), original = std::make_shared<problems::SparseCodes>()](
                      std::uint64_t seed, Index epoch) {
    if (original->instances() == 0) *original = *codes;
    families::flip_signs(*original, seed, epoch, *codes);
    op->instances_changed();
  };
  return bench;
}

double CodeNetworks::numbers_by_sample(const LearnedSetting& setting, algorithms::Precision precision) const {
  // An entry's value, and its place in half the room; twice while codes are gathered, in lists that grow.
  constexpr double numbers_per_entry = 6;
  const double entries = files.has_rows() ? 1 : family.density;
  // Files are read whole, checked, and rows of them copied.
  constexpr double copies = 3;
  double read = 0;
  for (const families::OwnFile* file : {&files.codes, &files.measurement_file}) {
    std::error_code error;
    const auto bytes = file->given() ? std::filesystem::file_size(file->path, error) : 0;
    if (!error) read += copies * static_cast<double>(bytes) / sizeof(double);
  }
  return static_cast<double>(family.measurements) +
         algorithms::numbers_kept_by_sample(setting.model, family.variables, precision) +
         numbers_per_entry * entries * static_cast<double>(family.variables) +
         read / static_cast<double>(setting.samples);
}

StepNumbers CodeNetworks::numbers_by_step(const LearnedSetting& setting) const {
  const auto n = static_cast<double>(family.variables);
  const auto m = static_cast<double>(family.measurements);
  return {algorithms::code_lanes * n, setting.model == "lista" ? 1 + n * (n + m) : 2};
}

std::vector<double> CodeNetworks::converted_means(const LearnedSetting& setting,
                                                  const learning::Posterior& other) const {
  const auto model = other.metadata.find("model");
  if (setting.model == "alista" || model == other.metadata.end() || model->second != "alista") return {};
  const auto K = static_cast<std::size_t>(setting.steps);
  const std::span<const double> weights(other.gaussians.mean.data(),
                                        static_cast<std::size_t>(other.gaussians.mean.size()));
  require(weights.size() == 2 * K, "start: {} weights of alista for {} steps", weights.size(), K);
  if (setting.model != "lista") return {weights.begin(), weights.end()};  // the others begin with these
  return algorithms::lista_from_alista(law(setting.family_seed).dictionary(), weights.first(K),
                                       weights.subspan(K));
}

std::vector<double> CodeNetworks::analytic_means(const LearnedSetting& setting) const {
  if (setting.model != "lista") return {};
  const auto K = static_cast<std::size_t>(setting.steps);
  std::vector<double> threshold(K, 0.6);
  for (std::size_t k = 1; k < K; ++k) threshold[k] = 0.7 * threshold[k - 1];
  return algorithms::lista_from_alista(law(setting.family_seed).dictionary(), std::vector<double>(K, 1.0),
                                       threshold);
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

}  // namespace surefoot::experiments
