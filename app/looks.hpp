#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/ledger.hpp"
#include "surefoot/io/checkpoint_file.hpp"
#include "surefoot/learning/posterior.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>
#include <vector>

/// Looks at samples that are to be looked at once (certify/ledger.hpp), the same for every verb. A folder of
/// weights has a ledger of its own, which retraining keeps; weights carry the looks that were known when they
/// were trained.

/// Name of the ledger in a folder of weights.
inline constexpr const char* ledger_name = "ledger.jsonl";

struct LookOptions {
  std::filesystem::path ledger;  ///< that folders and users share; empty: none
  bool again = false;
};
void add_ledger_option(CLI::App& verb, LookOptions& options);
void add_look_options(CLI::App& verb, LookOptions& options);

/// Samples FIRST:COUNT of a set; InputError names the option.
struct NamedSamples {
  surefoot::Index first = 0;
  surefoot::Index count = 0;
};
NamedSamples parse_samples(const std::string& option, const std::string& text);

/// The ledger beside a weights file.
std::filesystem::path ledger_beside(const std::filesystem::path& weights);

/// Looks that weights carry in their metadata; `file` is for errors.
std::vector<surefoot::certify::Look> looks_of(const surefoot::learning::Posterior& posterior,
                                              const std::string& file);
/// Puts looks at samples of this family and seed, each once, into the metadata.
void carry_looks(surefoot::learning::Posterior& posterior, const std::vector<surefoot::certify::Look>& looks,
                 const surefoot::certify::SampleRange& samples);

/// The looks of one command.
class LookBook {
 public:
  /// `configuration` is everything that the result depends on; where the work goes on, a look that it has
  /// written down before is no earlier one.
  LookBook(const LookOptions& options, std::string by, const surefoot::io::Configuration& configuration,
           bool resumes);
  /// Weights that are counted: looks that they carry are known, and theirs goes to the ledger beside them.
  void add_weights(const std::filesystem::path& file, const surefoot::learning::Posterior& posterior);
  /// Whether looks are written down anywhere.
  [[nodiscard]] bool kept() const { return !record_.ledgers.empty(); }

  /// What is to be looked at. InputError if it was before.
  void announce(const std::vector<surefoot::certify::SampleRange>& ranges, const std::string& subject);
  /// After the work, before its results are shown: writes the looks down.
  [[nodiscard]] std::vector<surefoot::certify::SampleProvenance> record();
  /// Both, for a certificate whose variants were counted on these samples, one range each.
  void record_in(surefoot::certify::Certificate& certificate,
                 const std::vector<surefoot::certify::SampleRange>& ranges, const std::string& subject);

 private:
  surefoot::certify::LookRecord record_;
  std::string by_;
  std::string request_;
  std::vector<surefoot::certify::Look> looks_;
};
