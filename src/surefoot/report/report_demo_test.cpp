#include "surefoot/report/report.hpp"
#include "surefoot/report/table.hpp"

#include "support/synthetic_certificate.hpp"

#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
namespace surefoot::report {
void demo(const std::string& name, const test::SyntheticOptions& o) {
  const auto c = test::synthetic_certificate(o);
  const std::string dir = "/tmp/rep/" + name;
  std::filesystem::create_directories(dir);
  std::ofstream(dir + "/table.txt") << terminal_text(c);
  const Report r = make_report(c);
  for (const auto& n : r.notices) std::puts(n.c_str());
  for (const auto& f : r.files) std::ofstream(dir + "/" + f.name) << f.content;
}
TEST(Demo, Look) {
  demo("two", {});
  demo("one", {.variants = 1, .steps = 500, .samples = 50000});
  demo("long", {.variants = 1, .steps = 20000, .samples = 300});
  demo("four",
       {.variants = 4, .decibel = true, .simultaneous = certify::Simultaneity::each, .paper_budgets = true});
}
}  // namespace surefoot::report
