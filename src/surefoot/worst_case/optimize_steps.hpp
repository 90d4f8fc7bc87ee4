#pragma once

#include "surefoot/worst_case/catalogue.hpp"
#include "surefoot/worst_case/proof.hpp"

namespace surefoot::worst_case {

struct OptimizedSteps {
  Question question;  ///< with the steps, and the momentum where the method has one; five digits each
  double bound = 0;   ///< proven for it, per unit of the start
  int evaluations = 0;
};

/// Step sizes, one for each of question.steps iterations (at most 8), and the momentum where the method has
/// one, with a small worst case: J. Nelder and R. Mead's simplex search (Computer Journal 7, 1965) on proven
/// bounds, from the given ones. The dual is convex in the multipliers for given steps, not in both; what is
/// found is a local minimum, and others may be smaller. InputError for methods without step sizes.
OptimizedSteps optimize_steps(Question question, const ProveOptions& options = {});

}  // namespace surefoot::worst_case
