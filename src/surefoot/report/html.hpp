#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/report/plot.hpp"

#include <string>
#include <vector>

namespace surefoot::report {

/// A figure as it stands in the page: its panels as SVG ready to be inlined, or why there are none.
struct PageFigure {
  std::string caption;
  std::vector<std::string> panels;
  std::string notice;
};

/// Draws the panels of a figure; ids in them begin with the figure's name and the panel's number.
PageFigure page_figure(const Figure& figure, const PlotOptions& options = {});

/// report.html: one page without scripts and without anything from the network.
std::string report_html(const certify::Certificate& certificate, const std::vector<PageFigure>& figures);

}  // namespace surefoot::report
