// Any bytes as a training file and as the settings of a verb.
#include "fuzz_support.hpp"
#include "settings.hpp"
#include "train_config.hpp"

#include <cmath>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace surefoot;
  const std::string text = fuzz::text_of(data, size);
  fuzz::message_of([&] {
    const TrainConfig config = parse_train_config("t.toml", text);
    for (const learning::Stage& stage : config.stages) {
      if (stage.batch < 1 || !std::isfinite(stage.mean_rate)) std::abort();
    }
  });
  CLI::App verb("a verb", "run");
  for (const char* option : {"--iterations", "--rho", "--metric", "--second-order", "--save-traces"})
    verb.add_option(option);
  fuzz::message_of([&] {
    const std::vector<std::string> given{"--rho=1"};
    for (const std::string& argument : with_settings_text(verb, "s.toml", text, given)) {
      if (!argument.starts_with("--")) std::abort();
    }
  });
  return 0;
}
