#include "output.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/report/table.hpp"
#include "surefoot/report/text.hpp"

#include "say.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <string>
#include <utility>
#include <vector>

using namespace surefoot;

std::unique_ptr<io::ResultFolder> OutputOptions::open() const {
  return std::make_unique<io::ResultFolder>(folder, report::is_file_of_certificate);
}

void add_output_options(CLI::App& verb, OutputOptions& options) {
  verb.add_option("--out", options.folder, "output folder")->capture_default_str();
  verb.add_flag("--json", options.json, "print the certificate instead of the table");
}

bool write_report(const certify::Certificate& certificate, io::ResultFolder& folder,
                  std::vector<io::FileContent> others) {
  const std::vector<std::string> notices = report::write_report(certificate, folder, std::move(others));
  for (const std::string& notice : notices) say(notice);
  return notices.empty();
}

void write_certificate(const certify::Certificate& certificate, const OutputOptions& options,
                       io::ResultFolder& folder, std::vector<io::FileContent> others) {
  const bool drawn = write_report(certificate, folder, std::move(others));
  if (options.json) {
    fmt::print("{}", certify::to_json(certificate));
    return;
  }
  fmt::print("{}", report::terminal_text(certificate));
  fmt::print(
      "\nWritten to {}: report.html, certificate.json, curves.csv, {}\n",
      io::printable(options.folder.string()),
      drawn ? "figures and tables for papers" : "tables for papers, and the figures that could be drawn");
  fmt::print("Check it:  surefoot verify {}\n",
             report::shell_path((options.folder / "certificate.json").string()));
}
