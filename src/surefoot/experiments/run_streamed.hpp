#pragma once

#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_journal.hpp"
#include "surefoot/experiments/run_family.hpp"
#include "surefoot/families/family_stream.hpp"

#include <functional>
#include <string>

/// A solver on a family of the user's own that is read block by block: what `run qp --stream` and `run cone
/// --stream` do. P and A are shared and held; memory does not depend on the number of problems.
namespace surefoot::experiments {

class StreamedRun {
 public:
  using SolverOf = std::function<SolverRun(families::FamilyStream::Vectors vectors)>;

  /// Refuses what cannot be certified, or needs all problems at once. `family` names it in errors.
  StreamedRun(const std::string& family, const families::FamilyFiles& files, families::FamilyStream& stream,
              SolverOf solver, FamilyRunOptions options, certify::Options claims);

  [[nodiscard]] const std::string& solver() const { return solver_name_; }
  [[nodiscard]] io::Configuration data() const { return data_of(files_); }
  [[nodiscard]] std::vector<RerunFile> rerun_files() const { return rerun_files_of(files_); }
  [[nodiscard]] certify::SampleRange problems() const {
    return problems_by_digest(files_, stream_.instances());
  }

  /// Runs all problems, counting as it goes; a part of the journal. InputError if a file has changed.
  [[nodiscard]] FamilyResult count(certify::CountJournal& journal);

 private:
  [[nodiscard]] SolverRun block(Index first, Index count) const;
  void require_memory(const algorithms::Operator& op) const;

  const families::FamilyFiles& files_;
  families::FamilyStream& stream_;
  SolverOf solver_;
  FamilyRunOptions options_;
  certify::Options claims_;
  std::string solver_name_;
  std::string record_;  ///< what the solver says of itself
  std::vector<Index> steps_;
  certify::Independence independence_;
};

/// The solvers on the vectors of a stream; `files` has P and A.
StreamedRun::SolverOf streamed_osqp(families::FamilyFiles& files, const algorithms::OsqpOptions& options);
StreamedRun::SolverOf streamed_scs(families::FamilyFiles& files, const algorithms::ScsOptions& options,
                                   const problems::Cones& cones);

}  // namespace surefoot::experiments
