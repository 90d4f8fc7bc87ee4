// An optimizer and a metric of your own, certified: the heavy-ball method on 1/2 x'Dx - b'x, D = diag(1 ..
// 10), b random.
#include <surefoot/certify/certify_run.hpp>
#include <surefoot/core/random.hpp>
#include <surefoot/report/table.hpp>

#include <cmath>
#include <cstdio>

using namespace surefoot;
constexpr Index n = 10, problems_drawn = 1000;

double b_of(Index instance, Index i) {
  return RandomStream(1, "b", instance * n + i).normal();
}

class HeavyBall final : public algorithms::Operator {  // state: x, then the x before it
  struct Room : algorithms::Workspace {
    std::vector<double> b;
  };

 public:
  std::string_view name() const override { return "heavy ball"; }
  Index instances() const override { return problems_drawn; }
  Index state_size() const override { return 2 * n; }
  Index primal_size() const override { return n; }
  std::unique_ptr<algorithms::Workspace> make_workspace() const override { return std::make_unique<Room>(); }
  void load(Index first, Index count, algorithms::Workspace& room) const override {
    auto& b = static_cast<Room&>(room).b;
    b.clear();
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < width(); ++j) b.push_back(b_of(first + std::min(j, count - 1), i));
  }
  void start(algorithms::Batch z, algorithms::Workspace&) const override {
    std::fill(z.data, z.data + z.rows * z.width, 0.0);
  }
  void step(Index, algorithms::Batch z, algorithms::Workspace& room, double* residual) const override {
    const auto& b = static_cast<Room&>(room).b;
    if (residual != nullptr) std::fill(residual, residual + z.width, 0.0);
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < z.width; ++j) {
        double &x = z.row(i)[j], &before = z.row(n + i)[j];
        const double next = x - 0.15 * ((i + 1) * x - b[i * z.width + j]) + 0.3 * (x - before);
        if (residual != nullptr) residual[j] = std::hypot(residual[j], next - x);
        before = x, x = next;
      }
  }
};

int main() {
  const auto gradient = runs::own_metric("gradient", [](const runs::MetricInput& in, double* value) {
    for (Index j = 0; j < in.count; ++j) value[j] = 0;
    for (Index i = 0; i < n; ++i)
      for (Index j = 0; j < in.count; ++j)
        value[j] = std::hypot(value[j], (i + 1) * in.iterate.row(i)[j] - b_of(in.first + j, i));
  });
  const auto certificate = certify::certify_run(HeavyBall(), gradient, {}, {.steps = 100});
  std::printf("%s", report::terminal_text(certificate).c_str());
}
