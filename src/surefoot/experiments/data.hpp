#pragma once

#include <string>
#include <vector>

/// The files of experiments/, built in: recipes of training and the paper's tables.
namespace surefoot::experiments {

struct DataFile {
  std::string name;  ///< inside experiments/, "sparse_coding/alista.toml"
  std::string text;
};

const std::vector<DataFile>& data_files();
/// InputError if there is none of this name.
const std::string& data_file(const std::string& name);

}  // namespace surefoot::experiments
