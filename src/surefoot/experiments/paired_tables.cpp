#include "surefoot/experiments/paired_tables.hpp"

#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/paired_rows.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/memory_needs.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <utility>

namespace surefoot::experiments {
namespace {

using certify::PairedComparison;
using certify::PairedOptions;

/// What is kept of the runs, and ratios of them; of groups, their rows until they are put in order.
void require_memory(const PairedTables& tables, const PairedOptions& options,
                    const std::array<certify::RunTable*, 2>& both) {
  MemoryNeeds needs(tables.memory_limit);
  for (const certify::RunTable* table : both) {
    needs.add_bytes("reading", table->memory_to_come());
    const std::optional<Index> rows = table->rows_at_most();
    if (!rows) continue;
    const auto claims = static_cast<double>(options.claims.size());
    constexpr double claims_by_number = 64;
    constexpr double ratios = 3;  // both, and the one that is sorted
    const double by_row = claims / claims_by_number + static_cast<double>(options.tolerances.size()) +
                          ratios + (table->grouped() ? 2 * static_cast<double>(table->steps().size()) : 0);
    needs.add("runs", static_cast<double>(*rows) * by_row);
  }
  needs.require_fit();
}

PairedComparison compare_traces(const PairedTables& tables, const PairedOptions& options) {
  const std::vector<std::string> names = certify::table_names(tables.files, tables.names);
  const io::TableOptions reading{.memory_bytes = memory_for_reading(tables.memory_limit)};
  certify::RunTable first(tables.files[0], tables.first_step, reading, tables.group);
  certify::RunTable second(tables.files[1], tables.first_step, reading, tables.group);
  const std::array<certify::RunTable*, 2> both{&first, &second};
  require_memory(tables, certify::with_default_claims(options, first.steps()), both);
  for (const certify::RunTable* table : both)
    if (!table->notice().empty()) host().say(fmt::format("{}: {}", table->path(), table->notice()));
  return certify::compare_run_tables(names, both, options);
}

PairedComparison compare_text(const PairedTables& tables, PairedOptions options) {
  const io::TableOptions reading{.memory_bytes = memory_for_reading(tables.memory_limit)};
  certify::Options counted;
  counted.kinds = {"success"};
  require_memory_of_text(tables.files, tables.text, counted, 2, tables.memory_limit);
  std::vector<certify::LongTable> read;
  for (const std::string& file : tables.files) {
    read.emplace_back(file, tables.text, reading);
    for (const std::string& notice : read.back().notices()) host().say(fmt::format("{}: {}", file, notice));
  }
  return certify::compare_long_tables(tables.files, tables.names, read, std::move(options));
}

}  // namespace

void PairedTables::validate() const {
  require(!of_text || group.empty(), "--group: groups are of tables of iterations");
  require(files.size() == 2 || (of_text && files.size() == 1),
          "compare: {} file{} given; pairs are of two tables, or of one table of text with both variants "
          "(--value, --variants, --rows)",
          files.size(), files.size() == 1 ? " is" : "s are");
}

PairedComparison compare_tables(const PairedTables& tables, PairedOptions options) {
  tables.validate();
  return tables.of_text ? compare_text(tables, std::move(options)) : compare_traces(tables, options);
}

PairedVariants compare_variants(const PairedTables& tables, const certify::Certificate& certificate) {
  const std::vector<certify::Variant>& variants = certificate.variants;
  require(variants.size() > 1, "--paired: there is one variant, and pairs are of two");
  require(tables.files.size() == 1 || tables.files.size() == variants.size(),
          "--paired: pairs are of tables with a variant each, or of the variants of one table");
  for (const certify::Variant& variant : variants)
    require(variant.name.find(',') == std::string::npos, "--paired: the name '{}' has a comma; see --names",
            variant.name);
  PairedOptions options;
  PairedVariants result;
  result.delta = certificate.delta;
  options.delta = certificate.delta / static_cast<double>(variants.size() - 1);
  options.anytime = certify::holds_anytime(certificate);
  if (certificate.scalar) {
    for (const double tolerance : certificate.tolerances) {
      certify::ClaimText claim;
      claim.value = tolerance;
      claim.strict = false;
      options.claims.push_back(claim);
    }
  } else {
    options.tolerances = certificate.tolerances;
    const std::vector<Index>& steps = certificate.steps;
    if (!steps.empty()) options.claims = certify::default_paired_claims(certificate.tolerances, steps);
  }
  for (std::size_t other = 1; other < variants.size(); ++other) {
    PairedTables two = tables;
    if (tables.files.size() > 1) two.files = {tables.files.front(), tables.files[other]};
    two.names = variants.front().name + ',' + variants[other].name;
    result.comparisons.push_back(compare_tables(two, options));
  }
  if (certificate.simultaneous == certify::Simultaneity::all && 2 * certificate.delta < 1)
    result.together = 2 * certificate.delta;
  return result;
}

std::string PairedVariants::confidence() const {
  std::string words =
      fmt::format("Problem by problem: {} a confidence of {} own, {}{}, beside that of the certificate",
                  comparisons.size() == 1 ? "this comparison has" : "these comparisons have",
                  comparisons.size() == 1 ? "its" : "their", confidence_label(delta),
                  comparisons.size() == 1 ? "" : " all together");
  if (together)
    words += fmt::format("; all of both holds together with confidence {}", confidence_label(*together));
  return words + ".";
}

std::string PairedVariants::text() const {
  std::string all = confidence() + '\n';
  for (const PairedComparison& comparison : comparisons) all += '\n' + certify::to_text(comparison);
  return all;
}

std::string PairedVariants::markdown() const {
  std::string all = "## Problem by problem\n\n" + confidence() + '\n';
  for (const PairedComparison& comparison : comparisons) all += '\n' + certify::markdown_text(comparison);
  return all;
}

}  // namespace surefoot::experiments
