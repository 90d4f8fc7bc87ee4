#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/evidence.hpp"
#include "surefoot/core/text_table.hpp"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::runs {
class Tally;
struct TallySpec;
}  // namespace surefoot::runs

namespace surefoot::certify {

class ClaimChecker;
class Fields;
class JsonText;
class LearnedRisk;
class WorstCaseBounds;
struct Options;
struct Voice;

/// Sizes that decide how many losses PAC-Bayes claims need.
struct LossShape {
  Index steps = 0;  ///< to certify
  Index tolerances = 0;
  Index grid = 0;
  Index columns = 0;  ///< recorded steps
};

/// A clause to quote and the variant it is about.
struct QuotedClause {
  std::size_t variant = 0;
  std::string clause;
};

/// What stands around the tables of a kind.
struct SectionWords {
  std::string heading;             ///< "Success rates"
  std::string caption;             ///< above the table on a terminal
  std::string introduction;        ///< above the table in the page
  std::vector<std::string> notes;  ///< below it
  bool asks = false;               ///< the page lets readers pick a claim of the table and read its sentence
};

/// Runs below a tolerance at a step, as a claim counts them.
struct CountBelow {
  std::size_t variant = 0;
  Index step = 0;
  double tolerance = 0;
  Index runs = 0;
};

/// A line of curves.csv.
struct CurveRow {
  std::size_t variant = 0;
  Index step = 0;
  double parameter = 0;  ///< tolerance or quantile
  double empirical = 0;
  double bound = 0;
  std::string_view method;
  Index samples = 0;
  Index count = 0;  ///< failures, or the rank of an order statistic
  double delta = 0;
  double with_worst_case = 0;  ///< the bound, where there is no worst case
};

/// Everything there is to ask of one kind of claim: what it counts, its bound, its text, its check, its words
/// and its table. kinds.cpp lists the kinds; nothing else knows how many there are. KindOf (kind_of.hpp)
/// answers what follows from the list of a claim's fields.
class ClaimKind {
 public:
  ClaimKind() = default;
  ClaimKind(const ClaimKind&) = delete;
  ClaimKind& operator=(const ClaimKind&) = delete;
  virtual ~ClaimKind() = default;

  /// In options: "success".
  [[nodiscard]] virtual std::string_view name() const = 0;
  /// In the certificate's text: "success_rate", a part (parts.hpp) and the list of the claims.
  [[nodiscard]] virtual std::string_view part() const = 0;
  /// One claim: "success rate".
  [[nodiscard]] virtual std::string_view singular() const = 0;
  /// Several: "success rates".
  [[nodiscard]] virtual std::string_view plural() const = 0;
  /// Whether it can be claimed of such rows; `require_claimed_of` throws InputError with the reason.
  [[nodiscard]] virtual bool claimed_of(Sampling sampling) const { return sampling != Sampling::sequence; }
  void require_claimed_of(Sampling sampling) const;
  /// Whether it is claimed, where it can be, unless a user says otherwise.
  [[nodiscard]] virtual bool by_default() const { return false; }
  /// Whether its claims may be made at every number of runs at once (bounds::RiskMethod::anytime).
  [[nodiscard]] virtual bool can_hold_anytime() const { return false; }
  /// Whether the list stands in every certificate, also empty: so it is in those of the first releases. Lists
  /// of later kinds are written where there are claims.
  [[nodiscard]] virtual bool always_listed() const { return false; }
  /// Of its section in the page and of the file of its table: "success".
  [[nodiscard]] virtual std::string_view section_id() const { return name(); }
  /// Sentences and tables come in the order of this number.
  [[nodiscard]] virtual int place() const { return 100; }

  /// What the tally must hold beyond counts at every step and tolerance.
  virtual void prepare(const Options& options, runs::TallySpec& spec) const;
  /// Claims of one variant that the confidence pays for.
  [[nodiscard]] virtual Index paid_claims(const Options& options, const runs::TallySpec& spec) const = 0;
  /// Whether a claim of this share of problems can say something of so many runs, if all of them are good. By
  /// their number alone; false also of kinds that claim no shares.
  [[nodiscard]] virtual bool supports(const Options& options, double share, Index runs, double delta) const;
  /// The part of what is left of the confidence that it takes beside kinds that were declared; 0: it is one
  /// of these, which share the rest equally.
  [[nodiscard]] virtual double free_share() const { return 0; }
  /// Adds the claims about a variant, each of confidence 1 - delta.
  virtual void make(const Options& options, std::size_t variant, const runs::Tally& tally, double delta,
                    Certificate& certificate) const = 0;

  /// PAC-Bayes: losses of one claim, and of all claims of the kind; 0 if the kind has no such claims.
  [[nodiscard]] virtual Index losses_of_one(const LossShape& shape) const;
  [[nodiscard]] virtual Index losses_of_all(const LossShape& shape) const;
  virtual void make_learned(const Options& options, std::size_t variant, const runs::Tally& tally,
                            LearnedRisk& risk, double delta, Certificate& certificate) const;

  [[nodiscard]] virtual Index size(const Certificate& certificate) const = 0;
  /// Delta of each of its claims; 0 if there are none.
  [[nodiscard]] virtual double delta(const Certificate& certificate) const = 0;
  virtual void write(JsonText& text, const Certificate& certificate, const WorstCaseBounds& worst) const = 0;
  virtual void read(const Fields& claims, Certificate& certificate) const = 0;
  /// Its fields, and what finds a change in them.
  [[nodiscard]] virtual std::vector<FieldCheck> fields() const = 0;

  /// The name of its share of the confidence, and how many claims the share pays for.
  [[nodiscard]] virtual std::string purpose(const Certificate& certificate) const;
  [[nodiscard]] virtual Index paid_claims(const Certificate& certificate) const;
  /// How many claims follow from what is declared; `at_steps`: pairs of variant and declared step.
  [[nodiscard]] virtual Index declared(const Certificate& certificate, Index at_steps) const = 0;
  /// What the options must say beyond the declarations to make the claims again.
  virtual void restore(const Certificate& certificate, Options& options) const;
  [[nodiscard]] virtual bool made_twice(const Certificate& certificate) const = 0;
  /// Counts that claims of other kinds must not contradict (consistency.cpp).
  [[nodiscard]] virtual std::vector<CountBelow> counts_below(const Certificate& certificate) const;
  /// Every claim recomputed from its counts.
  virtual void check(const Certificate& certificate, ClaimChecker& checker) const = 0;
  /// What differs between the claims and those of a recount of the variant's data; a line each.
  [[nodiscard]] virtual std::vector<std::string> recount(const Certificate& certificate, std::size_t variant,
                                                         const runs::Tally& tally) const = 0;

  /// Whether some claim says nothing, the worst case included.
  [[nodiscard]] virtual bool says_nothing_somewhere(const Certificate& certificate,
                                                    const WorstCaseBounds& worst) const = 0;
  /// Clauses worth quoting about a variant; `joined`: several claims may share one.
  [[nodiscard]] virtual std::vector<std::string> clauses(const Certificate& certificate, std::size_t variant,
                                                         const WorstCaseBounds& worst, const Voice& voice,
                                                         bool joined) const = 0;
  /// The one clause to quote if there is room for one; none if another kind should be asked.
  [[nodiscard]] virtual std::optional<QuotedClause> best_clause(const Certificate& certificate,
                                                                const WorstCaseBounds& worst,
                                                                const Voice& voice) const;
  /// What the claims mean beyond their sentences, what they do not say, and what they assume (a wording never
  /// changes: sentences.hpp).
  [[nodiscard]] virtual std::vector<std::string> meaning(const Certificate& certificate) const;
  [[nodiscard]] virtual std::vector<std::string> limits(const Certificate& certificate) const;
  [[nodiscard]] virtual std::vector<std::string> assumptions(const Certificate& certificate,
                                                             int wording) const;

  [[nodiscard]] virtual SectionWords section(const Certificate& certificate) const = 0;
  /// Whether each variant has a table of its own, with a row per step; otherwise one table has all.
  [[nodiscard]] virtual bool table_per_variant() const { return true; }
  /// The same for a certificate: scalars of all variants stand in one table, a row each.
  [[nodiscard]] bool table_per_variant(const Certificate& certificate) const {
    return table_per_variant() && !certificate.scalar;
  }
  [[nodiscard]] virtual TextTable table(const Certificate& certificate, std::size_t variant,
                                        const std::vector<Index>& steps) const = 0;
  /// Lines of curves.csv.
  [[nodiscard]] virtual std::vector<CurveRow> curve(const Certificate& certificate,
                                                    const WorstCaseBounds& worst) const;
  /// Leaves claims at these tolerances, so that a terminal is not flooded.
  virtual void keep_tolerances(const std::vector<double>& tolerances, Certificate& certificate) const = 0;
};

/// All kinds, in the order of the certificate's text.
const std::vector<const ClaimKind*>& claim_kinds();
/// In the order of sentences and tables.
const std::vector<const ClaimKind*>& claim_kinds_to_show();
/// The kind of that name; InputError lists the names.
const ClaimKind& claim_kind(std::string_view name);

}  // namespace surefoot::certify
