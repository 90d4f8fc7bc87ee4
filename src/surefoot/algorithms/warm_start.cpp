#include "surefoot/algorithms/warm_start.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace surefoot::algorithms {

void WarmStartOptions::validate(Index parameters, Index start_size) const {
  require(input_center.size() == 0 || input_center.size() == parameters,
          "input_center: has {} entries, parameters have {}", input_center.size(), parameters);
  require(input_scale.size() == 0 || input_scale.size() == parameters,
          "input_scale: has {} entries, parameters have {}", input_scale.size(), parameters);
  require(input_center.allFinite(), "input_center: an entry is not finite");
  require(input_scale.allFinite() && (input_scale.array() > 0).all(), "input_scale: an entry is not > 0");
  require(std::isfinite(output_scale) && output_scale > 0, "output_scale: is {}, must be > 0", output_scale);
  require(outputs >= 0 && outputs <= start_size, "outputs: is {}, must lie in 0 .. {}", outputs, start_size);
  require(std::isfinite(initial_deviation) && initial_deviation >= 0,
          "initial_deviation: is {}, must be >= 0", initial_deviation);
  require(std::isfinite(initial_bias), "initial_bias: is {}", initial_bias);
}

struct WarmStart::Room final : Workspace {
  std::unique_ptr<Workspace> solver;
  ReluNetwork::Room network;
  Buffer input;   // what the network sees
  Buffer output;  // what it says, or the derivative by it
  Buffer start;   // numbers of the start, where they are not the state's rows
  Buffer by_start;
};

WarmStart::WarmStart(std::shared_ptr<const Operator> solver,
                     std::shared_ptr<const problems::Table> parameters, WarmStartOptions options)
    : solver_(std::move(solver)), parameters_(std::move(parameters)), options_(std::move(options)) {
  require(solver_ != nullptr, "solver: there is none");
  require(solver_->differentiable() != nullptr, "solver: {} has no derivative of its step", solver_->name());
  require(parameters_ != nullptr && parameters_->rows() == solver_->instances() && parameters_->cols() >= 1,
          "parameters: {} rows for {} instances", parameters_ ? parameters_->rows() : 0,
          solver_->instances());
  problems::require_finite(*parameters_, "parameters");
  start_size_ = solver_->differentiable()->start_size();
  if (start_size_ == 0) start_size_ = solver_->state_size();
  options_.validate(parameters_->cols(), start_size_);
  if (options_.outputs == 0) options_.outputs = start_size_;
  std::vector<Index> sizes{parameters_->cols()};
  sizes.insert(sizes.end(), options_.hidden.begin(), options_.hidden.end());
  sizes.push_back(options_.outputs);
  network_ = ReluNetwork(std::move(sizes), options_.sampling);
  name_ = fmt::format("warm-start-{}", solver_->name());
}

Settings WarmStart::settings() const {
  return {{"solver", name_},
          {"settings", Settings{{"hidden", options_.hidden},
                                {"output_scale", options_.output_scale},
                                {"outputs", options_.outputs},
                                {"sampling", std::string(to_string(options_.sampling))}}},
          {"started", solver_->settings()}};
}

std::unique_ptr<Workspace> WarmStart::make_workspace() const {
  auto room = std::make_unique<Room>();
  room->solver = solver_->make_workspace();
  room->network = network_.make_room(width());
  room->input = make_buffer(parameters_->cols(), width());
  room->output = make_buffer(options_.outputs, width());
  if (solver_->differentiable()->start_size() > 0) {
    room->start = room->by_start = make_buffer(start_size_, width());
  }
  return room;
}

void WarmStart::load(Index first, Index count, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  solver_->load(first, count, *room.solver);
  const Index W = width();
  for (Index lane = 0; lane < W; ++lane) {
    const double* x = problems::table_row(*parameters_, first + std::min(lane, count - 1));
    for (Index i = 0; i < parameters_->cols(); ++i) {
      const double center = options_.input_center.size() > 0 ? options_.input_center[i] : 0.0;
      const double scale = options_.input_scale.size() > 0 ? options_.input_scale[i] : 1.0;
      room.input[i * W + lane] = (x[i] - center) / scale;
    }
  }
}

double WarmStart::largest_input() const {
  double largest = 0;
  for (Index row = 0; row < parameters_->rows(); ++row) {
    double squares = 0;
    for (Index i = 0; i < parameters_->cols(); ++i) {
      const double center = options_.input_center.size() > 0 ? options_.input_center[i] : 0.0;
      const double scale = options_.input_scale.size() > 0 ? options_.input_scale[i] : 1.0;
      const double input = ((*parameters_)(row, i) - center) / scale;
      squares += input * input;
    }
    largest = std::max(largest, squares);
  }
  return std::sqrt(largest);
}

void WarmStart::start(Batch z, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  solver_->start(z, *room.solver);
  network_.forward(room.input.data(), room.network, room.output.data());
  double* numbers = room.start.empty() ? z.data : room.start.data();
  std::transform(room.output.begin(), room.output.end(), numbers,
                 [&](double value) { return options_.output_scale * value; });
  if (!room.start.empty()) {
    solver_->differentiable()->start_from({numbers, start_size_, z.width}, z, *room.solver);
  }
}

void WarmStart::step(Index k, Batch z, Workspace& workspace, double* residual) const {
  solver_->step(k, z, *static_cast<Room&>(workspace).solver, residual);
}

void WarmStart::read(ConstBatch z, Workspace& workspace, Index first, Index count, double* out) const {
  solver_->read(z, *static_cast<Room&>(workspace).solver, first, count, out);
}

void WarmStart::write(ConstBatch iterate, Workspace& workspace, Batch z) const {
  solver_->write(iterate, *static_cast<Room&>(workspace).solver, z);
}

void WarmStart::prepare_measures(Workspace& workspace) const {
  solver_->prepare_measures(*static_cast<Room&>(workspace).solver);
}

void WarmStart::measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const {
  solver_->measure(quantity, k, z, *static_cast<Room&>(workspace).solver, value);
}

InitialWeights WarmStart::initial() const {
  InitialWeights begin = LearnedOperator::initial();
  RandomStream random(options_.seed, "warm start: initial means", 0);
  const WeightLayout& layout = weights();
  for (std::size_t b = 0; b < layout.blocks.size(); ++b) {
    const bool bias = b % 2 == 1;
    const double inputs = static_cast<double>(network_.sizes()[b / 2]);
    const double deviation =
        options_.initial_deviation > 0 ? options_.initial_deviation : std::sqrt((bias ? 1 : 2) / inputs);
    for (Index i = 0; i < layout.blocks[b].size(); ++i)
      begin.mean[static_cast<std::size_t>(layout.offset(b) + i)] = deviation * random.normal();
  }
  for (std::size_t b = 1; b + 1 < layout.blocks.size(); b += 2) {
    for (Index i = 0; i < layout.blocks[b].size(); ++i)
      begin.mean[static_cast<std::size_t>(layout.offset(b) + i)] += options_.initial_bias;
  }
  return begin;
}

void WarmStart::assign(std::span<const double> mean, std::span<const double> variance) {
  network_.assign(mean, variance);
}

void WarmStart::draw(const WeightDraw& draw, Workspace& workspace) const {
  network_.draw(draw, static_cast<Room&>(workspace).network);
}

void WarmStart::use_means(Workspace& workspace) const {
  network_.use_means(static_cast<Room&>(workspace).network);
}

void WarmStart::step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const {
  solver_->differentiable()->step_vjp(k, z, cotangent, *static_cast<Room&>(workspace).solver);
}

void WarmStart::measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value, Batch cotangent,
                            Workspace& workspace) const {
  solver_->differentiable()->measure_vjp(quantity, k, z, d_value, cotangent,
                                         *static_cast<Room&>(workspace).solver);
}

void WarmStart::start_vjp(ConstBatch cotangent, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  const double* derivative = cotangent.data;
  if (!room.start.empty()) {
    const Index W = cotangent.width;
    solver_->differentiable()->start_from_vjp({room.start.data(), start_size_, W}, cotangent,
                                              {room.by_start.data(), start_size_, W}, *room.solver);
    derivative = room.by_start.data();
  }
  std::transform(derivative, derivative + options_.outputs * cotangent.width, room.output.begin(),
                 [&](double value) { return options_.output_scale * value; });
  network_.backward(room.output.data(), room.network);
}

void WarmStart::collect(Workspace& workspace, std::span<double> d_mean,
                        std::span<double> d_log_variance) const {
  network_.collect(static_cast<Room&>(workspace).network, d_mean, d_log_variance);
}

}  // namespace surefoot::algorithms
