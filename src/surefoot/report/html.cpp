#include "surefoot/report/html.hpp"

#include "surefoot/report/format.hpp"
#include "surefoot/report/html_template.hpp"
#include "surefoot/report/sentences.hpp"
#include "surefoot/report/series.hpp"
#include "surefoot/report/table.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <string_view>

namespace surefoot::report {
namespace {

using certify::Certificate;
using certify::Simultaneity;

constexpr std::size_t rows_in_sight = 9;
constexpr std::size_t rows_folded = 101;
constexpr std::size_t budget_rows_in_sight = 24;

/// One pass over the template, so that {{places}} in user text stay text.
std::string filled(std::string_view text, const std::map<std::string_view, std::string>& places) {
  std::string result;
  for (std::size_t begin = text.find("{{"); begin != std::string_view::npos; begin = text.find("{{")) {
    const std::size_t end = text.find("}}", begin);
    result += text.substr(0, begin);
    result += places.at(text.substr(begin + 2, end - begin - 2));
    text.remove_prefix(end + 2);
  }
  return result.append(text);
}

/// Escaped prose in which a number and its % sign stay on one line.
std::string prose(std::string_view text) {
  std::string html = html_escaped(text);
  for (std::size_t at = html.find(" %"); at != std::string::npos; at = html.find(" %", at)) {
    html.replace(at, 1, "&nbsp;");
  }
  return html;
}

std::string paragraph(std::string_view text, std::string_view css_class = "") {
  if (text.empty()) return "";
  return css_class.empty() ? fmt::format("<p>{}</p>\n", prose(text))
                           : fmt::format("<p class=\"{}\">{}</p>\n", css_class, prose(text));
}

std::string list(const std::vector<std::string>& lines) {
  std::string html = "<ul>\n";
  for (const std::string& line : lines) html += fmt::format("<li>{}</li>\n", prose(line));
  return html + "</ul>\n";
}

/// A table that scrolls by itself on narrow screens, by keyboard too.
std::string scrolling(const TextTable& table, std::string_view css_class, std::string_view label) {
  return fmt::format("<div class=\"scroll {}\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n{}</div>\n",
                     css_class, html_escaped(label), to_html(table));
}

std::string folded(std::string_view summary, const std::string& content) {
  return fmt::format("<details>\n<summary>{}</summary>\n{}</details>\n", html_escaped(summary), content);
}

std::string title_of(const Certificate& certificate) {
  return certificate.title.empty() ? "Certificate" : certificate.title;
}

std::string subtitle_of(const Certificate& certificate) {
  std::string text = fmt::format("Guarantees on the {} from", metric_with_unit(certificate));
  const auto samples = [](const certify::Variant& variant) { return variant.samples; };
  if (certificate.variants.empty()) return text + " no samples";
  const Index fewest = std::ranges::min(certificate.variants, {}, samples).samples;
  const Index most = std::ranges::max(certificate.variants, {}, samples).samples;
  text += fewest == most ? fmt::format(" {} problems", count_label(most))
                         : fmt::format(" {} to {} problems", count_label(fewest), count_label(most));
  return certificate.variants.size() == 1
             ? text
             : fmt::format("{} for each of {} variants", text, certificate.variants.size());
}

std::string summary_of(const Certificate& certificate) {
  const Headline lines = headline(certificate);
  std::string html =
      fmt::format("<div class=\"quote\">\n{}<div class=\"variants\">\n", paragraph(lines.opening));
  for (const Headline::Group& group : lines.groups) {
    html += "<div>\n";
    if (lines.groups.size() > 1) html += fmt::format("<h3>{}</h3>\n", html_escaped(group.variant));
    html += list(group.claims) + "</div>\n";
  }
  return html + "</div>\n</div>\n";
}

std::string figure_html(const PageFigure& figure) {
  if (figure.panels.empty()) return paragraph(figure.notice, "missing");
  std::string html =
      fmt::format("<figure>\n<div class=\"panels{}\">\n", figure.panels.size() == 1 ? " single" : "");
  for (const std::string& panel : figure.panels)
    html += fmt::format("<div class=\"panel\">{}</div>\n", panel);
  return html + fmt::format("</div>\n<figcaption>{}</figcaption>\n</figure>\n", prose(figure.caption));
}

/// The same notice (gnuplot is missing) is given once.
std::string figures_html(const std::vector<PageFigure>& figures) {
  std::string html;
  std::string told;
  for (const PageFigure& figure : figures) {
    const bool repeats = figure.panels.empty() && figure.notice == told;
    if (!repeats) html += figure_html(figure);
    if (figure.panels.empty()) told = figure.notice;
  }
  return html;
}

std::string notes_under_tables(const Certificate& certificate) {
  return paragraph(note_on_no_guarantee(certificate), "note");
}

std::string iterations_html(const Certificate& certificate) {
  if (certificate.budget.empty()) return paragraph("No iteration budgets were asked for.", "note");
  const TextTable table = budget_table(certificate);
  const std::string html = scrolling(table, "pairs", "Iterations needed");
  std::string text = paragraph(
      "Iterations after which the given share of problems is below the tolerance: observed in the samples, "
      "and "
      "certified for fresh problems.");
  text += table.rows.size() > budget_rows_in_sight
              ? folded(fmt::format("{} tolerances and shares", table.rows.size()), html)
              : html;
  return text + paragraph(note_on_settling(certificate), "note") +
         paragraph(note_on_paper_budgets(certificate), "note") + notes_under_tables(certificate);
}

std::string step_tables(const Certificate& certificate, const auto& table_of) {
  const std::vector<Index> in_sight = telling_steps(certificate, rows_in_sight);
  const std::vector<Index> more = telling_steps(certificate, rows_folded);
  std::string html;
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    const std::string& name = certificate.variants[v].name;
    const TextTable table = table_of(certificate, v, in_sight);
    if (table.columns.size() == 1) continue;
    if (certificate.variants.size() > 1) html += fmt::format("<h3>{}</h3>\n", html_escaped(name));
    html += scrolling(table, "pairs", name);
    if (more.size() == in_sight.size()) continue;
    const std::string summary = more.size() == certificate.steps.size()
                                    ? fmt::format("All {} iterations", more.size())
                                    : fmt::format("{} of {} iterations (all are in curves.csv)", more.size(),
                                                  count_label(static_cast<Index>(certificate.steps.size())));
    html += folded(summary, scrolling(table_of(certificate, v, more), "pairs", name));
  }
  return html.empty() ? paragraph("Nothing was asked for.", "note") : html;
}

std::string confidence_html(const Certificate& certificate) {
  const std::string delta = fmt::format("{:.12g}", certificate.delta);
  const std::string confidence = confidence_label(certificate.delta);
  const std::string words =
      certificate.simultaneous == Simultaneity::all
          ? fmt::format(
                "A claim may be wrong with a small probability delta. All claims together may use {}, "
                "which leaves confidence {}; this is how it is shared out.",
                delta, confidence)
          : fmt::format(
                "A claim may be wrong with a small probability delta. Here each claim alone uses up to {}, "
                "which leaves confidence {} for that claim. "
                "The shares do not add up to a confidence for all of them together.",
                delta, confidence);
  return paragraph(words) + scrolling(share_table(certificate), "total", "Confidence budget");
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
    entry("problems (rows)", count_label(variant.samples));
    entry("iterations (columns)", count_label(variant.columns));
    entry("runs with an infinity or NaN",
          variant.non_finite_runs == 0
              ? "none"
              : fmt::format("{}, counted as failed from there on", count_label(variant.non_finite_runs)));
    if (variant.weights) {
      entry("weights", fmt::format("{}: {} numbers, {} precision", variant.weights->source,
                                   count_label(variant.weights->count), variant.weights->precision));
      entry("SHA-256 of the weights", variant.weights->sha256, "hash");
      entry("drawn for each run", variant.weights->sampling == "means"
                                      ? "nothing: the network at its means"
                                      : fmt::format("{} (seed {}, stream '{}')", variant.weights->sampling,
                                                    variant.weights->seed, variant.weights->purpose));
    }
    if (variant.pac_bayes) {
      const certify::PacBayes& paid = *variant.pac_bayes;
      entry("KL divergence from the prior", observed_value(paid.kl));
      entry("B, what it costs", observed_value(paid.regularizer));
      entry("prior mean", paid.prior_samples == 0
                              ? "fixed beforehand"
                              : fmt::format("trained on {} other samples", count_label(paid.prior_samples)));
      entry("runs counted",
            fmt::format("{} ({} design, {} draw{})", count_label(paid.runs), certify::name(paid.design),
                        count_label(paid.draws), paid.draws == 1 ? "" : "s"));
      entry("paid for", fmt::format("{} losses, {} candidate{}, {} prior mean{}", count_label(paid.losses),
                                    count_label(paid.candidates), paid.candidates == 1 ? "" : "s",
                                    count_label(paid.prior_means), paid.prior_means == 1 ? "" : "s"));
    }
    html += "</dl>\n";
  }
  const auto run = nlohmann::ordered_json::parse(certificate.run);
  if (!run.is_null()) {
    std::string lines;
    for (const auto& [name, value] : run.items()) {
      lines += fmt::format("{}: {}\n", html_escaped(name), html_escaped(value.dump()));
    }
    html += fmt::format("<h3>Seed and settings</h3>\n<pre>{}</pre>\n", lines);
  }
  return html;
}

std::string assumptions_html(const Certificate& certificate) {
  if (certificate.assumptions.empty()) return "";
  return "<h3>Assumptions on record</h3>\n" + list(certificate.assumptions);
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
  for (const certify::Variant& variant : certificate.variants) {
    if (variant.sha256.empty()) return "surefoot verify certificate.json";
    command += ' ' + (variant.source == "-" ? std::string("FILE") : shell_quoted(variant.source));
  }
  return "surefoot verify certificate.json\n" + html_escaped(command);
}

std::string caption_of(const Figure& figure) {
  return fmt::format("{}. Solid: certified for fresh problems; dashed: observed in the samples.{}{}",
                     figure.title, figure.remark.empty() ? "" : " ", figure.remark);
}

}  // namespace

PageFigure page_figure(const Figure& figure, const PlotOptions& options) {
  PageFigure page{caption_of(figure), {}, ""};
  for (const Figure& single : one_per_panel(figure)) {
    const Image image = render(single, ImageFormat::svg, options);
    if (!image.content) return {page.caption, {}, image.notice};
    const std::string prefix = fmt::format("{}-{}-", figure.name, page.panels.size());
    page.panels.push_back(
        inline_svg(*image.content, prefix, fmt::format("{}: {}", figure.title, single.panels.front().title)));
  }
  return page;
}

std::string report_html(const Certificate& certificate, const std::vector<PageFigure>& figures) {
  return filled(html_template, {
                                   {"title", html_escaped(title_of(certificate))},
                                   {"version", html_escaped(certificate.version)},
                                   {"subtitle", prose(subtitle_of(certificate))},
                                   {"summary", summary_of(certificate)},
                                   {"figures", figures_html(figures)},
                                   {"iterations", iterations_html(certificate)},
                                   {"success", step_tables(certificate, success_table)},
                                   {"metric", html_escaped(metric_with_unit(certificate))},
                                   {"quantiles", step_tables(certificate, quantile_table)},
                                   {"confidence", confidence_html(certificate)},
                                   {"says", list(what_it_says(certificate))},
                                   {"does_not_say", list(what_it_does_not_say(certificate))},
                                   {"assumptions", assumptions_html(certificate)},
                                   {"data", data_html(certificate)},
                                   {"check", check_lines(certificate)},
                               });
}

}  // namespace surefoot::report
