// Includes go one way: samples -> runs -> counts -> bounds -> certificate -> report. Never a cycle.

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

namespace {

using Edges = std::map<std::string, std::set<std::string>>;

// The table of ARCHITECTURE.md: | `room` | what it holds | what it may include |. The one place that says it.
Edges allowed_edges() {
  std::ifstream file(std::filesystem::path(SUREFOOT_SOURCE_DIR) / "ARCHITECTURE.md");
  const std::regex row(R"(\| `([a-z_]+)` \|.*\| ([a-z_, ]*)\|)");
  Edges edges;
  std::smatch match;
  for (std::string line; std::getline(file, line);) {
    if (!std::regex_match(line, match, row)) continue;
    std::set<std::string>& rooms = edges[match[1]];
    std::istringstream list(match[2]);
    for (std::string room; list >> room;) {
      if (room.ends_with(',')) room.pop_back();
      rooms.insert(room);
    }
  }
  return edges;
}

// A room includes only rooms that need no way back to it.
TEST(House, RoomsHaveNoCycle) {
  const Edges allowed = allowed_edges();
  EXPECT_EQ(allowed.size(), 14U);
  std::set<std::string> placed;
  for (std::size_t round = 0; round < allowed.size(); ++round) {
    for (const auto& [room, others] : allowed) {
      if (std::includes(placed.begin(), placed.end(), others.begin(), others.end())) placed.insert(room);
    }
  }
  EXPECT_EQ(placed.size(), allowed.size());
  EXPECT_EQ(allowed.at("families"), (std::set<std::string>{"core", "io", "problems"}));
}

void collect_includes(const std::filesystem::path& file, std::set<std::string>& seen) {
  const std::filesystem::path root = std::filesystem::path(SUREFOOT_SOURCE_DIR) / "src";
  std::ifstream stream(file);
  const std::regex include(R"re(#include "(surefoot/[^"]+)")re");
  std::smatch match;
  for (std::string line; std::getline(stream, line);) {
    if (std::regex_search(line, match, include) && seen.insert(match[1]).second)
      collect_includes(root / match[1].str(), seen);
  }
}

// In packages the rooms but `algorithms` are compiled once for kernels of all levels: the sizes of these
// types depend on the level.
TEST(House, RegistersAreOfKernelsAlone) {
  const std::filesystem::path root(SUREFOOT_SOURCE_DIR);
  int seen = 0;
  int inside = 0;
  for (const auto& folder : {root / "src", root / "app", root / "python/bindings"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().string();
      if (!name.ends_with(".cpp") || name.ends_with("_test.cpp")) continue;
      std::set<std::string> includes;
      collect_includes(entry.path(), includes);
      const bool has_registers = includes.contains("surefoot/algorithms/detail/registers.hpp");
      if (name.find("surefoot/algorithms/") == std::string::npos) {
        ++seen;
        EXPECT_FALSE(has_registers) << name;
      } else {
        inside += has_registers ? 1 : 0;
      }
    }
  }
  EXPECT_GT(seen, 200);
  EXPECT_GT(inside, 0);
}

// Whatever is compiled in has its licence in wheels and Debian packages: scripts/licences collects those of
// this table.
TEST(House, EveryLibraryThatIsCompiledInHasARowOfLicences) {
  const std::filesystem::path root(SUREFOOT_SOURCE_DIR);
  const auto text_of = [&](const char* name) {
    std::ifstream file(root / name);
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  const std::string table = text_of("cmake/third_party.csv");
  const std::string packages = text_of("scripts/packages");
  const std::size_t begin = packages.find("[build]=");
  std::string build = packages.substr(begin, packages.find('"', packages.find('"', begin) + 1) - begin);
  const std::regex library("(z?lib[a-z0-9+-]+|nlohmann-json3)-dev|libjs-[a-z]+");
  int seen = 0;
  for (std::smatch match; std::regex_search(build, match, library); build = match.suffix()) {
    std::string name = match[0];
    if (name == "libopenmpi-dev") continue;  // packages are without MPI
    ++seen;
    if (name.ends_with("-dev")) name.resize(name.size() - 4);  // Boost's has its version after it
    EXPECT_NE(table.find("," + name), std::string::npos) << name << " has no row in cmake/third_party.csv";
  }
  EXPECT_EQ(seen, 11);
}

// A JSON value that is null and is indexed has the type of an object before it has its memory: where that
// cannot be had, the library's destructor reads a null pointer. So values begin as what they become.
TEST(House, NoJsonValueBeginsAsNullByDefault) {
  const std::filesystem::path root(SUREFOOT_SOURCE_DIR);
  const std::regex undecided(R"((^|[^A-Za-z_])([A-Za-z]*Json|(ordered_)?json) [a-z_]+(\{\})?;)");
  int seen = 0;
  for (const auto& folder : {root / "src", root / "app"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".cpp") || name.ends_with("_test.cpp")) continue;
      ++seen;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line);)
        EXPECT_FALSE(std::regex_search(line, undecided)) << entry.path() << ": " << line;
    }
  }
  EXPECT_GT(seen, 150);
}

TEST(House, RoomsIncludeOnlyWhatLiesBeforeThem) {
  const Edges allowed = allowed_edges();
  const std::filesystem::path root = std::filesystem::path(SUREFOOT_SOURCE_DIR) / "src" / "surefoot";
  const std::string include = "#include \"surefoot/";
  int seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".hpp") && !name.ends_with(".cpp")) continue;
    if (name.ends_with("_test.cpp")) continue;
    if (entry.path().parent_path() == root) continue;  // surefoot.hpp, for users
    const std::string room = std::filesystem::relative(entry.path(), root).begin()->string();
    ASSERT_TRUE(allowed.contains(room))
        << room << " is not a known room; say in ARCHITECTURE.md what it may include";
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      if (!line.starts_with(include)) continue;
      const std::string other = line.substr(include.size(), line.find('/', include.size()) - include.size());
      if (other == room) continue;
      ++seen;
      EXPECT_TRUE(allowed.at(room).contains(other)) << entry.path() << ": " << line;
    }
  }
  EXPECT_GT(seen, 20);
}

// A digit that is cut off may be the one that matters: claims, bounds and prices are written by
// core/number_text.hpp alone, which rounds outward. Seconds, memory and scripts of figures are nobody's
// claim.
TEST(House, NumbersThatPeopleQuoteAreWrittenByTheOneFormatter) {
  const std::filesystem::path root = SUREFOOT_SOURCE_DIR;
  const std::regex rounding(R"(\{:[^}]*\.\d+[efg]\}(?! s\b| min\b| MB| GB))");
  const std::set<std::string> of_figures{"picture.cpp", "gnuplot.cpp", "certificate_figures.cpp",
                                         "chart_data.cpp", "progress.cpp"};
  int seen = 0;
  for (const char* folder : {"src/surefoot/certify", "src/surefoot/report", "src/surefoot/experiments", "app",
                             "python/bindings"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      const std::string name = entry.path().filename().string();
      if (!name.ends_with(".cpp") || name.ends_with("_test.cpp") || of_figures.contains(name)) continue;
      std::ifstream file(entry.path());
      for (std::string line; std::getline(file, line); ++seen) {
        const bool every_bit = line.find("{:.17g}") != std::string::npos;
        EXPECT_TRUE(every_bit || !std::regex_search(line, rounding)) << entry.path() << ": " << line;
      }
    }
  }
  EXPECT_GT(seen, 1000);
}

// EXPECT_THROW of an InputError is satisfied by any mistake; EXPECT_INPUT_ERROR asks what the message says.
TEST(House, TestsReadTheMessagesOfInputErrors) {
  const std::filesystem::path root = SUREFOOT_SOURCE_DIR;
  const std::string weak = std::string("EXPECT_") + "THROW(";  // not written out: this file is read too
  const std::string error = std::string("Input") + "Error)";
  int seen = 0;
  for (const char* folder : {"src", "tests", "app"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(root / folder)) {
      if (!entry.path().filename().string().ends_with("_test.cpp")) continue;
      std::ifstream file(entry.path());
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      seen += text.find("EXPECT_INPUT_ERROR(") != std::string::npos ? 1 : 0;
      for (std::size_t at = text.find(weak); at != std::string::npos; at = text.find(weak, at + 1)) {
        const std::string statement = text.substr(at, text.find(';', at) - at);
        EXPECT_EQ(statement.find(error), std::string::npos) << entry.path() << ": " << statement;
      }
    }
  }
  EXPECT_GT(seen, 10);
}

bool describes_an_experiment(const std::filesystem::path& source) {
  std::ifstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("Experiment ") && line.ends_with("() {")) return true;
  }
  return false;
}

// A source has its test beside it, or tested_elsewhere.csv says which test is of it.
TEST(House, EverySourceHasATest) {
  namespace fs = std::filesystem;
  const fs::path root = SUREFOOT_SOURCE_DIR;
  std::map<std::string, std::string> elsewhere;
  std::ifstream list(root / "tests/house/tested_elsewhere.csv");
  for (std::string line; std::getline(list, line);)
    elsewhere[line.substr(0, line.find(','))] = line.substr(line.find(',') + 1);
  elsewhere.erase("source");
  int beside = 0;
  for (const auto& entry : fs::recursive_directory_iterator(root / "src" / "surefoot")) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".cpp") || name.ends_with("_test.cpp")) continue;
    fs::path test = entry.path();
    test.replace_filename(entry.path().stem().string() + "_test.cpp");
    const fs::path source = fs::relative(entry.path(), root / "src" / "surefoot").replace_extension();
    if (fs::exists(test)) {
      ++beside;
      EXPECT_FALSE(elsewhere.contains(source.string())) << source << " has a test beside it";
      continue;
    }
    if (describes_an_experiment(entry.path())) continue;  // all are run by tests/end_to_end/reproduce_all.py
    const auto found = elsewhere.find(source.string());
    if (found == elsewhere.end()) {
      ADD_FAILURE() << source << " has no test beside it, and tested_elsewhere.csv does not know it";
      continue;
    }
    EXPECT_TRUE(fs::exists(root / found->second)) << found->second;
    elsewhere.erase(found);
  }
  for (const auto& [source, test] : elsewhere) ADD_FAILURE() << source << " is not there";
  EXPECT_GT(beside, 60);
}

}  // namespace
