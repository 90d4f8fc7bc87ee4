#include "surefoot/algorithms/detail/osqp_room.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <cstring>

// Steps of OSQP with rho and alpha of their own.
namespace surefoot::algorithms {

std::vector<StepSetting> Osqp::step_settings() const {
  require(!options_.watches(), "solver: with adaptive rho or a stopping test there is no schedule of rho");
  require(system_->kind() == SystemKind::sparse || system_->kind() == SystemKind::kkt,
          "system: schedules need the kind sparse or kkt, not {}", to_string(system_->kind()));
  return {{"rho", first_rho()}, {"alpha", options_.alpha, 2.0}};
}

std::shared_ptr<const void> Osqp::prepared(std::span<const double> settings) const {
  if (system_->own()) return nullptr;
  auto numbers = std::make_shared<SplittingSystem::Numbers>(shared_);
  for (Index i = 0; i < m_; ++i) {
    const double unit = units_[n_ + m_ + i];
    numbers->rho[i] = row_rho(problem_.l(0, i) / unit, problem_.u(0, i) / unit, settings[0], options_);
  }
  system_->factor(*numbers);
  return numbers;
}

void Osqp::make_room(Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  const Index W = width();
  room.alpha = make_buffer(1, W);
  room.rho = make_buffer(1, W);
  std::fill(room.alpha.begin(), room.alpha.end(), options_.alpha);
  if (!system_->own()) room.varied = system_->in_lanes(shared_);
}

void Osqp::take_settings(const StepValues& settings, Room& room) const {
  const Index W = width();
  const double* rho = settings.lanes;
  std::copy_n(settings.lanes + W, W, room.alpha.data());
  const bool same = std::memcmp(rho, room.rho.data(), static_cast<std::size_t>(W) * sizeof(double)) == 0;
  std::copy_n(rho, W, room.rho.data());
  room.step_factors = static_cast<const SplittingSystem::Numbers*>(settings.shared);
  const bool was_varied = room.is_varied;
  room.is_varied = !system_->own() && room.step_factors == nullptr;
  const bool are_there = same && (system_->own() || was_varied);
  if (room.step_factors == nullptr && !are_there) factor_lanes(rho, room);
}

void Osqp::step_with(Index /*k*/, const StepValues& settings, Batch z, Workspace& workspace,
                     double* residual) const {
  auto& room = static_cast<Room&>(workspace);
  take_settings(settings, room);
  plain_step(z.data, room, residual);
}

void Osqp::step_with_vjp(Index /*k*/, const StepValues& settings, ConstBatch z, Batch cotangent,
                         double* d_settings, Workspace& workspace) const {
  auto& room = static_cast<Room&>(workspace);
  take_settings(settings, room);
  pull_back(z, cotangent, d_settings, room);
}

}  // namespace surefoot::algorithms
