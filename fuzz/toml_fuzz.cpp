// Any bytes as a training file and as the settings of a family, through to the structs that a run is made of:
// what is accepted satisfies its own checks, and sizes add up.
// Preset asan: training files name families and models, which are the whole library.
#include "surefoot/experiments/train_config.hpp"
#include "surefoot/problems/cone_program.hpp"

#include "fuzz_support.hpp"
#include "settings.hpp"
#include "whole_number.hpp"

#include <algorithm>
#include <cmath>

namespace {

using namespace surefoot;
using namespace surefoot::experiments;

void read_training(const std::string& text) {
  const TrainConfig config = parse_train_config("t.toml", text);
  config.validate();
  const LearnedSetting& setting = config.setting;
  if (setting.first + setting.samples < setting.samples || setting.steps < 1) std::abort();
  for (const learning::Stage& stage : config.stages) {
    if (stage.batch < 1 || !std::isfinite(stage.mean_rate)) std::abort();
  }
}

// The options that sizes come from, as the verb `run cone` has them.
void read_settings(const std::string& text) {
  problems::Cones cones;
  Index iterations = 0;
  double alpha = 0;
  std::string title;
  CLI::App verb("a verb", "run");
  verb.add_option("--zero", cones.zero)->check(whole_number);
  verb.add_option("--nonnegative", cones.nonnegative)->check(whole_number);
  verb.add_option("--second-order", cones.second_order)->delimiter(',');
  verb.add_option("--semidefinite", cones.semidefinite)->delimiter(',');
  verb.add_option("--iterations", iterations)->check(whole_number);
  verb.add_option("--alpha", alpha);
  verb.add_option("--title", title);
  std::vector<std::string> arguments = with_settings_text(verb, "s.toml", text, {"--alpha=1"});
  for (const std::string& argument : arguments) {
    if (!argument.starts_with("--")) std::abort();
  }
  std::reverse(arguments.begin(), arguments.end());
  try {
    verb.parse(std::move(arguments));
  } catch (const CLI::ParseError&) {
    return;
  }
  cones.validate();
  const Index rows = cones.rows();
  if (rows < cones.zero || rows < cones.nonnegative) std::abort();
  for (const Index dimension : cones.second_order) {
    if (rows < dimension) std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text = fuzz::text_of(data, size);
  fuzz::message_of([&] { read_training(text); });
  fuzz::message_of([&] { read_settings(text); });
  return 0;
}
