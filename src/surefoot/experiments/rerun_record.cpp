#include "surefoot/experiments/rerun_record.hpp"

#include "surefoot/io/json_dump.hpp"

#include <nlohmann/json.hpp>

namespace surefoot::experiments {

std::string rerun_record(const std::vector<std::string>& words, const RerunOptions& options,
                         const std::vector<RerunFile>& files, const std::string& certificate) {
  nlohmann::ordered_json json{{"words", words},
                              {"options", nlohmann::ordered_json::object()},
                              {"files", nlohmann::ordered_json::array()},
                              {"certificate", certificate}};
  for (const auto& [name, value] : options) json["options"][name] = value;
  for (const RerunFile& file : files)
    json["files"].push_back({{"option", file.option},
                             {"file", file.file},
                             {"sha256", file.sha256},
                             {"in_folder", file.in_folder}});
  return io::json_dump(json);
}

}  // namespace surefoot::experiments
