#pragma once

#include "surefoot/experiments/run_family.hpp"
#include "surefoot/experiments/tuning.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Settings of OSQP and SCS on a family of the user's own: what `tune qp` and `tune cone` search.
namespace surefoot::experiments {

/// Settings that can be searched, and those that are unless a user says otherwise.
std::vector<SettingAxis> osqp_axes();
std::vector<SettingAxis> scs_axes();
std::string usual_osqp_axes();
std::string usual_scs_axes();

/// The package as it is installed with other settings. Where rho (scale) is searched and adapting it is not,
/// it is fixed: what is found would otherwise be changed by the first adaptation.
algorithms::OsqpOptions osqp_with(const SettingTexts& settings, Index iterations);
algorithms::ScsOptions scs_with(const SettingTexts& settings, Index iterations);

struct FamilyTuneOptions {
  TuneOptions tune;
  std::string over;                   ///< axes as text; empty: the usual ones
  std::string metric = "optimality";  ///< of runs/named_metric.hpp
  Index iterations = runs::usual_iterations;
  bool allow_dependence = false;
  std::uint64_t memory_limit = 0;  ///< 0: what is there

  void validate() const;
};

/// The axes that are searched; InputError, which begins with --over, if there is a value that the solver does
/// not take: one with a fraction where it has whole numbers, say.
std::vector<SettingAxis> osqp_axes_of(const FamilyTuneOptions& options);
std::vector<SettingAxis> scs_axes_of(const FamilyTuneOptions& options);

/// A solver on chosen problems of a family.
struct SubsetSolver {
  std::shared_ptr<const void> problems;
  std::unique_ptr<algorithms::Operator> op;
};

/// A family whose solver is tuned.
class FamilyTunable final : public Tunable {
 public:
  [[nodiscard]] const SettingSpace& space() const override { return space_; }
  [[nodiscard]] bool has_default() const override { return true; }
  [[nodiscard]] std::optional<SettingValues> default_candidate() const override { return default_candidate_; }
  [[nodiscard]] std::string metric() const override { return metric_.name; }
  [[nodiscard]] std::string unit() const override { return metric_.unit; }
  [[nodiscard]] Index iterations() const override { return options_.iterations; }
  std::vector<std::vector<double>> times(const std::vector<TuneWork>& works, double tolerance) override;
  TuneTraces traces(const std::optional<SettingValues>& candidate, Part problems) override;

  [[nodiscard]] Index problems() const { return problems_; }
  /// Dependence between the problems that are certified. InputError if there is any and it is not allowed,
  /// and if those that settings are chosen by are not independent of them.
  [[nodiscard]] certify::Independence independence(const TuneSplit& split, const std::string& name) const;
  /// The solver's own words of its settings, as JSON; none: of the default.
  [[nodiscard]] std::string settings(const std::optional<SettingValues>& candidate) const;
  [[nodiscard]] SettingTexts texts(const SettingValues& candidate) const { return space_.texts(candidate); }

  /// Settings as a solver on some of the problems; none: the default.
  using Make =
      std::function<SubsetSolver(const std::optional<SettingTexts>&, const std::vector<Index>& problems)>;
  /// What problems in this order show of dependence.
  using OfProblems = std::function<certify::Independence(const std::vector<Index>& problems)>;
  /// `is_default` says whether the package with these settings is the default.
  FamilyTunable(std::vector<SettingAxis> axes, const SettingTexts& defaults, FamilyTuneOptions options,
                Index problems, Make make, const std::function<problems::Table(const Interrupt&)>& solve,
                const std::function<bool(const SettingTexts&)>& is_default, OfProblems independence);

 private:
  [[nodiscard]] SubsetSolver solver(const std::optional<SettingValues>& candidate,
                                    const std::vector<Index>& problems) const;
  [[nodiscard]] runs::Metric metric_on(const algorithms::Operator& op,
                                       const std::vector<Index>& problems) const;
  void require_memory() const;

  SettingSpace space_;
  FamilyTuneOptions options_;
  Index problems_;
  Make make_;
  OfProblems independence_;
  std::optional<SettingValues> default_candidate_;
  problems::Table solutions_;  ///< of metrics that compare with them
  runs::Metric metric_;        ///< for its name and first step
};

/// Reads the problems. InputError if an axis is not known, or the target cannot be certified of so few
/// problems.
std::unique_ptr<FamilyTunable> tunable_qp(families::FamilyFiles& files, const FamilyTuneOptions& options);
std::unique_ptr<FamilyTunable> tunable_cone(families::FamilyFiles& files, const problems::Cones& cones,
                                            const FamilyTuneOptions& options);

/// What the certificate says of its runs: both settings, the search, the files.
std::string tune_record(const FamilyTunable& subject, const families::FamilyFiles& files,
                        const FamilyTuneOptions& options, const TuneResult& result);

}  // namespace surefoot::experiments
