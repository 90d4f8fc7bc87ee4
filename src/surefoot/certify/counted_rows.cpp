#include "surefoot/certify/counted_rows.hpp"

#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace surefoot::certify {

void CountedRows::add(runs::Tally tally, const DependenceCheck& check, AppendedTable table) {
  table.samples = tally.samples();
  for (const AppendedTable& before : tables_) {
    require(before.sha256 != table.sha256, "{}: these rows are counted already: {} has the same SHA-256",
            table.source, before.source);
  }
  if (!tally_) {
    tally_ = std::move(tally);
    checks_.push_back(check);
  } else {
    const std::vector<Index>& steps = tally.spec().steps;
    const std::vector<Index>& known = tally_->spec().steps;
    require(steps == known,
            "{}: its columns are {} steps {} .. {}, those of the rows before it {} steps {} .. {}",
            table.source, steps.size(), steps.front(), steps.back(), known.size(), known.front(),
            known.back());
    tally_->merge(tally);
    if (apart_)
      checks_.push_back(check);
    else
      checks_.front().merge(check);
  }
  tables_.push_back(std::move(table));
}

Independence CountedRows::independence() const {
  std::vector<const DependenceCheck*> checks;
  for (const DependenceCheck& check : checks_) checks.push_back(&check);
  Independence found = DependenceCheck::of_tables(checks).result();
  if (tally_->spec().grouped) found.of = Independence::of_groups;
  return found;
}

void CountedRows::describe(Variant& variant) const {
  variant.source = tables_.front().source;
  variant.sha256 = tables_.front().sha256;
  variant.reading = tables_.front().reading;
  variant.appended.assign(tables_.begin() + 1, tables_.end());
  variant.independence = independence();
}

std::size_t table_count(const Variant& variant) {
  return 1 + variant.appended.size();
}

bool counted_apart(const Variant& variant) {
  return !variant.appended.empty() && variant.independence &&
         variant.independence->of == Independence::of_tables;
}

bool take_back_appended(Certificate& certificate, const std::vector<std::vector<std::string>>& sha256) {
  const auto was_last = [](const Variant& variant, const std::vector<std::string>& digests) {
    if (digests.size() > variant.appended.size()) return false;
    const auto first = variant.appended.end() - static_cast<std::ptrdiff_t>(digests.size());
    return std::equal(
        first, variant.appended.end(), digests.begin(), digests.end(),
        [](const AppendedTable& table, const std::string& digest) { return table.sha256 == digest; });
  };
  if (!std::ranges::equal(certificate.variants, sha256, was_last)) return false;
  for (std::size_t i = 0; i < sha256.size(); ++i) {
    Variant& variant = certificate.variants[i];
    for (std::size_t table = 0; table < sha256[i].size(); ++table) {
      variant.samples -= variant.appended.back().samples;
      variant.appended.pop_back();
    }
  }
  return true;
}

void compare_counted(const Certificate& certificate, std::size_t variant, const CountedRows& counted,
                     Verification& verification) {
  const Variant& stated = certificate.variants.at(variant);
  const std::vector<AppendedTable>& tables = counted.tables();
  compare_recount(certificate, variant, counted.tally(), tables.front().sha256, verification);
  compare_rows(certificate, variant, tables.front().reading, counted.independence(), verification);
  const auto expect = [&](bool condition, const std::string& text) {
    if (!condition)
      verification.findings.push_back(fmt::format("data of variant '{}': {}", stated.name, text));
  };
  expect(tables.size() == table_count(stated),
         fmt::format("{} tables, the certificate has {}", tables.size(), table_count(stated)));
  for (std::size_t i = 1; i < std::min(tables.size(), table_count(stated)); ++i) {
    const AppendedTable& said = stated.appended[i - 1];
    expect(tables[i].sha256 == said.sha256,
           fmt::format("SHA-256 of its table {} is {}, the certificate says {}", i + 1, tables[i].sha256,
                       said.sha256));
    expect(tables[i].samples == said.samples, fmt::format("{} rows in its table {}, the certificate says {}",
                                                          tables[i].samples, i + 1, said.samples));
    expect(tables[i].reading.empty() || tables[i].reading == said.reading,
           fmt::format("its table {} is read in another way than the certificate says", i + 1));
  }
}

}  // namespace surefoot::certify
