#pragma once

#include "surefoot/bounds/paired.hpp"
#include "surefoot/certify/claim_text.hpp"
#include "surefoot/core/types.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Two optimizers that ran on the same problems: row i of both tables is problem i. Each problem is its own
/// control, so far fewer of them show a difference than two certificates need (docs/howto_compare.md).
///
/// Of every success claim: on how many problems one succeeds and the other fails; the exact sign test of who
/// is better, both ways; the difference of the success rates from below and from above (bounds/paired.hpp).
/// Of the settling times T at a tolerance: on which share of problems one is below it for good strictly
/// earlier (Clopper-Pearson), and the ratios T_B/T_A and T_A/T_B as one number per problem, whose quantiles
/// are bounded by order statistics. One number per problem (a scalar) is compared as settling times are. All
/// of it together holds with probability 1 - delta (union).
namespace surefoot::certify {

/// What is compared, declared before the results are seen.
struct PairedOptions {
  double delta = 0.01;                   ///< of everything that is said, in total
  std::vector<ClaimText> claims;         ///< successes: "below 1e-2 after 30"; without shares
  std::vector<double> tolerances;        ///< at which settling times are compared, increasing; may be empty
  std::vector<double> shares{0.5, 0.9};  ///< of problems, for ratios of settling times
  /// How much lower the success rate of the second may be, in [0, 1). With it the two bounds of the
  /// difference are all that is said of a claim.
  std::optional<double> allow;
  /// One number per problem: claims have no iterations, and the numbers themselves are compared instead of
  /// settling times, unless there is `allow`.
  bool scalar = false;
  std::string metric = "value";  ///< what that number is called
  /// All of it holds at every number of problems at once, which then need not be fixed beforehand. With
  /// `allow` it does anyway.
  bool anytime = false;

  void validate() const;
};

/// What is kept of the runs of one of the two.
class PairedRuns {
 public:
  /// InputError if a claim speaks of a step that was not recorded.
  PairedRuns(std::string name, std::vector<Index> steps, const PairedOptions& options);

  /// spec.steps.size() numbers; from the first infinite or NaN entry on, the run has failed.
  void add_run(const double* values);

  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const std::vector<Index>& steps() const { return steps_; }
  [[nodiscard]] Index runs() const { return runs_; }
  [[nodiscard]] bool succeeds(std::size_t claim, Index run) const;
  /// Quantities that are compared: a settling time by tolerance, or the number of a scalar.
  [[nodiscard]] std::size_t quantities() const {
    return scalar_ ? (counts_amounts_ ? 1 : 0) : tolerances_.size();
  }
  /// The first step from which on the run stays below the tolerance, or the number; infinite if there is
  /// none.
  [[nodiscard]] double amount(std::size_t quantity, Index run) const;

 private:
  struct Columns {  // of a claim: all of [first, last) must succeed
    std::size_t first = 0;
    std::size_t last = 0;
    double value = 0;
    bool strict = true;
  };
  std::string name_;
  std::vector<Index> steps_;
  bool scalar_;
  bool counts_amounts_;
  std::vector<Columns> claims_;
  std::vector<double> tolerances_;
  Index runs_ = 0;
  std::vector<bool> succeeds_;   // run x claim
  std::vector<double> amounts_;  // run x quantity
};

/// An undecided comparison is asked up to so many problems how many would decide it.
inline constexpr Index most_pairs_needed = 10'000'000;

enum class PairedVerdict { a_is_better, b_is_better, not_shown };
/// Of `allow`: whether the second is proven to be worse by no more, or by more.
enum class Decision { not_worse, worse, undecided };

struct PairedSuccess {
  ClaimText claim;
  Index both = 0;
  Index only_a = 0;
  Index only_b = 0;
  Index neither = 0;
  PairedVerdict verdict = PairedVerdict::not_shown;  ///< by the sign test; not with `allow`
  double lower = -1;                                 ///< of the success rate of B less that of A
  double upper = 1;
  std::optional<Decision> decision;  ///< with `allow`
  /// Where it is undecided: problems in all after which it would be decided if the counts grew in proportion;
  /// none if most_pairs_needed are not enough.
  std::optional<Index> needed;

  [[nodiscard]] bounds::PairedCounts counts() const { return {only_b, only_a, both + neither}; }
};

/// An order statistic of ratios, and how many problems are below it and at most it.
struct PairedQuantile {
  double value = infinity;
  Index below = 0;
  Index at_most = 0;
};

struct PairedRatio {
  double share = 0;
  Index rank = 0;           ///< of the order statistic; 0: there are too few problems
  PairedQuantile b_over_a;  ///< on this share of problems B takes at most so many times what A takes
  PairedQuantile a_over_b;
};

struct PairedTimes {
  std::optional<double> tolerance;  ///< none: of scalars, the numbers themselves
  Index b_earlier = 0;
  Index a_earlier = 0;
  Index ties = 0;              ///< the same, or neither settles
  double share_b_earlier = 0;  ///< at least
  double share_a_earlier = 0;
  std::vector<PairedRatio> ratios;
};

/// A table that runs were read from.
struct PairedTable {
  std::string source;
  std::string sha256;
};

struct PairedComparison {
  std::string a;
  std::string b;
  Index pairs = 0;
  double delta = 0;
  double delta_each = 0;
  std::optional<double> allow;
  bool scalar = false;
  bool anytime = false;
  std::string metric;
  std::vector<double> shares;
  std::vector<PairedTable> tables;
  std::vector<PairedSuccess> success;
  std::vector<PairedTimes> times;
};

/// InputError unless both have runs of the same problems: as many of them, and at the same steps.
PairedComparison compare_paired(const PairedRuns& a, const PairedRuns& b, const PairedOptions& options);

/// All that follows from the counts and the declarations; ratios keep their values.
void conclude(PairedComparison& comparison);

/// "below 1e-2 after 30" for each tolerance and each of four steps, evenly from a quarter of the recorded
/// ones to the last: what is compared unless a user says otherwise. Depends on the shape of the tables only.
std::vector<ClaimText> default_paired_claims(const std::vector<double>& tolerances,
                                             const std::vector<Index>& recorded);

/// All of them not worse: not_worse; one worse: worse.
Decision decision_of_all(const PairedComparison& comparison);

/// Sentences that may be quoted, one for each thing that is shown; those of `allow` also where nothing is.
std::vector<std::string> paired_sentences(const PairedComparison& comparison);

/// As printed: counts, sentences, what is assumed.
std::string to_text(const PairedComparison& comparison);
/// Everything, with counts from which paired_record.hpp computes it again.
std::string to_json(const PairedComparison& comparison);
/// A test case for each claim: passed if not worse, failed if worse, skipped if undecided.
std::string junit_text(const PairedComparison& comparison);
std::string markdown_text(const PairedComparison& comparison);

}  // namespace surefoot::certify
