#include "surefoot/report/table.hpp"

#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/words.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/report/series.hpp"
#include "surefoot/report/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace surefoot::report {
namespace {

using certify::Certificate;
using certify::claim_kinds;
using certify::claim_kinds_to_show;
using certify::ClaimKind;
using certify::Headline;

constexpr std::size_t page_width = 100;
constexpr std::size_t terminal_rows = 7;
constexpr std::size_t terminal_tolerances = 8;
constexpr std::string_view page_margin = "  ";

std::string filled(std::string_view text) {
  return wrapped(text, page_width);
}

std::string heading(std::string_view text) {
  return '\n' + filled(text);
}

std::string bullets(const std::vector<std::string>& lines, std::string_view margin = page_margin) {
  std::string text;
  for (const std::string& line : lines) {
    text += wrapped(line, page_width, fmt::format("{}- ", margin), fmt::format("{}  ", margin));
  }
  return text;
}

std::string fitted(const TextTable& table) {
  std::string text;
  for (const TextTable& part : split_to_width(table, page_width - page_margin.size())) {
    if (!text.empty()) text += '\n';
    text += to_text(part, page_margin);
  }
  return text;
}

std::string title_lines(const Certificate& certificate) {
  std::string text = filled(certificate.title.empty() ? "Certificate" : certificate.title);
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    const certify::Variant& variant = certificate.variants[v];
    const std::string bad =
        variant.non_finite_runs > 0
            ? fmt::format(", {} with an infinity or NaN ({})", count_label(variant.non_finite_runs),
                          certificate.scalar ? "counted as failed" : "counted as failed from there on")
            : "";
    const std::string recorded =
        certificate.scalar
            ? ""
            : fmt::format(", {} {}s recorded", count_label(variant.columns), step_name(certificate));
    const std::string ticks =
        variant.groups ? fmt::format(" with {} ticks", count_label(variant.groups->ticks)) : "";
    text += wrapped(fmt::format("{}: {} {}{}{}{}", short_name(certificate, v), count_label(variant.samples),
                                certify::named_things(certificate), ticks, recorded, bad),
                    page_width, "  ", "    ");
  }
  return text;
}

std::string headline_text(const Certificate& certificate) {
  const Headline lines = headline(certificate);
  std::string text = '\n' + filled(lines.opening);
  for (const Headline::Group& group : lines.groups) {
    const bool named = lines.groups.size() > 1;
    if (named) text += wrapped(group.variant, page_width, page_margin, page_margin);
    text += bullets(group.claims, named ? "    " : page_margin);
  }
  return text;
}

/// The certificate with telling tolerances only, so that a terminal is not flooded.
Certificate abridged(const Certificate& certificate) {
  Certificate result = certificate;
  const std::vector<double> kept = certify::telling_values(certificate.tolerances, terminal_tolerances);
  for (const ClaimKind* kind : claim_kinds()) kind->keep_tolerances(kept, result);
  return result;
}

std::string abridged_note(const Certificate& certificate) {
  if (certificate.tolerances.size() <= terminal_tolerances) return "";
  return filled(fmt::format("Tables show {} of {} tolerances; the report and certificate.json have all.",
                            terminal_tolerances, certificate.tolerances.size()));
}

/// The tables of a kind under their captions.
std::string tables_of(const Certificate& certificate, const ClaimKind& kind) {
  const std::string caption = kind.section(certificate).caption;
  const std::vector<Index> steps = telling_steps(certificate, terminal_rows);
  if (!kind.table_per_variant(certificate))
    return heading(caption) + fitted(kind.table(certificate, 0, steps));
  std::string text;
  for (std::size_t v = 0; v < certificate.variants.size(); ++v) {
    const TextTable table = kind.table(certificate, v, steps);
    if (table.columns.size() == 1) continue;
    const std::string of =
        certificate.variants.size() > 1 ? ": " + short_name(certificate, v) : std::string();
    text += heading(caption + of) + fitted(table);
  }
  return text;
}

std::string footnotes(const Certificate& certificate) {
  std::string text;
  for (const std::string& note : notes_of(certificate)) text += filled(note);
  return text + abridged_note(certificate);
}

}  // namespace

TextTable share_table(const Certificate& certificate) {
  const bool together = certificate.simultaneous == certify::Simultaneity::all;
  TextTable table;
  table.columns = {{"purpose", Align::left}, {"claims"}, {"delta each"}};
  if (together) table.columns.push_back({"delta together"});
  certify::add_note(table, note_on_dependence(certificate));
  Index claims = 0;
  double spent = 0;
  for (const certify::Share& share : certificate.shares) {
    const double delta = static_cast<double>(share.claims) * share.delta_each;
    std::vector<std::string> cells{share.purpose, count_label(share.claims),
                                   upper_bound_value(share.delta_each)};
    if (together) cells.push_back(upper_bound_value(delta));
    table.add_row(std::move(cells));
    claims += share.claims;
    spent += delta;
  }
  std::vector<std::string> total{"total", count_label(claims), ""};
  if (together) total.push_back(upper_bound_value(std::min(spent, certificate.delta)));
  table.add_row(std::move(total));
  return table;
}

std::vector<std::string> notes_of(const Certificate& certificate) {
  std::vector<std::string> notes;
  for (const ClaimKind* kind : claim_kinds_to_show()) {
    if (kind->size(certificate) == 0) continue;
    for (std::string& note : kind->section(certificate).notes) notes.push_back(std::move(note));
  }
  notes.push_back(note_on_no_guarantee(certificate));
  notes.push_back(note_on_worst_case(certificate));
  std::erase(notes, "");
  return notes;
}

std::string terminal_text(const Certificate& certificate) {
  const Certificate shown = abridged(certificate);
  std::string text = title_lines(shown) + headline_text(shown);
  for (const ClaimKind* kind : claim_kinds_to_show())
    if (kind->size(shown) > 0) text += tables_of(shown, *kind);
  text += '\n' + footnotes(certificate);
  const bool rows_matter = !certify::condition_of(certificate).empty() ||
                           std::ranges::any_of(certificate.variants, [](const certify::Variant& variant) {
                             return variant.independence && !variant.independence->order_checked;
                           });
  if (rows_matter) text += heading("Rows") + bullets(certify::notes_on_rows(certificate));
  text += heading("Assumed") + bullets(certificate.assumptions.empty()
                                           ? std::vector<std::string>{what_it_does_not_say(certificate)[1]}
                                           : certificate.assumptions);
  return text;
}

}  // namespace surefoot::report
