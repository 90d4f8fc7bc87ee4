#include "surefoot/experiments/data.hpp"

#include "surefoot/core/error.hpp"

#include <algorithm>

namespace surefoot::experiments {

const std::string& data_file(const std::string& name) {
  const auto found = std::find_if(data_files().begin(), data_files().end(),
                                  [&](const DataFile& file) { return file.name == name; });
  require(found != data_files().end(), "experiments/{}: there is no such file", name);
  return found->text;
}

}  // namespace surefoot::experiments
