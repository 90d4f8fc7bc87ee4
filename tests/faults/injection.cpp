// Preloaded into the program (LD_PRELOAD): makes one allocation or one call to the system fail, be short, or
// be the last.
//
//   SUREFOOT_FAULT=GROUP:HOW:N   GROUP  memory, or system
//                                HOW    count: nothing fails
//                                       once: call N fails; always: it and all after it
//                                       short: a read or write of half the bytes
//                                       kill: the process is killed instead of call N
//                                       an error number: call N fails with it
//   SUREFOOT_FAULT_LOG=FILE      at the end: the number of calls and their names; with HOW=count and group
//   memory a number for the
//                                stack of each call as well. Before a fault: its name.
//
// Calls are counted from the static initialisation of the program on, over all threads. The programs that it
// starts are left alone.
#include <dirent.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>

extern "C" {
void* __libc_malloc(size_t);
void* __libc_calloc(size_t, size_t);
void* __libc_realloc(void*, size_t);
void* __libc_memalign(size_t, size_t);
}

namespace {

enum class Group { none, memory, system };
enum class How { count, once, always, shorter, kill };

struct Plan {
  Group group = Group::none;
  How how = How::count;
  long at = 0;
  int error = 0;
  const char* log = nullptr;
};

constexpr long most_calls = 1L << 22;

Plan plan;
std::atomic<bool> counting{false};
std::atomic<long> calls{0};
const char* names[most_calls];
std::uint32_t stacks[most_calls];
__thread bool inside __attribute__((tls_model("initial-exec"))) = false;

void put(int file, const char* text) {
  (void)!::syscall(SYS_write, file, text, std::strlen(text));
}

int open_log() {
  if (plan.log == nullptr) return -1;
  return static_cast<int>(
      ::syscall(SYS_openat, AT_FDCWD, plan.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644));
}

void log_fault(const char* name) {
  const int file = open_log();
  if (file < 0) return;
  put(file, "fault ");
  put(file, name);
  put(file, "\n");
  ::syscall(SYS_close, file);
}

std::uint32_t stack_number() {
  constexpr int depth = 48;
  void* frames[depth];
  inside = true;
  const int count = ::backtrace(frames, depth);
  inside = false;
  std::uint32_t hash = 2166136261U;
  for (int i = 0; i < count; ++i) {
    auto address = reinterpret_cast<std::uintptr_t>(frames[i]);
    for (int byte = 0; byte < 8; ++byte, address >>= 8U) hash = (hash ^ (address & 0xffU)) * 16777619U;
  }
  return hash;
}

enum class Verdict { go_on, fail, half };

Verdict verdict(Group group, const char* name) {
  if (plan.group != group || inside || !counting.load(std::memory_order_relaxed)) return Verdict::go_on;
  const long number = ++calls;
  if (plan.how == How::count) {
    if (number <= most_calls) {
      names[number - 1] = name;
      if (group == Group::memory) stacks[number - 1] = stack_number();
    }
    return Verdict::go_on;
  }
  if (plan.how == How::always ? number < plan.at : number != plan.at) return Verdict::go_on;
  if (number == plan.at) log_fault(name);
  if (plan.how == How::kill) ::kill(::getpid(), SIGKILL);
  if (plan.how == How::shorter) return Verdict::half;
  return Verdict::fail;
}

bool memory_fails(const char* name) {
  if (verdict(Group::memory, name) != Verdict::fail) return false;
  errno = ENOMEM;
  return true;
}

/// Whether the call is not made; errno says why.
bool system_fails(const char* name, int usual_error = EIO) {
  if (verdict(Group::system, name) != Verdict::fail) return false;
  errno = plan.error != 0 ? plan.error : usual_error;
  return true;
}

/// For reads and writes: how many of the bytes are asked for; -1: none, it fails.
ssize_t bytes_to_move(const char* name, size_t wanted) {
  const Verdict what = verdict(Group::system, name);
  if (what == Verdict::fail) {
    errno = plan.error != 0 ? plan.error : EIO;
    return -1;
  }
  const size_t moved = what == Verdict::half && wanted > 1 ? wanted / 2 : wanted;
  return static_cast<ssize_t>(moved);
}

template <class Function>
Function* next(const char* name) {
  inside = true;
  auto* found = reinterpret_cast<Function*>(::dlsym(RTLD_NEXT, name));
  inside = false;
  return found;
}

void read_plan() {
  const char* text = std::getenv("SUREFOOT_FAULT");
  plan.log = std::getenv("SUREFOOT_FAULT_LOG");
  ::unsetenv("LD_PRELOAD");
  if (text == nullptr) return;
  plan.group = std::strncmp(text, "memory:", 7) == 0 ? Group::memory : Group::system;
  const char* how = std::strchr(text, ':') + 1;
  const char* at = std::strchr(how, ':') + 1;
  plan.at = std::atol(at);
  if (std::strncmp(how, "count:", 6) == 0) {
    plan.how = How::count;
  } else if (std::strncmp(how, "always:", 7) == 0) {
    plan.how = How::always;
  } else if (std::strncmp(how, "short:", 6) == 0) {
    plan.how = How::shorter;
  } else if (std::strncmp(how, "kill:", 5) == 0) {
    plan.how = How::kill;
  } else {
    plan.how = How::once;
    plan.error = std::atoi(how);
  }
}

__attribute__((destructor)) void write_log() {
  counting = false;
  const int file = open_log();
  if (file < 0) return;
  char line[128];
  const long count = calls;
  std::snprintf(line, sizeof line, "calls %ld\n", count);
  put(file, line);
  for (long i = 0; plan.how == How::count && i < count && i < most_calls; ++i) {
    if (plan.group == Group::memory) {
      std::snprintf(line, sizeof line, "%s %u\n", names[i], stacks[i]);
    } else {
      std::snprintf(line, sizeof line, "%s\n", names[i]);
    }
    put(file, line);
  }
  ::syscall(SYS_close, file);
}

int (*program)(int, char**, char**) = nullptr;

}  // namespace

#define PUBLIC extern "C" __attribute__((visibility("default")))

PUBLIC int __libc_start_main(int (*main)(int, char**, char**), int argc, char** argv, void (*init)(),
                             void (*fini)(), void (*rtld_fini)(), void* stack_end) {
  using Start = int(int (*)(int, char**, char**), int, char**, void (*)(), void (*)(), void (*)(), void*);
  auto* start = next<Start>("__libc_start_main");
  void* frames[1];
  (void)::backtrace(frames, 1);  // loads what it needs now
  read_plan();
  program = main;
  counting = true;
  return start(main, argc, argv, init, fini, rtld_fini, stack_end);
}

// ---- memory

PUBLIC void* malloc(size_t size) {
  return memory_fails("malloc") ? nullptr : __libc_malloc(size);
}
PUBLIC void* calloc(size_t count, size_t size) {
  return memory_fails("calloc") ? nullptr : __libc_calloc(count, size);
}
PUBLIC void* realloc(void* old, size_t size) {
  return memory_fails("realloc") ? nullptr : __libc_realloc(old, size);
}
PUBLIC void* memalign(size_t alignment, size_t size) {
  return memory_fails("memalign") ? nullptr : __libc_memalign(alignment, size);
}
PUBLIC void* aligned_alloc(size_t alignment, size_t size) {
  return memory_fails("aligned_alloc") ? nullptr : __libc_memalign(alignment, size);
}
PUBLIC int posix_memalign(void** result, size_t alignment, size_t size) {
  if (memory_fails("posix_memalign")) return ENOMEM;
  void* found = __libc_memalign(alignment, size);
  if (found == nullptr) return ENOMEM;
  *result = found;
  return 0;
}

// ---- files

#define MODE_OF(flags)                                  \
  mode_t mode = 0;                                      \
  if (((flags) & (O_CREAT | __O_TMPFILE)) != 0) {       \
    va_list more;                                       \
    va_start(more, flags);                              \
    mode = static_cast<mode_t>(va_arg(more, unsigned)); \
    va_end(more);                                       \
  }

PUBLIC int open(const char* path, int flags, ...) {
  MODE_OF(flags)
  return system_fails("open") ? -1 : static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
PUBLIC int open64(const char* path, int flags, ...) {
  MODE_OF(flags)
  return system_fails("open") ? -1 : static_cast<int>(::syscall(SYS_openat, AT_FDCWD, path, flags, mode));
}
PUBLIC int openat(int folder, const char* path, int flags, ...) {
  MODE_OF(flags)
  return system_fails("openat") ? -1 : static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
}
PUBLIC int openat64(int folder, const char* path, int flags, ...) {
  MODE_OF(flags)
  return system_fails("openat") ? -1 : static_cast<int>(::syscall(SYS_openat, folder, path, flags, mode));
}
PUBLIC int close(int file) {
  const bool fails = system_fails("close");  // the number is free again all the same
  const int error = errno;
  const int status = static_cast<int>(::syscall(SYS_close, file));
  if (fails) errno = error;
  return fails ? -1 : status;
}
PUBLIC ssize_t read(int file, void* into, size_t bytes) {
  const ssize_t moved = bytes_to_move("read", bytes);
  return moved < 0 ? -1 : ::syscall(SYS_read, file, into, moved);
}
PUBLIC ssize_t pread(int file, void* into, size_t bytes, off_t at) {
  const ssize_t moved = bytes_to_move("pread", bytes);
  return moved < 0 ? -1 : ::syscall(SYS_pread64, file, into, moved, at);
}
PUBLIC ssize_t pread64(int file, void* into, size_t bytes, off_t at) {
  return ::pread(file, into, bytes, at);
}
PUBLIC ssize_t write(int file, const void* from, size_t bytes) {
  const ssize_t moved = bytes_to_move("write", bytes);
  return moved < 0 ? -1 : ::syscall(SYS_write, file, from, moved);
}
PUBLIC ssize_t pwrite(int file, const void* from, size_t bytes, off_t at) {
  const ssize_t moved = bytes_to_move("pwrite", bytes);
  return moved < 0 ? -1 : ::syscall(SYS_pwrite64, file, from, moved, at);
}
PUBLIC ssize_t pwrite64(int file, const void* from, size_t bytes, off_t at) {
  return ::pwrite(file, from, bytes, at);
}
PUBLIC ssize_t writev(int file, const iovec* parts, int count) {
  const ssize_t moved = bytes_to_move("writev", 2);
  if (moved < 0) return -1;
  if (moved == 1 && count > 0) {
    const iovec half{parts->iov_base, (parts->iov_len + 1) / 2};
    return ::syscall(SYS_writev, file, &half, 1);
  }
  return ::syscall(SYS_writev, file, parts, count);
}
PUBLIC int rename(const char* from, const char* to) noexcept {
  return system_fails("rename") ? -1 : static_cast<int>(::syscall(SYS_rename, from, to));
}
PUBLIC int fsync(int file) {
  return system_fails("fsync") ? -1 : static_cast<int>(::syscall(SYS_fsync, file));
}
PUBLIC int fdatasync(int file) {
  return system_fails("fdatasync") ? -1 : static_cast<int>(::syscall(SYS_fdatasync, file));
}
PUBLIC int ftruncate(int file, off_t size) noexcept {
  return system_fails("ftruncate") ? -1 : static_cast<int>(::syscall(SYS_ftruncate, file, size));
}
PUBLIC int ftruncate64(int file, off_t size) noexcept {
  return ::ftruncate(file, size);
}
PUBLIC int unlink(const char* path) noexcept {
  return system_fails("unlink") ? -1 : static_cast<int>(::syscall(SYS_unlink, path));
}
PUBLIC int unlinkat(int folder, const char* path, int flags) noexcept {
  return system_fails("unlinkat") ? -1 : static_cast<int>(::syscall(SYS_unlinkat, folder, path, flags));
}
PUBLIC int remove(const char* path) noexcept {
  return system_fails("remove") ? -1 : next<int(const char*)>("remove")(path);
}
PUBLIC int mkdir(const char* path, mode_t mode) noexcept {
  return system_fails("mkdir") ? -1 : static_cast<int>(::syscall(SYS_mkdir, path, mode));
}
PUBLIC int fchmod(int file, mode_t mode) noexcept {
  return system_fails("fchmod") ? -1 : static_cast<int>(::syscall(SYS_fchmod, file, mode));
}
PUBLIC int flock(int file, int operation) noexcept {
  return system_fails("flock") ? -1 : static_cast<int>(::syscall(SYS_flock, file, operation));
}
PUBLIC int stat(const char* path, struct stat* status) noexcept {
  return system_fails("stat") ? -1 : next<int(const char*, struct stat*)>("stat")(path, status);
}
PUBLIC int lstat(const char* path, struct stat* status) noexcept {
  return system_fails("lstat") ? -1 : next<int(const char*, struct stat*)>("lstat")(path, status);
}
PUBLIC int fstat(int file, struct stat* status) noexcept {
  return system_fails("fstat") ? -1 : next<int(int, struct stat*)>("fstat")(file, status);
}
PUBLIC off_t lseek(int file, off_t offset, int whence) noexcept {
  return system_fails("lseek") ? -1 : ::syscall(SYS_lseek, file, offset, whence);
}
PUBLIC off_t lseek64(int file, off_t offset, int whence) noexcept {
  return ::lseek(file, offset, whence);
}
PUBLIC DIR* opendir(const char* path) {
  return system_fails("opendir") ? nullptr : next<DIR*(const char*)>("opendir")(path);
}
PUBLIC DIR* fdopendir(int file) {
  return system_fails("fdopendir") ? nullptr : next<DIR*(int)>("fdopendir")(file);
}
PUBLIC dirent* readdir(DIR* folder) {
  return system_fails("readdir") ? nullptr : next<dirent*(DIR*)>("readdir")(folder);
}
PUBLIC char* getcwd(char* into, size_t size) noexcept {
  return system_fails("getcwd") ? nullptr : next<char*(char*, size_t)>("getcwd")(into, size);
}
PUBLIC char* realpath(const char* path, char* into) noexcept {
  return system_fails("realpath") ? nullptr : next<char*(const char*, char*)>("realpath")(path, into);
}

// ---- streams of C, whose own calls to the system cannot be seen from here

PUBLIC FILE* fopen(const char* path, const char* mode) {
  return system_fails("fopen") ? nullptr : next<FILE*(const char*, const char*)>("fopen")(path, mode);
}
PUBLIC FILE* fopen64(const char* path, const char* mode) {
  return system_fails("fopen") ? nullptr : next<FILE*(const char*, const char*)>("fopen64")(path, mode);
}
PUBLIC FILE* tmpfile() {
  return system_fails("tmpfile") ? nullptr : next<FILE*()>("tmpfile")();
}
PUBLIC size_t fwrite(const void* from, size_t size, size_t count, FILE* file) {
  const ssize_t moved = bytes_to_move("fwrite", size * count);
  if (moved < 0) return 0;
  auto* real = next<size_t(const void*, size_t, size_t, FILE*)>("fwrite");
  if (static_cast<size_t>(moved) == size * count) return real(from, size, count, file);
  errno = ENOSPC;  // what a stream leaves out is an error
  return real(from, 1, static_cast<size_t>(moved), file) / size;
}
PUBLIC size_t fread(void* into, size_t size, size_t count, FILE* file) {
  if (system_fails("fread")) {
    // The stream has to say so: a file that cannot be read does that.
    file->_flags |= 0x20;
    return 0;
  }
  return next<size_t(void*, size_t, size_t, FILE*)>("fread")(into, size, count, file);
}
PUBLIC int fflush(FILE* file) {
  return system_fails("fflush") ? EOF : next<int(FILE*)>("fflush")(file);
}
PUBLIC int fclose(FILE* file) {
  const bool fails = system_fails("fclose");
  const int error = errno;
  const int status = next<int(FILE*)>("fclose")(file);
  if (fails) errno = error;
  return fails ? EOF : status;
}

// ---- processes and threads

PUBLIC int posix_spawnp(pid_t* id, const char* file, const posix_spawn_file_actions_t* actions,
                        const posix_spawnattr_t* attributes, char* const argv[], char* const environment[]) {
  if (system_fails("posix_spawnp", EAGAIN)) return errno;
  using Spawn = int(pid_t*, const char*, const posix_spawn_file_actions_t*, const posix_spawnattr_t*,
                    char* const[], char* const[]);
  return next<Spawn>("posix_spawnp")(id, file, actions, attributes, argv, environment);
}
PUBLIC int pipe2(int ends[2], int flags) noexcept {
  return system_fails("pipe2", EMFILE) ? -1 : next<int(int*, int)>("pipe2")(ends, flags);
}
PUBLIC pid_t fork() noexcept {
  if (system_fails("fork", EAGAIN)) return -1;
  const pid_t process = next<pid_t()>("fork")();
  if (process == 0) counting = false;
  return process;
}
PUBLIC int waitid(idtype_t what, id_t id, siginfo_t* info, int options) {
  if (system_fails("waitid", ECHILD)) return -1;
  return next<int(idtype_t, id_t, siginfo_t*, int)>("waitid")(what, id, info, options);
}
PUBLIC int poll(pollfd* files, nfds_t count, int milliseconds) {
  return system_fails("poll", ENOMEM) ? -1
                                      : next<int(pollfd*, nfds_t, int)>("poll")(files, count, milliseconds);
}
PUBLIC int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*begin)(void*),
                          void* argument) {
  if (system_fails("pthread_create", EAGAIN)) return EAGAIN;
  using Create = int(pthread_t*, const pthread_attr_t*, void* (*)(void*), void*);
  return next<Create>("pthread_create")(thread, attributes, begin, argument);
}
