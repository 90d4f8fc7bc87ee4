#include "surefoot/core/version.hpp"
#include "surefoot/io/atomic_file.hpp"

#include "begin_work.hpp"
#include "completion.hpp"
#include "manual.hpp"
#include "verbs.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace {

void print_whole(const std::string& text) {
  fmt::print("{}", text);
}

}  // namespace

void add_completion_verb(CLI::App& app) {
  const auto shell = std::make_shared<std::string>();
  CLI::App* verb =
      app.add_subcommand("completion", "A script for bash, zsh or fish that completes verbs and options");
  verb->add_option("shell", *shell, "bash, zsh or fish")->required();
  verb->footer("Example: source <(surefoot completion bash)");
  verb->callback([&app, shell] {
    const std::string script = completion_script(*shell, described_verbs(app));
    begin_work();
    print_whole(script);
  });
}

void add_manual_verb(CLI::App& app) {
  const auto folder = std::make_shared<std::string>();
  CLI::App* verb = app.add_subcommand("manual", "Manual pages with what --help says");
  verb->add_option("--out", *folder,
                   "folder to write them into, as surefoot-certify.1 [that of the program is printed]");
  verb->footer("Example: surefoot manual --out man1 && man -l man1/surefoot-certify.1");
  verb->callback([&app, folder] {
    const std::vector<DescribedVerb> verbs = described_verbs(app);
    begin_work();
    if (folder->empty()) return print_whole(manual_page(verbs.front(), std::string(surefoot::version)));
    surefoot::io::create_folders(*folder);
    for (const DescribedVerb& each : verbs)
      surefoot::io::write_file_atomically(std::filesystem::path(*folder) / (manual_name(each) + ".1"),
                                          manual_page(each, std::string(surefoot::version)));
  });
}
