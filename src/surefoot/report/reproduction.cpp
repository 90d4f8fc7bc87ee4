#include "surefoot/report/reproduction.hpp"

#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/report/chart_data.hpp"
#include "surefoot/report/page.hpp"
#include "surefoot/report/table.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <utility>

namespace surefoot::report {

/// The section of an experiment, ready to stand in the page.
struct ReproductionPage::Kept {
  std::string name;
  std::string html;
  std::vector<ChartSet> charts;
};

namespace {

using certify::Certificate;

std::string duration_label(double seconds) {
  if (seconds < 99.5) return fmt::format("{:.0f} s", seconds);
  return fmt::format("{:.0f} min", seconds / 60);
}

std::string experiment_id(const ExperimentResult& result) {
  return "experiment-" + result.name;
}

std::string linked(const std::string& folder, const char* file, const char* text) {
  const std::string path = (std::filesystem::path(folder) / file).lexically_normal().generic_string();
  return fmt::format("<a href=\"{}\">{}</a>", html_escaped(path), text);
}

// ---- summary

/// The verdicts that begin "6 of 9" together.
std::string verdict_of(const ExperimentResult& result) {
  Index good = 0;
  Index all = 0;
  for (const ResultTable& table : result.tables) {
    long part = 0;
    long whole = 0;
    if (table.remarks.empty() || std::sscanf(table.remarks.front().c_str(), "%ld of %ld", &part, &whole) != 2)
      continue;
    good += part;
    all += whole;
  }
  return all > 0 ? fmt::format("{} of {}", good, all) : "not in the paper";
}

std::vector<std::string> sentences_of(const ExperimentResult& result) {
  std::vector<std::string> lines;
  for (const ResultCertificate& each : result.certificates) {
    if (each.main)
      lines.push_back(fmt::format("{}: {}", each.certificate.title, summary_sentence(each.certificate)));
  }
  return lines;
}

TextTable status_table(const Reproduction& reproduction) {
  TextTable table;
  table.columns = {{"experiment", Align::left},
                   {"problems"},
                   {"certificates"},
                   {"time"},
                   {"state", Align::left},
                   {"bounds at least as good as the paper's"}};
  for (const ExperimentResult& result : reproduction.experiments) {
    Index problems = 0;
    for (const ResultCertificate& each : result.certificates) {
      for (const certify::Variant& variant : each.certificate.variants)
        problems = std::max(problems, variant.samples);
    }
    const bool done = result.missing.empty();
    const std::string none(nothing);
    table.add_row({result.title, done ? count_label(problems) : none,
                   done ? fmt::format("{}", result.certificates.size()) : none,
                   done ? duration_label(result.seconds) : none, done ? "done" : result.missing,
                   done ? verdict_of(result) : none});
  }
  return table;
}

std::string summary_html(const Reproduction& reproduction) {
  std::string html = "<div class=\"quote\">\n";
  html += html_paragraph("What the certificates promise of new problems, in sentences to quote:");
  html += "<div class=\"variants\">\n";
  for (const ExperimentResult& result : reproduction.experiments) {
    html += fmt::format("<div>\n<p class=\"variant\"><a href=\"#{}\">{}</a></p>\n",
                        html_escaped(experiment_id(result)), html_escaped(result.title));
    html += result.missing.empty() ? html_list(sentences_of(result)) : html_paragraph(result.missing, "note");
    html += "</div>\n";
  }
  html += "</div>\n</div>\n";
  html += html_scrolling(status_table(reproduction), "status", "Experiments");
  return html + html_list(reproduction.settings);
}

// ---- an experiment

std::string settings_html(const ExperimentResult& result) {
  if (result.certificates.empty()) return "";
  const auto run = nlohmann::ordered_json::parse(result.certificates.front().certificate.run, nullptr, false);
  if (!run.is_object()) return "";
  std::string html = "<dl>\n";
  for (const auto& [name, value] : run.items()) {
    if (name == "experiment" || name == "variant") continue;
    html += fmt::format("<dt>{}</dt><dd>{}</dd>\n", html_escaped(name),
                        html_escaped(value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return html + "</dl>\n";
}

std::string certificate_html(const ResultCertificate& each, const std::string& prefix,
                             const PlotOptions& options) {
  const Certificate& certificate = each.certificate;
  std::string html = fmt::format("<h4>{}</h4>\n<blockquote>{}</blockquote>\n",
                                 html_escaped(certificate.title), html_prose(summary_sentence(certificate)));
  std::vector<PageFigure> figures;
  for (Figure figure : figures_of(certificate)) {
    if (!has_curves(figure)) continue;
    figure.name = prefix + figure.name;
    figures.push_back(page_figure(figure, options));
  }
  html += figures_html(figures);
  if (!certificate.budget.empty()) {
    html += fmt::format("<div id=\"{}ask\"></div>\n", html_escaped(prefix));
    html += html_folded(
        "Iterations needed, observed and certified",
        html_scrolling(certify::iteration_budgets().table(certificate, 0, {}), "pairs", "Iterations needed") +
            html_paragraph(note_on_settling(certificate), "note") +
            html_paragraph(note_on_no_guarantee(certificate), "note"));
  }
  html += html_folded("Where the confidence goes",
                      html_scrolling(share_table(certificate), "total", "Confidence"));
  return html + fmt::format("<p class=\"note\">All of it: {}, {}, {}</p>\n",
                            linked(each.folder, "report.html", "report"),
                            linked(each.folder, "certificate.json", "certificate"),
                            linked(each.folder, "curves.csv", "curves"));
}

std::string further_html(const std::vector<ResultCertificate>& certificates) {
  std::string rows;
  for (const ResultCertificate& each : certificates) {
    if (each.main) continue;
    rows += fmt::format("<li>{}: {} {}</li>\n", html_prose(each.certificate.title),
                        html_prose(summary_sentence(each.certificate)),
                        linked(each.folder, "report.html", "Report"));
  }
  return rows.empty() ? "" : html_folded("Further certificates", "<ul>\n" + rows + "</ul>\n");
}

// ---- sections of the whole

template <class Lines>
std::vector<std::string> lines_of_all(const Reproduction& reproduction, const Lines& lines) {
  std::vector<std::string> all;
  for (const ExperimentResult& result : reproduction.experiments) {
    for (const ResultCertificate& each : result.certificates) {
      for (const std::string& line : lines(each.certificate)) {
        if (std::ranges::count(all, line) == 0) all.push_back(line);
      }
    }
  }
  return all;
}

std::string meaning_html(const Reproduction& reproduction) {
  std::string html = html_paragraph(
      "Each certificate holds with its own confidence; no confidence is claimed for all certificates "
      "together. Sentences that are not about every certificate say which they are about.");
  return html + assumptions_html(
                    lines_of_all(reproduction,
                                 [](const Certificate& certificate) { return certificate.assumptions; }),
                    lines_of_all(reproduction, certify::what_it_says),
                    lines_of_all(reproduction, certify::what_it_does_not_say));
}

std::string checks_html(const Reproduction& reproduction) {
  std::string html = html_paragraph(
      "Every claim can be recomputed from the counts in its certificate; in the folder of this page:");
  std::string lines;
  for (const ExperimentResult& result : reproduction.experiments) {
    for (const ResultCertificate& each : result.certificates) {
      if (!each.main) continue;
      const auto path = (std::filesystem::path(each.folder) / "certificate.json").lexically_normal();
      lines += fmt::format("surefoot verify {}\n", html_escaped(shell_quoted(path.generic_string())));
    }
  }
  html += fmt::format("<pre>{}</pre>\n", lines);
  html += html_paragraph("All certificates, the further ones too:");
  html += "<pre>find . -name certificate.json -exec surefoot verify {} ';'</pre>\n";
  html += html_paragraph("Everything anew, or what is missing:");
  return html + fmt::format("<pre>{}</pre>\n", html_escaped(reproduction.command));
}

}  // namespace

ReproductionPage::ReproductionPage(PlotOptions options) : options_(std::move(options)) {}
ReproductionPage::~ReproductionPage() = default;

std::string ReproductionPage::html(const Reproduction& reproduction) {
  Page page;
  page.title = reproduction.title;
  page.subtitle = reproduction.subtitle;
  page.version = reproduction.version;
  page.sections.push_back({"summary", "", "Summary", summary_html(reproduction)});
  std::vector<ChartSet> charts;
  for (const ExperimentResult& result : reproduction.experiments) {
    auto known = std::ranges::find(kept_, result.name, &Kept::name);
    if (result.missing.empty() && known == kept_.end()) known = kept_.insert(known, made(result));
    const bool there = result.missing.empty();
    page.sections.push_back({experiment_id(result), result.title, result.title,
                             there ? known->html : html_paragraph(result.missing, "missing")});
    if (there) charts.insert(charts.end(), known->charts.begin(), known->charts.end());
  }
  page.sections.push_back(
      {"meaning", "What the certificates say", "What they say", meaning_html(reproduction)});
  page.sections.push_back({"check", "How to check", "How to check", checks_html(reproduction)});
  page.chart_data = charts.empty() ? "" : chart_data(charts);
  return page_html(page);
}

ReproductionPage::Kept ReproductionPage::made(const ExperimentResult& result) const {
  Kept kept{result.name, settings_html(result), {}};
  if (!result.tables.empty()) kept.html += "<h3 class=\"part\">The paper's numbers and ours</h3>\n";
  for (const ResultTable& table : result.tables) kept.html += result_table_html(table, result.name, 4);
  if (!result.figures.empty())
    kept.html += "<h3 class=\"part\">Figures</h3>\n" + figures_html(result.figures);
  kept.html += "<h3 class=\"part\">Certificates</h3>\n";
  std::size_t number = 0;
  for (const ResultCertificate& each : result.certificates) {
    if (!each.main) continue;
    const std::string prefix = fmt::format("{}-{}-", result.name, ++number);
    kept.html += certificate_html(each, prefix, options_);
    kept.charts.push_back(chart_set(each.certificate, prefix));
  }
  kept.html += further_html(result.certificates);
  return kept;
}

}  // namespace surefoot::report
