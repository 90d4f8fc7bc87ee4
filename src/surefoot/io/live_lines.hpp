#pragma once

#include "surefoot/core/types.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::io {

/// Lines of a stream as they come: each is given as soon as its end is there, for work that must not wait for
/// a buffer to be full.
class LiveLines {
 public:
  static constexpr std::size_t longest = std::size_t{1} << 12U;

  enum class Next {
    line,
    nothing_yet,  ///< none came for a tenth of a second, or a signal did
    end,
  };

  /// Of a descriptor, which stays open; `name` stands in messages.
  LiveLines(int descriptor, std::string name);

  /// A line without its LF, valid until the next call; of one longer than 4,096 bytes the first of them, and
  /// "..." in the place of the rest. A last line needs no LF. InputError if the stream cannot be read.
  Next next(std::string_view& line);

 private:
  bool take(std::string_view& line);
  bool fetch();

  int descriptor_;
  std::string name_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;  ///< of what was not given yet
  std::size_t size_ = 0;
  std::string pending_;  ///< a line whose end is not there yet
  std::string given_;
  bool ended_ = false;
};

}  // namespace surefoot::io
