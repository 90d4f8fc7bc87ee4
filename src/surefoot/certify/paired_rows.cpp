#include "surefoot/certify/paired_rows.hpp"

#include "surefoot/certify/table_view.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <utility>

namespace surefoot::certify {
namespace {

std::string file_of(const std::string& path) {
  return path == "-" ? "standard input" : std::filesystem::path(path).filename().string();
}

runs::TallySpec nothing_counted(const std::vector<Index>& steps, bool scalar, bool grouped) {
  runs::TallySpec spec;
  spec.steps = steps;
  spec.scalar = scalar;
  spec.grouped = grouped;
  spec.keep_values = false;
  return spec;
}

void read_through(RunTable& table) {
  table.count(nothing_counted(table.steps(), false, table.grouped()), nullptr);
  Independence found = table.independence();
  found.require_none(table.path(), false);
}

PairedRuns runs_of_problems(const std::string& name, RunTable& table, const PairedOptions& options) {
  PairedRuns runs(name, table.steps(), options);
  table.listen([&](Index, const double* values) { runs.add_run(values); });
  read_through(table);
  return runs;
}

/// The largest tick of each group at each step, by the group's name.
using GroupRows = std::map<std::string, std::vector<double>>;

GroupRows rows_of_groups(RunTable& table) {
  std::vector<std::vector<double>> rows;
  table.listen(
      [&](Index, const double* values) { rows.emplace_back(values, values + table.steps().size()); });
  read_through(table);
  GroupRows groups;
  for (std::size_t i = 0; i < rows.size(); ++i) groups[table.group_names().at(i)] = std::move(rows[i]);
  return groups;
}

std::pair<PairedRuns, PairedRuns> runs_of_groups(const std::vector<std::string>& names,
                                                 const std::array<RunTable*, 2>& both,
                                                 const PairedOptions& options) {
  const GroupRows first = rows_of_groups(*both[0]);
  const GroupRows second = rows_of_groups(*both[1]);
  const auto require_all = [](const GroupRows& of, const GroupRows& in, const std::string& lacking) {
    for (const auto& [group, row] : of)
      require(in.contains(group), "{}: has no group '{}', which the other table has", lacking,
              io::excerpt(group));
  };
  require_all(first, second, both[1]->path());
  require_all(second, first, both[0]->path());
  std::pair<PairedRuns, PairedRuns> runs{PairedRuns(names[0], both[0]->steps(), options),
                                         PairedRuns(names[1], both[1]->steps(), options)};
  for (const auto& [group, row] : first) {
    runs.first.add_run(row.data());
    runs.second.add_run(second.at(group).data());
  }
  return runs;
}

/// One of the two: a part of a table of text, and what it is called.
struct TextSide {
  const LongTable* table;
  std::size_t part;
  std::string name;
};

std::vector<TextSide> text_sides(const std::vector<std::string>& files, const std::string& names_of_two,
                                 const std::vector<LongTable>& read) {
  std::vector<TextSide> sides;
  if (read.size() == 2) {
    const std::vector<std::string> names = table_names(files, names_of_two);
    for (std::size_t i = 0; i < 2; ++i) {
      require(read[i].parts().size() == 1,
              "{}: has {} variants; pair those of one table, or tables of one each", files[i],
              read[i].parts().size());
      require(
          read[i].parts().front().selection.rows.empty(),
          "--rows: problems of two tables are paired line by line; for pairs by name put both variants into "
          "one table (--variants)");
      sides.push_back({&read[i], 0, names[i]});
    }
    return sides;
  }
  std::vector<std::string> all;
  for (std::size_t i = 0; i < read.front().parts().size(); ++i) {
    const LongTable::Part& part = read.front().parts()[i];
    all.push_back(part.name);
    sides.push_back({&read.front(), i, part.name});
    require(part.selection.variants.empty() || !part.selection.rows.empty(),
            "--rows: name the column of problems, by which the variants are paired");
  }
  std::vector<std::string> names = names_of_two.empty() ? all : io::split_list("--names", names_of_two);
  require(names.size() == 2, "--names: say which two of {} to compare", fmt::join(all, ", "));
  std::vector<TextSide> chosen;
  for (const std::string& name : names) {
    const auto found = std::ranges::find(sides, name, &TextSide::name);
    require(found != sides.end(), "--names: '{}' is not one of {}", io::excerpt(name), fmt::join(all, ", "));
    chosen.push_back(*found);
  }
  require(chosen[0].part != chosen[1].part, "--names: '{}' cannot be compared with itself", names[0]);
  return chosen;
}

}  // namespace

PairedOptions with_default_claims(PairedOptions options, const std::vector<Index>& steps) {
  if (!options.scalar && options.claims.empty())
    options.claims = default_paired_claims(options.tolerances, steps);
  return options;
}

PairedComparison compare_run_tables(const std::vector<std::string>& names,
                                    const std::array<RunTable*, 2>& both, const PairedOptions& given) {
  RunTable& first = *both[0];
  RunTable& second = *both[1];
  const PairedOptions options = with_default_claims(given, first.steps());
  require(first.grouped() == second.grouped(), "{}: has groups, and {} has none",
          (first.grouped() ? first : second).path(), (first.grouped() ? second : first).path());
  std::optional<std::pair<PairedRuns, PairedRuns>> runs;
  if (first.grouped()) {
    runs = runs_of_groups(names, both, options);
  } else {
    PairedRuns of_first = runs_of_problems(names[0], first, options);
    PairedRuns of_second = runs_of_problems(names[1], second, options);
    runs.emplace(std::move(of_first), std::move(of_second));
  }
  PairedComparison comparison = compare_paired(runs->first, runs->second, options);
  for (const RunTable* table : both) comparison.tables.push_back({file_of(table->path()), table->sha256()});
  return comparison;
}

PairedComparison compare_long_tables(const std::vector<std::string>& files, const std::string& names,
                                     const std::vector<LongTable>& read, PairedOptions options) {
  const std::vector<TextSide> sides = text_sides(files, names, read);
  options.scalar = sides[0].table->scalar();
  require(options.scalar == sides[1].table->scalar(), "of the tables some have steps and some have none");
  if (!sides[0].table->metric().name.empty()) options.metric = sides[0].table->metric().name;
  if (options.scalar) options.tolerances.clear();
  options = with_default_claims(options, sides[0].table->steps());
  std::vector<PairedRuns> runs;
  for (const TextSide& side : sides) {
    const std::vector<Index>& steps = side.table->steps();
    PairedRuns& own = runs.emplace_back(side.name, steps, options);
    const std::vector<double>& values = side.table->parts()[side.part].values;
    for (std::size_t at = 0; at < values.size(); at += steps.size()) own.add_run(&values[at]);
    if (!side.table->parts()[side.part].selection.rows.empty()) continue;
    Independence found;
    count_view(side.table->view(side.part), nothing_counted(steps, options.scalar, false), nullptr, &found);
    found.require_none(side.name, false);
  }
  PairedComparison comparison = compare_paired(runs[0], runs[1], options);
  for (std::size_t i = 0; i < read.size(); ++i)
    comparison.tables.push_back({file_of(files[i]), read[i].sha256()});
  return comparison;
}

}  // namespace surefoot::certify
