#include "surefoot/report/image_check.hpp"

#include "surefoot/report/certificate_figures.hpp"
#include "surefoot/report/gnuplot.hpp"
#include "surefoot/report/process.hpp"
#include "surefoot/report/report.hpp"

#include "support/synthetic_certificate.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace surefoot::report {
namespace {

using test::synthetic_certificate;
using test_support::TemporaryFolder;

constexpr std::string_view drawing =
    "<?xml version=\"1.0\"?>\n<!DOCTYPE svg>\n<svg a='x > y'><!-- <g> --><g><path "
    "d=\"M\"/></g><text>a &lt; b</text></svg>\n";

TEST(ImageCheck, EveryCutSvgIsSeen) {
  EXPECT_TRUE(is_whole_svg(drawing));
  for (std::size_t length = 0; length + 1 < drawing.size(); ++length)
    EXPECT_FALSE(is_whole_svg(drawing.substr(0, length))) << length;
  EXPECT_FALSE(is_whole_svg("<svg><g></svg></g>"));
  EXPECT_FALSE(is_whole_svg("<svg></svg><svg></svg>"));
  EXPECT_FALSE(is_whole_svg("<html></html>"));
  EXPECT_FALSE(is_whole_svg("<svg></svg>trailing"));
}

TEST(ImageCheck, CutPdfIsSeen) {
  EXPECT_TRUE(is_whole_pdf("%PDF-1.5\n...\n%%EOF\n"));
  EXPECT_FALSE(is_whole_pdf("%PDF-1.5\n...\n%%EO"));
  EXPECT_FALSE(is_whole_pdf(""));
}

/// A program that stands in for gnuplot.
std::string script_in(const TemporaryFolder& folder, const std::string& body) {
  const std::string path = folder.write("gnuplot", "#!/bin/sh\n" + body);
  std::filesystem::permissions(path, std::filesystem::perms::owner_all);
  return path;
}

TEST(Figures, CutOnesAreNotTakenAndTheNoticeSaysSo) {
  const TemporaryFolder folder;
  const PlotOptions options{.gnuplot = script_in(folder, "printf '<svg><g>'\n")};
  const Image cut = render(success_figure(synthetic_certificate()), ImageFormat::svg, options);
  EXPECT_FALSE(cut.content);
  EXPECT_NE(cut.notice.find("not a whole"), std::string::npos) << cut.notice;
  const Image pdf = render(success_figure(synthetic_certificate()), ImageFormat::pdf, options);
  EXPECT_FALSE(pdf.content);
}

TEST(Figures, EachFormatOfAFigureIsDrawnOnce) {
  const TemporaryFolder folder;
  const std::string counts = script_in(
      folder, "cat >/dev/null\necho x >>" + (folder / "runs") + "\nprintf '%%PDF-1.5\\n%%%%EOF\\n'\n");
  Report report;
  add_figure(report, success_figure(synthetic_certificate()), {.gnuplot = counts});
  EXPECT_EQ(std::filesystem::file_size(folder / "runs"), 2U) << "the SVG is made from the PDF";
  ASSERT_FALSE(report.files.empty());
  EXPECT_TRUE(report.files.front().name.ends_with(".pdf"));
}

TEST(Figures, ProgramsThatHangAreEndedAndNotRunAgain) {
  const TemporaryFolder folder;
  const std::string hangs = script_in(folder, "echo begun >>" + (folder / "runs") + "\nexec sleep 1000\n");
  const ProcessResult first = run_process({hangs}, "", 2);
  EXPECT_TRUE(first.timed_out);
  const ProcessResult second = run_process({hangs}, "", 0.2);
  EXPECT_TRUE(second.timed_out);
  EXPECT_EQ(std::filesystem::file_size(folder / "runs"), 6U) << "it was begun once";
  const Image image = render(success_figure(synthetic_certificate()), ImageFormat::svg, {.gnuplot = hangs});
  EXPECT_NE(image.notice.find("did not end"), std::string::npos) << image.notice;
  EXPECT_EQ(image.notice.find("nstall"), std::string::npos) << image.notice;
}

TEST(Figures, NamesOfAnyTextAreDrawn) {
  if (run_process({"gnuplot", "--version"}, "").exit_code != 0) GTEST_SKIP() << "NO GNUPLOT";
  for (const char* name : {"''", "a''''b", "it's", "`id` \\n \"q\"", "'", "@x $y {z}_1 %s"}) {
    certify::Certificate certificate = synthetic_certificate();
    certificate.metric = name;
    certificate.variants.front().name = name;
    const Image drawn = render(quantile_figure(certificate), ImageFormat::svg);
    EXPECT_TRUE(drawn.content) << name << ": " << drawn.notice;
  }
}

}  // namespace
}  // namespace surefoot::report
