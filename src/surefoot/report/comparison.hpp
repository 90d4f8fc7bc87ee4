#pragma once

#include "surefoot/certify/compare.hpp"
#include "surefoot/report/report.hpp"
#include "surefoot/report/text_table.hpp"

#include <string>
#include <vector>

/// Two certificates side by side, for a terminal, for programs and as a page.
namespace surefoot::report {

/// One of the two: its file and what it says.
struct Compared {
  std::string source;
  std::string digest;
  certify::Certificate certificate;
};

/// What is provably better, sentence by sentence: iterations needed, then success rates for each tolerance:
/// for ranges of iterations where all verdicts hold together. Where each holds alone, a sentence is about one
/// iteration, for a range is a claim about all of its iterations; of many, those that tables show.
std::vector<std::string> verdict_sentences(const Compared& a, const Compared& b,
                                           const certify::VariantComparison& pair, bool together);

TextTable compared_budget_table(const Compared& a, const Compared& b, const certify::VariantComparison& pair);
/// At the given steps; all if there are none.
TextTable compared_success_table(const Compared& a, const Compared& b, const certify::VariantComparison& pair,
                                 const std::vector<Index>& steps = {});
TextTable compared_quantile_table(const Compared& a, const Compared& b,
                                  const certify::VariantComparison& pair,
                                  const std::vector<Index>& steps = {});

std::string terminal_text(const Compared& a, const Compared& b, const certify::Comparison& comparison);
/// Every range and verdict with all digits; an end that says nothing is null.
std::string comparison_json(const Compared& a, const Compared& b, const certify::Comparison& comparison);
/// Places, ends, who is best and who is tied; for programs.
std::string ranking_text(const certify::Certificate& certificate,
                         const std::vector<certify::Ranking>& rankings);
std::string ranking_json(const std::vector<certify::Ranking>& rankings);
/// The same as a page, with ranking.json and tables for papers.
Report ranking_report(const std::vector<Compared>& certificates,
                      const std::vector<certify::Ranking>& rankings);

/// report.html, figures, and the tables for papers.
Report comparison_report(const Compared& a, const Compared& b, const certify::Comparison& comparison,
                         const PlotOptions& options = {});

}  // namespace surefoot::report
