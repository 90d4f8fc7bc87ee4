#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/ledger.hpp"
#include "surefoot/io/checkpoint_file.hpp"
#include "surefoot/learning/posterior.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace surefoot::experiments {

/// Looks at samples that are to be looked at once (certify/ledger.hpp), the same for every verb. A folder of
/// weights has a ledger of its own, which retraining keeps; weights carry the looks that were known when they
/// were trained.

/// Name of the ledger in a folder of weights.
inline constexpr const char* ledger_name = "ledger.jsonl";

struct LookOptions {
  std::filesystem::path ledger;  ///< that folders and users share; empty: none
  bool again = false;
};

/// Samples FIRST:COUNT of a set; InputError names the option.
struct NamedSamples {
  Index first = 0;
  Index count = 0;
};
NamedSamples parse_samples(const std::string& option, const std::string& text);

/// The ledger beside a weights file.
std::filesystem::path ledger_beside(const std::filesystem::path& weights);

/// Looks that weights carry in their metadata; `file` is for errors.
std::vector<certify::Look> looks_of(const learning::Posterior& posterior, const std::string& file);
/// Puts looks at samples of this family and seed, each once, into the metadata.
void carry_looks(learning::Posterior& posterior, const std::vector<certify::Look>& looks,
                 const certify::SampleRange& samples);

/// Compares what weights say that they depend on with what ledgers know of them; the one beside the file is
/// asked too. InputError names both where they differ. Where ledgers have trainings and none is of these
/// weights, a line says so: they may come from elsewhere.
void require_training_as_told(const learning::Posterior& posterior, const std::filesystem::path& file,
                              std::vector<std::filesystem::path> ledgers);

/// The looks of one command.
class LookBook {
 public:
  /// `configuration` is everything that the result depends on; where the work goes on, a look that it has
  /// written down before is no earlier one.
  LookBook(const LookOptions& options, std::string by, const io::Configuration& configuration, bool resumes);
  /// Weights that are counted: looks that they carry are known, and theirs goes to the ledger beside them.
  void add_weights(const std::filesystem::path& file, const learning::Posterior& posterior);
  /// Weights that the result rests on, those of add_weights() and of a prior: require_training_as_told().
  void check_training(const std::filesystem::path& file, const learning::Posterior& posterior) const;
  /// InputError if `tune` has looked at these rows of files, which a PAC-Bayes bound is of: settings that it
  /// chose by them may be what the prior is made of. Looks that are later than the training of all weights
  /// that were added are no part of it.
  void check_bound(const certify::SampleRange& rows) const;
  /// Whether looks are written down anywhere.
  [[nodiscard]] bool kept() const { return !record_.ledgers.empty(); }

  /// What is to be looked at. InputError if it was before.
  void announce(const std::vector<certify::SampleRange>& ranges, const std::string& subject);
  /// After the work, before its results are shown: writes the looks down.
  [[nodiscard]] std::vector<certify::SampleProvenance> record();
  /// Both, for a certificate whose variants were counted on these samples, one range each.
  void record_in(certify::Certificate& certificate, const std::vector<certify::SampleRange>& ranges,
                 const std::string& subject);

 private:
  certify::LookRecord record_;
  std::filesystem::path shared_ledger_;
  std::string by_;
  std::string request_;
  std::vector<certify::Look> looks_;
  std::vector<std::string> weights_;  ///< digests of the numbers of those that were added
};

}  // namespace surefoot::experiments
