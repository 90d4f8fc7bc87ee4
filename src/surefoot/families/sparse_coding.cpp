#include "surefoot/families/sparse_coding.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

namespace surefoot::families {

namespace {

constexpr Index samples_per_block = 256;

struct Code {
  std::vector<std::int32_t> entry;
  std::vector<double> value;
};

// The code of one sample; its stream goes on to draw the noise.
Code draw_code(RandomStream& stream, const SparseCodingOptions& options) {
  Code code;
  while (code.entry.empty()) {
    for (Index i = 0; i < options.variables; ++i) {
      if (stream.uniform() >= options.density) continue;
      code.entry.push_back(static_cast<std::int32_t>(i));
      code.value.push_back(stream.normal());
    }
  }
  return code;
}

double deviation(const std::vector<double>& nonzeros, Index size) {
  double sum = 0;
  double squares = 0;
  for (const double value : nonzeros) {
    sum += value;
    squares += value * value;
  }
  const double n = static_cast<double>(size);
  return std::sqrt(std::max(0.0, squares / n - (sum / n) * (sum / n)));
}

}  // namespace

void SparseCodingOptions::validate() const {
  require(measurements >= 1, "measurements: {} is below 1", measurements);
  require(variables >= measurements, "variables: {} is below {} (measurements)", variables, measurements);
  require(variables <= most_rows, "variables: {} is above {}", variables, most_rows);
  require(density > 0 && density <= 1, "density: {} is outside (0, 1]", density);
  require(std::isfinite(noise) && noise >= 0, "noise: {} is negative or not finite", noise);
}

SparseCoding::SparseCoding(std::uint64_t seed, SparseCodingOptions options) : seed_(seed), options_(options) {
  options_.validate();
  RandomStream stream(seed, "sparse coding: dictionary", 0);
  D_.resize(options_.measurements, options_.variables);
  for (Index j = 0; j < D_.cols(); ++j) {
    for (Index i = 0; i < D_.rows(); ++i) D_(i, j) = stream.normal();
    D_.col(j).normalize();  // the scale 1/sqrt(m) drops out
  }
}

SparseCoding::SparseCoding(std::uint64_t seed, SparseCodingOptions options, problems::Matrix D)
    : seed_(seed), options_(options), D_(std::move(D)) {
  options_.validate();
  require(D_.rows() == options_.measurements && D_.cols() == options_.variables,
          "dictionary: is {} x {}, must be {} x {}", D_.rows(), D_.cols(), options_.measurements,
          options_.variables);
}

// code_of(i) is the code of instance i and the stream that its noise is drawn from.
template <class CodeOf>
problems::SparseCodes SparseCoding::samples(Index count, const CodeOf& code_of) const {
  problems::SparseCodes samples;
  samples.D = D_;
  samples.b.resize(count, options_.measurements);
  std::vector<Code> codes(static_cast<std::size_t>(count));
  parallel_blocks((count + samples_per_block - 1) / samples_per_block, [&](Index block) {
    for (Index i = block * samples_per_block; i < std::min(count, (block + 1) * samples_per_block); ++i) {
      auto [code, stream] = code_of(i);
      const double scale = options_.noise * deviation(code.value, options_.variables);
      auto b = samples.b.row(i);
      for (Index r = 0; r < b.size(); ++r) b[r] = scale * stream.normal();
      for (std::size_t t = 0; t < code.entry.size(); ++t)
        b += code.value[t] * D_.col(code.entry[t]).transpose();
      codes[i] = std::move(code);
    }
  });
  samples.begin.reserve(codes.size() + 1);
  for (const Code& code : codes) {
    samples.entry.insert(samples.entry.end(), code.entry.begin(), code.entry.end());
    samples.value.insert(samples.value.end(), code.value.begin(), code.value.end());
    samples.begin.push_back(static_cast<Index>(samples.entry.size()));
  }
  return samples;
}

problems::SparseCodes SparseCoding::draw(SampleSet set, Index count, Index first) const {
  require_samples(count, first);
  const std::string purpose = "sparse coding: " + std::string(to_string(set));
  return samples(count, [&](Index i) {
    RandomStream stream(seed_, purpose, static_cast<std::uint64_t>(first + i));
    Code code = draw_code(stream, options_);
    return std::pair(std::move(code), stream);
  });
}

problems::SparseCodes SparseCoding::measure(const problems::Table& codes, Index first) const {
  require_samples(codes.rows(), first);
  require(codes.cols() == options_.variables, "codes: have {} columns, must have {}", codes.cols(),
          options_.variables);
  return samples(codes.rows(), [&](Index i) {
    Code code;
    for (Index j = 0; j < codes.cols(); ++j) {
      if (codes(i, j) == 0) continue;
      code.entry.push_back(static_cast<std::int32_t>(j));
      code.value.push_back(codes(i, j));
    }
    return std::pair(std::move(code), RandomStream(seed_, "sparse coding: noise of own codes",
                                                   static_cast<std::uint64_t>(first + i)));
  });
}

void flip_signs(const problems::SparseCodes& original, std::uint64_t seed, Index round,
                problems::SparseCodes& codes) {
  require(codes.instances() == original.instances() && codes.entry == original.entry,
          "flip_signs: the two sets of samples are not of the same shape");
  const Index count = original.instances();
  const auto first = static_cast<std::uint64_t>(round) * static_cast<std::uint64_t>(count);
  parallel_blocks((count + samples_per_block - 1) / samples_per_block, [&](Index block) {
    for (Index i = block * samples_per_block; i < std::min(count, (block + 1) * samples_per_block); ++i) {
      RandomStream stream(seed, "sparse coding: signs", first + static_cast<std::uint64_t>(i));
      auto b = codes.b.row(i);
      b = original.b.row(i);
      std::uint64_t bits = 0;
      for (Index t = original.begin[i]; t < original.begin[i + 1]; ++t) {
        const Index position = (t - original.begin[i]) % 64;
        if (position == 0) bits = stream.bits();
        const bool flip = ((bits >> position) & 1U) != 0;
        codes.value[t] = flip ? -original.value[t] : original.value[t];
        if (flip) b -= 2 * original.value[t] * original.D.col(original.entry[t]).transpose();
      }
    }
  });
}

}  // namespace surefoot::families
