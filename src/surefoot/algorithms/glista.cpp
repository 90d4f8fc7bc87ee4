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
    using namespace in_lanes;
    alignas(32) double squares[code_lanes] = {};
    for (Index i = 0; i < z.rows; ++i) {
      double* entry = z.row(i);
      const double* from = x + i * code_lanes;
      const T* own = gradient + i * code_lanes;
      for (int lane = 0; lane < code_lanes; lane += 4) {
        const Vec4 before = four(entry + lane);
        const Vec4 u = four(from + lane) - four(gamma + lane) * four(own + lane);
        const Vec4 d = shrunk(u, four(psi + lane)) - before;
        const Vec4 change = d + four(a + lane) * d / (size_of(d) + smallest_change);
        put(squares + lane, four(squares + lane) + change * change);
        put(entry + lane, before + change);
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
    using namespace in_lanes;
    alignas(32) double d_gamma[code_lanes] = {};
    alignas(32) double d_psi[code_lanes] = {};
    alignas(32) double d_a[code_lanes] = {};
    for (Index i = 0; i < z.rows; ++i) {
      const double* entry = z.row(i);
      double* c = cotangent.row(i);
      for (int lane = 0; lane < code_lanes; lane += 4) {
        const Index at = i * code_lanes + lane;
        const Vec4 g = four(gradient + at);
        const Vec4 before = four(entry + lane);
        const Vec4 u = before * (1.0 + four(gain + at)) - four(gamma + lane) * g;
        const Vec4 d = shrunk(u, four(psi + lane)) - before;
        const Vec4 r = 1.0 / (size_of(d) + smallest_change);
        const Vec4 given = four(c + lane);
        // A run that diverged has no cotangent, and what it passed through does not count.
        const Vec4 by_d = given == 0 ? Vec4{} : given * (1.0 + smallest_change * four(a + lane) * r * r);
        put(d_a + lane, four(d_a + lane) + (given == 0 ? Vec4{} : given * d * r));
        const Vec4 by_u = size_of(u) > four(psi + lane) ? by_d : Vec4{};
        put(d_gamma + lane, four(d_gamma + lane) - (by_u == 0 ? Vec4{} : by_u * g));
        put(d_psi + lane, four(d_psi + lane) - signed_by(sign_of(u), by_u));
        put(kept + at, by_u);
        put(c + lane, given - by_d);
      }
    }
    room.nonzeros.gather(kept);
    multiply_nonzeros(this->gram_transposed_, room.nonzeros, room.product.data());
    const double* mu = k > 0 ? room.weight[2 * K + k - 1] : nullptr;
    const double* nu = k > 0 ? room.weight[3 * K - 1 + k - 1] : nullptr;
    alignas(32) double d_gain[code_lanes] = {};  // by log mu, and by log psi
    alignas(32) double d_nu[code_lanes] = {};
    for (Index i = 0; i < z.rows; ++i) {
      const double* entry = z.row(i);
      double* c = cotangent.row(i);
      for (int lane = 0; lane < code_lanes; lane += 4) {
        const Index at = i * code_lanes + lane;
        const Vec4 by_x = four(kept + at) - four(gamma + lane) * four(room.product.data() + at);
        if (k == 0) {
          put(c + lane, four(c + lane) + by_x);
          continue;
        }
        const Vec4 before = four(entry + lane);
        const Vec4 h = before == 0 ? four(mu + lane) * four(psi + lane) : four(gain + at);
        const Vec4 size = size_of(before);
        put(c + lane, four(c + lane) + by_x * (1.0 + h * (1.0 - four(nu + lane) * size)));
        const Vec4 by_h = by_x == 0 ? Vec4{} : by_x * before * h;
        put(d_gain + lane, four(d_gain + lane) + by_h);
        put(d_nu + lane, four(d_nu + lane) - (by_h == 0 ? Vec4{} : by_h * size));
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
