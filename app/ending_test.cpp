#include "ending.hpp"

#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/interruption.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/io/atomic_file.hpp"

#include "exit_codes.hpp"
#include "last_resort.hpp"
#include "stopping.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <functional>
#include <ios>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

namespace {

using surefoot::Failure;
using surefoot::test_support::TemporaryFolder;

struct Ending {
  const char* what;
  std::function<int()> work;
  int exit_code;
  std::string message;  ///< the whole of it, or its beginning where it ends in "..."
};

template <class Error>
std::function<int()> throwing(Error error) {
  return [error]() -> int { throw error; };
}

std::system_error system(int number) {
  return {number, std::generic_category(), "out/x.json"};
}

void expect_end(const Ending& ending) {
  const Failure end = end_of(ending.work);
  EXPECT_EQ(end.exit_code, ending.exit_code) << ending.what << ": " << end.message;
  const std::size_t dots = ending.message.find("...");
  if (dots == std::string::npos) {
    EXPECT_EQ(end.message, ending.message) << ending.what;
  } else {
    EXPECT_EQ(end.message.substr(0, dots), ending.message.substr(0, dots)) << ending.what;
  }
}

TEST(Ending, IsAnExitCodeOfTheTableWhateverIsThrown) {
  const Failure other{"process 2: x.csv: no such file", bad_input};
  for (const Ending& ending : {
           Ending{"work that holds", [] { return 0; }, holds, ""},
           Ending{"work that finds nothing", [] { return 3; }, undecided, ""},
           Ending{"a certificate that does not hold", throwing(surefoot::certify::Refuted("a.json: no")),
                  refuted, "a.json: no"},
           Ending{"bad input", throwing(surefoot::InputError("--q: 2")), bad_input, "--q: 2"},
           Ending{"no memory, with numbers", throwing(surefoot::ResourceError("needs 2 GB")), no_resources,
                  "needs 2 GB"},
           Ending{"no memory", throwing(std::bad_alloc()), no_resources, "out of memory..."},
           Ending{"no memory for an array", throwing(std::bad_array_new_length()), no_resources,
                  "out of memory..."},
           Ending{"more than any memory", throwing(std::length_error("vector")), no_resources,
                  "out of memory..."},
           Ending{"a full disk", throwing(system(ENOSPC)), no_resources, "cannot write: out/x.json: ..."},
           Ending{"a quota", throwing(system(EDQUOT)), no_resources, "cannot write: out/x.json: ..."},
           Ending{"a broken disk", throwing(system(EIO)), no_resources, "cannot write: out/x.json: ..."},
           Ending{"a reader that has gone", throwing(system(EPIPE)), no_resources, "cannot write: ..."},
           Ending{"no thread", throwing(system(EAGAIN)), no_resources, "out of memory..."},
           Ending{"no right", throwing(system(EACCES)), bad_input, "out/x.json: ..."},
           Ending{
               "a file system's no",
               throwing(std::filesystem::filesystem_error("no", std::make_error_code(std::errc::io_error))),
               no_resources, "cannot write: ..."},
           Ending{"another process", throwing(surefoot::OtherRankFailed(other)), bad_input, other.message},
           Ending{"a mistake of ours", throwing(std::logic_error("impossible")), internal_error,
                  "internal error: impossible"},
           Ending{"a place that is not there", throwing(std::out_of_range("at")), internal_error,
                  "internal error: at"},
           Ending{"an argument that the library refuses", throwing(std::invalid_argument("stoi")),
                  internal_error, "internal error: stoi"},
           Ending{"something else", throwing(std::runtime_error("what")), internal_error,
                  "internal error: what"},
           Ending{"a thing that is no exception", throwing(7), internal_error, "internal error"},
       })
    expect_end(ending);
}

TEST(Ending, OfStoppedWorkIsThatOfItsSignal) {
  // Once in a process: the first signal stays.
  for (const auto& [signal, code] : {std::pair{SIGHUP, 129}, {SIGINT, 130}, {SIGTERM, 143}}) {
    EXPECT_EXIT(
        {
          const StopSignals signals("nothing is kept");
          std::raise(signal);
          const Failure end = end_of([]() -> int { throw surefoot::Interrupted(); });
          std::fprintf(stderr, "%s\n", end.message.c_str());
          std::exit(end.exit_code);
        },
        ::testing::ExitedWithCode(code), "stopped by SIG[A-Z]*; nothing is kept");
  }
}

void let_nothing_through(const std::function<int()>& work) noexcept {
  (void)work();
}

TEST(Ending, WhereNothingCanBeCaughtIsNoAbort) {
  EXPECT_EXIT(std::terminate(), ::testing::ExitedWithCode(internal_error), "surefoot: internal error");
  EXPECT_EXIT(let_nothing_through(throwing(std::logic_error("impossible"))),
              ::testing::ExitedWithCode(internal_error), "internal error: ");
  EXPECT_EXIT(let_nothing_through(throwing(7)), ::testing::ExitedWithCode(internal_error), "internal error");
  EXPECT_EXIT(let_nothing_through(throwing(std::bad_alloc())), ::testing::ExitedWithCode(no_resources),
              "out of memory");
}

TEST(Ending, WhereNothingCanBeCaughtLeavesNoTemporaryFile) {
  const TemporaryFolder folder;
  EXPECT_EXIT(
      {
        surefoot::io::StagedFiles files;
        files.add(folder / "one", "1");
        files.add(folder / "two", "2");
        let_nothing_through(throwing(std::bad_alloc()));
      },
      ::testing::ExitedWithCode(no_resources), "out of memory");
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

// OpenMP calls exit(1) where it finds no thread.
TEST(Ending, OfALibraryThatEndsTheProcessIsNotThatOfARefutedCertificate) {
  EXPECT_EXIT(
      {
        catch_ends_by_libraries();
        std::exit(1);
      },
      ::testing::ExitedWithCode(no_resources), "");
  EXPECT_EXIT(
      {
        catch_ends_by_libraries();
        end_is_ours();
        std::exit(1);
      },
      ::testing::ExitedWithCode(refuted), "");
}

}  // namespace
