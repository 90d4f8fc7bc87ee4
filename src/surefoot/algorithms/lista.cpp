#include "surefoot/algorithms/lista.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"

namespace surefoot::algorithms {

namespace {

constexpr double ista_weight = 0.1;
constexpr double initial_shift = 0.001;

template <class T>
class Lista final : public CodeNetwork {
 public:
  Lista(SharedCodes samples, CodeNetworkOptions options)
      : CodeNetwork(std::move(samples), options), m_(codes().measurements()), n_(codes().variables()) {
    (void)checked_product("weights", checked_product("weights", steps(), n_), checked_sum("weights", n_, m_));
    layout_.blocks.push_back({"threshold", steps()});
    if (steps() > 1) layout_.blocks.push_back({"recurrence", (steps() - 1) * n_, n_});
    layout_.blocks.push_back({"observation", steps() * n_, m_});
    const auto K = static_cast<std::size_t>(steps());
    by_column_.assign(K - 1, Columns<T>(n_, n_));
    by_row_.assign(K - 1, Columns<T>(n_, n_));
    observation_.resize(static_cast<std::size_t>(steps() * n_ * m_));
    const InitialWeights begin = initial();
    assign(begin.mean, std::vector<double>(begin.mean.size(), 0.0));
  }
  [[nodiscard]] std::string_view name() const override { return "lista"; }
  [[nodiscard]] std::string_view sampling() const override { return "pre-activations"; }

  [[nodiscard]] InitialWeights initial() const override {
    const problems::Matrix& D = codes().D;
    const problems::Table gram = D.transpose() * D;
    const double L = problems::largest_eigenvalue(gram);
    const problems::Table recurrence = problems::Table::Identity(n_, n_) - gram / L;
    const problems::Table observation = D.transpose() / L;
    InitialWeights begin;
    begin.prior_mean.reserve(static_cast<std::size_t>(layout_.size()));
    begin.prior_mean.assign(static_cast<std::size_t>(steps()), ista_weight / L);
    for (Index k = 1; k < steps(); ++k)
      begin.prior_mean.insert(begin.prior_mean.end(), recurrence.data(),
                              recurrence.data() + recurrence.size());
    for (Index k = 0; k < steps(); ++k)
      begin.prior_mean.insert(begin.prior_mean.end(), observation.data(),
                              observation.data() + observation.size());
    begin.mean = begin.prior_mean;
    for (double& value : begin.mean) value += initial_shift;
    return begin;
  }

  void assign(std::span<const double> mean, std::span<const double> variance) override {
    check_weights(mean, variance);
    mean_.assign(mean.begin(), mean.begin() + steps());
    deviation_.resize(static_cast<std::size_t>(steps()));
    for (Index k = 0; k < steps(); ++k) deviation_[k] = std::sqrt(variance[k]);
    uniform_ = is_one_number(variance.subspan(steps(), recurrences() * n_ * n_)) &&
               is_one_number(variance.subspan(observation_offset()));
    recurrence_variance_ = recurrences() > 0 ? variance[steps()] : 0.0;
    observation_variance_ = variance[observation_offset()];
    noisy_ = !uniform_ || recurrence_variance_ > 0 || observation_variance_ > 0;
    if (!uniform_ && observation_variances_.empty()) {
      variance_by_column_.assign(by_column_.size(), Columns<T>(n_, n_));
      variance_by_row_.assign(by_row_.size(), Columns<T>(n_, n_));
      observation_variances_.resize(observation_.size());
    }
    parallel_blocks(steps(), [&](Index k) {
      copy_observation(mean, k, observation_);
      if (k > 0) copy_recurrence(mean, k, by_row_, by_column_);
      if (uniform_) return;
      copy_observation(variance, k, observation_variances_);
      if (k > 0) copy_recurrence(variance, k, variance_by_row_, variance_by_column_);
    });
  }

  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override {
    const auto lanes = static_cast<std::size_t>(n_ * code_lanes);
    const auto K = static_cast<std::size_t>(steps());
    auto room = std::make_unique<Room>();
    room->weight = LaneWeights(steps(), code_lanes);
    room->inputs = Nonzeros<T>(n_);
    room->adjoints = Nonzeros<T>(n_);
    room->b.resize(static_cast<std::size_t>(m_ * code_lanes));
    room->b_by_lane.resize(room->b.size());
    room->input_by_lane.resize(lanes);
    room->squares.resize(room->b.size());
    room->squares_by_lane.resize(room->b.size());
    room->activation.resize(K * lanes);
    room->xi.resize(K * lanes);
    room->deviation.resize(K * lanes);
    room->product.resize(lanes);
    room->point.resize(lanes);
    room->b_norm.resize(code_lanes);
    room->z_norm.resize(K * code_lanes);
    return room;
  }

  void load(Index first, Index count, Workspace& workspace) const override {
    check_block(first, count);
    auto& room = static_cast<Room&>(workspace);
    std::fill(room.b_by_lane.begin(), room.b_by_lane.end(), T(0));
    std::fill(room.squares_by_lane.begin(), room.squares_by_lane.end(), T(0));
    std::fill(room.b_norm.begin(), room.b_norm.end(), 0.0);
    for (Index lane = 0; lane < count; ++lane) {
      const double* source = codes().b.data() + (first + lane) * m_;
      double norm = 0;
      for (Index i = 0; i < m_; ++i) {
        const auto value = static_cast<T>(source[i]);
        room.b_by_lane[lane * m_ + i] = value;
        room.squares_by_lane[lane * m_ + i] = value * value;
        norm += source[i] * source[i];
      }
      room.b_norm[lane] = norm;
    }
    to_lanes(room.b_by_lane.data(), m_, room.b.data());
    to_lanes(room.squares_by_lane.data(), m_, room.squares.data());
  }

  void draw(const WeightDraw& draw, Workspace& workspace) const override {
    auto& room = static_cast<Room&>(workspace);
    room.weight.draw(draw, mean_.data(), deviation_.data());
    room.noisy = noisy_;
    room.seed = draw.seed;
    room.purpose = purpose_key(draw.purpose);
    room.first_draw = draw.first_draw;
  }

  void use_means(Workspace& workspace) const override {
    auto& room = static_cast<Room&>(workspace);
    room.weight.use_means(mean_.data());
    room.noisy = false;
  }

  void step(Index k, Batch z, Workspace& workspace, double* residual) const override {
    check_step(k);
    auto& room = static_cast<Room&>(workspace);
    T* a = room.activation.data() + k * n_ * code_lanes;
    multiply_dense(observation_.data() + k * n_ * m_, n_, m_, m_, room.b.data(), a);
    if (k > 0) {
      room.inputs.gather(z.data);
      multiply_nonzeros(by_column_[k - 1], room.inputs, room.product.data());
      for (Index i = 0; i < n_ * code_lanes; ++i) a[i] += room.product[i];
    }
    if (room.noisy) add_noise(k, z, a, room);
    const double* psi = room.weight[k];
    double squares[code_lanes] = {};
    for (Index i = 0; i < n_; ++i) {
      double* entry = z.row(i);
      const T* own = a + i * code_lanes;
      for (int lane = 0; lane < code_lanes; ++lane) {
        const double next = soft(static_cast<double>(own[lane]), psi[lane]);
        const double change = next - entry[lane];
        squares[lane] += change * change;
        entry[lane] = next;
      }
    }
    if (residual != nullptr) {
      for (int lane = 0; lane < code_lanes; ++lane) residual[lane] = std::sqrt(squares[lane]);
    }
  }

  // With a = W1 z + W2 b + v^(1/2) xi, v = S1 z^2 + S2 b^2, c = cotangent where |a| > psi, else 0, and e = c
  // xi / (2 v^(1/2)) = d v: d psi = -c'sign(a), d W1 = c z', d W2 = c b', d S1 = e (z^2)', d S2 = e (b^2)', d
  // z = W1'c + 2 z S1'e.
  void step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const override {
    auto& room = static_cast<Room&>(workspace);
    make_derivatives(room);
    const T* a = room.activation.data() + k * n_ * code_lanes;
    const double* psi = room.weight[k];
    double d_psi[code_lanes] = {};
    for (Index i = 0; i < n_; ++i) {
      double* c = cotangent.row(i);
      for (int lane = 0; lane < code_lanes; ++lane) {
        const auto own = static_cast<double>(a[i * code_lanes + lane]);
        const double kept = std::abs(own) > psi[lane] ? c[lane] : 0.0;
        c[lane] = kept;
        d_psi[lane] -= std::copysign(1.0, own) * kept;
      }
    }
    for (int lane = 0; lane < code_lanes; ++lane) room.weight.derivative(k)[lane] += d_psi[lane];
    if (room.noisy) {
      const T* xi = room.xi.data() + k * n_ * code_lanes;
      const T* deviation = room.deviation.data() + k * n_ * code_lanes;
      for (Index i = 0; i < n_ * code_lanes; ++i) {
        const double c = cotangent.data[i];
        room.point[i] = c == 0 || deviation[i] == 0
                            ? 0.0
                            : 0.5 * c * static_cast<double>(xi[i]) / static_cast<double>(deviation[i]);
      }
    }
    room.adjoints.gather(cotangent.data);
    add_outer_products(room.adjoints, room.b_by_lane.data(), m_, room.d_observation.data() + k * n_ * m_, m_);
    if (k > 0) {
      to_lane_major(z.data, n_, room.input_by_lane.data());
      add_outer_products(room.adjoints, room.input_by_lane.data(), n_,
                         room.d_recurrence.data() + (k - 1) * n_ * n_, n_);
      multiply_nonzeros(by_row_[k - 1], room.adjoints, room.product.data());
      for (Index i = 0; i < n_ * code_lanes; ++i) cotangent.data[i] = static_cast<double>(room.product[i]);
    } else {
      std::fill_n(cotangent.data, n_ * code_lanes, 0.0);
    }
    if (room.noisy) pull_noise(k, z, cotangent, room);
  }

  void collect(Workspace& workspace, std::span<double> d_mean,
               std::span<double> d_log_variance) const override {
    Workspace* const one[] = {&workspace};
    collect_all(one, d_mean, d_log_variance);
    for (std::size_t b = 1; b < layout_.blocks.size(); ++b) {
      const Index first = layout_.offset(b);
      collect_range(one, b, 0, layout_.blocks[b].size(), d_mean.data() + first,
                    d_log_variance.data() + first);
    }
  }

  [[nodiscard]] bool collects_in_ranges(std::size_t block) const override { return block > 0; }

  void collect_all(std::span<Workspace* const> workspaces, std::span<double> d_mean,
                   std::span<double> d_log_variance) const override {
    for (Workspace* workspace : workspaces) {
      auto& room = static_cast<Room&>(*workspace);
      room.weight.collect(d_mean.data(), d_log_variance.data());
      for (const bool observation : {false, true}) {
        const Index size = observation ? steps() * n_ * m_ : recurrences() * n_ * n_;
        room.d_share[observation] = size > 0 ? room.d_spread[observation] / static_cast<double>(size) : 0.0;
        room.d_spread[observation] = 0;
      }
    }
  }

  void collect_range(std::span<Workspace* const> workspaces, std::size_t block, Index begin, Index end,
                     double* d_mean, double* d_log_variance) const override {
    const bool observation = layout_.blocks[block].name == "observation";
    for (Workspace* workspace : workspaces) {
      auto& room = static_cast<Room&>(*workspace);
      if (room.d_observation.empty()) continue;
      T* d_weight = (observation ? room.d_observation : room.d_recurrence).data();
      for (Index i = begin; i < end; ++i) d_mean[i - begin] += static_cast<double>(d_weight[i]);
      std::fill(d_weight + begin, d_weight + end, T(0));
      if (const double share = room.d_share[observation]; share != 0) {
        for (Index i = begin; i < end; ++i) d_log_variance[i - begin] += share;
      }
      if (uniform_ || room.d_observation_variance.empty()) continue;
      // d log s = s d s, row by row: rows of variances may be apart.
      T* d_variance = (observation ? room.d_observation_variance : room.d_recurrence_variance).data();
      const Index cols = observation ? m_ : n_;
      for (Index i = begin; i < end;) {
        const Index row = i / cols;
        const Index last = std::min(end, (row + 1) * cols);
        const T* s = observation ? observation_variances_.data() + row * cols
                                 : variance_by_row_[static_cast<std::size_t>(row / n_)].column(row % n_);
        for (; i < last; ++i)
          d_log_variance[i - begin] +=
              static_cast<double>(d_variance[i]) * static_cast<double>(s[i - row * cols]);
      }
      std::fill(d_variance + begin, d_variance + end, T(0));
    }
  }

 private:
  struct Room final : Workspace {
    LaneWeights weight;
    Nonzeros<T> inputs;
    Nonzeros<T> adjoints;
    AlignedVector<T> b;                // m lanes
    AlignedVector<T> b_by_lane;        // lane-major
    AlignedVector<T> input_by_lane;    // z, or z^2, lane-major
    AlignedVector<T> squares;          // m lanes: b^2
    AlignedVector<T> squares_by_lane;  // lane-major
    AlignedVector<T> activation;       // K x n lanes: a
    AlignedVector<T> xi;               // K x n lanes
    AlignedVector<T> deviation;        // K x n lanes: v^(1/2)
    AlignedVector<T> product;          // n lanes
    AlignedVector<double> point;       // n lanes: e
    AlignedVector<double> b_norm;      // per lane: ||b||^2
    AlignedVector<double> z_norm;      // K lanes: ||z^k||^2
    AlignedVector<T> d_recurrence;
    AlignedVector<T> d_observation;
    AlignedVector<T> d_recurrence_variance;
    AlignedVector<T> d_observation_variance;
    double d_spread[2] = {0, 0};  // by the log variances of recurrence and observation, if one number each
    double d_share[2] = {0, 0};   // each weight's share of it, collected
    bool noisy = false;
    std::uint64_t seed = 0;
    std::uint64_t purpose = 0;
    std::uint64_t first_draw = 0;
  };

  [[nodiscard]] Index recurrences() const { return steps() - 1; }
  [[nodiscard]] Index observation_offset() const { return steps() + recurrences() * n_ * n_; }

  static bool is_one_number(std::span<const double> values) {
    return values.empty() || std::equal(values.begin() + 1, values.end(), values.begin());
  }

  void copy_observation(std::span<const double> weights, Index k, AlignedVector<T>& target) const {
    const double* source = weights.data() + observation_offset() + k * n_ * m_;
    T* own = target.data() + k * n_ * m_;
    for (Index i = 0; i < n_ * m_; ++i) own[i] = static_cast<T>(source[i]);
  }

  // W1_k by rows, and by columns in tiles that fit the cache.
  void copy_recurrence(std::span<const double> weights, Index k, std::vector<Columns<T>>& rows,
                       std::vector<Columns<T>>& columns) const {
    constexpr Index tile = 16;
    const double* source = weights.data() + steps() + (k - 1) * n_ * n_;
    for (Index i = 0; i < n_; ++i) {
      T* row = rows[k - 1].column(i);
      for (Index j = 0; j < n_; ++j) row[j] = static_cast<T>(source[i * n_ + j]);
    }
    for (Index i0 = 0; i0 < n_; i0 += tile) {
      for (Index j = 0; j < n_; ++j) {
        T* column = columns[k - 1].column(j);
        for (Index i = i0; i < std::min(n_, i0 + tile); ++i) column[i] = rows[k - 1].column(i)[j];
      }
    }
  }

  // Room for derivatives, which certification does not need; made at the first vjp.
  void make_derivatives(Room& room) const {
    if (room.d_observation.empty()) {
      room.d_observation.assign(static_cast<std::size_t>(steps() * n_ * m_), T(0));
      room.d_recurrence.assign(static_cast<std::size_t>(recurrences() * n_ * n_), T(0));
    }
    if (room.noisy && !uniform_ && room.d_observation_variance.empty()) {
      room.d_observation_variance.assign(room.d_observation.size(), T(0));
      room.d_recurrence_variance.assign(room.d_recurrence.size(), T(0));
    }
  }

  void add_noise(Index k, ConstBatch z, T* a, Room& room) const {
    T* xi = room.xi.data() + k * n_ * code_lanes;
    T* deviation = room.deviation.data() + k * n_ * code_lanes;
    for (int lane = 0; lane < code_lanes; ++lane) {
      fill_normals({room.seed, room.purpose, room.first_draw + static_cast<std::uint64_t>(lane),
                    static_cast<std::uint64_t>(k + 1)},
                   room.product.data() + lane * n_, n_);
    }
    to_lanes(room.product.data(), n_, xi);
    if (uniform_) {
      double* norm = room.z_norm.data() + k * code_lanes;
      std::fill_n(norm, code_lanes, 0.0);
      for (Index i = 0; i < n_; ++i) {
        for (int lane = 0; lane < code_lanes; ++lane) norm[lane] += z.row(i)[lane] * z.row(i)[lane];
      }
      T own[code_lanes];
      for (int lane = 0; lane < code_lanes; ++lane) {
        own[lane] = static_cast<T>(std::sqrt(recurrence_variance_ * (k > 0 ? norm[lane] : 0.0) +
                                             observation_variance_ * room.b_norm[lane]));
      }
      for (Index i = 0; i < n_; ++i) std::copy_n(own, code_lanes, deviation + i * code_lanes);
    } else {
      multiply_dense(observation_variances_.data() + k * n_ * m_, n_, m_, m_, room.squares.data(), deviation);
      if (k > 0) {
        room.inputs.square();
        multiply_nonzeros(variance_by_column_[k - 1], room.inputs, room.product.data());
        for (Index i = 0; i < n_ * code_lanes; ++i) deviation[i] += room.product[i];
      }
      for (Index i = 0; i < n_ * code_lanes; ++i) deviation[i] = std::sqrt(deviation[i]);
    }
    for (Index i = 0; i < n_ * code_lanes; ++i) a[i] += deviation[i] * xi[i];
  }

  // What flows through the deviations: to z, and to the variances.
  void pull_noise(Index k, ConstBatch z, Batch cotangent, Room& room) const {
    const double* e = room.point.data();
    if (uniform_) {
      double total[code_lanes] = {};
      for (Index i = 0; i < n_; ++i) {
        for (int lane = 0; lane < code_lanes; ++lane) total[lane] += e[i * code_lanes + lane];
      }
      for (int lane = 0; lane < code_lanes; ++lane) {
        if (total[lane] == 0) continue;
        if (k > 0)
          room.d_spread[0] += total[lane] * recurrence_variance_ * room.z_norm[k * code_lanes + lane];
        room.d_spread[1] += total[lane] * observation_variance_ * room.b_norm[lane];
        total[lane] *= 2 * recurrence_variance_;
      }
      if (k == 0) return;
      for (Index i = 0; i < n_; ++i) {
        for (int lane = 0; lane < code_lanes; ++lane) cotangent.row(i)[lane] += total[lane] * z.row(i)[lane];
      }
      return;
    }
    room.adjoints.gather(e);
    add_outer_products(room.adjoints, room.squares_by_lane.data(), m_,
                       room.d_observation_variance.data() + k * n_ * m_, m_);
    if (k == 0) return;
    for (T& value : room.input_by_lane) value *= value;
    add_outer_products(room.adjoints, room.input_by_lane.data(), n_,
                       room.d_recurrence_variance.data() + (k - 1) * n_ * n_, n_);
    multiply_nonzeros(variance_by_row_[k - 1], room.adjoints, room.product.data());
    for (Index i = 0; i < n_ * code_lanes; ++i)
      cotangent.data[i] += 2 * z.data[i] * static_cast<double>(room.product[i]);
  }

  Index m_;
  Index n_;
  std::vector<Columns<T>> by_column_;  // W1_k, k = 1 ..
  std::vector<Columns<T>> by_row_;
  AlignedVector<T> observation_;  // W2_k, n x m each
  std::vector<Columns<T>> variance_by_column_;
  std::vector<Columns<T>> variance_by_row_;
  AlignedVector<T> observation_variances_;
  double recurrence_variance_ = 0;
  double observation_variance_ = 0;
  bool uniform_ = true;
  bool noisy_ = false;
};

}  // namespace

std::vector<double> lista_from_alista(const problems::Matrix& D, std::span<const double> step,
                                      std::span<const double> threshold) {
  require(!step.empty() && step.size() == threshold.size(), "alista: {} step sizes and {} thresholds",
          step.size(), threshold.size());
  const problems::Matrix W = analytic_weights(D);
  const problems::Table gram = W.transpose() * D;
  const problems::Table transposed = W.transpose();
  std::vector<double> weights(threshold.begin(), threshold.end());
  for (std::size_t k = 1; k < step.size(); ++k) {
    const problems::Table recurrence = problems::Table::Identity(D.cols(), D.cols()) - step[k] * gram;
    weights.insert(weights.end(), recurrence.data(), recurrence.data() + recurrence.size());
  }
  for (const double gamma : step) {
    const problems::Table observation = gamma * transposed;
    weights.insert(weights.end(), observation.data(), observation.data() + observation.size());
  }
  return weights;
}

std::unique_ptr<LearnedOperator> make_lista(SharedCodes codes, CodeNetworkOptions options) {
  if (options.precision == Precision::single)
    return std::make_unique<Lista<float>>(std::move(codes), options);
  return std::make_unique<Lista<double>>(std::move(codes), options);
}

}  // namespace surefoot::algorithms
