#pragma once

#include "surefoot/certify/certificate.hpp"

#include <string>
#include <vector>

/// The certificate in words, the same on the terminal and in the page.
namespace surefoot::report {

/// Claims to quote: the opening, then what it covers, per variant.
struct Headline {
  struct Group {
    std::string variant;
    std::vector<std::string> claims;  ///< never empty: says so if there is no guarantee
  };
  std::string opening;  ///< "With confidence 0.99, all of these hold together: ..."
  std::vector<Group> groups;
};

Headline headline(const certify::Certificate& certificate);

/// One iteration budget as a sentence that stands alone, with its confidence; says so if there is no
/// guarantee.
std::string quotable(const certify::Certificate& certificate, const certify::BudgetClaim& claim);

/// The certificate in one sentence that stands alone, with its confidence: the largest share that it
/// promises, of the best variant; at a tolerance in the middle, or without budgets at the last step.
std::string summary_sentence(const certify::Certificate& certificate);

/// What the certificate says, and what it does not, in plain words; only what applies to it.
std::vector<std::string> what_it_says(const certify::Certificate& certificate);
std::vector<std::string> what_it_does_not_say(const certify::Certificate& certificate);

/// Whether some variant draws its weights anew for every problem.
bool draws_weights(const certify::Certificate& certificate);
/// Whether claims rest on PAC-Bayes: on the training samples themselves.
bool rests_on_pac_bayes(const certify::Certificate& certificate);

/// What "stay" means in budgets of method settling; empty if there are none.
std::string note_on_settling(const certify::Certificate& certificate);
/// What "-" in a table means for this certificate; empty if no bound is without content.
std::string note_on_no_guarantee(const certify::Certificate& certificate);
/// That budgets of method paper are outside the confidence; empty if there are none.
std::string note_on_paper_budgets(const certify::Certificate& certificate);

/// The metric with its unit, "NMSE (dB)", for axes and headings.
std::string metric_with_unit(const certify::Certificate& certificate);
/// "1e-3", "-20 dB": a value of the metric.
std::string with_unit(const certify::Certificate& certificate, const std::string& value);

}  // namespace surefoot::report
