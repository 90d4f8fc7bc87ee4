#pragma once

#include <cstddef>
#include <string>
#include <string_view>

/// What the files of reports are called, here alone: add_figure() and add_table() take these names (with _1,
/// _2,
/// ... where there are several variants or pairs), and is_report_file() knows them again.
namespace surefoot::report::file_names {

inline constexpr const char* certificate = "certificate.json";
inline constexpr const char* traces = "traces.npy";
inline constexpr const char* terminations = "terminations.csv";
inline constexpr const char* curves = "curves.csv";
inline constexpr const char* comparison = "comparison.json";
inline constexpr const char* page = "report.html";
inline constexpr const char* success = "success";  ///< figure and table
inline constexpr const char* quantiles = "quantiles";
inline constexpr const char* distribution = "distribution";  ///< figure of scalars
inline constexpr const char* confidence = "confidence";
inline constexpr const char* ranking = "ranking";  ///< table
inline constexpr const char* ranking_record = "ranking.json";
inline constexpr const char* compared_iterations = "compared_iterations";
inline constexpr const char* compared_success = "compared_success";
inline constexpr const char* compared_quantiles = "compared_quantiles";

/// Variants of a certificate, problem by problem: "paired.json", or "paired_1.json", ... of several.
inline constexpr const char* paired_summary = "paired.md";
std::string paired(std::size_t number, std::size_t count);
bool is_paired(std::string_view name);

}  // namespace surefoot::report::file_names
