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
    auto& room = static_cast<Room&>(workspace);
    T* gradient = room.gradient_of(k);
    room.nonzeros.gather(z.data);
    multiply_nonzeros(this->gram_, room.nonzeros, gradient);
    const double* gamma = room.weight[k];
    const double* psi = room.weight[this->steps() + k];
    double squares[code_lanes] = {};
    for (Index i = 0; i < z.rows; ++i) {
      double* entry = z.row(i);
      T* own = gradient + i * code_lanes;
      const T* Wb = room.Wb.data() + i * code_lanes;
      for (int lane = 0; lane < code_lanes; ++lane) {
        own[lane] -= Wb[lane];
        const double next = soft(entry[lane] - gamma[lane] * static_cast<double>(own[lane]), psi[lane]);
        const double change = next - entry[lane];
        squares[lane] += change * change;
        entry[lane] = next;
      }
    }
    if (residual != nullptr) {
      for (int lane = 0; lane < code_lanes; ++lane) residual[lane] = std::sqrt(squares[lane]);
    }
  }

  // With g = Gz - W'b, u = z - gamma g, c = cotangent where |u| > psi, else 0:
  // d gamma = -c'g, d psi = -c'sign(u), d z = c - gamma G'c.
  void step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const override {
    auto& room = static_cast<Room&>(workspace);
    const T* gradient = room.gradient_of(k);
    const double* gamma = room.weight[k];
    const double* psi = room.weight[this->steps() + k];
    double d_gamma[code_lanes] = {};
    double d_psi[code_lanes] = {};
    for (Index i = 0; i < z.rows; ++i) {
      const double* entry = z.row(i);
      double* c = cotangent.row(i);
      const T* own = gradient + i * code_lanes;
      for (int lane = 0; lane < code_lanes; ++lane) {
        const auto g = static_cast<double>(own[lane]);
        const double u = entry[lane] - gamma[lane] * g;
        const double kept = std::abs(u) > psi[lane] ? c[lane] : 0.0;
        c[lane] = kept;
        d_gamma[lane] -= kept == 0 ? 0.0 : kept * g;
        d_psi[lane] -= std::copysign(1.0, u) * kept;
      }
    }
    for (int lane = 0; lane < code_lanes; ++lane) {
      room.weight.derivative(k)[lane] += d_gamma[lane];
      room.weight.derivative(this->steps() + k)[lane] += d_psi[lane];
    }
    room.nonzeros.gather(cotangent.data);
    multiply_nonzeros(this->gram_transposed_, room.nonzeros, room.product.data());
    for (Index i = 0; i < z.rows; ++i) {
      double* c = cotangent.row(i);
      const T* product = room.product.data() + i * code_lanes;
      for (int lane = 0; lane < code_lanes; ++lane)
        c[lane] -= gamma[lane] * static_cast<double>(product[lane]);
    }
  }
};

}  // namespace

std::unique_ptr<LearnedOperator> make_alista(SharedCodes codes, CodeNetworkOptions options) {
  if (options.precision == Precision::single)
    return std::make_unique<Alista<float>>(std::move(codes), options);
  return std::make_unique<Alista<double>>(std::move(codes), options);
}

}  // namespace surefoot::algorithms
