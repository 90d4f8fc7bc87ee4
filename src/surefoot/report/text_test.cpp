#include "surefoot/report/text.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/report/text_table.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

#include <sstream>

namespace surefoot::report {
namespace {

TEST(Printable, LetsNoControlCodeThrough) {
  EXPECT_EQ(printable("a\x1b[31mb"), "a\uFFFD[31mb");
  EXPECT_EQ(printable("two\nlines\tone"), "two lines one");
  EXPECT_EQ(printable("\xff\xc0\x80"), "\uFFFD\uFFFD\uFFFD");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\uFFFD\uFFFD\uFFFD");  // a surrogate
  EXPECT_EQ(printable("\u202Ereversed"), "\uFFFDreversed");
  EXPECT_EQ(printable("naïve ‖z‖₂ 残差"), "naïve ‖z‖₂ 残差");
  EXPECT_EQ(printable(std::string_view("cut \xe2\x82", 6)), "cut \uFFFD\uFFFD");
}

TEST(Wrapped, BreaksAtBlanksButNotBeforePercent) {
  EXPECT_EQ(wrapped("one two three", 8, "- ", "  "), "- one\n  two\n  three\n");
  EXPECT_EQ(wrapped("at least 90 % of", 12), "at least\n90 % of\n");
  EXPECT_EQ(wrapped("an endlesslylongword", 8), "an\nendless…\n");
  EXPECT_EQ(wrapped("", 10), "\n");
}

TEST(Escapes, AreInert) {
  EXPECT_EQ(html_escaped("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
  EXPECT_EQ(csv_quoted("plain"), "plain");
  EXPECT_EQ(csv_quoted("a,\"b\"\nc"), "\"a,\"\"b\"\" c\"");
  EXPECT_EQ(gnuplot_quoted("its\n`x`"), "'its `x`'");
  EXPECT_EQ(gnuplot_quoted("it's\n`x`\\\""), R"("it\047s \140x\140\134\042")");
  EXPECT_EQ(shell_quoted("results.csv"), "results.csv");
  EXPECT_EQ(shell_quoted("a b's;rm"), "'a b'\\''s;rm'");
  EXPECT_EQ(shell_path("-rf/certificate.json"), "./-rf/certificate.json");
  EXPECT_EQ(shell_path("a\x1b[31m b"), "'a\xEF\xBF\xBD[31m b'");
  EXPECT_EQ(markdown_escaped("a|b_c"), "a\\|b\\_c");
}

TEST(Escapes, CellsAreNoFormulas) {
  EXPECT_EQ(csv_quoted("=1+1"), "'=1+1");
  EXPECT_EQ(csv_quoted("  @SUM(A1)"), "'  @SUM(A1)");
  EXPECT_EQ(csv_quoted("-cmd,x"), "\"'-cmd,x\"");
  EXPECT_EQ(csv_quoted("-20"), "-20") << "a number is one";
  EXPECT_EQ(csv_quoted("+1e-3"), "+1e-3");
  EXPECT_EQ(csv_quoted("a=b"), "a=b");
}

TEST(Escapes, LatexNeedsNoPackages) {
  EXPECT_EQ(latex_escaped("a\"b"), "a{''}b");
  EXPECT_EQ(latex_escaped("[2pt] *"), "{[}2pt{]} {*}") << "after a line break they would be arguments";
  EXPECT_EQ(latex_escaped("é ü 残 ð \xff"), "é ü ? ? ?");
  EXPECT_EQ(latex_escaped("a rathe\u2026"), "a rathe...");
}

TextTable example() {
  TextTable table;
  table.columns = {{"step", Align::right, ""},
                   {"observed", Align::right, "cold"},
                   {"certified", Align::right, "cold"},
                   {"observed", Align::right, "warm"},
                   {"certified", Align::right, "warm"}};
  table.add_row({"1", "0.5", "-", "é", "1"});
  table.add_row({"100", "0.5", "0.4", "2", "<b>"});
  return table;
}

TEST(TextTableText, AlignsColumnsUnderGroups) {
  EXPECT_EQ(to_text(example(), "  "),
            "                cold                  warm\n"
            "  step   observed  certified   observed  certified\n"
            "  ----   --------  ---------   --------  ---------\n"
            "     1        0.5          -          é          1\n"
            "   100        0.5        0.4          2        <b>\n");
}

TEST(TextTableText, WidensColumnsForALongGroupName) {
  TextTable table;
  table.columns = {{"k"}, {"a", Align::right, "a very long group"}, {"b", Align::right, "a very long group"}};
  table.add_row({"1", "2", "3"});
  std::istringstream lines(to_text(table));
  std::string top;
  std::getline(lines, top);
  EXPECT_EQ(top, "    a very long group");
}

TEST(TextTableMarkdown, NamesTheGroupInEachColumn) {
  EXPECT_EQ(to_markdown(example()),
            "| step | cold: observed | cold: certified | warm: observed | warm: certified |\n"
            "|---:|---:|---:|---:|---:|\n"
            "| 1 | 0.5 | - | é | 1 |\n"
            "| 100 | 0.5 | 0.4 | 2 | &lt;b> |\n");
}

TEST(TextTableLatex, AlignsGroupsAndWritesPowersOfTen) {
  TextTable table = example();
  table.add_row({"5", "1.5e-3", "1e-3", "-20", "50 % & {x}_1"});
  EXPECT_EQ(to_latex(table),
            "\\begin{tabular}{rrrrr}\n\\hline\n"
            "\\multicolumn{1}{c}{} & \\multicolumn{2}{c}{cold} & \\multicolumn{2}{c}{warm} \\\\ "
            "\\cline{2-3} \\cline{4-5} \n"
            "step & observed & certified & observed & certified \\\\\n\\hline\n"
            "1 & 0.5 & -- & é & 1 \\\\\n"
            "100 & 0.5 & 0.4 & 2 & \\textless{}b\\textgreater{} \\\\\n"
            "5 & $1.5 \\cdot 10^{-3}$ & $10^{-3}$ & $-20$ & 50 \\% \\& \\{x\\}\\_1 \\\\\n"
            "\\hline\n\\end{tabular}\n");
  EXPECT_EQ(latex_escaped("\\input{x}^~#$"),
            "\\textbackslash{}input\\{x\\}\\textasciicircum{}\\textasciitilde{}\\#\\$");
}

TEST(TextTableHtml, EscapesAndMarksCellsThatSayNothing) {
  const std::string html = to_html(example());
  EXPECT_NE(html.find("&lt;b&gt;"), std::string::npos);
  EXPECT_NE(html.find("class=\"none\" title=\"no guarantee\""), std::string::npos);
  EXPECT_NE(html.find("colspan=\"2\" class=\"group\">cold"), std::string::npos);
}

TEST(TextTable, RefusesARowOfTheWrongLength) {
  TextTable table = example();
  EXPECT_INPUT_ERROR(table.add_row({"1"}), "table row has 1 cells");
}

TEST(TextTableSplit, CutsBetweenGroupsAndRepeatsTheKeys) {
  EXPECT_EQ(split_to_width(example(), 100).size(), 1U);
  const auto parts = split_to_width(example(), 30);
  ASSERT_EQ(parts.size(), 2U);
  EXPECT_EQ(parts[1].columns[0].header, "step");
  EXPECT_EQ(parts[1].columns[1].group, "warm");
  EXPECT_EQ(parts[1].rows[1][2], "<b>");
}

}  // namespace
}  // namespace surefoot::report
