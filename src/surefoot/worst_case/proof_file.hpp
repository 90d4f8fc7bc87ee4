#pragma once

#include "surefoot/worst_case/catalogue.hpp"
#include "surefoot/worst_case/proof.hpp"

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::worst_case {

/// What was proven for one number of steps.
struct ProvenBound {
  Index steps = 0;
  double bound = 0;  ///< what the multipliers prove for the file's start, rounded up
  Multipliers multipliers;
};

/// proof.json: a question for several numbers of steps, or a method of the user's own (then one bound), with
/// the multipliers that answer it.
struct ProofFile {
  Question question;  ///< its steps do not matter; unused if `own` is there
  std::optional<Method> own;
  double start = 1;  ///< dist0 or gap0
  std::vector<ProvenBound> bounds;
  std::string version;  ///< of Surefoot

  /// The method of one of the bounds.
  [[nodiscard]] Method method(const ProvenBound& bound) const;
};

/// Told of every number of steps that is done, one at a time, in no fixed order; none: no proof was found.
using StepDone = std::function<void(Index steps, const std::optional<ProvenBound>& found)>;

/// The proof of a question for each number of steps; rows without a proof are left out.
ProofFile prove_steps(const Question& question, const std::vector<Index>& steps, double start,
                      const ProveOptions& options = {}, const StepDone& done = {});
/// The proof of a method of one's own; no bounds if none was found.
ProofFile prove_method(const Method& method, double start, const ProveOptions& options = {});

/// As JSON with the SHA-256 of its own text, as a certificate.
std::string to_json(const ProofFile& proof);
/// The digest that to_json() writes.
std::string digest_of(const ProofFile& proof);

struct ParsedProof {
  ProofFile proof;
  std::string stated_digest;
  std::string computed_digest;
};
/// InputError for what is not a proof of this format version; fields that are not known are refused by name.
ParsedProof parse_proof(std::string_view text);
/// Whether a JSON text calls itself a proof.
bool is_proof(std::string_view text);

struct Replay {
  std::vector<std::string> findings;
  std::size_t bounds = 0;
  std::size_t proven = 0;
  [[nodiscard]] bool holds() const { return findings.empty(); }
};
/// Checks every bound from its multipliers alone; no solver is needed.
Replay replay(const ParsedProof& proof);

/// "proven: the residual |z^70 - z^69| is at most 0.0727549 for every 0.5-averaged operator if |z^0 - z*| <=
/// 1", one line for each bound.
std::vector<std::string> sentences(const ProofFile& proof);

}  // namespace surefoot::worst_case
