#pragma once

#include "surefoot/certify/count_journal.hpp"
#include "surefoot/core/types.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/report/figure.hpp"
#include "surefoot/worst_case/optimize_steps.hpp"
#include "surefoot/worst_case/proof_file.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// Worst cases of a method after many numbers of steps, with their proofs: what `worst-case` does.
namespace surefoot::experiments {

/// "70", "1,2,5" or "1..200", or parts of these: increasing, each once. InputError names the part.
std::vector<Index> parse_step_list(const std::string& text);

struct ProofRequest {
  worst_case::Question question;
  std::vector<Index> steps;  ///< increasing
  double start = 1;          ///< bound on the distance or the gap at the start, as the question says

  void validate() const;
  /// ResourceError if proofs of so many steps need more memory than is there, or than the limit.
  void require_memory(std::uint64_t limit) const;
};

/// Proves them one after the other, a part of the journal: what an earlier process has proven is replayed,
/// not searched again. Numbers of steps without a proof are left out.
worst_case::ProofFile prove(const ProofRequest& request, certify::CountJournal& journal);

/// The closed form that is known for this question after so many steps, at the start of the proof.
std::optional<double> formula_of(const worst_case::ProofFile& proof, Index steps);

/// The table for the terminal, and the numbers alone, a line for each of `steps`.
std::string proof_text(const worst_case::ProofFile& proof);
std::string proof_numbers(const worst_case::ProofFile& proof, const std::vector<Index>& steps);
/// What a search for steps found, as options.
std::string optimized_text(const worst_case::OptimizedSteps& found);

/// Proven bounds, and the formula beside them.
report::Figure proof_figure(const worst_case::ProofFile& proof);
/// Whether a file of a folder is one of a proof.
bool is_file_of_proof(const std::filesystem::path& name);
/// proof.json and, for more than one bound, the figure; what goes wrong with it is told to the host.
void write_proof(const worst_case::ProofFile& proof, io::ResultFolder& folder);

}  // namespace surefoot::experiments
