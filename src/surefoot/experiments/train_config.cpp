#include "surefoot/experiments/train_config.hpp"

#include "surefoot/algorithms/code_networks.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/experiments/toml_text.hpp"
#include "surefoot/io/atomic_file.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>

namespace surefoot::experiments {

using learning::Stage;

namespace {

/// The keys of one table, each with what its value does.
class Keys {
 public:
  using Take = std::function<void(const toml::node&)>;
  Keys(std::string file, std::string table) : file_(std::move(file)), table_(std::move(table)) {}

  Keys& number(const char* key, double& target) {
    return add(key, [this, key, &target](const toml::node& node) {
      const auto value = node.value<double>();
      require(node.is_number() && value && std::isfinite(*value), "{}: '{}' must be a number", at(node), key);
      target = *value;
    });
  }
  template <class Integer>
  Keys& whole(const char* key, Integer& target) {
    return add(key, [this, key, &target](const toml::node& node) {
      require(node.is_integer() && node.as_integer()->get() >= 0, "{}: '{}' must be a whole number >= 0",
              at(node), key);
      target = static_cast<Integer>(node.as_integer()->get());
    });
  }
  Keys& truth(const char* key, bool& target) {
    return add(key, [this, key, &target](const toml::node& node) {
      require(node.is_boolean(), "{}: '{}' must be true or false", at(node), key);
      target = node.as_boolean()->get();
    });
  }
  Keys& text(const char* key, const std::function<void(const std::string&)>& take) {
    return add(key, [this, key, take](const toml::node& node) {
      require(node.is_string(), "{}: '{}' must be a text", at(node), key);
      try {
        take(node.as_string()->get());
      } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", at(node), error.what()));
      }
    });
  }
  Keys& numbers_by_name(const char* key, std::map<std::string, double>& target) {
    return add(key, [this, key, &target](const toml::node& node) {
      require(node.is_table(), "{}: '{}' must be a table of numbers", at(node), key);
      for (const auto& [name, value] : *node.as_table()) {
        const auto number = value.value<double>();
        require(value.is_number() && number && std::isfinite(*number), "{}: '{}' must be a number", at(value),
                name.str());
        target[std::string(name.str())] = *number;
      }
    });
  }
  Keys& names(const char* key, std::set<std::string>& target) {
    return add(key, [this, key, &target](const toml::node& node) {
      require(node.is_array(), "{}: '{}' must be a list of blocks", at(node), key);
      for (const toml::node& item : *node.as_array()) {
        require(item.is_string(), "{}: '{}' must be a list of blocks", at(node), key);
        target.insert(item.as_string()->get());
      }
    });
  }
  Keys& add(const char* key, Take take) {
    takes_[key] = std::move(take);
    return *this;
  }
  void read(const toml::table& table) const {
    for (const auto& [key, node] : table) {
      const auto found = takes_.find(std::string(key.str()));
      require(found != takes_.end(), "{}: '{}' is not a key of {}", at(node), key.str(), table_);
      found->second(node);
    }
  }
  [[nodiscard]] std::string at(const toml::node& node) const {
    return fmt::format("{}:{}", file_, static_cast<unsigned>(node.source().begin.line));
  }

 private:
  std::string file_;
  std::string table_;
  std::map<std::string, Take> takes_;
};

const toml::table& table_of(const toml::node& node, const std::string& where) {
  require(node.is_table(), "{}: must be a table", where);
  return *node.as_table();
}

Stage read_stage(const std::string& file, const toml::table& table, learning::LossKind loss) {
  Stage stage;
  double log_variance = 0;
  double tolerance = std::numeric_limits<double>::quiet_NaN();
  double width = std::numeric_limits<double>::quiet_NaN();
  Keys keys(file, "[[stage]]");
  keys.text("name", [&](const std::string& text) { stage.name = text; })
      .whole("epochs", stage.epochs)
      .whole("batch", stage.batch)
      .whole("samples", stage.samples)
      .truth("noise", stage.noise)
      .number("mean_rate", stage.mean_rate)
      .number("variance_rate", stage.variance_rate)
      .number("prior_rate", stage.prior_rate)
      .text("schedule", [&](const std::string& text) { stage.schedule = learning::parse_schedule(text); })
      .number("final_rate", stage.final_rate)
      .number("log_variance", log_variance)
      .text("prior", [&](const std::string& text) { stage.prior = learning::parse_prior_rule(text); })
      .text("surrogate",
            [&](const std::string& text) { stage.surrogate.kind = learning::parse_surrogate(text); })
      .number("scale", stage.surrogate.scale)
      .number("tolerance", tolerance)
      .number("width", width)
      .text("penalty", [&](const std::string& text) { stage.penalty.kind = learning::parse_penalty(text); })
      .number("penalty_weight", stage.penalty.weight)
      .number("target", stage.penalty.target);
  keys.read(table);
  if (table.contains("log_variance")) stage.log_variance = log_variance;
  const bool decibels = loss == learning::LossKind::nmse;
  if (!std::isnan(tolerance)) stage.surrogate.tolerance = decibels ? std::pow(10, tolerance / 10) : tolerance;
  if (!std::isnan(width)) stage.surrogate.width = decibels ? width * std::numbers::ln10 / 10 : width;
  try {
    stage.validate();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", keys.at(table), error.what()));
  }
  return stage;
}

TrainConfig config_of(const std::filesystem::path& path, const toml::table& root) {
  const std::string file = path.string();
  TrainConfig config;
  const auto beside = [&](const std::string& text) { return path.parent_path() / text; };
  const auto table = [&](const char* name, const std::function<void(Keys&)>& define) {
    return [=, &file](const toml::node& node) {
      Keys keys(file, fmt::format("[{}]", name));
      define(keys);
      keys.read(table_of(node, keys.at(node)));
    };
  };
  Keys keys(file, "a training file");
  keys.text("model",
            [&](const std::string& text) {
              const auto& names = algorithms::code_network_names;
              require(std::find(names.begin(), names.end(), text) != names.end(),
                      "model: '{}' is not one of {}", text, fmt::join(names, ", "));
              config.model = text;
            })
      .whole("seed", config.seed)
      .add("family", table("family",
                           [&](Keys& own) {
                             own.text("name",
                                      [](const std::string& text) {
                                        require(text == "sparse-coding", "family: '{}' is not sparse-coding",
                                                text);
                                      })
                                 .whole("seed", config.family_seed)
                                 .whole("measurements", config.family.measurements)
                                 .whole("variables", config.family.variables)
                                 .number("density", config.family.density)
                                 .number("noise", config.family.noise)
                                 .whole("samples", config.samples)
                                 .whole("first", config.first)
                                 .truth("flip_signs", config.flip_signs);
                           }))
      .add("network",
           table("network",
                 [&](Keys& own) {
                   own.whole("steps", config.steps).text("precision", [&](const std::string& text) {
                     require(text == "single" || text == "double", "precision: '{}' is not single or double",
                             text);
                     config.precision =
                         text == "single" ? algorithms::Precision::single : algorithms::Precision::twice;
                   });
                 }))
      .add("loss", table("loss",
                         [&](Keys& own) {
                           own.text(
                                  "kind",
                                  [&](const std::string& text) { config.loss = learning::parse_loss(text); })
                               .add("step_weights", [&](const toml::node& node) {
                                 require(node.is_array(), "{}: 'step_weights' must be a list of numbers",
                                         keys.at(node));
                                 for (const toml::node& item : *node.as_array()) {
                                   require(item.is_number(), "{}: 'step_weights' must be a list of numbers",
                                           keys.at(node));
                                   config.step_weights.push_back(*item.value<double>());
                                 }
                               });
                         }))
      .add("posterior",
           table("posterior",
                 [&](Keys& own) {
                   own.number("log_variance", config.log_variance)
                       .number("prior_variance", config.prior_variance)
                       .number("delta", config.delta)
                       .whole("slots", config.slots)
                       .numbers_by_name("initial", config.initial)
                       .numbers_by_name("rate_factor", config.rate_factor)
                       .truth("analytic_start", config.analytic_start)
                       .text("start", [&](const std::string& text) { config.start = beside(text); })
                       .text("prior", [&](const std::string& text) { config.prior = beside(text); })
                       .names("tied", config.tied)
                       .names("at_prior", config.at_prior);
                 }))
      .add("stage", [&](const toml::node& node) {
        require(node.is_array_of_tables(), "{}: stages are written [[stage]]", keys.at(node));
      });
  keys.read(root);
  if (const auto* stages = root["stage"].as_array()) {
    for (const toml::node& node : *stages)
      config.stages.push_back(read_stage(file, *node.as_table(), config.loss));
  }
  require(!config.stages.empty(), "{}: has no [[stage]]", file);
  try {
    config.validate();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", file, error.what()));
  }
  return config;
}

}  // namespace

void TrainConfig::validate() const {
  family.validate();
  constexpr Index fewest_samples = 8;
  require(samples >= fewest_samples, "samples: {} is below {}", samples, fewest_samples);
  (void)checked_sum("samples", first, samples);
  require(steps >= 1 && steps <= most_steps, "steps: {} is outside 1 .. {}", steps, most_steps);
  require(step_weights.empty() || static_cast<Index>(step_weights.size()) == steps,
          "step_weights: {} of them for {} steps", step_weights.size(), steps);
  require(prior_variance > 0, "prior_variance: {} must be > 0", prior_variance);
  require(delta > 0 && delta < 1, "delta: {} is outside (0, 1)", delta);
  constexpr Index most_slots = 4096;
  require(slots >= 1 && slots <= most_slots, "slots: {} is outside 1 .. {}", slots, most_slots);
  Index epochs = 0;
  for (const Stage& stage : stages) {
    stage.validate();
    epochs = checked_sum("epochs", epochs, stage.epochs);
  }
  constexpr Index most_epochs = 1'000'000'000;
  require(epochs <= most_epochs, "epochs: {} in all are more than {}", epochs, most_epochs);
}

TrainConfig read_train_config(const std::filesystem::path& path) {
  return parse_train_config(path, io::read_file(path, longest_toml));
}

TrainConfig parse_train_config(const std::filesystem::path& path, std::string_view content) {
  return read_toml(path.string(), content, [&](const toml::table& root) { return config_of(path, root); });
}

}  // namespace surefoot::experiments
