#include "surefoot/report/report.hpp"

#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/io/gzip.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/report/certificate_figures.hpp"
#include "surefoot/report/chart_data.hpp"
#include "surefoot/report/comparison.hpp"
#include "surefoot/report/curves.hpp"
#include "surefoot/report/html.hpp"
#include "surefoot/report/page.hpp"
#include "surefoot/report/process.hpp"
#include "surefoot/report/series.hpp"
#include "surefoot/report/table.hpp"

#include "support/contains.hpp"
#include "support/input_error.hpp"
#include "support/synthetic_certificate.hpp"
#include "support/temporary_folder.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace surefoot::report {
namespace {

using certify::Certificate;
using test::contains;
using test::synthetic_certificate;

constexpr const char* hostile =
    "</title><script>alert(1)</script> ' \" & `touch pwned` '; system('touch pwned') # @x {/=50 big} "
    "\\ %s ^_2";

bool has_program(const std::string& name) {
  return run_process({name, "--version"}, "").started;
}

/// Empty if the text is well-formed XML, else what xmllint says.
std::string xml_faults(const std::string& text) {
  const ProcessResult result = run_process({"xmllint", "--noout", "--nonet", "-"}, text);
  return result.exit_code == 0 ? "" : "xmllint: " + result.errors;
}

/// The texts between each `opening` and the next quote or bracket.
std::vector<std::string> values_after(const std::string& html, const std::vector<std::string>& openings) {
  std::vector<std::string> values;
  for (const std::string& opening : openings) {
    for (std::size_t at = html.find(opening); at != std::string::npos; at = html.find(opening, at + 1)) {
      const std::size_t begin = at + opening.size();
      values.push_back(html.substr(begin, html.find_first_of("\"')", begin) - begin));
    }
  }
  return values;
}

void expect_unique_ids(const std::string& html) {
  std::set<std::string> seen;
  for (const std::string& id : values_after(html, {" id=\"", " id='"}))
    EXPECT_TRUE(seen.insert(id).second) << id;
  for (const std::string& id : values_after(html, {"href=\"#", "href='#", "url(#"}))
    EXPECT_EQ(seen.count(id), 1U) << id;
}

/// The page without its scripts and their data.
std::string without_scripts(const std::string& html) {
  const std::size_t begin = html.find("<script");
  return begin == std::string::npos ? html : html.substr(0, begin);
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string file_of(const Report& report, std::string_view name) {
  const auto found = std::ranges::find(report.files, name, &ReportFile::name);
  return found == report.files.end() ? "" : found->content;
}

Certificate hostile_certificate() {
  Certificate certificate = synthetic_certificate({.variants = 2, .steps = 8});
  certificate.title = certificate.metric = certificate.unit = hostile;
  certificate.variants[0].name = certificate.variants[0].source = hostile;
  certificate.variants[1].name = "bad \xff bytes \x1b[0m {{title}}";
  certificate.shares[0].purpose = certificate.assumptions[0] = certificate.version = hostile;
  certificate.run = nlohmann::json({{hostile, hostile}}).dump();
  return certificate;
}

class Drawn : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_program("gnuplot")) GTEST_SKIP() << "gnuplot is not installed: figures are NOT tested";
    if (!has_program("xmllint")) GTEST_SKIP() << "xmllint is not installed: figures are NOT tested";
  }
};

TEST(RunProcess, PassesInputAndReturnsOutput) {
  const std::string text(1 << 20, 'x');
  EXPECT_EQ(run_process({"cat"}, text).output, text);
  EXPECT_EQ(run_process({"false"}, "").exit_code, 1);
  const ProcessResult missing = run_process({"/no/such/program"}, "");
  EXPECT_FALSE(missing.started);
  EXPECT_FALSE(missing.errors.empty());
}

TEST(Figures, HaveAPanelPerVariantAndACurvePairPerParameter) {
  for (const int variants : {1, 4}) {
    const auto certificate = synthetic_certificate({.variants = variants});
    const Figure success = success_figure(certificate);
    EXPECT_EQ(success.panels.size(), static_cast<std::size_t>(variants));
    EXPECT_EQ(success.panels[0].curves.size(), 8U);
    EXPECT_EQ(quantile_figure(certificate).panels[0].curves.size(), 6U);
    EXPECT_EQ(one_per_panel(success).size(), static_cast<std::size_t>(variants));
  }
}

TEST(Figures, ChooseTheAxisByTheMetric) {
  EXPECT_TRUE(quantile_figure(synthetic_certificate()).y.logarithmic);
  const Figure decibel = quantile_figure(synthetic_certificate({.decibel = true}));
  EXPECT_FALSE(decibel.y.logarithmic);
  EXPECT_LT(decibel.y.low, -30);
  EXPECT_FALSE(success_figure(synthetic_certificate()).x.logarithmic);
}

TEST(Figures, SayHowManyAreDrawnOfMany) {
  auto certificate = synthetic_certificate({.variants = 1, .steps = 3});
  for (int i = 2; i < 30; ++i) certificate.tolerances.push_back(1e-4 / i);
  EXPECT_EQ(success_figure(certificate).remark, "6 of 32 tolerances are drawn.");
}

TEST(Figures, ThinLongCurves) {
  const Figure figure = success_figure(synthetic_certificate({.variants = 1, .steps = 5000, .samples = 20}));
  EXPECT_LE(figure.panels[0].curves[0].points.size(), 601U);
  EXPECT_EQ(figure.panels[0].curves[0].points.back().x, 5000);
}

TEST_F(Drawn, SvgIsWellFormedWhateverTheNames) {
  std::filesystem::remove("pwned");
  for (const Certificate& certificate : {synthetic_certificate(), hostile_certificate()}) {
    for (const Figure& figure : {success_figure(certificate), quantile_figure(certificate)}) {
      const Image image = render(figure, ImageFormat::svg);
      ASSERT_TRUE(image.content) << image.notice;
      EXPECT_EQ(xml_faults(*image.content), "");
      EXPECT_EQ(xml_faults(inline_svg(*image.content, "p-", hostile)), "");
    }
  }
  EXPECT_FALSE(std::filesystem::exists("pwned"));
}

TEST_F(Drawn, PdfIsAPdf) {
  const Image image = render(success_figure(hostile_certificate()), ImageFormat::pdf);
  ASSERT_TRUE(image.content) << image.notice;
  EXPECT_TRUE(image.content->starts_with("%PDF"));
}

TEST_F(Drawn, PdfHasItsFontsEmbedded) {
  if (!has_program("pdffonts")) GTEST_SKIP() << "pdffonts is not installed: fonts are NOT checked";
  const Image image = render(quantile_figure(synthetic_certificate()), ImageFormat::pdf);
  ASSERT_TRUE(image.content) << image.notice;
  const std::filesystem::path file = std::filesystem::path(testing::TempDir()) / "fonts.pdf";
  std::ofstream(file, std::ios::binary) << *image.content;
  std::istringstream lines(run_process({"pdffonts", file.string()}, "").output);
  std::string line;
  std::getline(lines, line);
  const std::size_t embedded = line.find(" emb ") + 1;
  std::getline(lines, line);
  int fonts = 0;
  for (; std::getline(lines, line); ++fonts) EXPECT_EQ(line.substr(embedded, 3), "yes") << line;
  EXPECT_GT(fonts, 0);
}

TEST_F(Drawn, SaysThatPdftocairoIsMissingAndGoesOn) {
  const Report report =
      make_report(synthetic_certificate({.variants = 1, .steps = 5}), {.pdftocairo = "/no/such/program"});
  ASSERT_EQ(report.notices.size(), 1U);
  EXPECT_TRUE(contains(report.notices[0], "apt install poppler-utils"));
  EXPECT_FALSE(file_of(report, "success.pdf").empty());
}

TEST_F(Drawn, OddDataIsDrawnWithoutFault) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Certificate nothing_certified = synthetic_certificate({.variants = 1, .steps = 5});
  for (auto& claim : nothing_certified.quantile) claim.upper_bound = claim.empirical = infinity;
  for (auto& claim : nothing_certified.success) claim.lower_bound = nan;
  Certificate zeros = synthetic_certificate({.variants = 1, .steps = 5});
  for (auto& claim : zeros.quantile) claim.empirical = 0;
  Certificate huge = zeros;
  for (auto& claim : huge.quantile) claim.upper_bound = 1e308;
  Certificate constant = zeros;
  for (auto& claim : constant.quantile) claim.upper_bound = claim.empirical = -3;
  Certificate one_step = synthetic_certificate({.variants = 1, .steps = 1});
  for (const Certificate& certificate : {nothing_certified, zeros, huge, constant, one_step}) {
    for (const Figure& figure : {success_figure(certificate), quantile_figure(certificate)}) {
      const Image image = render(figure, ImageFormat::svg);
      ASSERT_TRUE(image.content) << image.notice;
      EXPECT_EQ(xml_faults(*image.content), "");
    }
  }
}

TEST(Curves, OfClaimsArePointsOrStaircasesNeverLinesBetweenThem) {
  Figure figure;
  figure.styles = {"observed", "certified"};
  Curve curve{"", 0, 1, {}, true};
  for (int step = 1; step <= 20; ++step) curve.points.push_back({static_cast<double>(step), 0.5});
  figure.panels = {{"", {curve}}};
  EXPECT_TRUE(contains(gnuplot_script(figure, ImageFormat::svg), "using 1:2 with steps"));
  figure.panels[0].curves[0].points.erase(figure.panels[0].curves[0].points.begin() + 5);
  const std::string gap = gnuplot_script(figure, ImageFormat::svg);
  EXPECT_TRUE(contains(gap, "using 1:2 with points pt 7"));
  EXPECT_TRUE(contains(gap, "keyentry with points pt 7"));
  EXPECT_FALSE(contains(gap, "using 1:2 with lines"));
  figure.panels[0].curves[0].claims = false;
  EXPECT_TRUE(contains(gnuplot_script(figure, ImageFormat::svg), "using 1:2 with lines"));
}

TEST_F(Drawn, ReportHasFiguresInlineWithIdsOfTheirOwn) {
  const Report report = make_report(synthetic_certificate({.variants = 4}));
  EXPECT_TRUE(report.notices.empty());
  EXPECT_FALSE(file_of(report, "success.pdf").empty());
  EXPECT_FALSE(file_of(report, "quantiles.pdf").empty());
  EXPECT_TRUE(contains(file_of(report, "success.svg"), "<svg"));
  EXPECT_FALSE(contains(file_of(report, "success.svg"), "<text"));  // outlines
  const std::string html = without_scripts(file_of(report, "report.html"));
  expect_unique_ids(html);
  EXPECT_TRUE(contains(html, "id='quantiles-3-gpDot'"));
  EXPECT_FALSE(contains(html, "black"));
  EXPECT_FALSE(contains(html, "<?xml"));
}

TEST(ReportHtml, EscapesAllUserText) {
  const std::string html = report_html(hostile_certificate(), {});
  if (has_chart_library()) {
    // The licence of what is copied into the page, whole.
    for (const char* words :
         {"Dan Vanderkam", "Permission is hereby granted, free of charge", "THE SOFTWARE IS PROVIDED"})
      EXPECT_GE(count_of(html, words), 1U) << words;
  }
  // The certificate and its check; data, library and page of the charts.
  EXPECT_EQ(count_of(html, "<script"), has_chart_library() ? 5U : 2U);
  EXPECT_FALSE(contains(html, "<script>alert"));
  EXPECT_FALSE(contains(html, "\x1b"));
  EXPECT_FALSE(contains(html, "\xff "));
  EXPECT_TRUE(contains(html, "{{title}}"));  // a name, not a place to fill
  EXPECT_TRUE(contains(html, "&lt;script&gt;alert(1)"));
}

TEST(ReportHtml, NeedsNothingFromElsewhere) {
  const std::string page = report_html(synthetic_certificate(), {});
  EXPECT_TRUE(contains(page, "default-src 'none'"));
  EXPECT_FALSE(contains(page, "sourceMappingURL"));
  EXPECT_LT(page.size(), 1'000'000U);
  const std::string html = without_scripts(page);
  EXPECT_FALSE(contains(html, "src="));
  EXPECT_FALSE(contains(html, "@import"));
  EXPECT_FALSE(contains(html, "<link"));
  for (const std::string& target : values_after(html, {"href=\""}))
    EXPECT_TRUE(target.starts_with('#')) << target;
}

TEST(ReportHtml, HasItsCertificateAndTheDigestOfItsLetters) {
  const Certificate certificate = synthetic_certificate();
  const std::string page = report_html(certificate, {});
  EXPECT_TRUE(contains(page, ">" + io::base64(io::gzipped(certify::to_json(certificate))) + "</script>"));
  // The browser test compares the digest with the letters that a browser sees.
  EXPECT_TRUE(contains(page, "<main data-text-sha256=\""));
  EXPECT_EQ(letters_of_html(
                "<p class=\"a\">1 &lt; 2&nbsp;% &amp;\n it&#39;s</p><svg><text>3</text></svg>&quot;4&quot;"),
            "1<2%&it's\"4\"");
  EXPECT_EQ(letters_of_html("a\xC2\xA0"
                            "b <br>c"),
            "abc");
  EXPECT_EQ(letters_of_html("a <unfinished"), "a");
}

TEST(ReportHtml, ShowsOnlySectionsWithContent) {
  Certificate certificate = synthetic_certificate();
  const std::string page = without_scripts(report_html(certificate, {}));
  EXPECT_FALSE(contains(page, "id=\"figures\""));
  EXPECT_FALSE(contains(page, "id=\"paper\""));
  EXPECT_TRUE(contains(page, "id=\"confidence\""));
  certificate.shares.clear();
  EXPECT_FALSE(contains(without_scripts(report_html(certificate, {})), "id=\"confidence\""));
  // One set of assumptions: each is in the page once.
  for (const std::string& assumption : certificate.assumptions)
    EXPECT_EQ(count_of(page, "<li>" + html_prose(assumption)), 1U) << assumption;
}

TEST(ReportHtml, HasTheNumbersOfOthersBesideItsOwn) {
  TextTable table;
  table.columns = {{"steps"}, {"paper"}, {"ours"}};
  table.add_row({"10", "0.5", "0.4"});
  const std::string page =
      report_html(synthetic_certificate(), {},
                  {{"residual", "The residual", table, {"1 of 1 is better", "b", "c", "d"}}});
  EXPECT_TRUE(contains(page, "The paper&#39;s numbers and ours"));
  EXPECT_TRUE(contains(page, "href=\"table_residual.tex\""));
  EXPECT_TRUE(contains(page, ">1 more remark<"));
}

TEST(ReportHtml, SaysOneProblemAndWhatWasSolvedByWhat) {
  Certificate certificate = synthetic_certificate({.variants = 1});
  certificate.variants[0].samples = 1;
  certificate.title.clear();
  certificate.run = R"({"solver":"SCS","family":"robust Kalman filter","description":"SCS, cold start"})";
  const std::string page = report_html(certificate, {});
  EXPECT_TRUE(contains(page, "<h1>SCS on robust Kalman filter</h1>"));
  EXPECT_TRUE(contains(page, "from 1 problem."));
  EXPECT_TRUE(contains(page, "Solver: SCS, cold start. Family: robust Kalman filter<"));
  certificate.run = "null";
  certificate.variants[0].name = "mine";
  EXPECT_TRUE(contains(report_html(certificate, {}), "<h1>mine</h1>"));
}

TEST(SuccessFigure, LeavesNoEmptyHalfOfAnAxis) {
  Certificate certificate = synthetic_certificate({.variants = 1});
  certificate.steps = {1, 10, 20, 40};
  certificate.tolerances = {1e-3};
  certificate.quantile.clear();
  certificate.budget.clear();
  certificate.bands.clear();
  certificate.success = {{0, 1, 1e-3, bounds::RiskMethod::exact, 100, 100, 0.01, 0, 0},
                         {0, 10, 1e-3, bounds::RiskMethod::exact, 100, 100, 0.01, 0, 0},
                         {0, 20, 1e-3, bounds::RiskMethod::exact, 100, 40, 0.01, 0.60, 0.5},
                         {0, 40, 1e-3, bounds::RiskMethod::exact, 100, 10, 0.01, 0.90, 0.80}};
  EXPECT_EQ(success_figure(certificate).x.low, 10);
  EXPECT_EQ(success_figure(certificate).y.low, 0);
  certificate.steps = {20, 40};
  certificate.success.erase(certificate.success.begin(), certificate.success.begin() + 2);
  certificate.success[0].lower_bound = 0.57;
  EXPECT_EQ(success_figure(certificate).y.low, 0.5);
}

TEST(ReportHtml, TellsWhatIsAndIsNotCertified) {
  const std::string all = report_html(synthetic_certificate({.paper_budgets = true}), {});
  for (const char* part :
       {"all of these hold together", "is strict", "over the draw of the samples", "another distribution",
        "not covered by the confidence", "surefoot verify certificate.json --data", "SHA-256", "9f86d081",
        "counted as failed from there on", "rounded up by at most 0.1&nbsp;%",
        "<th scope=\"row\" class=\"left\">total"}) {
    EXPECT_TRUE(contains(all, part)) << part;
  }
  const std::string each =
      report_html(synthetic_certificate({.simultaneous = certify::Simultaneity::each}), {});
  EXPECT_TRUE(contains(each, "Each claim taken alone"));
  EXPECT_FALSE(contains(each, "hold together"));
}

TEST(ReportHtml, IsPossibleWithoutAnything) {
  EXPECT_TRUE(contains(report_html(Certificate{}, {}), "</html>"));
  EXPECT_EQ(make_report(Certificate{}).files.size(), 2U);
}

TEST(ReportHtml, SaysWhetherFiguresAreInteractive) {
  const Report report = make_report(synthetic_certificate(), {.gnuplot = "/no/such/gnuplot"});
  const std::string html = file_of(report, "report.html");
  if (has_chart_library()) {
    EXPECT_TRUE(contains(html, "<figure data-chart=\"success\">"));
    EXPECT_TRUE(contains(html, "move the slider"));
  } else {
    EXPECT_FALSE(contains(html, "data-chart"));
    EXPECT_TRUE(contains(html, "built without the charting library"));
  }
}

TEST(ReportHtml, StaysSmallWithManyLongCurves) {
  const std::string html = file_of(
      make_report(synthetic_certificate({.variants = 4, .steps = 3000}), {.gnuplot = "/no/such/gnuplot"}),
      "report.html");
  EXPECT_LT(html.size(), 1'000'000U);
}

TEST(ChartData, HasEveryClaimAsTheTablesPrintIt) {
  Certificate certificate = synthetic_certificate({.variants = 2, .steps = 20});
  certificate.quantile[0].upper_bound = infinity;
  const auto data = nlohmann::json::parse(chart_data({chart_set(certificate, "my-")}))["sets"][0];
  EXPECT_EQ(data["charts"][0]["id"], "my-success");
  EXPECT_EQ(data["charts"][1]["id"], "my-quantiles");
  const auto& series = data["charts"][1]["series"];
  ASSERT_EQ(series.size(), 6U);
  EXPECT_TRUE(series[0]["certified"][0].is_null());
  EXPECT_EQ(series[0]["certifiedText"][0], "-");
  std::size_t seen = 0;
  for (const auto& one : series) {
    for (std::size_t i = 0; i < one["steps"].size(); ++i, ++seen) {
      const auto claim = std::ranges::find_if(certificate.quantile, [&](const certify::QuantileClaim& c) {
        return c.variant == one["variant"] && c.step == one["steps"][i] &&
               c.quantile == certificate.quantiles[one["parameter"].get<std::size_t>()];
      });
      ASSERT_NE(claim, certificate.quantile.end());
      EXPECT_EQ(one["certifiedText"][i], upper_bound_value(claim->upper_bound));
      EXPECT_EQ(one["observedText"][i], observed_value(claim->empirical));
    }
  }
  EXPECT_EQ(seen, certificate.quantile.size());
  EXPECT_EQ(data["budgets"].size(), certificate.budget.size());
}

TEST(Quotable, StandsAloneWithItsConfidence) {
  Certificate certificate = synthetic_certificate({.variants = 2, .paper_budgets = true});
  for (const certify::BudgetClaim& claim : certificate.budget) {
    const std::string text = quotable(certificate, claim);
    if (!claim.steps) {
      EXPECT_TRUE(contains(text, "No guarantee")) << text;
    } else if (claim.method == bounds::BudgetMethod::paper) {
      EXPECT_TRUE(contains(text, "Not covered by the confidence")) << text;
    } else {
      EXPECT_TRUE(contains(text, "With confidence 0.99, for ")) << text;
    }
  }
  certificate.simultaneous = certify::Simultaneity::each;
  certificate.budget[0].method = bounds::BudgetMethod::settling;
  certificate.budget[0].steps = 7;
  EXPECT_TRUE(contains(quotable(certificate, certificate.budget[0]), "for this claim alone"));
}

TEST(MakeReport, HasTablesForPapers) {
  const Report report = make_report(synthetic_certificate(), {.gnuplot = "/no/such/gnuplot"});
  for (const char* name : {"tables/iterations", "tables/success_1", "tables/success_2", "tables/quantiles_1",
                           "tables/confidence"}) {
    EXPECT_TRUE(contains(file_of(report, std::string(name) + ".tex"), "\\begin{tabular}")) << name;
    EXPECT_TRUE(contains(file_of(report, std::string(name) + ".md"), "|---:|")) << name;
  }
}

TEST_F(Drawn, EveryFileOfAReportIsKnownAgain) {
  const Certificate certificate = synthetic_certificate();
  certify::Comparison compared;
  for (const std::size_t pair : {0U, 1U})
    compared.pairs.push_back({pair,
                              pair,
                              {{1, 1e-3, {0, 1}, {0, 1}}},
                              {{1, 0.5, {}, {}}},
                              {{1e-3, 0.5, bounds::BudgetMethod::settling, {}, {}}}});
  const Compared side{"a.json", "", certificate};
  for (const Report& report : {make_report(certificate), comparison_report(side, side, compared)}) {
    EXPECT_GE(report.files.size(), 10U);
    for (const ReportFile& file : report.files) EXPECT_TRUE(is_report_file(file.name)) << file.name;
  }
  for (const char* other : {"certificate.json", "notes.md", "success.png", "success_a.pdf", "my_success.pdf",
                            "iterations.md", "tables", "tables/notes.md", "tables/success.pdf",
                            "tables/old/success.md", "old/report.html", "success_1"})
    EXPECT_FALSE(is_report_file(other)) << other;
}

TEST(WriteFiles, ReplacesAnEarlierReportAndNothingElse) {
  namespace fs = std::filesystem;
  const test_support::TemporaryFolder folder;
  const auto write = [&](const Report& report) {
    io::ResultFolder result(folder.path(), is_file_of_certificate);
    write_files(report, result, {});
  };
  write({{{"report.html", "old"}, {"curves.csv", "old"}, {"tables/success.tex", "old"}}, {}});
  folder.write("results.csv", "mine");
  folder.write("tables/mine.tex", "mine");
  write({{{"report.html", "new"}, {"success.svg", "new"}}, {}});
  for (const char* name : {"curves.csv", "tables/success.tex"})
    EXPECT_FALSE(fs::exists(folder / name)) << name;
  for (const char* name : {"results.csv", "tables/mine.tex", "success.svg", "manifest.json"})
    EXPECT_TRUE(fs::exists(folder / name)) << name;
  EXPECT_EQ(io::read_file(folder / "report.html", 100), "new");
  folder.write("quantiles.pdf", "mine");
  EXPECT_INPUT_ERROR(write({}), "quantiles.pdf: is not listed in manifest.json");
}

TEST(ReportHtml, NamesTheDigestOfItsCertificate) {
  const Certificate certificate = synthetic_certificate();
  const std::string page = report_html(certificate, {});
  EXPECT_EQ(certificate_of_page(page), io::sha256_hex(certify::to_json(certificate)));
  EXPECT_EQ(certificate_of_page("<html>"), "");
  EXPECT_EQ(certificate_of_page(page.substr(0, page.find("certificate-sha256") + 40)), "");
}

TEST(MakeReport, SaysInEveryFileThatClaimsHoldIfRowsWereIndependent) {
  for (const bool allowed : {true, false}) {
    Certificate certificate = synthetic_certificate();
    certificate.variants[1].independence.emplace().allowed = allowed;
    const Report report = make_report(certificate, {.gnuplot = "/no/such/gnuplot"});
    EXPECT_GE(report.files.size(), 14U);
    for (const ReportFile& file : report.files)
      EXPECT_EQ(contains(file.content, "f the rows were independent"), allowed) << file.name;
    for (const Figure& figure : {success_figure(certificate), quantile_figure(certificate)}) {
      for (const ImageFormat format : {ImageFormat::svg, ImageFormat::pdf})
        EXPECT_EQ(contains(gnuplot_script(figure, format), "'certified, if the rows were independent'"),
                  allowed);
      EXPECT_EQ(contains(page_figure(figure, {.gnuplot = "/no/such/gnuplot"}).caption,
                         "If the rows were independent, "),
                allowed);
    }
  }
}

TEST(MakeReport, SaysInTablesForPapersWhatIsNotCovered) {
  const Report report =
      make_report(synthetic_certificate({.paper_budgets = true}), {.gnuplot = "/no/such/gnuplot"});
  for (const char* name : {"tables/iterations.md", "tables/iterations.tex"})
    EXPECT_TRUE(contains(file_of(report, name), "(method paper) are not covered by the confidence")) << name;
  EXPECT_FALSE(contains(file_of(report, "tables/success_1.md"), "not covered"));
}

TEST(MakeReport, SaysEverywhereUpToWhichIterationAClaimLasts) {
  const Report report = make_report(synthetic_certificate(), {.gnuplot = "/no/such/gnuplot"});
  std::size_t seen = 0;
  for (const ReportFile& file : report.files) {
    if (file.name != "report.html" && !file.name.starts_with("tables/iterations")) continue;
    EXPECT_TRUE(contains(file.content, "stays below it (up to iteration 100)")) << file.name;
    EXPECT_FALSE(contains(file.content, "stay there")) << file.name;
    ++seen;
  }
  EXPECT_EQ(seen, 3U);
}

TEST(MakeReport, NeverSaysStayOfASingleColumn) {
  Certificate certificate = synthetic_certificate({.variants = 1, .steps = 1});
  ASSERT_EQ(certificate.variants[0].columns, 1);
  const Report report = make_report(certificate, {.gnuplot = "/no/such/gnuplot"});
  for (const ReportFile& file : report.files) {
    const std::string text = without_scripts(file.content);
    EXPECT_FALSE(contains(text, " stays ") || contains(text, " stay ")) << file.name;
  }
}

TEST(MakeReport, RoundsWhatItChargesUp) {
  Certificate certificate = synthetic_certificate({.variants = 1});
  certificate.shares = {{"success rates", 3, 1.2301e-3}};
  EXPECT_EQ(share_table(certificate).rows[0],
            (std::vector<std::string>{"success rates", "3", "1.24e-3", "3.70e-3"}));
  certificate.variants[0].pac_bayes.emplace();
  certificate.variants[0].pac_bayes->kl = 12.34001;
  certificate.variants[0].pac_bayes->regularizer = 0.059401;
  const std::string html = report_html(certificate, {});
  EXPECT_TRUE(contains(html, ">0.0595<"));
  EXPECT_TRUE(contains(html, ">12.4<"));
}

TEST(BestSuccess, ObservesTheVariantThatHasTheBestBound) {
  Certificate certificate = synthetic_certificate({.variants = 2});
  certificate.success = {{0, 5, 1e-3, bounds::RiskMethod::exact, 100, 10, 0.01, 0.90, 0.80},
                         {1, 5, 1e-3, bounds::RiskMethod::exact, 100, 1, 0.01, 0.99, 0.70},
                         {1, 2, 1e-3, bounds::RiskMethod::exact, 100, 50, 0.01, 0.50, 0.40}};
  const auto points = best_success(certificate, 1e-3);
  ASSERT_EQ(points.size(), 2U);
  EXPECT_EQ(points[0].step, 2);
  EXPECT_EQ(points[1].certified, 0.80);
  EXPECT_EQ(points[1].observed, 0.90);  // not the 0.99 of the other
  ASSERT_EQ(best_success(certificate, 1e-3, 1).size(), 2U);
  EXPECT_EQ(best_success(certificate, 1e-3, 1)[1].certified, 0.70);
  EXPECT_EQ(best_success(certificate, 1e-3, 0).size(), 1U);
}

TEST(MakeReport, SaysThatGnuplotIsMissingAndGoesOn) {
  const Report report = make_report(synthetic_certificate(), {.gnuplot = "/no/such/gnuplot"});
  ASSERT_EQ(report.notices.size(), 1U);
  EXPECT_TRUE(contains(report.notices[0], "/no/such/gnuplot"));
  EXPECT_TRUE(contains(report.notices[0], "apt install gnuplot-nox"));
  EXPECT_EQ(file_of(report, "success.pdf"), "");
  EXPECT_EQ(file_of(report, "success.svg"), "");
  EXPECT_TRUE(contains(file_of(report, "report.html"), "class=\"missing\">No figures"));
}

TEST(MakeReport, TellsWhenGnuplotFails) {
  const Report report = make_report(synthetic_certificate(), {.gnuplot = "false"});
  EXPECT_TRUE(contains(report.notices.at(0), "ended with code 1"));
}

/// Reports to be looked at: SUREFOOT_LOOK=folder report_test --gtest_filter='*ForEyes*'.
TEST_F(Drawn, ReportsForEyes) {
  const char* wanted = std::getenv("SUREFOOT_LOOK");
  const std::filesystem::path folder = wanted != nullptr ? wanted : testing::TempDir() + "surefoot-look";
  const std::vector<std::pair<const char*, test::SyntheticOptions>> examples{
      {"two", {}},
      {"one", {.variants = 1, .steps = 500, .samples = 50000}},
      {"few-samples", {.variants = 1, .samples = 60}},
      {"four",
       {.variants = 4, .decibel = true, .simultaneous = certify::Simultaneity::each, .paper_budgets = true}}};
  for (const auto& [name, options] : examples) {
    const Certificate certificate = synthetic_certificate(options);
    std::filesystem::create_directories(folder / name);
    std::ofstream(folder / name / "table.txt") << terminal_text(certificate);
    for (const ReportFile& file : make_report(certificate).files) {
      std::filesystem::create_directories((folder / name / file.name).parent_path());
      std::ofstream(folder / name / file.name, std::ios::binary) << file.content;
    }
    EXPECT_GT(std::filesystem::file_size(folder / name / "report.html"), 10000U);
  }
}

}  // namespace
}  // namespace surefoot::report
