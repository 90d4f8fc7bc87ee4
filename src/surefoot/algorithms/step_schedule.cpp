#include "surefoot/algorithms/step_schedule.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace surefoot::algorithms {

std::shared_ptr<const void> ScheduledStep::prepared(std::span<const double> /*settings*/) const {
  return nullptr;
}

void ScheduledStep::make_room(Workspace& /*workspace*/) const {}

struct StepSchedule::Room final : Workspace {
  std::unique_ptr<Workspace> solver;
  LaneWeights weight;
  Buffer values;      // a row for each setting, then the same of the next step
  Buffer d_settings;  // the same
  Buffer cotangents;  // one per lane: the sum of their sizes
  bool at_means = true;
};

StepSchedule::StepSchedule(std::shared_ptr<const Operator> solver, Index steps)
    : solver_(std::move(solver)), steps_(steps) {
  require(solver_ != nullptr, "solver: there is none");
  require(steps >= 1 && steps <= most_steps, "steps: {} is outside 1 .. {}", steps, most_steps);
  scheduled_ = dynamic_cast<const ScheduledStep*>(solver_.get());
  require(scheduled_ != nullptr && solver_->differentiable() != nullptr,
          "solver: the steps of {} have no settings that can be learned", solver_->name());
  of_step_ = scheduled_->step_settings();
  name_ = fmt::format("schedule-{}", solver_->name());
  for (const StepSetting& setting : of_step_) layout_.blocks.push_back({std::string(setting.name), steps});
  const std::vector<double> zero(static_cast<std::size_t>(layout_.size()), 0.0);
  assign(zero, zero);
}

double StepSchedule::value_of(const StepSetting& setting, double weight) {
  if (setting.largest == infinity) return setting.usual * std::exp(weight);
  return setting.largest / (1 + (setting.largest / setting.usual - 1) * std::exp(-weight));
}

double StepSchedule::weight_of(const StepSetting& setting, double value) {
  require(value > 0 && value < setting.largest, "{}: {} is outside (0, {})", setting.name, value,
          setting.largest);
  const auto odds = [&](double at) { return setting.largest == infinity ? at : at / (setting.largest - at); };
  return std::log(odds(value) / odds(setting.usual));
}

problems::Table StepSchedule::settings_at(std::span<const double> weights) const {
  require(static_cast<Index>(weights.size()) == layout_.size(), "weights: {} of them, there are {}",
          weights.size(), layout_.size());
  problems::Table table(steps_, setting_count());
  for (Index s = 0; s < setting_count(); ++s) {
    for (Index k = 0; k < steps_; ++k)
      table(k, s) =
          value_of(of_step_[static_cast<std::size_t>(s)], weights[static_cast<std::size_t>(s * steps_ + k)]);
  }
  return table;
}

Settings StepSchedule::settings() const {
  Settings usual;
  for (const StepSetting& setting : of_step_) usual.push_back({std::string(setting.name), setting.usual});
  return {{"solver", name_},
          {"settings", Settings{{"steps", steps_}, {"after", usual}}},
          {"scheduled", solver_->settings()}};
}

std::unique_ptr<Workspace> StepSchedule::make_workspace() const {
  auto room = std::make_unique<Room>();
  room->solver = solver_->make_workspace();
  scheduled_->make_room(*room->solver);
  room->weight = LaneWeights(layout_.size(), width());
  room->values = make_buffer(2 * setting_count(), width());
  room->d_settings = make_buffer(2 * setting_count(), width());
  room->cotangents = make_buffer(1, width());
  room->weight.use_means(mean_.data());
  return room;
}

void StepSchedule::load(Index first, Index count, Workspace& workspace) const {
  solver_->load(first, count, *static_cast<Room&>(workspace).solver);
}

void StepSchedule::start(Batch z, Workspace& workspace) const {
  solver_->start(z, *static_cast<Room&>(workspace).solver);
}

void StepSchedule::write_values(Index k, const Room& room, double* rows) const {
  const Index W = width();
  for (Index s = 0; s < setting_count(); ++s) {
    const StepSetting& setting = of_step_[static_cast<std::size_t>(s)];
    double* row = rows + s * W;
    if (k >= steps_) {
      std::fill_n(row, W, setting.usual);
    } else if (room.at_means) {
      std::fill_n(row, W, value_of(setting, mean_[static_cast<std::size_t>(s * steps_ + k)]));
    } else {
      const double* weight = room.weight[s * steps_ + k];
      for (Index lane = 0; lane < W; ++lane) row[lane] = value_of(setting, weight[lane]);
    }
  }
}

StepValues StepSchedule::values_of(Index k, Room& room) const {
  double* next = room.values.data() + setting_count() * width();
  write_values(k, room, room.values.data());
  write_values(k + 1, room, next);
  const bool same = room.at_means || k >= steps_;
  return {room.values.data(), same ? prepared_[static_cast<std::size_t>(std::min(k, steps_))].get() : nullptr,
          next};
}

void StepSchedule::step(Index k, Batch z, Workspace& workspace, double* residual) const {
  auto& room = static_cast<Room&>(workspace);
  scheduled_->step_with(k, values_of(k, room), z, *room.solver, residual);
}

void StepSchedule::read(ConstBatch z, Workspace& workspace, Index first, Index count, double* out) const {
  solver_->read(z, *static_cast<Room&>(workspace).solver, first, count, out);
}

void StepSchedule::write(ConstBatch iterate, Workspace& workspace, Batch z) const {
  solver_->write(iterate, *static_cast<Room&>(workspace).solver, z);
}

void StepSchedule::prepare_measures(Workspace& workspace) const {
  solver_->prepare_measures(*static_cast<Room&>(workspace).solver);
}

void StepSchedule::measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace,
                           double* value) const {
  solver_->measure(quantity, k, z, *static_cast<Room&>(workspace).solver, value);
}

void StepSchedule::assign(std::span<const double> mean, std::span<const double> variance) {
  const auto size = static_cast<std::size_t>(layout_.size());
  require(mean.size() == size && variance.size() == size, "weights: {} means and {} variances for {}",
          mean.size(), variance.size(), size);
  mean_.assign(mean.begin(), mean.end());
  deviation_.assign(variance.begin(), variance.end());
  for (double& value : deviation_) value = std::sqrt(value);
  std::map<std::vector<double>, std::size_t> places;  // of distinct settings
  std::vector<std::vector<double>> distinct;
  std::vector<std::size_t> place_of_step;
  for (Index k = 0; k <= steps_; ++k) {
    std::vector<double> values;
    for (Index s = 0; s < setting_count(); ++s) {
      const StepSetting& setting = of_step_[static_cast<std::size_t>(s)];
      values.push_back(k == steps_ ? setting.usual
                                   : value_of(setting, mean_[static_cast<std::size_t>(s * steps_ + k)]));
    }
    const auto [place, is_new] = places.emplace(values, distinct.size());
    if (is_new) distinct.push_back(values);
    place_of_step.push_back(place->second);
  }
  std::vector<std::shared_ptr<const void>> made(distinct.size());
  parallel_blocks(static_cast<Index>(distinct.size()), [&](Index i) {
    made[static_cast<std::size_t>(i)] = scheduled_->prepared(distinct[static_cast<std::size_t>(i)]);
  });
  prepared_.clear();
  for (const std::size_t place : place_of_step) prepared_.push_back(made[place]);
}

void StepSchedule::draw(const WeightDraw& draw, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  room.weight.draw(draw, mean_.data(), deviation_.data());
  room.at_means = false;
}

void StepSchedule::use_means(Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  room.weight.use_means(mean_.data());
  room.at_means = true;
}

// d value / d theta = value (1 - value / largest). A run that is left out has no cotangent, whatever its
// state has become.
void StepSchedule::step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  const Index W = width();
  const StepValues values = values_of(k, room);
  std::fill(room.cotangents.begin(), room.cotangents.end(), 0.0);
  for (Index i = 0; i < cotangent.rows; ++i) {
    for (Index lane = 0; lane < W; ++lane) room.cotangents[lane] += std::abs(cotangent.row(i)[lane]);
  }
  std::fill(room.d_settings.begin(), room.d_settings.end(), 0.0);
  scheduled_->step_with_vjp(k, values, z, cotangent, room.d_settings.data(), *room.solver);
  for (Index row = 0; row < 2 * setting_count(); ++row) {
    const Index step = row < setting_count() ? k : k + 1;
    if (step >= steps_) continue;
    const Index s = row % setting_count();
    const double largest = of_step_[static_cast<std::size_t>(s)].largest;
    double* derivative = room.weight.derivative(s * steps_ + step);
    for (Index lane = 0; lane < W; ++lane) {
      if (room.cotangents[lane] == 0) continue;
      const double value = room.values[row * W + lane];
      derivative[lane] += room.d_settings[row * W + lane] * value * (1 - value / largest);
    }
  }
}

void StepSchedule::measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value,
                               Batch cotangent, Workspace& workspace) const {
  solver_->differentiable()->measure_vjp(quantity, k, z, d_value, cotangent,
                                         *static_cast<Room&>(workspace).solver);
}

void StepSchedule::collect(Workspace& workspace, std::span<double> d_mean,
                           std::span<double> d_log_variance) const {
  static_cast<Room&>(workspace).weight.collect(d_mean.data(), d_log_variance.data());
}

}  // namespace surefoot::algorithms
