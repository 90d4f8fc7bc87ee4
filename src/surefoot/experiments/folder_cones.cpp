#include "surefoot/experiments/folder_cones.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/experiments/toml_text.hpp"
#include "surefoot/io/atomic_file.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace surefoot::experiments {

namespace {

/// Keys at any depth: tables only group them.
class ConeKeys {
 public:
  ConeKeys(std::string file, problems::Cones& cones) : file_(std::move(file)), cones_(cones) {}

  void read(const toml::table& table) {
    for (const auto& [name, node] : table) {
      std::string key(name.str());
      for (char& letter : key) letter = letter == '-' ? '_' : letter;
      if (node.is_table()) read(*node.as_table());
      if (key == "zero") cones_.zero = whole(key, node);
      if (key == "nonnegative") cones_.nonnegative = whole(key, node);
      if (key == "second_order") cones_.second_order = wholes(key, node);
      if (key == "semidefinite") cones_.semidefinite = wholes(key, node);
      if (key == "exponential") cones_.exponential = whole(key, node);
      if (key == "dual_exponential") cones_.dual_exponential = whole(key, node);
      if (key == "power") cones_.power.assign(node.is_array() ? node.as_array()->size() : 1, 0.5);
    }
  }

 private:
  [[nodiscard]] Index whole(const std::string& key, const toml::node& node) const {
    require(node.is_integer() && node.as_integer()->get() >= 0, "{}:{}: '{}' must be a whole number >= 0",
            file_, static_cast<unsigned>(node.source().begin.line), key);
    return node.as_integer()->get();
  }
  [[nodiscard]] std::vector<Index> wholes(const std::string& key, const toml::node& node) const {
    if (!node.is_array()) return {whole(key, node)};
    std::vector<Index> all;
    for (const toml::node& item : *node.as_array()) all.push_back(whole(key, item));
    return all;
  }

  std::string file_;
  problems::Cones& cones_;
};

}  // namespace

problems::Cones cones_in(const std::filesystem::path& folder) {
  const std::filesystem::path file = folder / "settings.toml";
  std::error_code error;
  require(
      std::filesystem::exists(file, error),
      "{}: has no settings.toml that says the cones of its rows (zero, nonnegative, second_order, semidefinite)",
      folder.string());
  problems::Cones cones;
  read_toml(file.string(), io::read_file(file, longest_toml), [&](const toml::table& table) {
    ConeKeys(file.string(), cones).read(table);
    cones.validate();
    return true;
  });
  require(cones.rows() > 0, "{}: names no cones", file.string());
  return cones;
}

}  // namespace surefoot::experiments
