#include "surefoot/io/matrix_market.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/line_reader.hpp"
#include "surefoot/io/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>
#include <vector>

namespace surefoot::io {

namespace {

// Cuts the next word off `line`; empty at the end.
std::string_view take_word(std::string_view& line) {
  line = trim(line);
  const std::string_view word = line.substr(0, std::min(line.find_first_of(" \t"), line.size()));
  line.remove_prefix(word.size());
  return word;
}

std::string lower(std::string_view word) {
  std::string text(word);
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return text;
}

class Parser {
 public:
  Parser(ByteSource& source, const MatrixMarketLimits& limits)
      : source_(source), lines_(source), limits_(limits) {}

  Eigen::SparseMatrix<double> parse() {
    read_banner();
    read_sizes();
    if (coordinate_) {
      read_coordinates();
    } else {
      read_array();
    }
    const bool more = next_line();
    check(!more, fmt::format("more than the {} entries announced", entries_));
    Eigen::SparseMatrix<double> matrix(rows_, columns_);
    matrix.setFromTriplets(triplets_.begin(), triplets_.end());
    return matrix;
  }

 private:
  using Triplet = Eigen::Triplet<double>;

  void check(bool condition, std::string_view complaint) const {
    require(condition, "{}:{}: {}: '{}'", source_.name(), lines_.number(), complaint, excerpt(line_));
  }

  // The next line that is neither blank nor a comment.
  bool next_line() {
    while (lines_.next(line_)) {
      if (!trim(line_).empty() && line_[0] != '%') return true;
    }
    return false;
  }

  void read_banner() {
    require(lines_.next(line_), "{}: the file is empty", source_.name());
    std::string_view rest = line_;
    check(lower(take_word(rest)) == "%%matrixmarket", "a Matrix Market file begins with %%MatrixMarket");
    check(lower(take_word(rest)) == "matrix", "the object is not 'matrix'");
    const std::string format = lower(take_word(rest));
    const std::string field = lower(take_word(rest));
    const std::string symmetry = lower(take_word(rest));
    coordinate_ = format == "coordinate";
    pattern_ = field == "pattern";
    integer_ = field == "integer";
    symmetric_ = symmetry == "symmetric";
    check(coordinate_ || format == "array", "the format is neither 'coordinate' nor 'array'");
    check(field == "real" || field == "double" || integer_ || pattern_,
          "the field is not 'real', 'integer' or 'pattern'");
    check(symmetry == "general" || symmetric_, "the symmetry is neither 'general' nor 'symmetric'");
    check(coordinate_ || !pattern_, "an array has no pattern");
    check(trim(rest).empty(), "too many words");
  }

  Index take_integer(std::string_view& rest) const {
    long long value = 0;
    check(parse_integer(take_word(rest), value), "expected an integer");
    return value;
  }

  void read_sizes() {
    const bool present = next_line();
    require(present, "{}:{}: the line with the sizes is missing", source_.name(), lines_.number());
    std::string_view rest = line_;
    rows_ = take_integer(rest);
    columns_ = take_integer(rest);
    check(rows_ >= 0 && columns_ >= 0, "a size is negative");
    check(rows_ <= limits_.dimension && columns_ <= limits_.dimension,
          fmt::format("more than {} rows or columns", limits_.dimension));
    check(!symmetric_ || rows_ == columns_, "a symmetric matrix is square");
    const Index stored = symmetric_ ? rows_ * (rows_ + 1) / 2 : rows_ * columns_;
    entries_ = coordinate_ ? take_integer(rest) : stored;
    check(trim(rest).empty(), "too many words");
    check(entries_ >= 0, "the number of entries is negative");
    check(entries_ <= limits_.entries, fmt::format("more than {} entries", limits_.entries));
  }

  double take_value(std::string_view& rest) const {
    if (pattern_) return 1.0;
    if (integer_) return static_cast<double>(take_integer(rest));
    double value = 0;
    const std::string_view word = take_word(rest);
    check(parse_number(word, value), word.empty() ? "a value is missing" : "the value is not a number");
    check(std::isfinite(value), "the value is not finite");
    return value;
  }

  void next_entry(Index done) {
    const bool present = next_line();
    require(present, "{}:{}: {} entries announced, the file ends after {}", source_.name(), lines_.number(),
            entries_, done);
  }

  void add(Index row, Index column, double value) {
    triplets_.emplace_back(static_cast<int>(row), static_cast<int>(column), value);
    if (symmetric_ && row != column) {
      triplets_.emplace_back(static_cast<int>(column), static_cast<int>(row), value);
    }
  }

  void read_coordinates() {
    for (Index done = 0; done < entries_; ++done) {
      next_entry(done);
      std::string_view rest = line_;
      const Index row = take_integer(rest);
      const Index column = take_integer(rest);
      check(row >= 1 && row <= rows_, fmt::format("row {} is outside 1 .. {}", row, rows_));
      check(column >= 1 && column <= columns_, fmt::format("column {} is outside 1 .. {}", column, columns_));
      check(!symmetric_ || row >= column, "a symmetric file holds the lower triangle only");
      const double value = take_value(rest);
      check(trim(rest).empty(), "too many words");
      add(row - 1, column - 1, value);
    }
  }

  void read_array() {
    Index done = 0;
    for (Index column = 0; column < columns_; ++column) {
      for (Index row = symmetric_ ? column : 0; row < rows_; ++row) {
        next_entry(done++);
        std::string_view rest = line_;
        const double value = take_value(rest);
        check(trim(rest).empty(), "too many words");
        if (value != 0.0) add(row, column, value);
      }
    }
  }

  ByteSource& source_;
  LineReader lines_;
  MatrixMarketLimits limits_;
  std::string_view line_;
  bool coordinate_ = false;
  bool pattern_ = false;
  bool integer_ = false;
  bool symmetric_ = false;
  Index rows_ = 0;
  Index columns_ = 0;
  Index entries_ = 0;
  std::vector<Triplet> triplets_;
};

}  // namespace

Eigen::SparseMatrix<double> read_matrix_market(ByteSource& source, const MatrixMarketLimits& limits) {
  constexpr Index most = 2'000'000'000;  // of Eigen's default storage index
  require(limits.dimension >= 0 && limits.dimension <= most, "limits.dimension: {} is outside 0 .. {}",
          limits.dimension, most);
  require(limits.entries >= 0 && limits.entries <= most / 2, "limits.entries: {} is outside 0 .. {}",
          limits.entries, most / 2);
  return Parser(source, limits).parse();
}

Eigen::SparseMatrix<double> read_matrix_market(const std::string& path, const MatrixMarketLimits& limits) {
  return read_matrix_market(*open_bytes(path), limits);
}

}  // namespace surefoot::io
