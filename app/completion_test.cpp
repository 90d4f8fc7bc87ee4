#include "completion.hpp"

#include "surefoot/io/atomic_file.hpp"

#include "command_line.hpp"
#include "help_groups.hpp"
#include "manual.hpp"
#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <set>
#include <string>
#include <vector>

namespace {

using surefoot::test_support::TemporaryFolder;

std::vector<DescribedVerb> all_described() {
  int exit_code = 0;
  return described_verbs(*make_command_line(exit_code));
}

const DescribedVerb& described(const std::vector<DescribedVerb>& verbs,
                               const std::vector<std::string>& words) {
  return *std::find_if(verbs.begin(), verbs.end(),
                       [&](const DescribedVerb& verb) { return verb.words == words; });
}

TEST(DescribedVerbs, SayWhatHelpSays) {
  const std::vector<DescribedVerb> verbs = all_described();
  std::set<std::string> names;
  for (const DescribedVerb& verb : verbs) {
    EXPECT_FALSE(verb.description.empty()) << manual_name(verb);
    EXPECT_TRUE(names.insert(manual_name(verb)).second) << manual_name(verb);
  }
  EXPECT_TRUE(names.contains("surefoot-run-qp"));
  const DescribedVerb& certify = described(verbs, {"certify"});
  EXPECT_EQ(certify.arguments.front().names.front(), "files");
  const auto option = [&](const std::string& name) {
    return *std::find_if(certify.options.begin(), certify.options.end(), [&](const DescribedOption& each) {
      return std::ranges::count(each.names, name) > 0;
    });
  };
  EXPECT_EQ(option("--confidence").takes, "FLOAT=0.99");
  EXPECT_EQ(option("--json").takes, "") << "a flag";
}

TEST(DescribedVerbs, OptionsAreInGroups) {
  const std::vector<DescribedVerb> verbs = all_described();
  std::set<std::string> seen;
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"certify"},
                                                                                     {"run", "qp"},
                                                                                     {"run", "cone"},
                                                                                     {"run", "loop"},
                                                                                     {"run", "family"},
                                                                                     {"run", "command"},
                                                                                     {"train"},
                                                                                     {"calibrate"},
                                                                                     {"compare"},
                                                                                     {"reproduce"},
                                                                                     {"tune", "qp"}}) {
    const DescribedVerb& verb = described(verbs, words);
    std::set<std::string> groups;
    for (const DescribedOption& option : verb.options) groups.insert(option.group);
    EXPECT_EQ(verb.options.front().group, help_groups::common) << manual_name(verb) << ": --help comes first";
    EXPECT_TRUE(groups.contains(help_groups::advanced)) << manual_name(verb);
    EXPECT_FALSE(groups.contains("Options")) << manual_name(verb);
    const std::string page = manual_page(verb, "1.2.3");
    for (const std::string& group : groups)
      EXPECT_NE(page.find(".SS " + group + "\n"), std::string::npos) << group;
  }
  const auto group_of = [&](const std::vector<std::string>& words, const std::string& name) {
    for (const DescribedOption& option : described(verbs, words).options)
      if (std::ranges::count(option.names, name) > 0) return option.group;
    return std::string("no such option");
  };
  EXPECT_EQ(group_of({"certify"}, "--tolerances"), "Common");
  EXPECT_EQ(group_of({"certify"}, "--success-delta"), "Statistics");
  EXPECT_EQ(group_of({"run", "qp"}, "--rho"), "Solver settings");
  EXPECT_EQ(group_of({"run", "qp"}, "--resume"), "Advanced");
  EXPECT_EQ(group_of({"plan"}, "--share"), "Options") << "a short help has no groups";
  // No name in the lists is of an option that is gone.
  for (const DescribedVerb& verb : verbs)
    for (const DescribedOption& option : verb.options) seen.insert(option.names.begin(), option.names.end());
  for (const char* group : {help_groups::statistics, help_groups::advanced})
    for (const std::string& name : help_groups::names_in(group)) EXPECT_TRUE(seen.contains(name)) << name;
  EXPECT_NE(completion_script("zsh", verbs).find("(Statistics)'"), std::string::npos);
  EXPECT_NE(completion_script("fish", verbs).find("(Statistics)'"), std::string::npos);
}

TEST(Completion, OfBashGivesVerbsThenOptionsThenFiles) {
  const TemporaryFolder folder;
  folder.write("surefoot.bash", completion_script("bash", all_described()));
  folder.write("residuals.csv", "1\n");
  const auto completed = [&](const std::string& words) {
    folder.write("try.bash", fmt::format("source ./surefoot.bash\nCOMP_WORDS=(surefoot {})\n"
                                         "COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n_surefoot\n"
                                         "echo \"${{COMPREPLY[*]}}\"\n",
                                         words));
    EXPECT_EQ(std::system(("cd '" + folder.path().string() + "' && bash try.bash >out.txt").c_str()), 0);
    return surefoot::io::read_file(folder / "out.txt", 1000);
  };
  EXPECT_EQ(completed("cer"), "certify\n");
  EXPECT_EQ(completed("run q"), "qp\n");
  EXPECT_EQ(completed("run qp --rh"), "--rho\n");
  EXPECT_EQ(completed("certify --tol"), "--tolerances\n");
  EXPECT_EQ(completed("certify resid"), "residuals.csv\n");
  EXPECT_EQ(completed("verify certify --wei"), "--weights\n") << "a file may be called like a verb";
}

TEST(Completion, OfOtherShellsNamesEveryOption) {
  const std::vector<DescribedVerb> verbs = all_described();
  const std::string zsh = completion_script("zsh", verbs);
  const std::string fish = completion_script("fish", verbs);
  for (const DescribedVerb& verb : verbs) {
    for (const DescribedOption& option : verb.options) {
      const std::string name = option.names.back();
      EXPECT_NE(zsh.find("'" + name + ":"), std::string::npos) << name;
      EXPECT_NE(fish.find(" -l " + name.substr(2) + " "), std::string::npos) << name;
    }
  }
  EXPECT_INPUT_ERROR(completion_script("ksh", verbs), "'ksh' is not one of bash, zsh, fish");
}

TEST(Manual, EscapesWhatTroffWouldTakeForItsOwn) {
  DescribedVerb verb{{"try"}, "A verb", {}, {{{"--o"}, ".begins with a dot\n'and \\ too", "TEXT", "Options"}},
                     {},      ".end"};
  const std::string page = manual_page(verb, "1.0");
  EXPECT_NE(page.find("\n\\&.begins with a dot\n.br\n\\&'and \\e too\n"), std::string::npos) << page;
  EXPECT_NE(page.find(".SH NOTES\n\\&.end\n"), std::string::npos) << page;
  EXPECT_NE(page.find("\\fB\\-\\-o\\fR \\fITEXT\\fR"), std::string::npos) << page;
  EXPECT_NE(page.find(".BR surefoot (1)"), std::string::npos) << page;
}

}  // namespace
