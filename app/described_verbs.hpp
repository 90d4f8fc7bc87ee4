#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

/// What --help says, as data: for completions of shells and manual pages.

struct DescribedOption {
  std::vector<std::string> names;  ///< "-h", "--help"; of what stands alone its name, "certificate"
  std::string description;
  std::string takes;  ///< "FLOAT=0.99", as --help says it; empty: a flag
  std::string group;  ///< the heading that --help shows it under
};

struct DescribedVerb {
  std::vector<std::string> words;  ///< "run", "qp"; empty: the program itself
  std::string description;
  std::vector<DescribedOption> arguments;  ///< that stand alone
  std::vector<DescribedOption> options;
  std::vector<DescribedOption> verbs;  ///< that may follow
  std::string footer;
};

/// The program, every verb, and every verb of a verb.
std::vector<DescribedVerb> described_verbs(const CLI::App& program);
