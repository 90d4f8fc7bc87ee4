#include "surefoot/experiments/output.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace surefoot::experiments {

std::string to_csv(const report::TextTable& table) {
  std::string text;
  const auto add_cell = [&](std::size_t column, const std::string& cell) {
    text += (column > 0 ? "," : "") + report::csv_quoted(cell);
  };
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const report::Column& column = table.columns[j];
    add_cell(j, column.group.empty() ? column.header : column.group + ": " + column.header);
  }
  text += '\n';
  for (const auto& row : table.rows) {
    for (std::size_t j = 0; j < row.size(); ++j) add_cell(j, row[j]);
    text += '\n';
  }
  return text;
}

namespace {

std::string verdict(const Comparison& comparison) {
  if (!comparison.has_paper) return "The paper has no table of this metric.";
  return fmt::format("{} of {} bounds by the exact method are at least as tight as the paper's.",
                     comparison.cells_at_least_as_tight, comparison.cells_compared);
}

}  // namespace

void Output::write(const std::string& name, const std::string& content) {
  result_.write(std::filesystem::path(name).lexically_normal().generic_string(), content);
}

void Output::add_result(const std::string& subfolder) {
  result_.add(subfolder + '/' + io::manifest_name);
}

void Output::finish(const std::string& name, const std::string& content) {
  result_.finish({{name, content}});
}

void Output::notice(const std::string& text) {
  if (text.empty() || std::count(notices_.begin(), notices_.end(), text) > 0) return;
  notices_.push_back(text);
  host().say(text);
}

void Output::add(const Comparison& comparison) {
  const report::TextTable table = to_table(comparison);
  fmt::print("\n{}\n\n{}\n{}\n", comparison.title, report::to_text(table, "  "), verdict(comparison));
  std::string markdown =
      fmt::format("### {}\n\n{}\n{}\n", comparison.title, report::to_markdown(table), verdict(comparison));
  if (!comparison.worst_case_note.empty()) {
    fmt::print("{}", report::wrapped(comparison.worst_case_note, 110, "", ""));
    markdown += fmt::format("\n{}\n", comparison.worst_case_note);
  }
  for (const std::string& line : comparison.differences) {
    fmt::print("{}", report::wrapped(line, 110, "  - ", "    "));
    markdown += fmt::format("{}- {}\n", &line == &comparison.differences.front() ? "\n" : "", line);
  }
  write(fmt::format("table_{}.md", comparison.slug), markdown);
  std::vector<std::string> remarks{verdict(comparison)};
  if (!comparison.worst_case_note.empty()) remarks.push_back(comparison.worst_case_note);
  remarks.insert(remarks.end(), comparison.differences.begin(), comparison.differences.end());
  add_table({comparison.slug, comparison.title, table, std::move(remarks)});
}

void Output::add_table(const report::ResultTable& table) {
  write(fmt::format("table_{}.csv", table.slug), to_csv(table.table));
  write(fmt::format("table_{}.tex", table.slug), report::to_latex(table.table));
  record_.tables.push_back(table);
}

void Output::add(const report::Figure& figure) {
  report::Report papers;
  add_figure(papers, figure);
  add(papers, "");
  report::Figure named = figure;
  named.name = id_of(figure.name);
  record_.figures.push_back(report::static_figure(named));
  notice(record_.figures.back().notice);
}

void Output::add_image(const report::Image& image, const std::string& name) {
  notice(image.notice);
  if (image.content) write(name, *image.content);
}

void Output::add(certify::Certificate certificate, const std::string& subfolder,
                 const std::vector<report::PageFigure>& pictures, bool main) {
  certificate.rerun = rerun_(subfolder);
  // The main certificate's page has the paper's numbers, whose files lie beside it.
  const bool compared = main && subfolder.empty();
  add(report::make_report(certificate, {}, pictures,
                          compared ? record_.tables : std::vector<report::ResultTable>{}),
      subfolder);
  const std::string text = certify::to_json(certificate);
  write((std::filesystem::path(subfolder) / "certificate.json").string(), text);
  record_.certificates.push_back({subfolder, io::sha256_hex(text), main});
}

void Output::add(const report::Report& report, const std::string& subfolder) {
  for (const report::ReportFile& file : report.files) {
    const std::filesystem::path name = std::filesystem::path(subfolder) / file.name;
    write(name.string(), file.content);
  }
  for (const std::string& text : report.notices) notice(text);
}

}  // namespace surefoot::experiments
