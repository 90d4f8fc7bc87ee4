// Includes go one way: samples -> runs -> counts -> bounds -> certificate -> report. Never a cycle.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <string>

namespace {

const std::map<std::string, std::set<std::string>> allowed{
    {"core", {}},
    {"bounds", {"core"}},
    {"io", {"core"}},
    {"worst_case", {"core", "bounds", "io"}},
    {"problems", {"core"}},
    {"algorithms", {"core", "problems"}},
    {"families", {"core", "problems", "algorithms", "io"}},
    {"runs", {"core", "problems", "algorithms"}},
    {"learning", {"core", "bounds", "io", "problems", "algorithms", "runs"}},
    {"certify", {"core", "bounds", "io", "worst_case", "algorithms", "runs", "learning"}},
    {"report", {"core", "bounds", "io", "certify"}},
};

TEST(House, RoomsIncludeOnlyWhatLiesBeforeThem) {
  const std::filesystem::path root = std::filesystem::path(SUREFOOT_SOURCE_DIR) / "src" / "surefoot";
  const std::string include = "#include \"surefoot/";
  int seen = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    const std::string name = entry.path().filename().string();
    if (!name.ends_with(".hpp") && !name.ends_with(".cpp")) continue;
    if (name.ends_with("_test.cpp")) continue;
    const std::string room = entry.path().parent_path().filename().string();
    ASSERT_TRUE(allowed.contains(room)) << room << " is not a known room; say here what it may include";
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
  const std::set<std::string> of_figures{"picture.cpp", "plot.cpp", "chart_data.cpp", "progress.cpp"};
  int seen = 0;
  for (const char* folder : {"src/surefoot/certify", "src/surefoot/report", "app", "python/bindings"}) {
    for (const auto& entry : std::filesystem::directory_iterator(root / folder)) {
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

}  // namespace
