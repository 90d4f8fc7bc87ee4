#pragma once

#include "surefoot/families/sample_set.hpp"
#include "surefoot/problems/qp.hpp"

#include <cstdint>
#include <vector>

namespace surefoot::families {

struct ModelPredictiveControlOptions {
  Index carts = 2;                  ///< of unit mass in a row, springs between them and to both walls
  std::vector<Index> pushed = {0};  ///< carts with an actuator
  Index horizon = 15;               ///< T
  double dt = 0.4;                  ///< time step
  double spring = 0.5;
  double friction = 0.1;
  double force_limit = 0.6;  ///< |f_t|: a limit on states
  double rate_limit = 0.4;   ///< |v_t|: a limit on inputs, change of a force per step
  double position_cost = 1;
  double speed_cost = 0.1;
  double force_cost = 0.02;
  double rate_cost = 0.03;
  double position_range = 1.5;  ///< of the state that a control loop begins with, uniform on a box
  double speed_range = 0.75;
  double disturbance = 0.1;  ///< of positions and speeds between two problems, uniform on +- this

  void validate() const;
};

/// Model predictive control of carts in a row that are pushed by actuators of limited force, which change
/// their force at a limited rate. State s = (positions, speeds, forces), input v = change of the forces
/// before a step: f+ = f + v, and (positions, speeds) move by the trapezoidal rule under f+; together s+ = A
/// s + B v.
///   minimize    1/2 sum_{t=1}^{T-1} s_t'Q s_t + 1/2 s_T'S s_T + 1/2 sum_{t<T} v_t'R v_t
///   subject to  s_0 = measured state, |v_t| <= rate_limit, |f_t| <= force_limit,
/// S the cost to go of the unlimited problem (discrete Riccati equation). States are eliminated: variables
/// are (v_0, ..., v_{T-1}), rows the rates and then the changes f_t - f_0 of the forces. Keeping the forces
/// is always feasible. The parameter is the measured state: the linear term and the bounds of the forces
/// depend on it.
class ModelPredictiveControl {
 public:
  explicit ModelPredictiveControl(ModelPredictiveControlOptions options = {});

  [[nodiscard]] const ModelPredictiveControlOptions& options() const { return options_; }
  [[nodiscard]] Index inputs() const { return static_cast<Index>(options_.pushed.size()); }
  [[nodiscard]] Index states() const { return 2 * options_.carts + inputs(); }
  [[nodiscard]] Index variables() const { return options_.horizon * inputs(); }
  [[nodiscard]] Index constraints() const { return 2 * variables(); }
  [[nodiscard]] const problems::Matrix& dynamics() const { return A_; }
  [[nodiscard]] const problems::Matrix& input_map() const { return B_; }
  [[nodiscard]] const problems::Matrix& terminal_cost() const { return S_; }
  /// The largest |entry| of a state that a loop begins with: what inputs of a network are scaled by.
  [[nodiscard]] problems::Vector ranges() const;

  /// States that control loops first .. first+count-1 of a set begin with, a row each; loop i depends on
  /// (seed, set, i) only.
  [[nodiscard]] problems::Table draw(std::uint64_t seed, SampleSet set, Index count, Index first = 0) const;
  /// The states one step later, after the first inputs of the plans (rows begin with v_0) and a disturbance
  /// of its own for every loop. Forces stay within their limit.
  [[nodiscard]] problems::Table advance(const problems::Table& states, const problems::Table& plans,
                                        std::uint64_t seed, SampleSet set, Index first = 0) const;
  [[nodiscard]] problems::Qp problem(const problems::Table& states) const;
  /// What a plan says about the next problem: solutions (x, y, w) moved by one step, the last step without
  /// input and multipliers, w = A x.
  [[nodiscard]] problems::Table shifted(const problems::Table& solutions) const;

 private:
  ModelPredictiveControlOptions options_;
  problems::Matrix A_;
  problems::Matrix B_;
  problems::Matrix S_;
  problems::Matrix hessian_;      // P, variables x variables
  problems::Matrix linear_;       // q = linear s_0
  problems::Matrix constraints_;  // rates, then changes of forces
};

}  // namespace surefoot::families
