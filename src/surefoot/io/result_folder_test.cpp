#include "surefoot/io/result_folder.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/sha256.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>

namespace surefoot::io {
namespace {

namespace fs = std::filesystem;
using test_support::input_error;
using test_support::TemporaryFolder;

constexpr std::size_t any_size_of_manifest = 100000;

std::vector<std::string> names_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (!entry.is_directory()) names.push_back(entry.path().lexically_relative(folder).generic_string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string finding_of(const fs::path& folder) {
  const FolderCheck check = check_result_folder(folder);
  return check.findings.empty() ? "" : check.findings.front();
}

/// What a process that is killed in the middle leaves: no destructor runs.
template <class Work>
void in_a_process_that_is_killed(const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    work();
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
}

TEST(ResultFolder, IsOneResultWithAManifest) {
  const TemporaryFolder folder;
  const fs::path out = folder.path() / "a/out";
  {
    ResultFolder result(out);
    result.finish({{"certificate.json", "c"}, {"tables/x.md", "x"}});
  }
  EXPECT_EQ(names_in(out), (std::vector<std::string>{"certificate.json", "manifest.json", "tables/x.md"}));
  const std::optional<Manifest> manifest = read_manifest(out);
  ASSERT_TRUE(manifest);
  EXPECT_TRUE(manifest->complete);
  EXPECT_EQ(manifest->files.at("certificate.json").sha256, sha256_hex("c"));
  EXPECT_EQ(manifest->files.at("tables/x.md").bytes, 1U);
  EXPECT_EQ(finding_of(out), "");
  EXPECT_EQ(check_result_folder(out).files, 2);
  EXPECT_EQ(result_folder_of(out / "certificate.json"), fs::absolute(out));
  EXPECT_EQ(result_folder_of(out / "tables/x.md"), fs::absolute(out));
  EXPECT_EQ(result_folder_of(out / "other"), std::nullopt);
}

TEST(ResultFolder, FindsWhatWasChangedOrRemoved) {
  const TemporaryFolder folder;
  ResultFolder(folder.path()).finish({{"a", "1"}, {"b", "2"}});
  folder.write("notes.txt", "mine");
  EXPECT_EQ(finding_of(folder.path()), "");
  EXPECT_EQ(check_result_folder(folder.path()).others, std::vector<std::string>{"notes.txt"});
  folder.write("a", "3");
  EXPECT_EQ(finding_of(folder.path()), "a: is not what manifest.json lists: its SHA-256 differs");
  fs::remove(folder.path() / "a");
  EXPECT_EQ(finding_of(folder.path()), "a: is listed in manifest.json and missing");
  std::string text = read_file(folder / "manifest.json", any_size_of_manifest);
  folder.write("manifest.json", text.substr(0, text.size() / 2));
  EXPECT_EQ(finding_of(folder.path()), (folder / "manifest.json") + ": is damaged");
  EXPECT_EQ(result_folder_of(folder.path() / "a"), folder.path());
  EXPECT_INPUT_ERROR(ResultFolder(folder.path()), "is damaged; choose another folder");
}

TEST(ResultFolder, ReplacesAndRemovesWhatItListsAndNothingElse) {
  const TemporaryFolder folder;
  ResultFolder(folder.path())
      .finish({{"a", "1"}, {"old.svg", "2"}, {"tables/old.md", "3"}, {"weights.safetensors", "4"}});
  folder.write("notes.txt", "mine");
  folder.write("ledger.jsonl", "looks");
  folder.write("train.checkpoint", "state");
  ResultFolder(folder.path()).finish({{"a", "new"}});
  EXPECT_EQ(names_in(folder.path()),
            (std::vector<std::string>{"a", "ledger.jsonl", "manifest.json", "notes.txt", "train.checkpoint",
                                      "weights.safetensors"}));
  EXPECT_FALSE(fs::exists(folder / "tables"));
  EXPECT_EQ(read_file(folder / "a", any_size_of_manifest), "new");
  EXPECT_EQ(finding_of(folder.path()), "");
  EXPECT_TRUE(read_manifest(folder.path())->files.at("weights.safetensors").earlier);
  EXPECT_EQ(check_result_folder(folder.path()).others, std::vector<std::string>{"notes.txt"});
}

TEST(ResultFolder, RefusesAFolderOfSomebodyElse) {
  const TemporaryFolder folder;
  folder.write("data.csv", "1");
  EXPECT_EQ(
      input_error([&] { ResultFolder(folder.path()); }),
      folder.path().string() +
          ": has files but no manifest.json of a result of Surefoot, and nothing is written among them; "
          "choose another folder, or empty this one");
  EXPECT_EQ(folder.entries(), 1);
  folder.write("manifest.json", R"({"name": "a web page"})");
  EXPECT_INPUT_ERROR(ResultFolder(folder.path()), "has files but no manifest.json");
  EXPECT_EQ(folder.entries(), 2);
}

TEST(ResultFolder, RefusesToReplaceAFileThatIsNotListed) {
  const TemporaryFolder folder;
  ResultFolder(folder.path()).finish({{"a", "1"}});
  folder.write("report.html", "mine");
  EXPECT_INPUT_ERROR(ResultFolder(folder.path(), [](const fs::path& name) { return name == "report.html"; }),
                     "report.html: is not listed in manifest.json, and is not replaced");
  ResultFolder result(folder.path());
  EXPECT_INPUT_ERROR(result.finish({{"a", "2"}, {"report.html", "new"}}), "is not listed");
  EXPECT_INPUT_ERROR(result.write("report.html", "new"), "is not listed");
  EXPECT_EQ(read_file(folder / "report.html", any_size_of_manifest), "mine");
  EXPECT_EQ(read_file(folder / "a", any_size_of_manifest), "1");
  EXPECT_EQ(finding_of(folder.path()), "");
}

TEST(ResultFolder, TakesWhatARunLeavesThatWasStoppedEarly) {
  const TemporaryFolder folder;
  folder.write("train.checkpoint", "state");
  folder.write("ledger.jsonl", "looks");
  folder.write(".surefoot-lock", "");
  fs::create_directory(folder / "empty");
  ResultFolder(folder.path()).finish({{"a", "1"}});
  EXPECT_EQ(names_in(folder.path()),
            (std::vector<std::string>{"a", "ledger.jsonl", "manifest.json", "train.checkpoint"}));
}

TEST(ResultFolder, HasOneWriter) {
  const TemporaryFolder folder;
  {
    const ResultFolder first(folder.path());
    EXPECT_EQ(input_error([&] { ResultFolder(folder.path()); }),
              folder.path().string() +
                  ": another run is writing there; wait until it has ended, or choose another folder");
  }
  const ResultFolder next(folder.path());
}

TEST(ResultFolder, ALockOfADeadProcessDoesNotBlock) {
  const TemporaryFolder folder;
  in_a_process_that_is_killed([&] {
    ResultFolder result(folder.path());
    ::_exit(0);
  });
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{".surefoot-lock"});
  { const ResultFolder next(folder.path()); }
  EXPECT_TRUE(fs::is_empty(folder.path()));
}

TEST(ResultFolder, IsTheEarlierResultUntilTheFirstFileIsWritten) {
  const TemporaryFolder folder;
  ResultFolder(folder.path()).finish({{"a", "1"}});
  { const ResultFolder opened(folder.path()); }
  EXPECT_EQ(finding_of(folder.path()), "");
  in_a_process_that_is_killed([&] {
    ResultFolder result(folder.path());
    result.write("b", "2");
    ::_exit(0);
  });
  EXPECT_NE(finding_of(folder.path()).find("the folder is not complete"), std::string::npos);
  // The next run may replace and remove all of it.
  ResultFolder(folder.path()).finish({{"c", "3"}});
  EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{"c", "manifest.json"}));
  EXPECT_EQ(finding_of(folder.path()), "");
}

TEST(ResultFolder, ChangesNothingIfAFileCannotBeWritten) {
  const TemporaryFolder folder;
  ResultFolder(folder.path()).finish({{"a", "1"}});
  EXPECT_INPUT_ERROR(
      ResultFolder(folder.path()).finish({{"a", "2"}, {std::string(300, 'n'), "3"}, {"c", "4"}}),
      "File name too long");
  const std::string text = read_file(folder / "manifest.json", any_size_of_manifest);
  EXPECT_TRUE(parse_manifest("m", text).complete || finding_of(folder.path()) != "");
  EXPECT_INPUT_ERROR(ResultFolder(folder.path()).finish({{"a", "2"}, {"../b", "3"}}),
                     "'../b' is no name of a file of a result");
}

TEST(ResultFolder, HoldsResultsInside) {
  const TemporaryFolder folder;
  ResultFolder(folder.path() / "inner").finish({{"a", "1"}});
  EXPECT_INPUT_ERROR(ResultFolder(folder.path()), "has files but no manifest.json");
  const fs::path out = folder.path() / "out";
  {
    ResultFolder outer(out);
    ResultFolder(out / "one").finish({{"a", "1"}});
    ResultFolder(out / "two").finish({{"a", "2"}});
    outer.add("one/manifest.json");
    outer.add("two/manifest.json");
    outer.finish({{"all.md", "all"}});
  }
  EXPECT_EQ(finding_of(out), "");
  EXPECT_EQ(check_result_folder(out).others, std::vector<std::string>{});
  EXPECT_EQ(check_result_folder(out).files, 5);
  EXPECT_EQ(files_of_result(out),
            (std::vector<std::string>{"all.md", "one/manifest.json", "one/a", "two/manifest.json", "two/a"}));
  EXPECT_EQ(result_folder_of(out / "one/a"), fs::absolute(out / "one"));
  write_file_atomically(out / "two/a", "changed");
  EXPECT_EQ(finding_of(out), "two/a: is not what two/manifest.json lists: its SHA-256 differs");
  // Done again alone, it is whole, but no longer what the outer one speaks of.
  ResultFolder(out / "two").finish({{"a", "3"}});
  EXPECT_EQ(finding_of(out / "two"), "");
  EXPECT_EQ(finding_of(out), "two/manifest.json: is not what manifest.json lists: its SHA-256 differs");
  // What an earlier call made inside stays.
  ResultFolder(out).finish({{"all.md", "none"}});
  EXPECT_EQ(finding_of(out / "one"), "");
  EXPECT_EQ(finding_of(out), "");
}

TEST(ResultFolder, ATreeOfAHostileManifestIsNotFollowed) {
  const TemporaryFolder folder;
  const TemporaryFolder elsewhere;
  elsewhere.write("precious", "mine");
  const auto listing = [](const std::string& name) {
    return R"({"format":"surefoot-manifest","format_version":1,"complete":false,"files":[{"name":")" + name +
           "\"}]}";
  };
  for (const std::string& name :
       {std::string("../x"), std::string("/etc/passwd"), std::string("a/../../x"), std::string("a//b"),
        std::string("./a"), std::string(""), std::string("a/")}) {
    folder.write("manifest.json", listing(name));
    EXPECT_INPUT_ERROR(ResultFolder(folder.path()), "is no name of a file inside");
  }
  fs::create_directory_symlink(elsewhere.path(), folder / "link");
  folder.write("manifest.json", listing("link/precious"));
  ResultFolder(folder.path()).finish({{"a", "1"}});
  EXPECT_EQ(read_file(elsewhere / "precious", any_size_of_manifest), "mine");
}

/// Runs `work` in a process that is killed after so many stops at system calls; whether it ended before.
template <class Work>
bool ends_before(int stops, const Work& work) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr);
    ::raise(SIGSTOP);
    work();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  ::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_EXITKILL);
  for (int i = 0; i < stops; ++i) {
    ::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr);
    ::waitpid(child, &status, 0);
    if (WIFEXITED(status)) {
      EXPECT_EQ(WEXITSTATUS(status), 0);
      return true;
    }
  }
  ::kill(child, SIGKILL);
  ::waitpid(child, &status, 0);
  return false;
}

TEST(ResultFolder, IsWholeOrSaysThatItIsNotWhereverItsProcessIsKilled) {
  const std::vector<FileContent> old_files{
      {"certificate.json", "old"}, {"old.svg", "1"}, {"tables/old.md", "2"}};
  const std::vector<FileContent> new_files{
      {"certificate.json", "new"}, {"new.svg", "3"}, {"tables/new.md", "4"}};
  const std::vector<std::string> new_names{"certificate.json", "manifest.json", "new.svg", "tables/new.md"};
  int old_left = 0;
  int incomplete = 0;
  int new_left = 0;
  const TemporaryFolder earlier;
  ResultFolder(earlier.path()).finish(old_files);
  for (int stops = 1;; stops += 2) {  // before a call and after it
    const TemporaryFolder folder;
    const fs::path out = folder.path() / "out";
    fs::copy(earlier.path(), out, fs::copy_options::recursive);
    const bool ended = ends_before(stops, [&] { ResultFolder(out).finish(new_files); });
    const FolderCheck check = check_result_folder(out);
    if (!check.findings.empty()) {
      ++incomplete;
      EXPECT_NE(check.findings.front().find("the folder is not complete"), std::string::npos) << stops;
    } else {
      const bool is_old = read_file(out / "certificate.json", any_size_of_manifest) == "old";
      ++(is_old ? old_left : new_left);
      for (const FileContent& file : is_old ? old_files : new_files)
        EXPECT_EQ(read_file(out / file.path, any_size_of_manifest), file.content) << stops;
      EXPECT_EQ(check.others, std::vector<std::string>{}) << stops;
    }
    ResultFolder(out).finish(new_files);
    ASSERT_EQ(names_in(out), new_names) << stops;
    ASSERT_EQ(finding_of(out), "") << stops;
    if (ended) break;
    ASSERT_LT(stops, 10000);
  }
  EXPECT_GE(old_left, 10);
  EXPECT_GE(incomplete, 10);
  EXPECT_GE(new_left, 2);
}

TEST(Manifest, SaysWhatIsWrongWithIt) {
  const auto message = [](const std::string& text) {
    return input_error([&] { parse_manifest("m", text); });
  };
  const std::string begin = R"({"format":"surefoot-manifest","format_version":1,"complete":true,"files":)";
  EXPECT_EQ(message("{}"), "m: is damaged");
  EXPECT_EQ(message(R"({"format":"x"})"), "m: is no manifest of Surefoot");
  EXPECT_EQ(message(R"({"format":"surefoot-manifest","format_version":2})"),
            "m: has a version that is not known");
  EXPECT_EQ(message(begin + R"([{"name":"a"}]})"), "m: 'a' has no size or no digest");
  EXPECT_EQ(message(begin + R"([{"name":"a","bytes":-1,"sha256":")" + std::string(64, 'a') + "\"}]}"),
            "m: 'a' has no size or no digest");
  const std::string one = R"({"name":"a","bytes":1,"sha256":")" + std::string(64, 'a') + "\"}";
  EXPECT_EQ(message(begin + "[" + one + "," + one + "]}"), "m: 'a' is listed twice");
  const Manifest manifest = parse_manifest("m", begin + "[" + one + "]}");
  EXPECT_EQ(to_json(parse_manifest("m", to_json(manifest))), to_json(manifest));
}

TEST(PrepareOutputFolder, RemovesWhatDeadProcessesLeftHalfWritten) {
  const TemporaryFolder folder;
  folder.write(".surefoot-1-0.tmp", "half");  // process 1 lives, but does not hold it
  folder.write(".surefoot-999999-3.tmp", "half");
  folder.write("notes.tmp", "mine");
  const std::string used = folder.write(".surefoot-7-7.tmp", "in use");
  const int holder = ::open(used.c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(::flock(holder, LOCK_EX | LOCK_NB), 0);
  prepare_output_folder(folder.path());
  EXPECT_EQ(names_in(folder.path()), (std::vector<std::string>{".surefoot-7-7.tmp", "notes.tmp"}));
  ::close(holder);
  prepare_output_folder(folder.path());
  EXPECT_EQ(names_in(folder.path()), std::vector<std::string>{"notes.tmp"});
}

}  // namespace
}  // namespace surefoot::io
