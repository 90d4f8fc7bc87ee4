#include "surefoot/algorithms/alista.hpp"

namespace surefoot::algorithms {

namespace {

template <class T>
class Alista final : public GramNetwork<T> {
 public:
  using Room = typename GramNetwork<T>::Room;

  Alista(SharedCodes codes, CodeNetworkOptions options) : GramNetwork<T>(std::move(codes), options, false) {
    this->layout_.blocks = {{"step", this->steps()}, {"threshold", this->steps()}};
    const InitialWeights begin = initial();
    this->assign(begin.mean, begin.prior_mean);
  }
  [[nodiscard]] std::string_view name() const override { return "alista"; }
  [[nodiscard]] InitialWeights initial() const override {
    const auto size = static_cast<std::size_t>(this->layout_.size());
    return {std::vector<double>(size, 1.0), std::vector<double>(size, 0.0)};
  }

  void step(Index k, Batch z, Workspace& workspace, double* residual) const override {
    this->check_step(k);
    advance(k, z, z, static_cast<Room&>(workspace), residual);
  }
  void step_to(Index k, ConstBatch before, Batch after, Workspace& workspace) const override {
    this->check_step(k);
    advance(k, before, after, static_cast<Room&>(workspace), nullptr);
  }

  // With g = Gz - W'b, u = z - gamma g, c = cotangent where |u| > psi, else 0:
  // d gamma = -c'g, d psi = -c'sign(u), d z = c - gamma G'c.
  void step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const override {
    auto& room = static_cast<Room&>(workspace);
    const double* gamma = room.weight[k];
    shrink_vjp(z, room.gradient_of(k), gamma, room.weight[this->steps() + k], cotangent,
               room.weight.derivative(k), room.weight.derivative(this->steps() + k));
    room.nonzeros.gather(cotangent.data);
    multiply_nonzeros(this->gram_transposed_, room.nonzeros, room.product.data());
    for (Index i = 0; i < z.rows; ++i) {
      double* c = cotangent.row(i);
      const T* product = room.product.data() + i * code_lanes;
      for (int lane = 0; lane < code_lanes; ++lane)
        c[lane] -= gamma[lane] * static_cast<double>(product[lane]);
    }
  }

 private:
  void advance(Index k, ConstBatch before, Batch after, Room& room, double* residual) const {
    T* gradient = room.gradient_of(k);
    room.nonzeros.gather(before.data);
    multiply_nonzeros(this->gram_, room.nonzeros, gradient, room.Wb.data());
    shrink(before, after, gradient, room.weight[k], room.weight[this->steps() + k], residual);
  }
};

}  // namespace

std::unique_ptr<LearnedOperator> make_alista(SharedCodes codes, CodeNetworkOptions options) {
  if (options.precision == Precision::single)
    return std::make_unique<Alista<float>>(std::move(codes), options);
  return std::make_unique<Alista<double>>(std::move(codes), options);
}

}  // namespace surefoot::algorithms
