#include "surefoot/report/picture.hpp"

#include "surefoot/core/error.hpp"

#include "support/input_error.hpp"

#include <gtest/gtest.h>

namespace surefoot::report {
namespace {

PlanePicture small_picture() {
  PlanePicture picture{"small", "A caption", {}};
  PlaneLayer balls{PlaneLayer::Kind::discs, "it's a ball", "#E69F00", {{0, 0}, {1, 2}}, 0.25};
  PlaneLayer path{PlaneLayer::Kind::path, "path", "#009E73", {{0, 0}, {1, 2}}};
  picture.panels.push_back({"panel", {balls, path}});
  return picture;
}

ImageGrid small_grid() {
  return {"grid", "A caption", 2, {{"first", {{0, 1, 0.5, 2}, {0, 0, 0, 0}}}}};
}

TEST(Picture, QuotesTheUsersText) {
  const std::string script = gnuplot_script(small_picture(), ImageFormat::svg);
  EXPECT_NE(script.find(R"("it\047s a ball")"), std::string::npos);
  EXPECT_NE(script.find("(0.25) with circles"), std::string::npos);
}

TEST(Picture, DrawsAGridOfImagesWithInkCutToItsRange) {
  const std::string script = gnuplot_script(small_grid(), ImageFormat::svg);
  // A frame of one pixel around each image of two.
  EXPECT_NE(script.find("10 0 99 10 0 0 10\n10 50 99 10 0 0 10\n"), std::string::npos) << script;
}

TEST(Picture, RefusesToDrawNothing) {
  EXPECT_INPUT_ERROR(gnuplot_script(PlanePicture{}, ImageFormat::svg), "has no panel");
  EXPECT_INPUT_ERROR(gnuplot_script(ImageGrid{}, ImageFormat::pdf), "has no image");
}

TEST(Picture, SaysWhyThereIsNone) {
  const Image image = render(small_grid(), ImageFormat::svg, {"no-such-gnuplot"});
  EXPECT_FALSE(image.content);
  EXPECT_NE(page_figure(image, "grid", "A caption").notice.find("no-such-gnuplot"), std::string::npos);
}

TEST(Picture, StandsInAPage) {
  const Image image = render(small_picture(), ImageFormat::svg);
  if (!image.content) GTEST_SKIP() << image.notice;
  const PageFigure figure = page_figure(image, "small", "A caption");
  ASSERT_EQ(figure.panels.size(), 1U);
  EXPECT_EQ(figure.panels.front().rfind("<svg", 0), 0U);
}

}  // namespace
}  // namespace surefoot::report
