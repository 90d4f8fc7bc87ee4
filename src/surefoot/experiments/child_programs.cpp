#include "surefoot/experiments/child_programs.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/memory_cap.hpp"
#include "surefoot/io/text.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

namespace surefoot::experiments {
namespace {

using ChildClock = std::chrono::steady_clock;

constexpr std::size_t errors_kept = 2000;

[[noreturn]] void fail_to_begin(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

[[noreturn]] void fail_to_read() {
  throw std::system_error(errno, std::generic_category(), "what a program prints cannot be read");
}

}  // namespace

/// A descriptor of the system that is closed with it.
class ChildPrograms::Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() { close(); }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    close();
    number_ = std::exchange(other.number_, -1);
    return *this;
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  void close() {
    if (number_ >= 0) ::close(number_);
    number_ = -1;
  }
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

struct ChildPrograms::Pipe {
  Descriptor read_end;
  Descriptor write_end;

  Pipe() {
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0) fail_to_begin("a pipe");
    read_end = Descriptor(ends[0]);
    write_end = Descriptor(ends[1]);
  }
};

namespace {

/// What stands between fork and exec: nothing but calls that are safe there.
[[noreturn]] void become(char* const* arguments, int input, int output, int errors, int complaint,
                         pid_t parent) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (const int signal : {SIGPIPE, SIGXFSZ, SIGHUP, SIGINT, SIGTERM}) ::signal(signal, SIG_DFL);
  const bool ready = getppid() == parent && dup2(input, STDIN_FILENO) >= 0 &&
                     dup2(output, STDOUT_FILENO) >= 0 && dup2(errors, STDERR_FILENO) >= 0;
  if (ready) execvp(arguments[0], arguments);
  const int why = errno;
  [[maybe_unused]] const ssize_t told = write(complaint, &why, sizeof why);
  _exit(127);
}

/// 0: it runs. Otherwise the error of the system.
int complaint_of(int descriptor) {
  int why = 0;
  std::size_t known = 0;
  while (known < sizeof why) {
    const ssize_t count = read(descriptor, reinterpret_cast<char*>(&why) + known, sizeof why - known);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) fail_to_read();
    if (count == 0) return 0;
    known += static_cast<std::size_t>(count);
  }
  return why;
}

void never_wait_for(int descriptor) {
  const int flags = fcntl(descriptor, F_GETFL);
  if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) != 0) fail_to_begin("a pipe");
}

}  // namespace

// Without waiting, at most until `most` bytes are in `text`; closes it at its end.
void ChildPrograms::read_into(Descriptor& from, std::string& text, std::size_t most) {
  std::array<char, 1 << 16> buffer;
  while (from.open() && text.size() <= most) {
    const ssize_t count = read(from.get(), buffer.data(), buffer.size());
    if (count > 0) {
      text.append(buffer.data(), static_cast<std::size_t>(count));
      continue;
    }
    if (count < 0 && errno == EINTR) continue;
    if (count < 0 && errno != EAGAIN) fail_to_read();  // a row that is cut may look like a whole one
    if (count == 0) from.close();
    return;
  }
}

struct ChildPrograms::Child {
  ChildEnd end;
  pid_t process = 0;
  Descriptor output;
  Descriptor errors;
  ChildClock::time_point deadline;
  bool has_deadline = false;
  bool reaped = false;

  void kill_group() const { ::kill(-process, SIGKILL); }
  ~Child() {
    if (process <= 0 || reaped) return;
    kill_group();
    while (waitpid(process, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
};

ChildPrograms::ChildPrograms(ChildOptions options) : options_(options) {}
ChildPrograms::~ChildPrograms() = default;

void ChildPrograms::begin(Index number, const std::vector<std::string>& command) {
  std::vector<char*> arguments;
  arguments.reserve(command.size() + 1);
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  auto child = std::make_unique<Child>();
  children_.reserve(children_.size() + 1);  // nothing may fail once it runs
  const Descriptor nothing(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing.open()) fail_to_begin("/dev/null");
  Pipe output;
  Pipe errors;
  Pipe complaint;
  const pid_t parent = getpid();
  {
    const MemoryCapLifted for_the_child;
    child->process = fork();
  }
  if (child->process < 0) fail_to_begin("a process");
  if (child->process == 0)
    become(arguments.data(), nothing.get(), output.write_end.get(), errors.write_end.get(),
           complaint.write_end.get(), parent);
  setpgid(child->process, child->process);  // whichever of the two is first
  complaint.write_end.close();
  if (const int why = complaint_of(complaint.read_end.get()); why != 0) {
    throw InputError(fmt::format("{}: cannot be run: {}", io::printable(command.front()),
                                 std::generic_category().message(why)));
  }
  child->end.number = number;
  child->output = std::move(output.read_end);
  child->errors = std::move(errors.read_end);
  never_wait_for(child->output.get());
  never_wait_for(child->errors.get());
  constexpr double longest = 1e9;  // seconds that a clock can add up
  child->has_deadline = options_.seconds < longest;
  if (child->has_deadline)
    child->deadline = ChildClock::now() + std::chrono::duration_cast<ChildClock::duration>(
                                              std::chrono::duration<double>(options_.seconds));
  children_.push_back(std::move(child));
}

void ChildPrograms::read_what_is_there(Child& child) const {
  read_into(child.output, child.end.output, options_.most_output);
  for (std::size_t before = 0; child.errors.open(); before = child.end.errors.size()) {
    read_into(child.errors, child.end.errors, errors_kept);
    if (child.end.errors.size() > errors_kept)
      child.end.errors.erase(0, child.end.errors.size() - errors_kept);
    if (child.end.errors.size() <= before) break;
  }
  if (child.end.output.size() > options_.most_output && child.end.how == ChildEnd::How::exited) {
    child.end.how = ChildEnd::How::too_much_output;
    child.kill_group();
  }
}

bool ChildPrograms::has_ended(Child& child) const {
  siginfo_t info{};
  const auto id = static_cast<id_t>(child.process);
  if (waitid(P_PID, id, &info, WEXITED | WNOHANG | WNOWAIT) != 0 && errno != EINTR)
    throw std::system_error(errno, std::generic_category(), "a program cannot be waited for");
  if (info.si_pid == 0) return false;
  child.kill_group();  // what it has left running: the group is there as long as it is not waited for
  read_what_is_there(child);
  int status = 0;
  while (waitpid(child.process, &status, 0) < 0 && errno == EINTR) {
  }
  child.reaped = true;
  if (child.end.how != ChildEnd::How::exited) return true;  // ended by us
  if (!WIFEXITED(status)) child.end.how = ChildEnd::How::signalled;
  child.end.code = WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status);
  return true;
}

std::vector<ChildEnd> ChildPrograms::wait(const Interrupt& interrupt) {
  std::vector<ChildEnd> ended;
  while (ended.empty() && !children_.empty()) {
    if (interrupt) interrupt();
    std::vector<pollfd> waited_for;
    bool ending = false;  // it has closed its output, and will end soon
    for (const std::unique_ptr<Child>& child : children_) {
      for (const Descriptor* from : {&child->output, &child->errors})
        if (from->open()) waited_for.push_back({from->get(), POLLIN, 0});
      ending = ending || !child->output.open();
    }
    constexpr int soon = 1;  // ms
    constexpr int later = 20;
    if (poll(waited_for.data(), waited_for.size(), ending ? soon : later) < 0 && errno != EINTR)
      fail_to_read();
    for (std::unique_ptr<Child>& child : children_) {
      read_what_is_there(*child);
      if (child->has_deadline && child->end.how == ChildEnd::How::exited &&
          ChildClock::now() >= child->deadline) {
        siginfo_t info{};
        const bool done =
            waitid(P_PID, static_cast<id_t>(child->process), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
            info.si_pid != 0;
        if (!done) {
          child->end.how = ChildEnd::How::out_of_time;
          child->kill_group();
        }
      }
      if (!has_ended(*child)) continue;
      ended.push_back(std::move(child->end));
      child.reset();
    }
    std::erase(children_, nullptr);
  }
  return ended;
}

}  // namespace surefoot::experiments
