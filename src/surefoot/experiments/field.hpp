#pragma once

#include "surefoot/algorithms/learned_operator.hpp"
#include "surefoot/core/types.hpp"

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace surefoot::experiments {

/// A value that trained weights depend on. One list of fields says where each of them stands in a training
/// file, under which key the metadata of weights have it, and what a checkpoint is compared by.
struct Field {
  /// Where the value itself is: it must outlive the field.
  using Value = std::variant<Index*, std::uint64_t*, double*, bool*, std::string*, std::vector<Index>*,
                             algorithms::Precision*>;
  std::string table = {};     ///< of a training file: family, network; empty: none
  std::string key = {};       ///< in a training file; empty: it does not say it
  std::string metadata = {};  ///< of weights; empty: they do not have it
  Value value;
  bool of_model = false;  ///< weights with other values are of another model or family
  bool required = true;   ///< false: metadata may lack it
  /// Where a file or folder lies: no part of what is trained. Metadata have what finds it again on any
  /// machine.
  bool is_place = false;

  /// As checkpoints and errors name it.
  [[nodiscard]] std::string name() const;
  /// The value as text: numbers with as many digits as tell them apart, lists by ';'.
  [[nodiscard]] std::string text() const;
  /// The same as metadata have it: a place that begins at the root of this machine has its last name alone.
  [[nodiscard]] std::string metadata_text() const;
  /// The inverse of text(); InputError begins with `where` and says which value is none.
  void set(const std::string& text, const std::string& where) const;
};

}  // namespace surefoot::experiments
