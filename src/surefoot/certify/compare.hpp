#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/claim_text.hpp"

#include <optional>
#include <string>
#include <utility>
#include <vector>

/// Two certificates side by side: what is provably better and what is not (docs/guarantees.md, "Comparing two
/// certificates").
///
/// A certificate bounds from one side: success rates from below, quantiles and budgets from above. "A is
/// better than B" also needs B bounded from the other side. That bound comes from the counts of B's success
/// claims: with S successes among N runs, P(phi_k < eps) <= u with P(Bin(N, u) <= S) = delta_each, except
/// with probability delta_each. These opposite bounds are new claims and are paid for by a delta of their
/// own. From u < Q it follows, at no further cost, that the Q-quantile of phi_k is at least eps and that the
/// Q-quantile of the settling time (and the first step from which each has a share Q below eps) is beyond k.
/// A certificate without success rates has its budgets: of N times the l-th smallest is at most their
/// Q-quantile, except with probability P(Bin(N, Q) < l) <= delta_each, and a budget says of some steps that
/// fewer than l have reached the tolerance by then.
namespace surefoot::certify {

struct CompareOptions {
  double delta = 0.01;  ///< of all opposite bounds together
  /// Names of a variant of the first and one of the second; empty: variants of the same name, or the only
  /// two.
  std::vector<std::pair<std::string, std::string>> variants;

  void validate() const;
};

enum class Verdict { a_is_better, b_is_better, not_shown };

/// A number that lies in [low, high]: each end holds unless it is the trivial one.
struct Range {
  double low = 0;
  double high = 1;
};

/// P(phi_step < tolerance), larger is better; [0, 1] is trivial.
struct SuccessComparison {
  Index step = 0;
  double tolerance = 0;
  Range a;
  Range b;
  Verdict verdict = Verdict::not_shown;
};

/// The quantile of phi_step, smaller is better; (-inf, inf) is trivial.
struct QuantileComparison {
  Index step = 0;
  double quantile = 0;
  Range a;
  Range b;
  Verdict verdict = Verdict::not_shown;
};

/// Steps needed: more than one, at most the other; none is trivial.
struct StepRange {
  std::optional<Index> more_than;
  std::optional<Index> at_most;
};

struct BudgetComparison {
  double tolerance = 0;
  double quantile = 0;
  bounds::BudgetMethod method = bounds::BudgetMethod::settling;
  StepRange a;
  StepRange b;
  Verdict verdict = Verdict::not_shown;
};

struct VariantComparison {
  std::size_t a = 0;  ///< place among the variants of A
  std::size_t b = 0;
  std::vector<SuccessComparison> success;
  std::vector<QuantileComparison> quantile;
  std::vector<BudgetComparison> budget;
};

struct Comparison {
  double delta_a = 0;
  double delta_b = 0;  ///< 0 where B is A
  double delta_opposite = 0;
  double delta = 0;  ///< the sum, rounded up: all verdicts hold together with confidence 1 - delta
  bool together =
      true;  ///< false: one certificate covers its claims one by one only, so each verdict alone holds
  Index opposite_bounds = 0;
  double delta_each = 0;  ///< of each opposite bound
  std::vector<VariantComparison> pairs;
  std::vector<std::string> remarks;  ///< what cannot be compared and why
};

/// InputError if the metrics or units differ, if no variants can be paired, or if nothing of the two can be
/// compared. `same`: both are one and the same certificate, whose confidence is then spent once.
Comparison compare(const Certificate& a, const Certificate& b, const CompareOptions& options = {},
                   bool same = false);

/// A certificate whose variants are ranked; each once.
struct ToRank {
  std::string source;
  const Certificate* certificate = nullptr;
};

/// A variant between its ends, and the places that it can have: 1 is best.
struct RankedVariant {
  std::string name;  ///< with its source where another has the same
  std::string source;
  Range rate;       ///< of a success rate
  StepRange steps;  ///< of a budget
  bounds::BudgetMethod method = bounds::BudgetMethod::settling;
  Index first = 1;  ///< one more than those that are provably better
  Index last = 1;   ///< all but those that it is provably better than
};

/// All variants by one claim, the best places first. Two whose places overlap are a tie unless their ends say
/// otherwise: these samples do not decide between them.
struct Ranking {
  ClaimText claim;
  double delta = 0;       ///< all rankings together hold with confidence 1 - delta
  double delta_each = 0;  ///< of each bound from the other side
  std::vector<RankedVariant> variants;

  /// Whether the first is provably better than every other one.
  [[nodiscard]] bool has_best() const { return !variants.empty() && variants.front().last == 1; }
};

/// By "below VALUE after K" (the success rate; of scalars "at most VALUE") or "SHARE% below VALUE"
/// (iterations needed). Every variant of every certificate is bounded from both sides; `delta` is shared
/// among the bounds from the other side, one for each variant and claim. InputError says what cannot be
/// ranked.
std::vector<Ranking> rank_variants(const std::vector<ToRank>& certificates,
                                   const std::vector<ClaimText>& claims, double delta);

}  // namespace surefoot::certify
