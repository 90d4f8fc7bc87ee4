#pragma once

#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_journal.hpp"
#include "surefoot/certify/provenance.hpp"
#include "surefoot/experiments/guarantees.hpp"
#include "surefoot/experiments/learned_setting.hpp"

#include <string>

/// Whether a learned start is worth its training: the same solver on the same new problems from other starts.
namespace surefoot::experiments {

struct StartComparison {
  certify::Certificate certificate;  ///< variants learned, cold, nearest and, where there is one, shifted
  /// Certified iterations side by side, how many fewer the learned start is shown to need, and whether
  /// learning pays.
  std::string finding;
};

/// Runs the starts on problems `range` of the weights' folder. Claims and comparisons hold together with
/// probability 1 - options.delta: half of delta is the certificate's, the other half that of bounds from the
/// other side, of each other start against the learned one (certify/compare.hpp). The nearest start is the
/// solution of the nearest training problem, by what the network sees; the shifted one is the folder's table
/// `start`, whose row i must be of problem i alone (a start that is the solution of the row before would make
/// rows depend on each other).
StartComparison compare_starts(const LearnedSetting& setting, const Candidate& weights,
                               const certify::SampleRange& range, certify::Options options,
                               certify::CountJournal* journal);

}  // namespace surefoot::experiments
