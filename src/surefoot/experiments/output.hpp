#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/experiments/comparison.hpp"
#include "surefoot/experiments/record.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/report/figure.hpp"
#include "surefoot/report/gnuplot.hpp"
#include "surefoot/report/html.hpp"
#include "surefoot/report/picture.hpp"
#include "surefoot/report/report.hpp"
#include "surefoot/report/text_table.hpp"

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace surefoot::experiments {

/// Columns headed "group: header".
std::string to_csv(const report::TextTable& table);

/// Collects what goes into the output folder.
class Output {
 public:
  /// The command that makes certificates again, from the folder of one inside the output.
  using Rerun = std::function<std::string(const std::string& subfolder)>;
  /// Ids in its figures begin with `name`, so that those of several can stand in one page.
  Output(const std::filesystem::path& folder, std::string name, Rerun rerun)
      : result_(folder), name_(std::move(name)), rerun_(std::move(rerun)) {
    result_.begin();
  }
  void write(const std::string& name, const std::string& content);
  /// A result in a folder inside, which has its own manifest.
  void add_result(const std::string& subfolder);
  /// Writes the last file and the manifest.
  void finish(const std::string& name, const std::string& content);
  /// Prints the table and its differences, and writes it as Markdown, CSV and LaTeX.
  void add(const Comparison& comparison);
  /// table_SLUG.csv and table_SLUG.tex.
  void add_table(const report::ResultTable& table);
  /// SVG and PDF.
  void add(const report::Figure& figure);
  /// The same for a picture; returns it as it stands in a page.
  template <class Picture>
  report::PageFigure add_picture(const Picture& picture) {
    using report::ImageFormat;
    const report::Image pdf = render(picture, ImageFormat::pdf);
    add_image(pdf, picture.name + ".pdf");
    add_image(report::outlined(pdf, picture.name), picture.name + ".svg");
    report::PageFigure shown =
        page_figure(render(picture, ImageFormat::svg), id_of(picture.name), picture.caption);
    notice(shown.notice);
    record_.figures.push_back(shown);
    return shown;
  }
  /// certificate.json and its report in a folder inside ("": the folder itself). A main certificate is shown
  /// with its figures where several experiments stand in one page.
  void add(certify::Certificate certificate, const std::string& subfolder,
           const std::vector<report::PageFigure>& pictures, bool main = false);
  /// Once per text, on standard error.
  void notice(const std::string& text);
  [[nodiscard]] const std::filesystem::path& folder() const { return result_.path(); }
  /// What was added.
  [[nodiscard]] const Record& record() const { return record_; }

 private:
  [[nodiscard]] std::string id_of(const std::string& figure) const { return name_ + '-' + figure; }
  void add_image(const report::Image& image, const std::string& name);
  void add(const report::Report& report, const std::string& subfolder);

  io::ResultFolder result_;
  std::string name_;
  Rerun rerun_;
  std::vector<std::string> notices_;
  Record record_;
};

}  // namespace surefoot::experiments
