#pragma once

#include "surefoot/algorithms/detail/soft_gradient.hpp"

namespace surefoot::algorithms {

/// FISTA on 1/2 ||Dz - b||^2 + weight ||z||_1, state (z, y, t), t = 1 and y = z at the start:
///   z+ = soft(y - D'(Dy - b) / L, weight / L), t+ = (1 + sqrt(1 + 4 t^2)) / 2, y+ = z+ + (t - 1) / t+ (z+ -
///   z).
/// Residual ||z+ - z||; iterate z (n). A. Beck, M. Teboulle, "A fast iterative shrinkage-thresholding
/// algorithm for linear inverse problems", SIAM J. Imaging Sci. 2, 2009.
class Fista final : public Operator {
 public:
  explicit Fista(problems::Lasso problem, IstaOptions options = {});

  [[nodiscard]] double lipschitz() const { return gradient_.lipschitz(); }
  [[nodiscard]] std::string_view name() const override { return "fista"; }
  [[nodiscard]] Settings settings() const override { return gradient_.settings("fista"); }
  [[nodiscard]] Index instances() const override { return gradient_.problem().instances(); }
  [[nodiscard]] Index state_size() const override { return 2 * gradient_.variables() + 1; }
  [[nodiscard]] Index iterate_size() const override { return gradient_.variables(); }
  [[nodiscard]] Index primal_size() const override { return gradient_.variables(); }
  [[nodiscard]] Index width() const override { return SoftGradient::lanes; }
  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override { return gradient_.make_room(); }
  void load(Index first, Index count, Workspace& workspace) const override;
  void start(Batch z, Workspace& workspace) const override;
  void step(Index k, Batch z, Workspace& workspace, double* residual) const override;
  void write(ConstBatch iterate, Workspace& workspace, Batch z) const override;
  [[nodiscard]] bool knows(Quantity quantity) const override { return quantity == Quantity::objective; }
  void measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const override;
  [[nodiscard]] DeclaredMap declared_map() const override {
    return {nullptr,
            "its momentum makes every step another map; surefoot worst-case composite-fista bounds it"};
  }

 private:
  SoftGradient gradient_;
};

}  // namespace surefoot::algorithms
