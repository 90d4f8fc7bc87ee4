#pragma once

#include "surefoot/report/figure.hpp"

#include <optional>
#include <string>

/// Figures, drawn by the program gnuplot.
namespace surefoot::report {

enum class ImageFormat {
  svg,  ///< text stays text: for pages, which choose the font
  pdf,  ///< fonts embedded
};

struct PlotOptions {
  std::string gnuplot = "gnuplot";        ///< program, searched in PATH
  std::string pdftocairo = "pdftocairo";  ///< the same; makes outlined SVG of a PDF
};

/// The script, complete with its data; user text in it is quoted and inert.
std::string gnuplot_script(const Figure& figure, ImageFormat format);

struct Image {
  std::optional<std::string> content;  ///< none: see notice
  std::string notice;                  ///< why there is no image; empty if there is one
};

/// A PDF as an SVG whose letters are outlines: looks the same everywhere.
Image outlined(const Image& pdf, const std::string& name, const PlotOptions& options = {});

/// Runs gnuplot, without a shell and without the user's settings. Does not throw if it is missing, fails,
/// hangs or gives back a part.
Image render(const Figure& figure, ImageFormat format, const PlotOptions& options = {});

/// The same for a complete script that draws in this format; `name` stands in the notice.
Image render_script(const std::string& script, ImageFormat format, const std::string& name,
                    const PlotOptions& options = {});

}  // namespace surefoot::report
