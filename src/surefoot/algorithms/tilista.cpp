#include "surefoot/algorithms/tilista.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

namespace surefoot::algorithms {

namespace {

template <class T>
class Tilista final : public CodeNetwork {
 public:
  Tilista(SharedCodes samples, CodeNetworkOptions options)
      : CodeNetwork(std::move(samples), options), m_(codes().measurements()), n_(codes().variables()) {
    layout_.blocks = {{"step", steps()}, {"threshold", steps()}, {"matrix", m_, n_}};
    D_ = Columns<T>(codes().D);
    W_ = Columns<T>(m_, n_);
    const InitialWeights begin = initial();
    assign(begin.mean, std::vector<double>(begin.mean.size(), 0.0));
  }
  [[nodiscard]] std::string_view name() const override { return "tilista"; }
  [[nodiscard]] std::string_view sampling() const override { return "pre-activations"; }

  [[nodiscard]] InitialWeights initial() const override {
    const problems::Table W = analytic_weights(codes().D);
    InitialWeights begin{std::vector<double>(static_cast<std::size_t>(2 * steps()), 1.0),
                         std::vector<double>(static_cast<std::size_t>(2 * steps()), 0.0)};
    begin.prior_mean.insert(begin.prior_mean.end(), W.data(), W.data() + W.size());
    for (Index i = 0; i < W.size(); ++i) begin.mean.push_back(W.data()[i] + 0.001);
    return begin;
  }

  void assign(std::span<const double> mean, std::span<const double> variance) override {
    CodeNetwork::assign(mean, variance);
    const auto first = static_cast<std::size_t>(2 * steps());
    for (std::size_t i = first; i < variance.size(); ++i) {
      require(variance[i] == variance[first],
              "tilista: variances of 'matrix' must be one number; {} and {} are not", variance[first],
              variance[i]);
    }
    spread_ = deviation_[first];
    for (Index i = 0; i < m_; ++i) {
      for (Index j = 0; j < n_; ++j) W_.column(j)[i] = static_cast<T>(mean[first + i * n_ + j]);
    }
  }

  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override {
    const auto rows = static_cast<std::size_t>(m_ * code_lanes);
    const auto lanes = static_cast<std::size_t>(n_ * code_lanes);
    const auto K = static_cast<std::size_t>(steps());
    auto room = std::make_unique<Room>();
    room->weight = LaneWeights(2 * steps(), code_lanes);
    room->nonzeros = Nonzeros<T>(n_);
    room->b.resize(rows);
    room->residual.resize(K * rows);
    room->basis.resize(K * rows);
    room->gradient.resize(K * lanes);
    room->xi.resize(K * lanes);
    room->coefficient.resize(K * K * code_lanes);
    room->product.resize(lanes);
    room->by_residual.resize(rows);
    room->point.resize(lanes);
    room->d_matrix.resize(static_cast<std::size_t>(n_ * m_), T(0));
    return room;
  }

  void load(Index first, Index count, Workspace& workspace) const override {
    check_block(first, count);
    auto& room = static_cast<Room&>(workspace);
    load_lanes(codes().b.data() + first * m_, count, m_, room.b.data());
  }

  void draw(const WeightDraw& draw, Workspace& workspace) const override {
    auto& room = static_cast<Room&>(workspace);
    room.weight.draw(draw, mean_.data(), deviation_.data());
    room.noisy = spread_ > 0;
    if (!room.noisy) return;
    const std::uint64_t purpose = purpose_key(draw.purpose);
    for (Index k = 0; k < steps(); ++k) {
      for (int lane = 0; lane < code_lanes; ++lane) {
        fill_normals({draw.seed, purpose, draw.first_draw + static_cast<std::uint64_t>(lane),
                      static_cast<std::uint64_t>(k + 1)},
                     room.product.data() + lane * n_, n_);
      }
      to_lanes(room.product.data(), n_, room.xi.data() + k * n_ * code_lanes);
    }
  }

  void use_means(Workspace& workspace) const override {
    auto& room = static_cast<Room&>(workspace);
    room.weight.use_means(mean_.data());
    room.noisy = false;
  }

  void step(Index k, Batch z, Workspace& workspace, double* residual) const override {
    check_step(k);
    auto& room = static_cast<Room&>(workspace);
    T* r = room.residual.data() + k * m_ * code_lanes;
    T* g = room.gradient.data() + k * n_ * code_lanes;
    room.nonzeros.gather(z.data);
    multiply_nonzeros(D_, room.nonzeros, r, room.b.data());
    multiply_dense(W_.column(0), n_, m_, W_.stride(), r, g);
    if (room.noisy) add_noise(k, r, g, room);
    shrink(z, z, g, room.weight[k], room.weight[steps() + k], residual);
  }

  // With g = (W + sqrt(s) X)'r, u = z - gamma g, c = cotangent where |u| > psi, else 0, p = -gamma c:
  // d gamma = -c'g, d psi = -c'sign(u), d W = r p', d r = W p + sqrt(s) sum_l q_l (X'q_l)'p, d z = c + D'd r,
  // and d log s = (g - W'r)'p / 2.
  void step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const override {
    auto& room = static_cast<Room&>(workspace);
    const T* r = room.residual.data() + k * m_ * code_lanes;
    const T* g = room.gradient.data() + k * n_ * code_lanes;
    double* p = room.point.data();
    const double* gamma = room.weight[k];
    shrink_vjp(z, g, gamma, room.weight[steps() + k], cotangent, room.weight.derivative(k),
               room.weight.derivative(steps() + k));
    for (Index i = 0; i < n_; ++i) {
      for (int lane = 0; lane < code_lanes; ++lane)
        p[i * code_lanes + lane] = -gamma[lane] * cotangent.row(i)[lane];
    }
    room.nonzeros.gather(p);
    T* lane_major = room.product.data();
    to_lane_major(r, m_, lane_major);
    add_outer_products(room.nonzeros, lane_major, m_, room.d_matrix.data(), m_);
    T* by_r = room.by_residual.data();
    multiply_nonzeros(W_, room.nonzeros, by_r);
    if (room.noisy) pull_noise(k, p, by_r, room);
    multiply_dense(D_.column(0), n_, m_, D_.stride(), by_r, room.product.data());
    for (Index i = 0; i < n_ * code_lanes; ++i) cotangent.data[i] += static_cast<double>(room.product[i]);
  }

  void collect(Workspace& workspace, std::span<double> d_mean,
               std::span<double> d_log_variance) const override {
    auto& room = static_cast<Room&>(workspace);
    room.weight.collect(d_mean.data(), d_log_variance.data());
    const Index first = 2 * steps();
    const double share = room.d_spread / static_cast<double>(m_ * n_);
    for (Index i = 0; i < m_; ++i) {
      for (Index j = 0; j < n_; ++j) {
        d_mean[first + i * n_ + j] += static_cast<double>(room.d_matrix[j * m_ + i]);
        d_log_variance[first + i * n_ + j] += share;
      }
    }
    std::fill(room.d_matrix.begin(), room.d_matrix.end(), T(0));
    room.d_spread = 0;
  }

 private:
  struct Room final : Workspace {
    LaneWeights weight;
    Nonzeros<T> nonzeros;
    AlignedVector<T> b;                 // m lanes
    AlignedVector<T> residual;          // K x m lanes: r_k
    AlignedVector<T> basis;             // K x m lanes: q_k
    AlignedVector<T> gradient;          // K x n lanes: (W + sqrt(s) X)'r_k
    AlignedVector<T> xi;                // K x n lanes: X'q_k
    AlignedVector<double> coefficient;  // K x K lanes: q_l'r_k
    AlignedVector<T> product;           // n lanes
    AlignedVector<T> by_residual;       // m lanes
    AlignedVector<double> point;        // n lanes
    AlignedVector<T> d_matrix;          // n x m
    double d_spread = 0;                // by log s
    bool noisy = false;
  };

  [[nodiscard]] double* coefficients(Index k, Index l, Room& room) const {
    return room.coefficient.data() + (k * steps() + l) * code_lanes;
  }

  // Extends the basis by r and adds sqrt(s) sum_l (q_l'r) X'q_l to g.
  void add_noise(Index k, const T* r, T* g, Room& room) const {
    T* own = room.basis.data() + k * m_ * code_lanes;
    std::copy_n(r, m_ * code_lanes, own);
    for (Index l = 0; l <= k; ++l) {
      const T* q = room.basis.data() + l * m_ * code_lanes;
      double c[code_lanes] = {};
      for (Index i = 0; i < m_; ++i) {
        for (int lane = 0; lane < code_lanes; ++lane) {
          c[lane] +=
              static_cast<double>(q[i * code_lanes + lane]) * static_cast<double>(own[i * code_lanes + lane]);
        }
      }
      T scale[code_lanes];
      for (int lane = 0; lane < code_lanes; ++lane) {
        if (l == k) c[lane] = std::sqrt(c[lane]);
        scale[lane] = static_cast<T>(l < k ? c[lane] : (c[lane] > 0 ? 1 / c[lane] : 0.0));
        coefficients(k, l, room)[lane] = c[lane];
      }
      for (Index i = 0; i < m_; ++i) {
        for (int lane = 0; lane < code_lanes; ++lane) {
          const Index at = i * code_lanes + lane;
          own[at] = l < k ? own[at] - scale[lane] * q[at] : own[at] * scale[lane];
        }
      }
      const T* xi = room.xi.data() + l * n_ * code_lanes;
      for (int lane = 0; lane < code_lanes; ++lane) scale[lane] = static_cast<T>(spread_ * c[lane]);
      for (Index i = 0; i < n_; ++i) {
        for (int lane = 0; lane < code_lanes; ++lane)
          g[i * code_lanes + lane] += scale[lane] * xi[i * code_lanes + lane];
      }
    }
  }

  void pull_noise(Index k, const double* p, T* by_r, Room& room) const {
    for (Index l = 0; l <= k; ++l) {
      const T* q = room.basis.data() + l * m_ * code_lanes;
      const T* xi = room.xi.data() + l * n_ * code_lanes;
      double along[code_lanes] = {};
      for (Index i = 0; i < n_; ++i) {
        for (int lane = 0; lane < code_lanes; ++lane)
          along[lane] += static_cast<double>(xi[i * code_lanes + lane]) * p[i * code_lanes + lane];
      }
      const double* c = coefficients(k, l, room);
      T scale[code_lanes];
      for (int lane = 0; lane < code_lanes; ++lane) {
        if (along[lane] != 0) room.d_spread += 0.5 * spread_ * c[lane] * along[lane];
        scale[lane] = static_cast<T>(spread_ * along[lane]);
      }
      for (Index i = 0; i < m_; ++i) {
        for (int lane = 0; lane < code_lanes; ++lane)
          by_r[i * code_lanes + lane] += scale[lane] * q[i * code_lanes + lane];
      }
    }
  }

  Index m_;
  Index n_;
  Columns<T> D_;
  Columns<T> W_;
  double spread_ = 0;  // sqrt(s) of W
};

}  // namespace

std::unique_ptr<LearnedOperator> make_tilista(SharedCodes codes, CodeNetworkOptions options) {
  if (options.precision == Precision::single)
    return std::make_unique<Tilista<float>>(std::move(codes), options);
  return std::make_unique<Tilista<double>>(std::move(codes), options);
}

}  // namespace surefoot::algorithms
