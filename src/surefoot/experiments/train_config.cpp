#include "surefoot/experiments/train_config.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/nearest_name.hpp"
#include "surefoot/experiments/toml_text.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <optional>

namespace surefoot::experiments {

using learning::Stage;

namespace {

/// The keys of one table, each with what its value does.
class Keys {
 public:
  using Take = std::function<void(const toml::node&)>;
  Keys(std::string file, std::string table) : file_(std::move(file)), table_(std::move(table)) {}

  template <class Number>
  Keys& number(const char* key, Number& target) {
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
  Keys& wholes(const char* key, std::vector<Index>& target) {
    return add(key, [this, key, &target](const toml::node& node) {
      target.clear();
      require(node.is_array(), "{}: '{}' must be a list of whole numbers", at(node), key);
      for (const toml::node& item : *node.as_array()) {
        require(item.is_integer() && item.as_integer()->get() >= 0,
                "{}: '{}' must be a list of whole numbers", at(node), key);
        target.push_back(item.as_integer()->get());
      }
    });
  }
  Keys& numbers(const char* key, std::vector<double>& target) {
    return add(key, [this, key, &target](const toml::node& node) {
      require(node.is_array(), "{}: '{}' must be a list of numbers", at(node), key);
      for (const toml::node& item : *node.as_array()) {
        require(item.is_number(), "{}: '{}' must be a list of numbers", at(node), key);
        target.push_back(*item.value<double>());
      }
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
  void read_one(const std::string& key, const toml::node& node) const { takes_.at(key)(node); }
  void read(const toml::table& table) const {
    for (const auto& [key, node] : table) {
      const auto found = takes_.find(std::string(key.str()));
      require(found != takes_.end(), "{}: '{}' is not a key of {}{}", at(node),
              io::excerpt(std::string(key.str()), 40), table_, others(std::string(key.str())));
      found->second(node);
    }
  }
  [[nodiscard]] std::string at(const toml::node& node) const {
    return fmt::format("{}:{}", file_, static_cast<unsigned>(node.source().begin.line));
  }

 private:
  /// What could have been meant, and all there is.
  [[nodiscard]] std::string others(const std::string& key) const {
    std::vector<std::string> names;
    for (const auto& [name, take] : takes_) names.push_back(name);
    const std::string nearest = nearest_name(key, names);
    return fmt::format("{}; its keys are {}",
                       nearest.empty() ? "" : fmt::format("; did you mean {}?", nearest),
                       fmt::join(names, ", "));
  }

  std::string file_;
  std::string table_;
  std::map<std::string, Take> takes_;
};

const toml::table& table_of(const toml::node& node, const std::string& where) {
  require(node.is_table(), "{}: must be a table", where);
  return *node.as_table();
}

/// Takes a key of any type into a value of that type.
class Taker {
 public:
  explicit Taker(Keys& keys) : keys_(keys) {}

  void operator()(const char* key, Index& value) const { keys_.whole(key, value); }
  void operator()(const char* key, std::uint64_t& value) const { keys_.whole(key, value); }
  void operator()(const char* key, double& value) const { keys_.number(key, value); }
  void operator()(const char* key, std::optional<double>& value) const { keys_.number(key, value); }
  void operator()(const char* key, bool& value) const { keys_.truth(key, value); }
  void operator()(const char* key, std::vector<Index>& value) const { keys_.wholes(key, value); }
  void operator()(const char* key, std::string& value) const {
    keys_.text(key, [&value](const std::string& text) { value = text; });
  }
  void operator()(const char* key, algorithms::Precision& value) const {
    named(key, value, algorithms::parse_precision);
  }
  void operator()(const char* key, learning::Schedule& value) const {
    named(key, value, learning::parse_schedule);
  }
  void operator()(const char* key, learning::PriorRule& value) const {
    named(key, value, learning::parse_prior_rule);
  }
  void operator()(const char* key, learning::SurrogateKind& value) const {
    named(key, value, learning::parse_surrogate);
  }
  void operator()(const char* key, learning::PenaltyKind& value) const {
    named(key, value, learning::parse_penalty);
  }
  void operator()(const char* key, learning::LossKind& value) const {
    named(key, value, learning::parse_loss);
  }

 private:
  template <class E>
  void named(const char* key, E& value, E (*parse)(std::string_view)) const {
    keys_.text(key, [&value, parse](const std::string& text) { value = parse(text); });
  }
  Keys& keys_;
};

Stage read_stage(const std::string& file, const toml::table& table, learning::LossKind loss) {
  Stage stage;
  Keys keys(file, "[[stage]]");
  learning::visit_fields(stage, Taker(keys));
  keys.read(table);
  if (loss == learning::LossKind::nmse) {  // in dB there
    if (table.contains("tolerance")) stage.surrogate.tolerance = std::pow(10, stage.surrogate.tolerance / 10);
    if (table.contains("width")) stage.surrogate.width *= std::numbers::ln10 / 10;
  }
  try {
    stage.validate();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", keys.at(table), error.what()));
  }
  return stage;
}

/// The model decides which other keys there are, and their defaults.
void begin_with_model(const std::string& file, const toml::table& root, TrainConfig& config) {
  std::string model = config.setting.model;
  Keys keys(file, "a training file");
  keys.text("model", [&](const std::string& text) { model = learned_optimizer(text).defaults.model; });
  if (const toml::node* node = root.get("model")) keys.read_one("model", *node);
  const LearnedOptimizer& optimizer = learned_optimizer(model);
  config.setting = optimizer.defaults;
  config.loss = optimizer.loss;
}

TrainConfig config_of(const std::filesystem::path& path, const toml::table& root) {
  const std::string file = path.string();
  TrainConfig config;
  begin_with_model(file, root, config);
  const auto beside = [&](const std::string& text) { return path.parent_path() / text; };
  const std::vector<Field> fields = config.fields();
  const auto add_fields = [&](Keys& keys, const std::string& table) {
    for (const Field& field : fields) {
      if (field.key.empty() || field.table != table) continue;
      const Taker take(keys);
      std::visit([&](auto* value) { take(field.key.c_str(), *value); }, field.value);
    }
  };
  const auto table = [&](const char* name, const std::function<void(Keys&)>& define) {
    return [&file, &add_fields, name, define](const toml::node& node) {
      Keys keys(file, fmt::format("[{}]", name));
      add_fields(keys, name);
      define(keys);
      keys.read(table_of(node, keys.at(node)));
    };
  };
  Keys keys(file, "a training file");
  add_fields(keys, "");
  keys.add("family", table("family",
                           [&](Keys& own) {
                             own.text("name", [&](const std::string& text) {
                               const std::string name = config.setting.family().name;
                               require(text == name, "family: '{}' is not {}, the family of {}", text, name,
                                       config.setting.model);
                             });
                           }))
      .add("network", table("network", [](Keys&) {}))
      .add("loss", table("loss",
                         [&](Keys& own) {
                           const Taker take(own);
                           take("kind", config.loss);
                           own.numbers("step_weights", config.step_weights);
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
  if (config.stages.empty()) config.stages = learned_optimizer(config.setting.model).stages;
  require(!config.stages.empty(), "{}: has no [[stage]]", file);
  for (const Field& field : fields) {
    if (!field.is_place) continue;
    std::string& place = *std::get<std::string*>(field.value);
    if (place.empty()) continue;
    config.written[field.name()] = field.metadata_text();
    place = beside(place).string();
  }
  try {
    config.validate();
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", file, error.what()));
  }
  return config;
}

}  // namespace

std::vector<Field> TrainConfig::fields() {
  std::vector<Field> all = setting.fields();
  all.push_back({"", "seed", "training.seed", &seed});
  all.push_back({"network", "precision", "training.precision", &precision});
  all.push_back({"family", "flip_signs", "", &flip_signs});
  return all;
}

void TrainConfig::validate() const {
  setting.validate();
  require(!flip_signs || !setting.has_rows() || setting.folder() != nullptr,
          "flip_signs: is for codes that are drawn; whether those of {} have both signs alike is not known",
          "your own");
  const Index steps = setting.unrolled();
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
