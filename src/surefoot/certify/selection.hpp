#pragma once

#include "surefoot/core/types.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

struct Certificate;

/// A problem, or a step of it, that the table does not have for some variant.
enum class Missing {
  refuse,  ///< the table is refused
  failed,  ///< counts as infinite
};
std::string_view name(Missing missing);
Missing parse_missing(std::string_view text);

/// Which cells of a table of text are the numbers of a variant (long_table.hpp), and what was found in them.
/// It is all that is needed to count the table again. Columns are named by their labels, "column 3" where the
/// table has none.
struct Selection {
  std::string value;                ///< column of the numbers
  std::string variants;             ///< column whose texts name the variants; empty: there is none
  std::string variant;              ///< what stands there
  std::string rows;                 ///< column that names the problems; empty: every line is a problem
  std::string steps;                ///< column of the steps; empty: one number per problem
  std::vector<std::string> where;   ///< "column=text": lines that count have all of these
  std::vector<std::string> failed;  ///< "column=text": a line with any of these is a failure
  Missing missing = Missing::refuse;
  Index failed_lines = 0;   ///< lines that are failures by `failed`, whatever their number
  Index censored = 0;       ///< numbers given as "> 4000": known to exceed it, they count as infinite
  Index missing_cells = 0;  ///< numbers that are not there and count as infinite

  bool operator==(const Selection&) const = default;
};

/// How the table was read, in words. Lines that variants of one table have in common come first.
std::vector<std::string> words_of(const Selection& selection);

/// Whether samples are problems that the table names, a benchmark: nobody has drawn them, so claims are
/// conditional ("if these problems were drawn at random from those you will meet").
bool names_problems(const Certificate& certificate);

}  // namespace surefoot::certify
