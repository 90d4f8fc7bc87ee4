#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/report/figure.hpp"
#include "surefoot/report/gnuplot.hpp"
#include "surefoot/report/inline_svg.hpp"
#include "surefoot/report/text_table.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace surefoot::report {

/// A figure as it stands in the page: its panels as SVG ready to be inlined, or why there are none.
struct PageFigure {
  std::string caption;
  std::vector<std::string> panels;
  std::string notice;
  std::string chart = {};  ///< id of the chart that makes it interactive; empty: static
};

/// Draws the panels of a figure; ids in them begin with the figure's name and the panel's number.
PageFigure page_figure(const Figure& figure, const PlotOptions& options = {});

/// The same for a figure that is no certificate's: static, with its title as the caption.
PageFigure static_figure(const Figure& figure, const PlotOptions& options = {});

/// A figure with its caption; panels stand beside each other where there is room.
std::string figure_html(const PageFigure& figure);
/// All of them; the same notice (gnuplot is missing) is given once.
std::string figures_html(const std::vector<PageFigure>& figures);

/// A table of results beside those of others; table_SLUG.tex and .csv are its files.
struct ResultTable {
  std::string slug;
  std::string title;
  TextTable table;
  std::vector<std::string> remarks;  ///< the first is the verdict
};

/// The table with its remarks under a heading of this level; `folder` of its files, as the page sees it.
std::string result_table_html(const ResultTable& table, const std::string& folder, int level);

/// The assumptions on record, what does not follow, and, folded, what the claims mean in plain words.
std::string assumptions_html(const std::vector<std::string>& assumptions,
                             const std::vector<std::string>& says,
                             const std::vector<std::string>& does_not_say);

/// report.html: one page, with nothing from the network; figures are interactive where scripts run and static
/// elsewhere. The certificate is inside, and the page recomputes it. `compared`: the numbers of others.
std::string report_html(const certify::Certificate& certificate, const std::vector<PageFigure>& figures,
                        const std::vector<ResultTable>& compared = {});

/// The SHA-256 of the file of the certificate that such a page is of; empty if it does not say.
std::string certificate_of_page(std::string_view page);

}  // namespace surefoot::report
