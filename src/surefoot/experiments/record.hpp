#pragma once

#include "surefoot/report/html.hpp"
#include "surefoot/report/reproduction.hpp"

#include <string>
#include <string_view>
#include <vector>

/// What an experiment has made, in a file beside it: a page about several experiments needs no more.
namespace surefoot::experiments {

struct RecordedCertificate {
  std::string folder;  ///< inside the experiment's folder
  std::string sha256;  ///< of certificate.json there
  bool main = false;   ///< to be shown with its figures
};

struct Record {
  std::vector<report::ResultTable> tables;
  std::vector<report::PageFigure> figures;
  std::vector<RecordedCertificate> certificates;
};

std::string to_json(const Record& record);
/// InputError, or an exception of the JSON library, if the text is no record.
Record parse_record(std::string_view text);

}  // namespace surefoot::experiments
