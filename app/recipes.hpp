#pragma once

#include <string>
#include <vector>

/// A training configuration of experiments/sparse_coding, built into the program.
struct Recipe {
  std::string name;  ///< of its file, without .toml
  std::string text;
};

const std::vector<Recipe>& recipes();
