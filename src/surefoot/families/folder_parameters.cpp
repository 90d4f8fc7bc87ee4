#include "surefoot/families/folder_parameters.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <functional>
#include <map>
#include <string_view>
#include <utility>

namespace surefoot::families {

namespace {

/// Numbers of every problem: the rows of a table, or what is stored of matrices.
struct Source {
  std::string name;
  bool varies = false;  ///< false: all problems share them
  Index size = 0;
  std::function<double(Index instance, Index entry)> at;
};

void add_table(const char* name, const problems::Table& table, std::vector<Source>& sources) {
  sources.push_back({name, table.rows() > 1, table.cols(), [&table](Index instance, Index entry) {
                       return problems::table_row(table, instance)[entry];
                     }});
}

void add_matrices(const char* name, const std::vector<problems::SparseMatrix>& matrices,
                  std::vector<Source>& sources) {
  const problems::SparseMatrix& first = matrices.front();
  for (const problems::SparseMatrix& matrix : matrices) {
    const bool same =
        matrix.nonZeros() == first.nonZeros() &&
        std::equal(first.outerIndexPtr(), first.outerIndexPtr() + first.outerSize() + 1,
                   matrix.outerIndexPtr()) &&
        std::equal(first.innerIndexPtr(), first.innerIndexPtr() + first.nonZeros(), matrix.innerIndexPtr());
    require(same,
            "{}: its pattern differs from problem to problem; say what varies in a table parameters.csv",
            name);
  }
  sources.push_back({name, matrices.size() > 1, static_cast<Index>(first.nonZeros()),
                     [&matrices](Index instance, Index entry) {
                       const std::size_t which =
                           matrices.size() == 1 ? 0 : static_cast<std::size_t>(instance);
                       return matrices[which].valuePtr()[entry];
                     }});
}

Index instances_of(const FolderProblems& problems) {
  return std::visit([](const auto& family) { return family.instances(); }, problems);
}

std::vector<Source> sources_of(const FolderProblems& problems, const problems::Table* given) {
  std::vector<Source> sources;
  if (given != nullptr) {
    require(given->rows() == instances_of(problems), "{}: has {} rows for {} problems", parameters_table,
            given->rows(), instances_of(problems));
    sources.push_back({parameters_table, true, given->cols(),
                       [given](Index instance, Index entry) { return (*given)(instance, entry); }});
    return sources;
  }
  if (const auto* qp = std::get_if<problems::Qp>(&problems)) {
    add_table("q", qp->q, sources);
    add_table("l", qp->l, sources);
    add_table("u", qp->u, sources);
    add_matrices("P", qp->P, sources);
    add_matrices("A", qp->A, sources);
  } else if (const auto* cone = std::get_if<problems::ConeProgram>(&problems)) {
    add_table("b", cone->b, sources);
    add_table("c", cone->c, sources);
    add_matrices("P", cone->P, sources);
    add_matrices("A", cone->A, sources);
  } else if (const auto* quadratic = std::get_if<problems::Quadratic>(&problems)) {
    add_table("c", quadratic->c, sources);
  } else {
    add_table("b", std::get<problems::Lasso>(problems).b, sources);
  }
  return sources;
}

/// Entries of one source, increasing: "0..3,7".
std::string ranges_text(const std::vector<Index>& entries) {
  std::vector<std::string> parts;
  for (std::size_t begin = 0; begin < entries.size();) {
    std::size_t end = begin + 1;
    while (end < entries.size() && entries[end] == entries[end - 1] + 1) ++end;
    parts.push_back(end - begin > 1 ? fmt::format("{}..{}", entries[begin], entries[end - 1])
                                    : fmt::format("{}", entries[begin]));
    begin = end;
  }
  return fmt::format("{}", fmt::join(parts, ","));
}

/// Reads "name[0..3,7];name[1]".
class EntriesReader {
 public:
  explicit EntriesReader(std::string_view text) : text_(text) {}

  using Entries = std::vector<std::pair<std::string, std::vector<Index>>>;
  Entries operator()() {
    Entries all;
    for (std::size_t begin = 0; begin <= text_.size();) {
      const std::size_t end = std::min(text_.find(';', begin), text_.size());
      all.push_back(one(text_.substr(begin, end - begin)));
      begin = end + 1;
    }
    return all;
  }

 private:
  std::pair<std::string, std::vector<Index>> one(std::string_view text) {
    const std::size_t open = text.find('[');
    check(open != std::string_view::npos && open > 0 && text.size() > open + 2 && text.back() == ']');
    std::pair<std::string, std::vector<Index>> entries{std::string(text.substr(0, open)), {}};
    std::string_view list = text.substr(open + 1, text.size() - open - 2);
    while (!list.empty()) {
      const std::size_t comma = std::min(list.find(','), list.size());
      const std::string_view part = list.substr(0, comma);
      const std::size_t dots = part.find("..");
      const Index first = number(part.substr(0, dots));
      const Index last = dots == std::string_view::npos ? first : number(part.substr(dots + 2));
      check(first <= last && (entries.second.empty() || first > entries.second.back()));
      count_ += last - first + 1;
      check(count_ <= most_entries);
      for (Index entry = first; entry <= last; ++entry) entries.second.push_back(entry);
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
    check(!entries.second.empty());
    return entries;
  }
  [[nodiscard]] Index number(std::string_view text) const {
    Index value = 0;
    const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    check(error == std::errc() && rest == text.data() + text.size() && value >= 0 && value < most_entries);
    return value;
  }
  void check(bool right) const {
    require(right, "inputs: '{}' does not name entries of a problem", io::excerpt(std::string(text_)));
  }

  static constexpr Index most_entries = 100'000'000;
  std::string_view text_;
  Index count_ = 0;  ///< of all sources
};

/// An entry in all problems.
std::vector<double> column_of(const Source& source, Index entry, Index instances) {
  std::vector<double> column(static_cast<std::size_t>(instances));
  for (Index i = 0; i < instances; ++i) column[static_cast<std::size_t>(i)] = source.at(i, entry);
  return column;
}

/// Columns by their hashes, not by their numbers, which may be many.
class SeenColumns {
 public:
  explicit SeenColumns(Index instances) : instances_(instances) {}
  /// False if there is an equal one.
  bool add(const Source& source, Index entry, const std::vector<double>& column) {
    std::size_t hash = 0;
    for (const double value : column) hash = hash * 1000003 + std::hash<double>()(value);
    const auto [begin, end] = places_.equal_range(hash);
    for (auto place = begin; place != end; ++place) {
      if (column_of(*place->second.first, place->second.second, instances_) == column) return false;
    }
    places_.emplace(hash, std::pair(&source, entry));
    return true;
  }

 private:
  Index instances_;
  std::multimap<std::size_t, std::pair<const Source*, Index>> places_;
};

}  // namespace

std::string ParameterMap::text() const {
  return entries.empty() ? ""
                         : fmt::format("{} {} {}", entries, fmt::join(center, ";"), fmt::join(scale, ";"));
}

ParameterMap ParameterMap::parse(const std::string& text) {
  ParameterMap map;
  if (text.empty()) return map;
  const std::size_t first = std::min(text.find(' '), text.size());
  const std::size_t second = std::min(text.find(' ', first + 1), text.size());
  map.entries = text.substr(0, first);
  std::size_t count = 0;
  for (const auto& [name, entries_of_one] : EntriesReader(map.entries)()) count += entries_of_one.size();
  const auto numbers = [&](std::size_t begin, std::size_t end) {
    std::vector<double> all;
    while (begin < end) {
      const std::size_t stop = std::min(text.find(';', begin), end);
      double number = 0;
      require(io::parse_number(std::string_view(text).substr(begin, stop - begin), number) &&
                  std::isfinite(number),
              "inputs: '{}' is no number", io::excerpt(text.substr(begin, stop - begin)));
      all.push_back(number);
      begin = stop + 1;
    }
    return all;
  };
  map.center = numbers(first + 1, second);
  map.scale = numbers(second + 1, text.size());
  require(count == map.center.size() && count == map.scale.size(),
          "inputs: {} entries, {} centers and {} scales", count, map.center.size(), map.scale.size());
  for (const double scale : map.scale) require(scale > 0, "inputs: a scale is {}", scale);
  return map;
}

ParameterMap find_parameters(const FolderProblems& problems, const problems::Table* given) {
  ParameterMap map;
  std::vector<std::string> texts;
  const Index instances = instances_of(problems);
  const std::vector<Source> sources = sources_of(problems, given);
  SeenColumns seen(instances);
  for (const Source& source : sources) {
    std::vector<Index> entries;
    for (Index entry = 0; source.varies && entry < source.size; ++entry) {
      const std::vector<double> column = column_of(source, entry, instances);
      if (!std::all_of(column.begin(), column.end(), [](double value) { return std::isfinite(value); }))
        continue;
      const auto [low, high] = std::minmax_element(column.begin(), column.end());
      if (*low == *high) continue;
      const auto count = static_cast<double>(column.size());
      // Numbers are divided by the largest first, so that no square overflows.
      const double unit = std::max(std::abs(*low), std::abs(*high));
      double mean = 0;
      for (const double value : column) mean += value / unit / count;
      double squares = 0;
      for (const double value : column) squares += (value / unit - mean) * (value / unit - mean) / count;
      const double scale = unit * std::sqrt(squares);
      // Less than rounding may make of a constant.
      constexpr double smallest = 1e-9;
      if (!(scale > smallest * unit) || !std::isfinite(scale)) continue;
      if (!seen.add(source, entry, column)) continue;
      entries.push_back(entry);
      map.center.push_back(unit * mean);
      map.scale.push_back(scale);
    }
    if (!entries.empty()) texts.push_back(fmt::format("{}[{}]", source.name, ranges_text(entries)));
  }
  require(!texts.empty(), "the {} problems that are learned from all agree: there is nothing to learn",
          instances);
  map.entries = fmt::format("{}", fmt::join(texts, ";"));
  return map;
}

problems::Table parameters_of(const ParameterMap& map, const FolderProblems& problems,
                              const problems::Table* given) {
  require(!is_of_given(map) || given != nullptr,
          "{}: the network sees a table of this name, and these problems have none", parameters_table);
  const std::vector<Source> sources = sources_of(problems, is_of_given(map) ? given : nullptr);
  const Index instances = instances_of(problems);
  problems::Table table(instances, map.size());
  Index at = 0;
  for (const auto& part : EntriesReader(map.entries)()) {
    const std::string& name = part.first;
    const std::vector<Index>& entries = part.second;
    const auto source =
        std::find_if(sources.begin(), sources.end(), [&](const Source& one) { return one.name == name; });
    require(source != sources.end(), "{}: the network sees it, and these problems have none", name);
    require(entries.back() < source->size, "{}: has {} numbers for a problem, and the network sees number {}",
            name, source->size, entries.back());
    for (const Index entry : entries) {
      require(at < map.size(), "inputs: there are more entries than centers");
      for (Index i = 0; i < instances; ++i) table(i, at) = source->at(i, entry);
      ++at;
    }
  }
  require(at == map.size(), "inputs: there are fewer entries than centers");
  return table;
}

bool is_of_given(const ParameterMap& map) {
  return map.entries.starts_with(parameters_table);
}

}  // namespace surefoot::families
