#pragma once

#include "surefoot/algorithms/operator.hpp"
#include "surefoot/certify/certificate.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/problems/matrix.hpp"
#include "surefoot/worst_case/proof_file.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// The part `worst_case` of a certificate: what no problem can exceed, with its proof, if what the user
/// states of the metric and of the start is a fact. Nothing in the samples can show that it is; they can show
/// that it is not.
namespace surefoot::certify {

/// What is said of the metric and of the start: the metric is the residual |z^k - z^(k-1)| of an operator of
/// this class, and |z^0 - z*| <= dist0.
struct StatedWorstCase {
  worst_case::Question question;
  double dist0 = 0;
  bool estimated = false;  ///< dist0 is an estimate: what follows is drawn and never used
  /// Declared by the operator that was run: the variables and the norm in which it is of the class. Empty:
  /// the class is the user's statement too.
  std::string variables = {};
};

/// "averaged:0.5" or "contractive:0.9" with one of the two distances; InputError names what does not fit.
StatedWorstCase parse_stated_worst_case(std::string_view text, std::optional<double> dist0,
                                        std::optional<double> estimated_dist0 = std::nullopt);

/// For runs of an operator from these starts (a row per instance; none: the cold start): what is stated must
/// be what the operator declares. Sets `variables`. InputError says why the operator has no class, that a
/// step is not of the stated one, or which start does not fit.
void require_declared(StatedWorstCase& stated, const algorithms::Operator& op, const problems::Table& starts);

/// Proves bounds (at the certificate's steps up to 20, at up to eight later ones, and at the first step below
/// each of up to eight tolerances; 1 .. 300), puts the proof into the certificate, and the statement among
/// its assumptions. InputError if there is no such step, no proof was found, or the counts show that the
/// statement is false.
void add_worst_case(Certificate& certificate, const StatedWorstCase& stated, const Interrupt& interrupt = {});

/// The proven bounds as claims use them.
///
/// For an averaged (or nonexpansive) operator and for a contraction, |z^{k+1} - z^k| = |T z^k - T z^{k-1}| is
/// at most |z^k - z^{k-1}|: a bound that is proven at a step holds at all later ones.
class WorstCaseBounds {
 public:
  /// None if the certificate has no worst case.
  explicit WorstCaseBounds(const Certificate& certificate);

  [[nodiscard]] bool present() const { return parsed_.has_value(); }
  [[nodiscard]] bool estimated() const { return estimated_; }
  /// Whether claims take the better of the two: there is a worst case, and dist0 is no estimate.
  [[nodiscard]] bool used() const { return present() && !estimated_; }
  [[nodiscard]] const worst_case::ParsedProof& parsed() const { return *parsed_; }
  [[nodiscard]] const worst_case::ProofFile& proof() const { return parsed_->proof; }
  [[nodiscard]] const std::string& variables() const { return variables_; }

  /// What no problem exceeds at a step; infinity where nothing is proven.
  [[nodiscard]] double at(Index step) const;
  /// The first proven step whose bound is below the tolerance.
  [[nodiscard]] std::optional<Index> below(double tolerance) const;

  /// The better of what the samples and what the worst case give; that of the samples unless used().
  [[nodiscard]] double better(const SuccessClaim& claim) const;
  [[nodiscard]] double better(const QuantileClaim& claim) const;
  [[nodiscard]] std::optional<Index> better(const BudgetClaim& claim) const;

 private:
  std::optional<worst_case::ParsedProof> parsed_;
  bool estimated_ = false;
  std::string variables_;
};

/// Whether the worst case gives some claim more than the samples do.
bool uses_worst_case(const Certificate& certificate);

/// "if the residual is |z^k - z^(k-1)| of a 0.5-averaged operator and |z^0 - z*| <= 26 for every problem, as
/// stated": what every sentence with a worst case begins or ends with; empty without one.
std::string worst_case_condition(const Certificate& certificate);
/// What marked numbers in tables and figures are; empty if the certificate has no worst case.
std::string note_on_worst_case(const Certificate& certificate);
/// Short, for the legend of a figure or the head of a column.
std::string worst_case_label(const Certificate& certificate);

/// What all of it rests on, in the words of the assumptions; none without a worst case.
std::optional<std::string> worst_case_assumption(const Certificate& certificate);

/// Claims to quote, without their condition: "the residual of every problem is below 0.1 after 40
/// iterations and ever after", for tolerances that it reaches, then the bound at the last proven step. Empty
/// for an estimate.
std::vector<std::string> worst_case_clauses(const Certificate& certificate);

/// A sentence for each proven step that says what it rests on, or that it is an estimate.
std::vector<std::string> worst_case_sentences(const Certificate& certificate);

/// What is wrong with the part: the proof replayed, its metric, its steps, and counts that contradict it.
std::vector<std::string> wrong_in_worst_case(const Certificate& certificate);

}  // namespace surefoot::certify
