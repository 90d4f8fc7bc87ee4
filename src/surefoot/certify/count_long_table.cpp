#include "surefoot/certify/count_long_table.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

namespace surefoot::certify {

namespace {

constexpr const char* unnamed_scalar = "value";
constexpr const char* unnamed_metric = "metric";

// What all tables call it; empty if they do not agree.
std::string common(const std::vector<const LongTable*>& tables, std::string LabelledMetric::*what) {
  const std::string& first = tables.front()->metric().*what;
  const bool same =
      std::ranges::all_of(tables, [&](const LongTable* table) { return table->metric().*what == first; });
  return same ? first : "";
}

}  // namespace

Options resolved_for(Options options, const std::vector<const LongTable*>& tables) {
  options.scalar = tables.front()->scalar();
  std::vector<std::vector<Index>> steps;
  for (const LongTable* table : tables) {
    require(table->scalar() == options.scalar, "of the tables some have steps and some have none");
    steps.push_back(table->steps());
  }
  if (options.metric.empty()) options.metric = common(tables, &LabelledMetric::name);
  if (options.metric.empty()) options.metric = options.scalar ? unnamed_scalar : unnamed_metric;
  if (options.unit.empty()) options.unit = common(tables, &LabelledMetric::unit);
  return resolved(std::move(options), steps);
}

std::vector<Counted> count_variants(const LongTable& table, const Options& options, const std::string& name,
                                    bool several_tables, const std::string& source, bool allow_dependence,
                                    const Interrupt& interrupt) {
  std::vector<Counted> counted;
  for (std::size_t i = 0; i < table.parts().size(); ++i) {
    const LongTable::Part& part = table.parts()[i];
    Variant variant;
    variant.name = part.name.empty() ? name
                   : several_tables  ? fmt::format("{}: {}", name, part.name)
                                     : part.name;
    variant.source = source;
    variant.sha256 = table.sha256();
    variant.selection = part.selection;
    variant.reading = words_of(part.selection);
    const bool in_order = part.selection.rows.empty();
    if (in_order) variant.independence.emplace();
    runs::Tally tally = count_view(table.view(i), tally_spec(options, table.steps()), interrupt,
                                   in_order ? &*variant.independence : nullptr);
    if (in_order) variant.independence->require_none(variant.name, allow_dependence);
    counted.push_back({std::move(variant), std::move(tally)});
  }
  return counted;
}

void require_different_names(const std::vector<Counted>& variants) {
  std::set<std::string> names;
  for (const Counted& counted : variants)
    require(names.insert(counted.variant.name).second, "names: two variants are called '{}'",
            io::excerpt(counted.variant.name));
}

std::vector<std::vector<std::size_t>> variants_by_table(const Certificate& certificate) {
  std::vector<std::vector<std::size_t>> tables;
  const std::vector<Variant>& variants = certificate.variants;
  if (variants.empty() ||
      !std::ranges::all_of(variants, [](const Variant& variant) { return variant.selection.has_value(); }))
    return tables;
  for (std::size_t i = 0; i < variants.size(); ++i) {
    if (i == 0 || variants[i].sha256 != variants[i - 1].sha256) tables.emplace_back();
    tables.back().push_back(i);
  }
  return tables;
}

void recount_table(const Certificate& certificate, const std::vector<std::size_t>& variants,
                   const std::string& path, const io::TableOptions& options,
                   const LongTable::Progress& progress, Verification& verification) {
  std::vector<Selection> selections;
  for (const std::size_t variant : variants) selections.push_back(*certificate.variants[variant].selection);
  const Variant& first = certificate.variants[variants.front()];
  try {
    const LongTable table(path, TableChoice::of(selections), options, progress);
    compare_table(certificate, variants, table, verification);
  } catch (const InputError& error) {
    if (path == "-" || io::sha256_of_file(path) != first.sha256) throw;
    verification.findings.push_back(
        fmt::format("data of variant '{}': the table cannot be read as the certificate says: {}", first.name,
                    error.what()));
  }
}

void compare_table(const Certificate& certificate, const std::vector<std::size_t>& variants,
                   const LongTable& table, Verification& verification) {
  for (const std::size_t v : variants) {
    const Variant& stated = certificate.variants[v];
    const auto found = [&](const std::string& text) {
      verification.findings.push_back(fmt::format("data of variant '{}': {}", stated.name, text));
    };
    const auto part = std::ranges::find_if(table.parts(), [&](const LongTable::Part& each) {
      return each.selection.value == stated.selection->value &&
             each.selection.variant == stated.selection->variant;
    });
    if (part == table.parts().end()) {
      found(fmt::format("the table has nothing of '{}'", stated.selection->variant));
      continue;
    }
    if (table.scalar() != certificate.scalar) {
      found("whether the table has steps is not what is certified");
      continue;
    }
    if (part->selection != *stated.selection) found("what is selected is not what the certificate says");
    const bool in_order = part->selection.rows.empty();
    Independence independence;
    const runs::Tally tally =
        count_view(table.view(static_cast<std::size_t>(part - table.parts().begin())),
                   recount_spec(certificate, table.steps()), nullptr, in_order ? &independence : nullptr);
    compare_recount(certificate, v, tally, table.sha256(), verification);
    compare_rows(certificate, v, words_of(part->selection), independence, verification);
  }
}

}  // namespace surefoot::certify
