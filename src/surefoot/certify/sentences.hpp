#pragma once

#include "surefoot/certify/certificate.hpp"

#include <string>
#include <string_view>
#include <vector>

/// The certificate in words, the same on the terminal, in the page, in the certificate itself and in Python.
///
/// The words are a part of the claim, so a certificate names the wording that made them and verify() makes
/// them again. A wording, once released, never changes: another word is another number, and the old texts
/// stay.
namespace surefoot::certify {

/// InputError unless this program knows the wording.
void require_known_wording(int wording);

/// The sentences that a person will quote, each complete in itself: confidence, variant (where there are
/// several), metric, share, tolerance and iterations. None in wording 1.
std::vector<std::string> statements_of(const Certificate& certificate, int wording = current_wording);

/// Claims to quote: the opening, then what it covers, per variant.
struct Headline {
  struct Group {
    std::string variant;
    std::vector<std::string> claims;  ///< never empty: says so if there is no guarantee
  };
  std::string opening;  ///< "With confidence 0.99, all of these hold together: ..."
  std::vector<Group> groups;
};

Headline headline(const Certificate& certificate);

/// How a sentence that stands alone begins. Every sentence that claims something takes its first words from
/// here or from headline(): what a claim rests on beyond the assumptions (rows that may not be independent)
/// goes in front of both.
std::string opening_of(const Certificate& certificate, std::size_t variant);

/// The certificate in one sentence that stands alone, with its confidence: the largest share that it
/// promises, of the best variant; at a tolerance in the middle, or without budgets at the last step.
std::string summary_sentence(const Certificate& certificate);

/// What the certificate says, and what it does not, in plain words; only what applies to it.
std::vector<std::string> what_it_says(const Certificate& certificate);
std::vector<std::string> what_it_does_not_say(const Certificate& certificate);

/// Whether some variant draws its weights anew for every problem.
bool draws_weights(const Certificate& certificate);

/// "A share of 99 % needs 459 runs without failure, you have 300.": why quantiles and budgets of some share
/// say nothing whatever the runs are; of the largest such share. Empty if there is none.
std::string lack_of_samples(const Certificate& certificate);
/// What "-" in a table means for this certificate; empty if no bound is without content.
std::string note_on_no_guarantee(const Certificate& certificate);
/// What certified numbers rest on where rows were found to be dependent; empty if that is not so.
std::string note_on_dependence(const Certificate& certificate);
/// What follows "stay": "below it (up to iteration 400)"; where steps in between were not recorded, "below it
/// at every recorded iteration (up to iteration 400)", for nothing is known of the others.
std::string staying(bool gaps, std::string_view horizon);

/// What is counted: "problems", "groups", or "ticks" of a log.
std::string_view things(const Certificate& certificate);
/// "problems", "groups (one per flight)", or "ticks".
std::string named_things(const Certificate& certificate);
/// What it means that a group is below a tolerance; empty where there are no groups.
std::string note_on_groups(const Certificate& certificate);

/// The metric with its unit, "NMSE (dB)", for axes and headings.
std::string metric_with_unit(const Certificate& certificate);
/// "1e-3", "-20 dB": a value of the metric.
std::string with_unit(const Certificate& certificate, const std::string& value);
/// Up to `count` of the values, evenly by place, with the first and the last.
std::vector<double> telling_values(const std::vector<double>& values, std::size_t count);

}  // namespace surefoot::certify
