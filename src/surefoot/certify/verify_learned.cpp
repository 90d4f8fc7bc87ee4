#include "surefoot/certify/verify_learned.hpp"

#include "surefoot/certify/nearly_equal.hpp"
#include "surefoot/certify/pac_bayes.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/family_key.hpp"
#include "surefoot/io/sha256.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string_view>

namespace surefoot::certify {

namespace {

class VariantCheck {
 public:
  VariantCheck(const Certificate& certificate, std::vector<std::string>& findings)
      : certificate_(certificate), findings_(findings) {}

  void operator()(const Variant& variant) {
    place_ = fmt::format("variant '{}'", variant.name);
    expect(!variant.pac_bayes || variant.weights.has_value(), "has a guarantee of weights but no weights");
    if (variant.weights) check(*variant.weights, variant.pac_bayes.has_value());
    if (variant.provenance) check(variant, *variant.provenance);
    if (!variant.pac_bayes || !variant.weights) return;
    try {
      check(variant, *variant.pac_bayes);
    } catch (const InputError& error) {
      expect(false, error.what());
    }
  }

 private:
  void expect(bool condition, const std::string& text) {
    if (!condition) findings_.push_back(place_ + ": " + text);
  }

  void check(const Weights& weights, bool pac_bayes) {
    const bool means = weights.sampling == "means";
    expect(io::is_sha256_hex(weights.sha256), "the digest of its weights is missing");
    expect(weights.count >= 1 && weights.seed >= 0, "its weights do not exist");
    expect(weights.sampling == "weights" || weights.sampling == "pre-activations" || (means && !pac_bayes),
           fmt::format("'{}' is not how its weights can be drawn", weights.sampling));
    expect(weights.precision == "double" || weights.precision == "single",
           fmt::format("precision '{}' is not known", weights.precision));
    expect(means == weights.purpose.empty(), "weights are drawn without a random stream of their own");
  }

  void check(const Variant& variant, const SampleProvenance& provenance) {
    const SampleRange& range = provenance.range;
    try {
      range.validate();
    } catch (const InputError& error) {
      expect(false, error.what());
    }
    expect(range.count == rows_of(variant),
           fmt::format("{} samples are named, {} are counted", range.count, rows_of(variant)));
    expect(!range.set.empty() && range.set != validation_set,
           fmt::format("samples of the set '{}' make no certificate", range.set));
    expect((range.set == training_set) == variant.pac_bayes.has_value(),
           fmt::format("samples of the set '{}' do not fit its guarantee", range.set));
    expect(!is_data_family(range.family) || range.family == data_family(variant.sha256),
           "its rows are not those of its data");
    expect(!provenance.earlier_looks || (!variant.pac_bayes && *provenance.earlier_looks >= 0),
           "its earlier looks are not a number of them");
  }

  void check(const Variant& variant, const PacBayes& guarantee) {
    const PacBayes& first = *certificate_.variants.front().pac_bayes;
    expect(guarantee.samples == variant.samples,
           fmt::format("B is of {} samples, the variant has {}", guarantee.samples, variant.samples));
    const bool counted = guarantee.draws >= 1 && guarantee.samples >= 1 &&
                         guarantee.draws <= most_counted / guarantee.samples &&
                         guarantee.runs == guarantee.samples * guarantee.draws;
    expect(counted, fmt::format("{} runs are not {} samples x {} draws", guarantee.runs, guarantee.samples,
                                guarantee.draws));
    expect(variant.first_step >= 0 && variant.columns - 1 == variant.last_step - variant.first_step,
           "its recorded steps are not those of a run");
    expect(variant.columns == certificate_.variants.front().columns,
           "its recorded steps are not those of the other variants");
    const auto sane = [](Index count) { return count >= 1 && count <= most_candidates; };
    expect(sane(guarantee.losses) && sane(guarantee.prior_means) && sane(guarantee.candidates),
           "losses, prior means or candidates are out of range");
    expect(guarantee.losses == losses_of(certificate_),
           fmt::format("{} losses are covered by the confidence, {} are declared", guarantee.losses,
                       losses_of(certificate_)));
    expect(guarantee.samples == first.samples && guarantee.losses == first.losses &&
               guarantee.prior_means == first.prior_means && guarantee.candidates == first.candidates &&
               guarantee.delta_each == first.delta_each && guarantee.omega_each == first.omega_each,
           "its shares are not those of the other variants");
    check_prior(*variant.weights, guarantee);
    const double value = regularizer_of(guarantee);
    expect(nearly_equal(value, guarantee.regularizer),
           fmt::format("its KL and prior give B = {}, not {}", value, guarantee.regularizer));
  }

  void check_prior(const Weights& weights, const PacBayes& guarantee) {
    expect(guarantee.groups.size() == guarantee.positions.size() && !guarantee.groups.empty(),
           "groups and their grid positions do not match");
    Index count = 0;
    for (const Index size : guarantee.groups) {
      const bool fits = size >= 1 && size <= weights.count - count;
      if (fits) count += size;
      expect(fits, fmt::format("a group of {} weights does not fit", size));
    }
    expect(count == weights.count, fmt::format("its groups hold {} weights of {}", count, weights.count));
    expect(guarantee.lambda_max > 0.0 && guarantee.b > 0.0, "the grid of prior variances does not exist");
    expect(io::is_sha256_hex(guarantee.prior_sha256), "the digest of its prior is missing");
    expect(guarantee.prior_samples >= 0, "the prior's samples are negative");
    try {
      require_declared_grid({guarantee.lambda_max, guarantee.b}, guarantee.prior_samples);
    } catch (const InputError& error) {
      expect(false, error.what());
    }
  }

  const Certificate& certificate_;
  std::vector<std::string>& findings_;
  std::string place_;
};

/// Whether the samples that were counted are of the family that the weights were trained for, as far as their
/// metadata say.
std::vector<std::string> compare_family(const Variant& stated,
                                        const std::map<std::string, std::string>& metadata) {
  const auto name = metadata.find("family");
  const auto seed = metadata.find("family.seed");
  if (name == metadata.end() || seed == metadata.end()) return {};
  constexpr std::string_view prefix = "family.";
  FamilyKey key{name->second, {}};
  for (const auto& [entry, value] : metadata) {
    if (entry.starts_with(prefix) && entry != "family.seed")
      key.constants[entry.substr(prefix.size())] = value;
  }
  std::vector<std::string> findings;
  const SampleRange& range = stated.provenance->range;
  if (range.family != key.text() || fmt::format("{}", range.seed) != seed->second)
    findings.push_back(fmt::format("they were trained for {}, seed {}, the certificate counts {}", key.text(),
                                   seed->second, to_text(range)));
  return findings;
}

}  // namespace

std::vector<std::string> check_learned_variants(const Certificate& certificate) {
  std::vector<std::string> findings;
  const bool pac_bayes = is_pac_bayes(certificate);
  if (pac_bayes != (certificate.grid_method == bounds::RiskMethod::pac_bayes))
    findings.emplace_back("declared: the method pac-bayes and the variants' guarantees do not fit");
  std::set<std::string> priors;
  for (const Variant& variant : certificate.variants) {
    if (pac_bayes && !variant.pac_bayes) {
      findings.push_back(
          fmt::format("variant '{}': has no guarantee, the others are by PAC-Bayes", variant.name));
      return findings;
    }
    if (variant.pac_bayes) priors.insert(variant.pac_bayes->prior_sha256);
  }
  VariantCheck check(certificate, findings);
  for (const Variant& variant : certificate.variants) check(variant);
  if (!pac_bayes) return findings;
  const PacBayes& first = *certificate.variants.front().pac_bayes;
  if (first.prior_means < static_cast<Index>(priors.size()))
    findings.push_back(
        fmt::format("guarantee: {} prior means are covered by the confidence, the variants have {}",
                    first.prior_means, priors.size()));
  if (first.candidates < static_cast<Index>(certificate.variants.size()))
    findings.push_back(fmt::format("guarantee: {} candidates are covered by the confidence, {} are certified",
                                   first.candidates, certificate.variants.size()));
  return findings;
}

std::vector<std::string> stated_deviations(const Certificate& certificate) {
  const bounds::PriorGrid declared;
  std::vector<std::string> deviations;
  for (const Variant& variant : certificate.variants) {
    const std::optional<PacBayes>& bayes = variant.pac_bayes;
    if (bayes && (bayes->lambda_max != declared.lambda_max || bayes->b != declared.b))
      deviations.push_back(fmt::format(
          "'{}': the grid of prior variances is lambda_max = {}, b = {}, not the declared {}, {}; it came "
          "with a prior mean trained on {} other samples",
          variant.name, bayes->lambda_max, bayes->b, declared.lambda_max, declared.b, bayes->prior_samples));
    if (variant.provenance && variant.provenance->earlier_looks.value_or(0) > 0)
      deviations.push_back(fmt::format("'{}': its samples were looked at before ({} earlier looks)",
                                       variant.name, *variant.provenance->earlier_looks));
  }
  return deviations;
}

void compare_weights(const Certificate& certificate, std::size_t variant,
                     const learning::Posterior& posterior, const std::string& sha256,
                     Verification& verification) {
  const Variant& stated = certificate.variants.at(variant);
  const auto expect = [&](bool condition, const std::string& text) {
    if (!condition)
      verification.findings.push_back(fmt::format("weights of variant '{}': {}", stated.name, text));
  };
  expect(stated.weights.has_value(), "the certificate names none");
  if (!stated.weights) return;
  expect(sha256 == stated.weights->sha256,
         fmt::format("SHA-256 is {}, the certificate says {}", sha256, stated.weights->sha256));
  expect(posterior.gaussians.mean.size() == stated.weights->count,
         fmt::format("{} weights, the certificate says {}", posterior.gaussians.mean.size(),
                     stated.weights->count));
  if (stated.provenance) {
    for (const std::string& finding : compare_family(stated, posterior.metadata)) expect(false, finding);
  }
  if (!stated.pac_bayes) return;
  const PacBayes& claimed = *stated.pac_bayes;
  PacBayes recomputed;
  try {
    recomputed = charge(posterior);
  } catch (const InputError& error) {
    expect(false, error.what());
    return;
  }
  // What is stated may be rounded up further: it costs more and promises less.
  const bool above =
      !stated.weights->read && claimed.kl >= recomputed.kl && claimed.kl <= recomputed.kl * (1 + 1e-8);
  expect(above || nearly_equal(recomputed.kl, claimed.kl),
         fmt::format("their KL to the prior is {}, the certificate says {}", recomputed.kl, claimed.kl));
  expect(recomputed.groups == claimed.groups && recomputed.positions == claimed.positions &&
             recomputed.lambda_max == claimed.lambda_max && recomputed.b == claimed.b,
         "groups or prior variances are not those of the certificate");
  expect(recomputed.prior_sha256 == claimed.prior_sha256, "the prior is not that of the certificate");
}

}  // namespace surefoot::certify
