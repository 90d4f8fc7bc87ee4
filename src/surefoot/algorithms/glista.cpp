#include "surefoot/algorithms/glista.hpp"

namespace surefoot::algorithms {

namespace {

constexpr double smallest_change = 0.1;

template <class T>
class Glista final : public GramNetwork<T> {
 public:
  using Room = typename GramNetwork<T>::Room;

  Glista(SharedCodes codes, CodeNetworkOptions options) : GramNetwork<T>(std::move(codes), options, true) {
    const Index K = this->steps();
    this->layout_.blocks = {{"step", K}, {"threshold", K}};
    if (K > 1) {
      this->layout_.blocks.push_back({"gain", K - 1});
      this->layout_.blocks.push_back({"decay", K - 1});
    }
    this->layout_.blocks.push_back({"overshoot", K});
    const InitialWeights begin = initial();
    this->assign(begin.mean, begin.prior_mean);
  }
  [[nodiscard]] std::string_view name() const override { return "glista"; }
  [[nodiscard]] InitialWeights initial() const override {
    const auto size = static_cast<std::size_t>(this->layout_.size());
    InitialWeights begin{std::vector<double>(size, 1.0), std::vector<double>(size, 0.0)};
    std::fill_n(begin.mean.begin() + this->steps(), this->steps(), 0.5);
    return begin;
  }

  void step(Index k, Batch z, Workspace& workspace, double* residual) const override {
    this->check_step(k);
    auto& room = static_cast<Room&>(workspace);
    double* x = room.point.data();
    T* gain = room.gain_of(k);
    T* gradient = room.gradient_of(k);
    open_gate(k, z, room, gain);
    for (Index i = 0; i < z.rows * code_lanes; ++i) x[i] = z.data[i] * (1.0 + static_cast<double>(gain[i]));
    room.nonzeros.gather(x);
    multiply_nonzeros(this->gram_, room.nonzeros, gradient, room.Wb.data());
    const double* gamma = room.weight[k];
    const double* psi = room.weight[this->steps() + k];
    const double* a = room.weight[overshoot(k)];
    double squares[code_lanes] = {};
    for (Index i = 0; i < z.rows; ++i) {
      double* entry = z.row(i);
      const T* own = gradient + i * code_lanes;
      for (int lane = 0; lane < code_lanes; ++lane) {
        const double u = x[i * code_lanes + lane] - gamma[lane] * static_cast<double>(own[lane]);
        const double d = soft(u, psi[lane]) - entry[lane];
        const double change = d + a[lane] * d / (std::abs(d) + smallest_change);
        squares[lane] += change * change;
        entry[lane] += change;
      }
    }
    if (residual != nullptr) {
      for (int lane = 0; lane < code_lanes; ++lane) residual[lane] = std::sqrt(squares[lane]);
    }
  }

  // Backwards through the formulas of the header, h = mu psi exp(-nu |z|) the gain that step() left behind:
  // change = d (1 + a/r), r = |d| + 0.1: d change / d d = 1 + 0.1 a / r^2, d change / d a = d / r;
  // x = z (1 + h): d x / d z = 1 + h (1 - nu |z|), d x / d(mu, psi, nu) = z h (1/mu, 1/psi, -|z|).
  void step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const override {
    auto& room = static_cast<Room&>(workspace);
    const Index K = this->steps();
    const T* gain = room.gain_of(k);
    const T* gradient = room.gradient_of(k);
    double* kept = room.point.data();
    const double* gamma = room.weight[k];
    const double* psi = room.weight[K + k];
    const double* a = room.weight[overshoot(k)];
    double d_gamma[code_lanes] = {};
    double d_psi[code_lanes] = {};
    double d_a[code_lanes] = {};
    for (Index i = 0; i < z.rows; ++i) {
      const double* entry = z.row(i);
      double* c = cotangent.row(i);
      for (int lane = 0; lane < code_lanes; ++lane) {
        const Index at = i * code_lanes + lane;
        const auto g = static_cast<double>(gradient[at]);
        const double u = entry[lane] * (1.0 + static_cast<double>(gain[at])) - gamma[lane] * g;
        const double d = soft(u, psi[lane]) - entry[lane];
        const double r = 1.0 / (std::abs(d) + smallest_change);
        const bool off = c[lane] == 0;
        const double by_d = off ? 0.0 : c[lane] * (1.0 + smallest_change * a[lane] * r * r);
        d_a[lane] += off ? 0.0 : c[lane] * d * r;
        const double by_u = std::abs(u) > psi[lane] ? by_d : 0.0;
        d_gamma[lane] -= by_u == 0 ? 0.0 : by_u * g;
        d_psi[lane] -= std::copysign(1.0, u) * by_u;
        kept[at] = by_u;
        c[lane] -= by_d;
      }
    }
    room.nonzeros.gather(kept);
    multiply_nonzeros(this->gram_transposed_, room.nonzeros, room.product.data());
    const double* mu = k > 0 ? room.weight[2 * K + k - 1] : nullptr;
    const double* nu = k > 0 ? room.weight[3 * K - 1 + k - 1] : nullptr;
    double d_gain[code_lanes] = {};  // by log mu, and by log psi
    double d_nu[code_lanes] = {};
    for (Index i = 0; k == 0 && i < z.rows * code_lanes; ++i) {
      const double factor = gamma[i % code_lanes];
      cotangent.data[i] += kept[i] - factor * static_cast<double>(room.product[i]);
    }
    for (Index i = 0; k > 0 && i < z.rows; ++i) {
      const double* entry = z.row(i);
      double* c = cotangent.row(i);
      const double* by_u = kept + i * code_lanes;
      const T* product = room.product.data() + i * code_lanes;
      const T* own = gain + i * code_lanes;
      for (int lane = 0; lane < code_lanes; ++lane) {
        const double by_x = by_u[lane] - gamma[lane] * static_cast<double>(product[lane]);
        const double h = entry[lane] == 0 ? mu[lane] * psi[lane] : static_cast<double>(own[lane]);
        const double size = std::abs(entry[lane]);
        c[lane] += by_x * (1.0 + h * (1.0 - nu[lane] * size));
        const double by_h = by_x == 0 ? 0.0 : by_x * entry[lane] * h;
        d_gain[lane] += by_h;
        d_nu[lane] -= by_h == 0 ? 0.0 : by_h * size;
      }
    }
    for (int lane = 0; lane < code_lanes; ++lane) {
      room.weight.derivative(k)[lane] += d_gamma[lane];
      room.weight.derivative(overshoot(k))[lane] += d_a[lane];
      double by_psi = d_psi[lane];
      if (k > 0) {
        if (psi[lane] != 0) by_psi += d_gain[lane] / psi[lane];
        if (mu[lane] != 0) room.weight.derivative(2 * K + k - 1)[lane] += d_gain[lane] / mu[lane];
        room.weight.derivative(3 * K - 1 + k - 1)[lane] += d_nu[lane];
      }
      room.weight.derivative(K + k)[lane] += by_psi;
    }
  }

 private:
  [[nodiscard]] Index overshoot(Index k) const { return 4 * this->steps() - 2 + k; }

  // mu psi exp(-nu |z|) where z is not 0, and 0 where it is: there it multiplies z only.
  void open_gate(Index k, ConstBatch z, Room& room, T* gain) const {
    const Index K = this->steps();
    std::fill_n(gain, z.rows * code_lanes, T(0));
    if (k == 0) return;
    const double* psi = room.weight[K + k];
    const double* mu = room.weight[2 * K + k - 1];
    const double* nu = room.weight[3 * K - 1 + k - 1];
    room.nonzeros.gather(z.data);
    double* power = room.point.data();
    const Nonzeros<T>& entries = room.nonzeros;
    for (Index i = 0; i < z.rows; ++i) {
      for (Index t = entries.begin(i); t < entries.end(i); ++t) {
        const int lane = entries.lane(t);
        power[t] = std::min(-nu[lane] * std::abs(z.row(i)[lane]), 700.0);
      }
    }
    exponentials(power, entries.count());
    for (Index i = 0; i < z.rows; ++i) {
      for (Index t = entries.begin(i); t < entries.end(i); ++t) {
        const int lane = entries.lane(t);
        gain[i * code_lanes + lane] = static_cast<T>(mu[lane] * psi[lane] * power[t]);
      }
    }
  }
};

}  // namespace

std::unique_ptr<LearnedOperator> make_glista(SharedCodes codes, CodeNetworkOptions options) {
  if (options.precision == Precision::single)
    return std::make_unique<Glista<float>>(std::move(codes), options);
  return std::make_unique<Glista<double>>(std::move(codes), options);
}

}  // namespace surefoot::algorithms
