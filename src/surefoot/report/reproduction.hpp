#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/report/certificate_figures.hpp"
#include "surefoot/report/figure.hpp"
#include "surefoot/report/gnuplot.hpp"
#include "surefoot/report/html.hpp"
#include "surefoot/report/text_table.hpp"

#include <string>
#include <vector>

/// One page for many experiments: what each found, beside what others had found.
namespace surefoot::report {

struct ResultCertificate {
  std::string folder;  ///< of certificate.json and report.html, from the page's folder on
  bool main = false;   ///< shown with its figures; others in a list
  certify::Certificate certificate;
};

struct ExperimentResult {
  std::string name;
  std::string title;
  std::string missing;  ///< why there is nothing; empty: it is done
  double seconds = 0;
  std::vector<ResultTable> tables;
  std::vector<PageFigure> figures;
  std::vector<ResultCertificate> certificates;
};

struct Reproduction {
  std::string title;
  std::string subtitle;
  std::string version;
  std::string command;                ///< that makes it, or goes on with it
  std::vector<std::string> settings;  ///< sentences
  std::vector<ExperimentResult> experiments;
};

/// The page; sections of experiments are kept, so that it can be written again after each of them.
class ReproductionPage {
 public:
  explicit ReproductionPage(PlotOptions options = {});
  ~ReproductionPage();
  ReproductionPage(const ReproductionPage&) = delete;
  ReproductionPage& operator=(const ReproductionPage&) = delete;
  std::string html(const Reproduction& reproduction);

 private:
  struct Kept;
  [[nodiscard]] Kept made(const ExperimentResult& result) const;

  PlotOptions options_;
  std::vector<Kept> kept_;
};

}  // namespace surefoot::report
