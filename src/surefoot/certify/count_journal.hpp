#pragma once

#include "surefoot/core/interruption.hpp"
#include "surefoot/io/checkpoint_file.hpp"

#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

/// Keeps what counting has come to while it goes on. Counting consists of pieces, always the same ones in the
/// same order; each has a state, which is bytes.
class CountJournal {
 public:
  /// What a piece keeps besides its counts, of its own caller.
  struct Companion {
    std::function<void(ByteWriter&)> save;
    std::function<void(std::string_view)> restore;
  };

  /// Goes on with what is in the file if `resume`; otherwise it is written over. `interrupt` is called
  /// between two blocks of work.
  explicit CountJournal(io::CheckpointFile file, bool resume = false, Interrupt interrupt = nullptr);

  /// Whether there is a file; without one nothing but `interrupt` has an effect.
  [[nodiscard]] bool keeps() const { return file_.kept(); }

  /// Whether an earlier process left something.
  [[nodiscard]] bool resumed() const { return resumed_; }

  /// Begins the next piece: its state as an earlier process left it; none: it had not begun.
  std::optional<std::string> begin();
  /// Whether it is time to keep a state; in any thread.
  [[nodiscard]] bool due();
  /// Keeps the state of the piece that was begun last.
  void keep(std::string state);
  /// The same without writing the file: the next keep() will, or flush().
  void end(std::string state);
  void flush();
  void interrupt() const {
    if (interrupt_) interrupt_();
  }
  /// All pieces are done and their result is safe.
  void close() const { file_.remove(); }

  Companion companion;

 private:
  io::CheckpointFile file_;
  Interrupt interrupt_;
  std::mutex mutex_;  // of the file and the states
  std::vector<std::string> states_;
  std::size_t begun_ = 0;
  bool unwritten_ = false;
  bool resumed_ = false;
};

}  // namespace surefoot::certify
