#pragma once

#include "surefoot/certify/selection.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/core/types.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/table_reader.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace surefoot::certify {

/// What a user says of a table of text. Columns are named by their labels, with or without the unit.
struct TableChoice {
  std::vector<std::string>
      values;                      ///< columns of numbers; none: of scalars, each that is not named otherwise
  std::string variants;            ///< column that names variants; empty: each column of numbers is one
  std::string rows;                ///< column that names problems; empty: every line is one; `each_line` too
  std::string steps;               ///< column of steps; empty: by its name, unless it is for scalars
  std::vector<std::string> where;  ///< "column=text"
  std::vector<std::string> failed;  ///< "column=text"
  Missing missing = Missing::refuse;
  bool scalar = false;      ///< one number per problem, whatever columns are called
  bool every_line = false;  ///< is a problem, whatever columns are called

  static constexpr const char* each_line = "line";
  /// The choice that reads a table as `selections`, of all its variants, were read.
  static TableChoice of(const std::vector<Selection>& selections);
};

/// "runtime" and "ms" of "runtime (ms)" or "runtime [ms]".
struct LabelledMetric {
  std::string name;
  std::string unit;
};
LabelledMetric metric_of_label(std::string_view label);

/// A table of text that is held as numbers: a result per line (problem, solver, settings, runtime, found,
/// ...), as benchmark programs write it, or a column of one number per problem for each variant.
///
/// Every line that `where` selects counts, and nothing else is left out: two lines of the same variant,
/// problem and step, and a problem that a variant lacks (unless it is to count as a failure) are refused. A
/// line that is `failed`, "> 4000" and what is missing are infinite. Where a column of text is not spoken
/// for, lines may be several results of one problem: then `rows` is needed.
class LongTable {
 public:
  using Progress = std::function<void(Index, Index)>;
  struct Part {
    std::string name;
    Selection selection;
    std::vector<double> values;  ///< row-major: a row per problem, a column per step
  };

  struct Content {
    std::vector<Part> parts;
    bool scalar = true;
    std::vector<Index> steps;
    std::string sha256;
    LabelledMetric metric;
    std::vector<std::string> notices;
  };

  LongTable(const std::string& path, const TableChoice& choice, const io::TableOptions& options = {},
            const Progress& progress = nullptr);
  LongTable(std::unique_ptr<io::ByteSource> source, const TableChoice& choice,
            const io::TableOptions& options = {}, const Progress& progress = nullptr);

  /// In the order in which they come.
  [[nodiscard]] const std::vector<Part>& parts() const { return content_.parts; }
  [[nodiscard]] bool scalar() const { return content_.scalar; }
  /// scalar_step alone, of scalars.
  [[nodiscard]] const std::vector<Index>& steps() const { return content_.steps; }
  [[nodiscard]] TableView view(std::size_t part) const;
  [[nodiscard]] const std::string& sha256() const { return content_.sha256; }
  /// What the label says; the name is empty where several columns are variants.
  [[nodiscard]] const LabelledMetric& metric() const { return content_.metric; }
  /// What its owner may not expect.
  [[nodiscard]] const std::vector<std::string>& notices() const { return content_.notices; }

  /// Bytes that reading such a file takes, at most; none if nobody knows before (gzip, standard input).
  static std::optional<double> memory_of(const std::string& path, const TableChoice& choice);

 private:
  Content content_;
};

}  // namespace surefoot::certify
