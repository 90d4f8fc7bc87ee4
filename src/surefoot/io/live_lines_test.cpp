#include "surefoot/io/live_lines.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>

namespace surefoot::io {
namespace {

class Pipe {
 public:
  Pipe() { EXPECT_EQ(::pipe(ends_.data()), 0); }
  ~Pipe() {
    ::close(ends_[0]);
    if (open_) ::close(ends_[1]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;
  [[nodiscard]] int reader() const { return ends_[0]; }
  void write(const std::string& text) {
    EXPECT_EQ(::write(ends_[1], text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end() {
    ::close(ends_[1]);
    open_ = false;
  }

 private:
  std::array<int, 2> ends_{};
  bool open_ = true;
};

using Next = LiveLines::Next;

TEST(LiveLines, AreGivenAsSoonAsTheyAreThere) {
  Pipe pipe;
  LiveLines lines(pipe.reader(), "pipe");
  std::string_view line;
  EXPECT_EQ(lines.next(line), Next::nothing_yet);
  pipe.write("1\n\n2");
  EXPECT_EQ(lines.next(line), Next::line);
  EXPECT_EQ(line, "1");
  EXPECT_EQ(lines.next(line), Next::line);
  EXPECT_EQ(line, "");
  EXPECT_EQ(lines.next(line), Next::nothing_yet);
  pipe.write("3\n4");
  EXPECT_EQ(lines.next(line), Next::line);
  EXPECT_EQ(line, "23");
  pipe.end();
  EXPECT_EQ(lines.next(line), Next::line);
  EXPECT_EQ(line, "4");
  EXPECT_EQ(lines.next(line), Next::end);
  EXPECT_EQ(lines.next(line), Next::end);
}

TEST(LiveLines, OfALongOneTheBeginningIsGiven) {
  Pipe pipe;
  LiveLines lines(pipe.reader(), "pipe");
  std::string_view line;
  for (int i = 0; i < 10; ++i) pipe.write(std::string(1000, '1'));
  EXPECT_EQ(lines.next(line), Next::nothing_yet);
  pipe.write("\n" + std::string(LiveLines::longest, '2') + "\n5\n");
  EXPECT_EQ(lines.next(line), Next::line);
  EXPECT_EQ(line, std::string(LiveLines::longest, '1') + "...");
  EXPECT_EQ(lines.next(line), Next::line);
  EXPECT_EQ(line, std::string(LiveLines::longest, '2'));
  EXPECT_EQ(lines.next(line), Next::line);
  EXPECT_EQ(line, "5");
  pipe.end();
  EXPECT_EQ(lines.next(line), Next::end);
}

TEST(LiveLines, AStreamThatCannotBeReadIsAnError) {
  Pipe pipe;
  pipe.end();
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  LiveLines lines(ends[1], "the end of a pipe that is written to");
  std::string_view line;
  ::close(ends[0]);
  EXPECT_INPUT_ERROR(lines.next(line), "the end of a pipe that is written to: cannot read: ");
  ::close(ends[1]);
}

}  // namespace
}  // namespace surefoot::io
