#include "surefoot/report/html.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/counted_rows.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/report/chart_data.hpp"
#include "surefoot/report/headline_table.hpp"
#include "surefoot/report/page.hpp"
#include "surefoot/report/series.hpp"
#include "surefoot/report/table.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>

namespace surefoot::report {
namespace {

using certify::Certificate;
using certify::Headline;
using certify::Simultaneity;

constexpr std::size_t rows_in_sight = 9;
constexpr std::size_t rows_folded = 101;
constexpr std::size_t whole_rows_in_sight = 24;

/// A text of the record of a run; empty where it has none of that name.
std::string text_of_run(const Certificate& certificate, const char* name) {
  const auto run = nlohmann::ordered_json::parse(certificate.run);
  const auto words = run.is_object() ? run.find(name) : run.end();
  return run.is_object() && words != run.end() && words->is_string() ? words->get<std::string>() : "";
}

/// As the run's record says it, or the distribution that the samples were drawn from; empty for files.
std::string family_of(const Certificate& certificate) {
  const std::string recorded = text_of_run(certificate, "family");
  if (!recorded.empty() || certificate.variants.empty()) return recorded;
  const auto& provenance = certificate.variants.front().provenance;
  const std::string name =
      provenance ? provenance->range.family.substr(0, provenance->range.family.find('(')) : "";
  return name == "file" || name == "files" ? "" : name;
}

/// The title that was given, or the solver and its family, or the names of the variants.
std::string title_of(const Certificate& certificate) {
  if (!certificate.title.empty()) return certificate.title;
  const std::string solver = text_of_run(certificate, "solver");
  const std::string family = family_of(certificate);
  if (!solver.empty()) return family.empty() ? solver : fmt::format("{} on {}", solver, family);
  constexpr std::size_t most_names = 3;
  std::vector<std::string> names;
  for (std::size_t v = 0; v < certificate.variants.size(); ++v)
    names.push_back(certify::short_name(certificate, v));
  if (names.empty()) return "Certificate";
  if (names.size() > most_names) return fmt::format("{} variants", names.size());
  return certify::listed(names);
}

/// "1 problem", "1,000 problems", "12 groups (one per flight)".
std::string counted_things(const Certificate& certificate, Index count) {
  std::string things = certify::named_things(certificate);
  const std::string plural(certify::things(certificate));
  if (count == 1) things.replace(0, plural.size(), plural.substr(0, plural.size() - 1));
  return fmt::format("{} {}", count_label(count), things);
}

std::string subtitle_of(const Certificate& certificate) {
  std::string text = fmt::format("Guarantees on the {} from", metric_with_unit(certificate));
  const auto samples = [](const certify::Variant& variant) { return variant.samples; };
  if (certificate.variants.empty()) return text + " no samples";
  const Index fewest = std::ranges::min(certificate.variants, {}, samples).samples;
  const Index most = std::ranges::max(certificate.variants, {}, samples).samples;
  if (fewest != most) text += fmt::format(" {} to", count_label(fewest));
  text += ' ' + counted_things(certificate, most);
  if (certify::sampling_of(certificate) == certify::Sampling::sequence) text += " of one log";
  if (certificate.variants.size() > 1)
    text = fmt::format("{} for each of {} variants", text, certificate.variants.size());
  const std::string description = text_of_run(certificate, "description");
  const std::string solver = description.empty() ? text_of_run(certificate, "solver") : description;
  const std::string family = family_of(certificate);
  if (!solver.empty()) text += fmt::format(". Solver: {}", solver);
  if (!family.empty()) text += fmt::format(". Family: {}", family);
  return text;
}

/// The sentences that the table of the summary stands for, and what it has no room for.
std::string sentences_of(const Headline& lines) {
  std::string html = "<div class=\"variants\">\n";
  for (const Headline::Group& group : lines.groups) {
    html += "<div>\n";
    if (lines.groups.size() > 1)
      html += fmt::format("<p class=\"variant\">{}</p>\n", html_escaped(group.variant));
    html += html_list(group.claims) + "</div>\n";
  }
  return html + "</div>\n";
}

std::string summary_of(const Certificate& certificate) {
  const Headline lines = headline(certificate);
  std::string html = fmt::format("<div class=\"quote\">\n{}", html_paragraph(lines.opening));
  if (const std::optional<HeadlineTable> table = headline_table(certificate)) {
    html += html_scrolling(table->table, "headline", "Summary") + html_paragraph(table->note, "note") +
            html_folded("The same in sentences to quote", sentences_of(lines));
  } else {
    html += sentences_of(lines);
  }
  return html + "</div>\n";
}

std::string notes_html(const std::vector<std::string>& notes) {
  std::string html;
  for (const std::string& note : notes) html += html_paragraph(note, "note");
  return html;
}

/// One table, folded where it has many rows.
std::string whole_table_html(const Certificate& certificate, const certify::ClaimKind& kind,
                             const certify::SectionWords& words) {
  const TextTable table = kind.table(certificate, 0, certificate.steps);
  const std::string html = html_scrolling(table, "pairs", words.heading);
  std::string text = table.rows.size() > whole_rows_in_sight
                         ? html_folded(fmt::format("{} rows", table.rows.size()), html)
                         : html;
  if (words.asks) text += "<div id=\"ask\"></div>\n";
  return text;
}

/// A table per variant at telling steps, and more of them folded.
std::string step_tables_html(const Certificate& certificate, const certify::ClaimKind& kind) {
  const std::vector<Index> in_sight = telling_steps(certificate, rows_in_sight);
  const std::vector<Index> more = telling_steps(certificate, rows_folded);
  std::string html;
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    const std::string& name = certificate.variants[v].name;
    const TextTable table = kind.table(certificate, v, in_sight);
    if (table.columns.size() == 1) continue;
    if (certificate.variants.size() > 1) html += fmt::format("<h3>{}</h3>\n", html_escaped(name));
    html += html_scrolling(table, "pairs", name);
    if (more.size() == in_sight.size()) continue;
    const std::string summary =
        more.size() == certificate.steps.size()
            ? fmt::format("All {} {}s", more.size(), step_name(certificate))
            : fmt::format("{} of {} {}s (all are in curves.csv)", more.size(),
                          count_label(static_cast<Index>(certificate.steps.size())), step_name(certificate));
    html += html_folded(summary, html_scrolling(kind.table(certificate, v, more), "pairs", name));
  }
  return html;
}

/// `first`: of the sections with claims; it says what "-" means, once.
Section section_of(const Certificate& certificate, const certify::ClaimKind& kind, bool first) {
  const certify::SectionWords words = kind.section(certificate);
  const std::string tables = kind.table_per_variant(certificate) ? step_tables_html(certificate, kind)
                                                                 : whole_table_html(certificate, kind, words);
  return {std::string(kind.section_id()), words.heading, words.heading,
          html_paragraph(words.introduction) + tables + notes_html(words.notes) +
              (first ? html_paragraph(note_on_no_guarantee(certificate), "note") : "") +
              html_paragraph(note_on_worst_case(certificate), "note")};
}

std::string confidence_html(const Certificate& certificate) {
  const std::string delta = exact_label(certificate.delta);
  const std::string confidence = confidence_label(certificate.delta);
  const std::string words =
      certificate.simultaneous == Simultaneity::all
          ? fmt::format(
                "A claim may be wrong with a small probability delta. All claims together may use {}, which "
                "leaves confidence {}; this is how it is shared out.",
                delta, confidence)
          : fmt::format(
                "A claim may be wrong with a small probability delta. Here each claim alone uses up to {}, "
                "which leaves confidence {} for that claim. The shares do not add up to a confidence for all "
                "of them together.",
                delta, confidence);
  return html_paragraph(words) + html_scrolling(share_table(certificate), "total", "Confidence budget");
}

/// A setting of a run in a line, those of an object below it.
std::string settings_lines(const std::string& name, const nlohmann::ordered_json& value, std::size_t depth) {
  const std::string before = std::string(2 * depth, ' ') + html_escaped(name) + ':';
  if (!value.is_object() || value.empty()) return fmt::format("{} {}\n", before, html_escaped(value.dump()));
  std::string lines = before + '\n';
  for (const auto& [inner, setting] : value.items()) lines += settings_lines(inner, setting, depth + 1);
  return lines;
}

std::string data_html(const Certificate& certificate) {
  std::string html;
  for (const certify::Variant& variant : certificate.variants) {
    html += fmt::format("<h3>{}</h3>\n<dl>\n", html_escaped(variant.name));
    const auto entry = [&](std::string_view name, std::string_view value, std::string_view css_class = "") {
      html += fmt::format("<dt>{}</dt><dd class=\"{}\">{}</dd>\n", name, css_class, html_escaped(value));
    };
    entry("source", variant.source);
    if (!variant.sha256.empty()) entry("SHA-256", variant.sha256, "hash");
    for (const certify::AppendedTable& table : variant.appended) {
      entry(certify::counted_apart(variant) ? "and" : "added later",
            fmt::format("{}: {} rows", table.source, count_label(table.samples)));
      entry("SHA-256", table.sha256, "hash");
    }
    if (variant.groups) {
      const certify::Groups& groups = *variant.groups;
      entry(groups.name.empty() ? "groups" : html_escaped(fmt::format("groups (one per {})", groups.name)),
            count_label(variant.samples));
      entry("ticks (rows)", fmt::format("{}, {} to {} in a group", count_label(groups.ticks),
                                        count_label(groups.fewest), count_label(groups.most)));
    } else {
      entry(fmt::format("{} (rows)", certify::things(certificate)), count_label(variant.samples));
    }
    if (!certificate.scalar)
      entry(fmt::format("{}s (columns)", step_name(certificate)), count_label(variant.columns));
    entry(certificate.scalar ? std::string("values that are infinite or NaN")
                             : fmt::format("{} with an infinity or NaN",
                                           certify::sampling_of(certificate) == certify::Sampling::problems
                                               ? "runs"
                                               : certify::things(certificate)),
          variant.non_finite_runs == 0
              ? "none"
              : fmt::format("{}, counted as failed{}", count_label(variant.non_finite_runs),
                            certificate.scalar ? "" : " from there on"));
    if (variant.weights) {
      entry("weights", fmt::format("{}: {} numbers, {} precision{}", variant.weights->source,
                                   count_label(variant.weights->count), variant.weights->precision,
                                   variant.weights->read ? "" : "; not read here"));
      entry("SHA-256 of the weights", variant.weights->sha256, "hash");
      entry("drawn for each run", variant.weights->sampling == "means"
                                      ? "nothing: the network at its means"
                                      : fmt::format("{} (seed {}, stream '{}')", variant.weights->sampling,
                                                    variant.weights->seed, variant.weights->purpose));
    }
    if (variant.pac_bayes) {
      const certify::PacBayes& paid = *variant.pac_bayes;
      entry("KL divergence from the prior", upper_bound_value(paid.kl));
      entry("B, what it costs", upper_bound_value(paid.regularizer));
      entry("prior mean", paid.prior_samples == 0
                              ? "fixed beforehand"
                              : fmt::format("trained on {} other samples", count_label(paid.prior_samples)));
      entry("runs counted",
            fmt::format("{} ({} design, {} draw{})", count_label(paid.runs), certify::name(paid.design),
                        count_label(paid.draws), paid.draws == 1 ? "" : "s"));
      entry("covered by the confidence level",
            fmt::format("{} losses, {} candidate{}, {} prior mean{}", count_label(paid.losses),
                        count_label(paid.candidates), paid.candidates == 1 ? "" : "s",
                        count_label(paid.prior_means), paid.prior_means == 1 ? "" : "s"));
    }
    html += "</dl>\n";
  }
  const auto run = nlohmann::ordered_json::parse(certificate.run);
  if (!run.is_null()) {
    html += "<h3>Seed and settings</h3>\n";
    std::string lines;
    for (const auto& [name, value] : run.items()) lines += settings_lines(name, value, 0);
    html += fmt::format("<pre>{}</pre>\n", lines);
  }
  return html;
}

std::string check_lines(const Certificate& certificate) {
  if (std::ranges::any_of(certificate.variants,
                          [](const auto& variant) { return variant.weights.has_value(); })) {
    std::string weights = "surefoot verify certificate.json --weights";
    for (const certify::Variant& variant : certificate.variants)
      weights += ' ' + (variant.weights ? shell_quoted(variant.weights->source) : std::string("FILE"));
    return "surefoot verify certificate.json\n" + html_escaped(weights);
  }
  std::string command = "surefoot verify certificate.json --data";
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    const certify::Variant& variant = certificate.variants[v];
    if (variant.sha256.empty()) return "surefoot verify certificate.json";
    // Variants of one table of text.
    if (v > 0 && variant.selection && certificate.variants[v - 1].sha256 == variant.sha256) continue;
    command += ' ' + (variant.source == "-" ? std::string("FILE") : shell_quoted(variant.source));
    for (const certify::AppendedTable& table : variant.appended) command += ' ' + shell_quoted(table.source);
  }
  return "surefoot verify certificate.json\n" + html_escaped(command);
}

constexpr std::string_view before_digest = "<code id=\"certificate-sha256\" class=\"hash\">";

std::string check_html(const Certificate& certificate, const std::string& text) {
  return html_paragraph(
             "Every claim can be recomputed from the counts in the certificate, and the counts "
             "from the data:") +
         fmt::format("<pre>{}</pre>\n", check_lines(certificate)) +
         "<p>The numbers behind the figures are in <code>curves.csv</code>, the claims in full "
         "precision in <code>certificate.json</code>.</p>\n" +
         fmt::format(
             "<p>This page is of the certificate with SHA-256 {}{}</code>. <code>surefoot verify</code> says "
             "whether the one beside it is that, and whether all files of the folder are as "
             "they were written.</p>\n",
             before_digest, io::sha256_hex(text));
}

std::string how_to_use_figures(const Certificate& certificate) {
  if (certificate.scalar) return "";  // pictures
  if (!has_chart_library()) {
    return html_paragraph(
        "The figures are static: this Surefoot was built without the charting "
        "library (Debian: libjs-dygraphs).",
        "note");
  }
  return html_paragraph(
      "Point at a curve, or move the slider, to read its values; drag to zoom, double-click for the whole. "
      "Without scripts and in print the figures are static.",
      "note");
}

/// Of the figures in the page.
std::string chart_data_of(const Certificate& certificate, const std::vector<PageFigure>& figures) {
  ChartSet set = chart_set(certificate);
  std::erase_if(set.charts, [&](const Chart& chart) {
    return std::ranges::none_of(figures, [&](const PageFigure& figure) { return figure.chart == chart.id; });
  });
  return chart_data({set});
}

std::string caption_of(const Figure& figure) {
  return fmt::format("{}. Solid: certified for new {}; dashed: observed in the samples.{}{}", figure.title,
                     figure.things, figure.remark.empty() ? "" : " ", figure.remark);
}

}  // namespace

PageFigure static_figure(const Figure& figure, const PlotOptions& options) {
  PageFigure page{figure.title + ".", {}, "", ""};
  for (const Figure& single : one_per_panel(figure)) {
    const Image image = render(single, ImageFormat::svg, options);
    if (!image.content) return {page.caption, {}, image.notice, ""};
    const std::string prefix = fmt::format("{}-{}-", figure.name, page.panels.size());
    page.panels.push_back(
        inline_svg(*image.content, prefix, fmt::format("{}: {}", figure.title, single.panels.front().title)));
  }
  return page;
}

PageFigure page_figure(const Figure& figure, const PlotOptions& options) {
  PageFigure page = static_figure(figure, options);
  page.caption = caption_of(figure);
  if (has_chart_library()) page.chart = figure.name;
  return page;
}

namespace {

/// Pictures stand alone and large, curves beside each other.
std::string_view arrangement_of(const PageFigure& figure) {
  if (figure.panels.size() < 2) return figure.chart.empty() ? " picture" : " single";
  return figure.panels.size() % 3 == 0 ? " thirds" : "";
}

}  // namespace

std::string figure_html(const PageFigure& figure) {
  if (figure.panels.empty() && figure.chart.empty()) return html_paragraph(figure.notice, "missing");
  std::string html = figure.chart.empty()
                         ? "<figure>\n"
                         : fmt::format("<figure data-chart=\"{}\">\n", html_escaped(figure.chart));
  html += fmt::format("<div class=\"panels{}\">\n", arrangement_of(figure));
  for (const std::string& panel : figure.panels)
    html += fmt::format("<div class=\"panel\">{}</div>\n", panel);
  if (figure.panels.empty()) html += html_paragraph(figure.notice, "missing");
  return html + fmt::format("</div>\n<figcaption>{}</figcaption>\n</figure>\n", html_prose(figure.caption));
}

std::string figures_html(const std::vector<PageFigure>& figures) {
  std::string html;
  std::string told;
  for (const PageFigure& figure : figures) {
    const bool missing = figure.panels.empty() && figure.chart.empty();
    if (!missing || figure.notice != told) html += figure_html(figure);
    if (missing) told = figure.notice;
  }
  return html;
}

std::string result_table_html(const ResultTable& table, const std::string& folder, int level) {
  constexpr std::size_t remarks_in_sight = 3;
  const auto linked = [&](const char* ending, const char* text) {
    const std::string path = (std::filesystem::path(folder) / fmt::format("table_{}{}", table.slug, ending))
                                 .lexically_normal()
                                 .generic_string();
    return fmt::format("<a href=\"{}\">{}</a>", html_escaped(path), text);
  };
  std::string html = fmt::format("<h{0}>{1}</h{0}>\n", level, html_escaped(table.title));
  html += html_scrolling(table.table, "compared", table.title);
  const auto split = std::min(table.remarks.size(), remarks_in_sight);
  const auto middle = table.remarks.begin() + static_cast<std::ptrdiff_t>(split);
  if (split > 0) html += html_list({table.remarks.begin(), middle});
  if (split < table.remarks.size())
    html += html_folded(fmt::format("{} more remark{}", table.remarks.size() - split,
                                    table.remarks.size() - split == 1 ? "" : "s"),
                        html_list({middle, table.remarks.end()}));
  return html + fmt::format("<p class=\"note\">For papers: {}, {}</p>\n", linked(".tex", "LaTeX"),
                            linked(".csv", "CSV"));
}

std::string assumptions_html(const std::vector<std::string>& assumptions,
                             const std::vector<std::string>& says,
                             const std::vector<std::string>& does_not_say) {
  std::string html;
  if (!assumptions.empty()) html += html_list(assumptions);
  if (!does_not_say.empty()) html += "<h3>What does not follow</h3>\n" + html_list(does_not_say);
  if (!says.empty()) html += html_folded("What the claims mean, in plain words", html_list(says));
  return html;
}

std::string certificate_of_page(std::string_view page) {
  constexpr std::size_t digits = 64;
  const std::size_t found = page.rfind(before_digest);
  if (found == std::string_view::npos) return "";
  const std::string_view digest = page.substr(found + before_digest.size(), digits);
  return io::is_sha256_hex(digest) ? std::string(digest) : "";
}

std::string report_html(const Certificate& certificate, const std::vector<PageFigure>& figures,
                        const std::vector<ResultTable>& compared) {
  const std::string text = certify::to_json(certificate);
  Page page;
  page.title = title_of(certificate);
  page.subtitle = subtitle_of(certificate);
  page.version = certificate.version;
  page.certificate = text;
  page.sections.push_back({"summary", "", "Summary", summary_of(certificate)});
  if (!compared.empty()) {
    std::string tables;
    for (const ResultTable& table : compared) tables += result_table_html(table, "", 3);
    page.sections.push_back({"paper", "The paper's numbers and ours", "Paper", tables});
  }
  if (!figures.empty())
    page.sections.push_back(
        {"figures", "Figures", "Figures", how_to_use_figures(certificate) + figures_html(figures)});
  const std::size_t before_claims = page.sections.size();
  for (const certify::ClaimKind* kind : certify::claim_kinds_to_show()) {
    if (kind->size(certificate) == 0) continue;
    page.sections.push_back(section_of(certificate, *kind, page.sections.size() == before_claims));
  }
  if (!certificate.shares.empty())
    page.sections.push_back(
        {"confidence", "Where the confidence goes", "Confidence", confidence_html(certificate)});
  page.sections.push_back({"meaning", "Assumptions and limits", "Assumptions",
                           assumptions_html(certificate.assumptions, what_it_says(certificate),
                                            what_it_does_not_say(certificate))});
  if (!certificate.variants.empty())
    page.sections.push_back({"data", "Data", "Data", data_html(certificate)});
  page.sections.push_back({"check", "How to check", "How to check", check_html(certificate, text)});
  page.chart_data = chart_data_of(certificate, figures);
  return page_html(page);
}

}  // namespace surefoot::report
