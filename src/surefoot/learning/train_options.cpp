#include "surefoot/core/checked.hpp"
#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/learning/train.hpp"

#include <array>
#include <cmath>

namespace surefoot::learning {

namespace {

constexpr EnumNames<PriorRule, 3> prior_rule_names{{{PriorRule::gradient, "gradient"},
                                                    {PriorRule::closed_form, "closed-form"},
                                                    {PriorRule::fixed, "fixed"}}};

}  // namespace

std::string_view to_string(PriorRule rule) {
  return name_in(prior_rule_names, rule);
}

PriorRule parse_prior_rule(std::string_view name) {
  return value_in(prior_rule_names, "prior", name);
}

namespace {

constexpr EnumNames<Schedule, 2> schedule_names{
    {{Schedule::constant, "constant"}, {Schedule::cosine, "cosine"}}};

}  // namespace

std::string_view to_string(Schedule schedule) {
  return name_in(schedule_names, schedule);
}

Schedule parse_schedule(std::string_view name) {
  return value_in(schedule_names, "schedule", name);
}

void Stage::validate() const {
  require(epochs >= 0, "stage '{}': epochs {} is negative", name, epochs);
  require(batch >= 1, "stage '{}': batch {} is below 1", name, batch);
  require(samples >= 0, "stage '{}': samples {} is negative", name, samples);
  for (const double rate : {mean_rate, variance_rate, prior_rate, final_rate})
    require(std::isfinite(rate) && rate >= 0, "stage '{}': rate {} is negative or not finite", name, rate);
  require(!log_variance || std::isfinite(*log_variance), "stage '{}': log_variance is not finite", name);
  require(!noise || is_risk(surrogate.kind), "stage '{}': surrogate {} is no risk; it needs noise = false",
          name, to_string(surrogate.kind));
  surrogate.validate();
  penalty.validate();
}

void TrainOptions::validate(const algorithms::WeightLayout& layout, Index instances) const {
  require(steps >= 0 && steps <= most_steps, "steps: {} is outside 0 .. {}", steps, most_steps);
  require(samples >= 0 && samples <= instances, "samples: {} is outside 0 .. {}", samples, instances);
  require(delta > 0 && delta < 1, "delta: {} is outside (0, 1)", delta);
  require(slots >= 1, "slots: {} is below 1", slots);
  require(checkpoint_seconds >= 0, "checkpoint_seconds: {} is negative or no number", checkpoint_seconds);
  for (const Stage& stage : stages) stage.validate();
  const auto known = [&](const std::string& name) {
    return std::any_of(layout.blocks.begin(), layout.blocks.end(),
                       [&](const algorithms::WeightBlock& block) { return block.name == name; });
  };
  for (const std::string& name : tied) require(known(name), "tied: there is no block '{}'", name);
  for (const auto& [name, factor] : rate_factor) {
    require(known(name), "rate_factor: there is no block '{}'", name);
    require(std::isfinite(factor) && factor >= 0, "rate_factor: {} of '{}' is negative", factor, name);
  }
}

Posterior initial_posterior(const algorithms::LearnedOperator& op, double log_variance,
                            double prior_variance) {
  require(prior_variance > 0, "prior_variance: {} must be > 0", prior_variance);
  Posterior posterior;
  posterior.layout = op.weights();
  const algorithms::InitialWeights begin = op.initial();
  const Index size = posterior.layout.size();
  bounds::GaussianPair& pair = posterior.gaussians;
  pair.mean = Eigen::Map<const Eigen::VectorXd>(begin.mean.data(), size);
  pair.prior_mean = Eigen::Map<const Eigen::VectorXd>(begin.prior_mean.data(), size);
  pair.log_variance = Eigen::VectorXd::Constant(size, log_variance);
  for (const auto& block : posterior.layout.blocks) pair.group_size.push_back(block.size());
  pair.prior_log_variance =
      Eigen::VectorXd::Constant(static_cast<Index>(pair.group_size.size()), std::log(prior_variance));
  posterior.metadata["model"] = op.name();
  posterior.validate();
  return posterior;
}

}  // namespace surefoot::learning
