#pragma once

#include "surefoot/core/interruption.hpp"
#include "surefoot/core/types.hpp"

#include <chrono>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

/// Programs of other people, several at a time.
namespace surefoot::experiments {

struct ChildOptions {
  double seconds = infinity;                        ///< one that takes longer is ended
  std::size_t most_output = std::size_t{16} << 20;  ///< bytes; one that prints more is ended
};

/// How a program has ended.
struct ChildEnd {
  enum class How { exited, signalled, out_of_time, too_much_output };

  Index number = 0;  ///< as it was begun
  How how = How::exited;
  int code = 0;  ///< exit code, or signal
  std::string output;
  std::string errors;  ///< the last of what it wrote to standard error
};

/// Each program runs without a shell, with no input, in a process group of its own that is killed when the
/// program ends, so that nothing it has begun stays behind. All are killed when this object goes, and when
/// this process dies. One thread uses it.
class ChildPrograms {
 public:
  explicit ChildPrograms(ChildOptions options);
  ~ChildPrograms();
  ChildPrograms(const ChildPrograms&) = delete;
  ChildPrograms& operator=(const ChildPrograms&) = delete;

  /// InputError if there is no such program, or it cannot be run; std::system_error if there is no room for
  /// one.
  void begin(Index number, const std::vector<std::string>& command);
  [[nodiscard]] std::size_t running() const { return children_.size(); }
  /// Waits until some have ended; `interrupt` is called from time to time.
  std::vector<ChildEnd> wait(const Interrupt& interrupt);

 private:
  class Descriptor;
  struct Pipe;
  struct Child;
  static void read_into(Descriptor& from, std::string& text, std::size_t most);
  void read_what_is_there(Child& child) const;
  [[nodiscard]] bool has_ended(Child& child) const;

  ChildOptions options_;
  std::vector<std::unique_ptr<Child>> children_;
};

}  // namespace surefoot::experiments
