#pragma once

#include "surefoot/experiments/tuning.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/problems/cone_program.hpp"
#include "surefoot/report/gnuplot.hpp"

#include <filesystem>
#include <string>
#include <vector>

/// What `tune` leaves besides the certificate: settings that programs read, and the search as a picture.
namespace surefoot::experiments {

namespace tune_names {
inline constexpr const char* settings = "tuned.toml";
inline constexpr const char* keywords = "tuned.json";
inline constexpr const char* snippet = "tuned.py";
inline constexpr const char* search = "search.json";
inline constexpr const char* paired = "paired.json";
inline constexpr const char* default_traces = "traces_default.npy";
inline constexpr const char* tuned_traces = "traces_tuned.npy";
inline constexpr const char* picture = "search";  ///< .svg and .pdf
}  // namespace tune_names

/// Whether a name inside an output folder is that of a file of `tune`, or of its certificate.
bool is_file_of_tuning(const std::filesystem::path& name);

/// Settings as options of `run qp` and `run cone` (--settings FILE); cones where there are some.
std::string settings_toml(const SettingTexts& settings, const std::string& solver, Index iterations,
                          const problems::Cones* cones);

/// Keyword arguments of the package, osqp or scs, as JSON, and as a module in Python whose function solver()
/// passes them on.
std::string settings_keywords(const SettingTexts& settings, const std::string& package);
std::string settings_snippet(const SettingTexts& settings, const std::string& package,
                             const std::string& what);

/// Left: every candidate by its first setting and the iterations that it takes on the problems of the search
/// that it ran on. Right: the race, the best candidate after each rung by the runs that were made.
std::string search_script(const Tunable& subject, const TuneOptions& options, const TuneResult& result,
                          report::ImageFormat format);

/// In words, for the page.
std::string search_caption(const Tunable& subject, const TuneResult& result);

}  // namespace surefoot::experiments
