#pragma once

#include "surefoot/core/text_table.hpp"
#include "surefoot/core/types.hpp"

#include <optional>
#include <string>
#include <vector>

namespace surefoot::experiments {

/// `surefoot plan`: how many runs a claim needs, before any is made.
struct PlanOptions {
  double share = 0.99;             ///< that is to succeed
  double delta = 0.01;             ///< the claim may be false with this probability
  std::optional<double> expected;  ///< assumed failure rate, for the chance that the claim comes out
  double chance = 0.9;             ///< of it that is wanted
  std::optional<double> seconds_per_run;

  void validate() const;
};

/// With `samples` runs the claim holds if at most `failures` of them fail.
struct PlanRow {
  Index failures = 0;
  Index samples = 0;             ///< 0: more than any number we take
  Index looking = 0;             ///< if it is looked at again after every run; 0 as above
  std::optional<double> chance;  ///< that at most `failures` fail at the expected rate
};

struct Plan {
  std::vector<PlanRow> rows;  ///< 0, 1, 2, ... failures
  std::optional<PlanRow>
      wanted;  ///< the first with the chance that is wanted; none if there is no such number
};

Plan plan(const PlanOptions& options);

/// What is printed.
TextTable plan_table(const PlanOptions& options, const Plan& plan);
std::string plan_sentence(const PlanOptions& options, const Plan& plan);

}  // namespace surefoot::experiments
