#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_journal.hpp"
#include "surefoot/certify/guarantee.hpp"
#include "surefoot/certify/pac_bayes.hpp"
#include "surefoot/experiments/learned_setting.hpp"
#include "surefoot/experiments/looks.hpp"
#include "surefoot/families/sample_set.hpp"
#include "surefoot/learning/posterior.hpp"
#include "surefoot/report/text_table.hpp"

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace surefoot::experiments {

/// What can be guaranteed of trained weights, by every method side by side.

/// One of the posteriors that a certificate holds for.
struct Candidate {
  std::string name;  ///< of its variant
  learning::Posterior posterior;
  std::string source = {};  ///< file name, where it was read from one
  std::filesystem::path file = {};
};
Candidate load_candidate(const std::filesystem::path& file);

enum class GuaranteeKind {
  pac_bayes,        ///< from the training samples: KL charged, all claims together
  pac_bayes_paper,  ///< the same by the paper's accounting: 81 tolerances, six targets, each claim alone
  hold_out,         ///< new samples, weights drawn for each
  hold_out_means,   ///< new samples, the deterministic network at the means
  starts,           ///< the same beside other starts, of learned starts for the problems of a folder
};
inline constexpr std::array all_guarantees{GuaranteeKind::pac_bayes, GuaranteeKind::pac_bayes_paper,
                                           GuaranteeKind::hold_out, GuaranteeKind::hold_out_means,
                                           GuaranteeKind::starts};
std::string_view name(GuaranteeKind kind);
/// "pac-bayes, ..."
std::string guarantee_names();
GuaranteeKind parse_guarantee(const std::string& text);

struct GuaranteePlan {
  std::vector<GuaranteeKind> kinds{GuaranteeKind::pac_bayes, GuaranteeKind::pac_bayes_paper};
  double delta = certify::paper_learned_delta;  ///< of each certificate
  std::string metric = {};                      ///< of the model's; empty: the first
  std::vector<double> tolerances = {};          ///< empty: the metric's own
  std::vector<double> quantiles{0.1, 0.3, 0.5, 0.6, 0.8, 0.9, 0.95};
  Index draws = 1;        ///< R, weight vectors per sample
  Index paper_draws = 0;  ///< H of the paper's design; 0: count with R draws instead
  Index samples = 0;      ///< N; 0: those of the training
  Index first = 0;        ///< first of them, with `samples`
  /// Samples that nobody has looked at, for hold-out certificates.
  std::optional<NamedSamples> hold_out = std::nullopt;
  families::SampleSet hold_out_set = families::SampleSet::hold_out;
  Index seed = 0;                  ///< of the drawn weights
  std::optional<Candidate> prior;  ///< weights whose means are the prior mean
  std::string folder = {};         ///< of the problems, where they no longer lie where they were trained on
  certify::CountJournal* journal = nullptr;
  std::uint64_t memory_limit = 0;  ///< 0: what is there

  void validate() const;
};

/// The plan with everything that the model of these candidates decides: what is not given is filled in.
/// InputError if it cannot be carried out.
GuaranteePlan resolved(GuaranteePlan plan, const std::vector<Candidate>& candidates);

bool is_hold_out(GuaranteeKind kind);
/// The kinds that can be had of these weights on samples that are named, or without any: all that make sense
/// where a user names none. PAC-Bayes needs samples that nothing of the network was scaled by.
std::vector<GuaranteeKind> possible_kinds(const std::vector<Candidate>& candidates, bool hold_out,
                                          bool prior);

struct Guarantee {
  GuaranteeKind kind = GuaranteeKind::pac_bayes;
  bool split = false;  ///< the prior mean was trained on other samples
  certify::Certificate certificate;
  double seconds = 0;
  std::string finding = {};  ///< of `starts`: whether learning pays, in sentences
};

/// Certificates of every kind of the plan for candidates of one model, the candidates being the variants of
/// each. InputError if they are not of one model, or the prior mean is neither the model's own nor that of
/// weights trained on other samples.
std::vector<Guarantee> make_guarantees(const std::vector<Candidate>& candidates, const GuaranteePlan& plan);

/// The samples that hold-out certificates of these candidates and this plan are counted on.
certify::SampleRange hold_out_range(const std::vector<Candidate>& candidates, const GuaranteePlan& plan);

/// The rows of files that PAC-Bayes certificates of this plan are of, named as looks at them are; none where
/// samples are drawn or no such certificate is asked for.
std::optional<certify::SampleRange> bound_rows(const std::vector<Candidate>& candidates,
                                               const GuaranteePlan& plan);

/// "NMSE in dB"
std::string metric_in_unit(const certify::Certificate& certificate);

/// InputError where validation samples are not apart from those of certificates: rows of files are not.
void require_validation_set(const LearnedSetting& setting);

/// What is observed on validation samples 0 .. count-1 with drawn weights and at the means, under the plan's
/// tolerances and quantiles, after the last step. For looking as often as one likes: nothing is certified.
std::string observed_in_validation(const std::vector<Candidate>& candidates, GuaranteePlan plan, Index count);

/// "PAC-Bayes", "split prior", "hold-out": as columns and figures are headed.
std::string label(const Guarantee& guarantee);

/// The smallest bound of all variants on a quantile at a step, what that variant observed, and which it is;
/// infinity if there is no such claim.
struct BestQuantile {
  double certified = infinity;
  double observed = infinity;
  std::size_t variant = 0;
};
BestQuantile best_quantile(const certify::Certificate& certificate, double quantile, Index step);

/// Quantiles after the last step: observed, then the certified bound of each guarantee (the best of its
/// variants).
report::TextTable guarantee_table(const std::vector<Guarantee>& guarantees);

}  // namespace surefoot::experiments
