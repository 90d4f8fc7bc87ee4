#include "surefoot/algorithms/maml.hpp"

#include "surefoot/algorithms/lane_weights.hpp"
#include "surefoot/algorithms/lanes.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace surefoot::algorithms {

void MamlOptions::validate() const {
  require(hidden >= 1, "hidden: {} is below 1", hidden);
  require(std::isfinite(step) && step >= 0, "step: is {}, must be >= 0", step);
  require(std::isfinite(initial_deviation) && initial_deviation >= 0,
          "initial_deviation: is {}, must be >= 0", initial_deviation);
}

namespace {

/// One number of every lane: a vector register.
template <class T>
struct Pack {
  static constexpr int lanes = 32 / static_cast<int>(sizeof(T));
  typedef T V __attribute__((vector_size(32)));
  V v;
  /// Four lanes at a time in double precision, as they lie in a state.
  static constexpr int parts = lanes / 4;
  typedef T Four __attribute__((vector_size(4 * sizeof(T)), may_alias));
  [[nodiscard]] Vec4 part(int i) const {
    return __builtin_convertvector(reinterpret_cast<const Four*>(&v)[i], Vec4);
  }
  void set_part(int i, const Vec4& value) {
    reinterpret_cast<Four*>(&v)[i] = __builtin_convertvector(value, Four);
  }
};
template <class T>
using Packs = std::vector<Pack<T>, Eigen::aligned_allocator<Pack<T>>>;

/// Points that go through the network together: as many sums as there are registers for.
constexpr Index points = 10;  // even

/// y_i = last(i, p, first(i, p) + sum_j M(i, j) x(j, p)) for all rows i and points p; entry (i, j) of M lies
/// at M[i * row_stride + j * column_stride], x is columns x points.
template <class T, class First, class Last>
[[gnu::always_inline]] inline void product(const Pack<T>* M, Index row_stride, Index column_stride,
                                           Index rows, Index columns, const Pack<T>* x, const First& first,
                                           const Last& last) {
  using V = typename Pack<T>::V;
  Index i = 0;
  // Two rows and half of the points: every number that is loaded serves twice or more.
  constexpr Index half = points / 2;
  for (; i + 2 <= rows; i += 2) {
    for (Index from = 0; from < points; from += half) {
      V sum[2][half];
      for (Index p = 0; p < half; ++p) {
        sum[0][p] = first(i, from + p);
        sum[1][p] = first(i + 1, from + p);
      }
      const Pack<T>* upper = M + i * row_stride;
      const Pack<T>* lower = upper + row_stride;
      for (Index j = 0; j < columns; ++j) {
        const V factor[2] = {upper[j * column_stride].v, lower[j * column_stride].v};
        const Pack<T>* entry = x + j * points + from;
#pragma GCC unroll 5
        for (Index p = 0; p < half; ++p) {
          sum[0][p] += factor[0] * entry[p].v;
          sum[1][p] += factor[1] * entry[p].v;
        }
      }
      for (Index p = 0; p < half; ++p) {
        last(i, from + p, sum[0][p]);
        last(i + 1, from + p, sum[1][p]);
      }
    }
  }
  for (; i < rows; ++i) {
    V sum[points];
    for (Index p = 0; p < points; ++p) sum[p] = first(i, p);
    const Pack<T>* row = M + i * row_stride;
    for (Index j = 0; j < columns; ++j) {
      const V factor = row[j * column_stride].v;
      const Pack<T>* from = x + j * points;
#pragma GCC unroll 10
      for (Index p = 0; p < points; ++p) sum[p] += factor * from[p].v;
    }
    for (Index p = 0; p < points; ++p) last(i, p, sum[p]);
  }
}

/// G(i, j) += sum_p a(i, p) b(j, p), G rows x columns.
template <class T>
[[gnu::always_inline]] inline void add_outer(const Pack<T>* a, Index rows, const Pack<T>* b, Index columns,
                                             Pack<T>* G) {
  using V = typename Pack<T>::V;
  constexpr Index part = 4;
  for (Index i = 0; i < rows; ++i) {
    V own[points];
    for (Index p = 0; p < points; ++p) own[p] = a[i * points + p].v;
    Pack<T>* row = G + i * columns;
    Index j = 0;
    for (; j + part <= columns; j += part) {
      V sum[part];
      for (Index q = 0; q < part; ++q) sum[q] = row[j + q].v;
#pragma GCC unroll 10
      for (Index p = 0; p < points; ++p) {
        for (Index q = 0; q < part; ++q) sum[q] += own[p] * b[(j + q) * points + p].v;
      }
      for (Index q = 0; q < part; ++q) row[j + q].v = sum[q];
    }
    for (; j < columns; ++j) {
      V sum = row[j].v;
      for (Index p = 0; p < points; ++p) sum += own[p] * b[j * points + p].v;
      row[j].v = sum;
    }
  }
}

template <class T>
class Maml final : public LearnedOperator {
 public:
  using P = Pack<T>;
  using V = typename P::V;
  static constexpr int lanes = P::lanes;

  Maml(std::shared_ptr<const problems::RegressionTasks> tasks, MamlOptions options)
      : tasks_(std::move(tasks)), options_(options), H_(options.hidden) {
    require(tasks_ != nullptr, "tasks: there are none");
    options_.validate();
    tasks_->validate();
    layout_.blocks = {{"weight0", H_}, {"bias0", H_},      {"weight1", H_, H_},
                      {"bias1", H_},   {"weight2", 1, H_}, {"bias2", 1}};
    size_ = layout_.size();
    mean_.assign(static_cast<std::size_t>(size_), 0.0);
    deviation_ = mean_;
  }

  [[nodiscard]] std::string_view name() const override { return "maml"; }
  [[nodiscard]] Index instances() const override { return tasks_->instances(); }
  [[nodiscard]] Index state_size() const override { return size_; }
  [[nodiscard]] Index primal_size() const override { return size_; }
  [[nodiscard]] Index width() const override { return lanes; }
  [[nodiscard]] const WeightLayout& weights() const override { return layout_; }

  [[nodiscard]] InitialWeights initial() const override {
    InitialWeights begin = LearnedOperator::initial();
    RandomStream random(options_.seed, "maml: initial means", 0);
    const bool by_inputs = options_.initial_deviation == 0;
    std::size_t at = 0;
    for (const WeightBlock& block : layout_.blocks) {
      const bool bias = block.name.starts_with("bias");
      const Index inputs = block.name == "weight0" ? 1 : H_;
      const double deviation =
          by_inputs ? (bias ? 0.0 : std::sqrt(2 / static_cast<double>(inputs))) : options_.initial_deviation;
      for (Index i = 0; i < block.size(); ++i) begin.mean[at++] = deviation * random.normal();
    }
    return begin;
  }

  void assign(std::span<const double> mean, std::span<const double> variance) override {
    require(mean.size() == mean_.size() && variance.size() == mean_.size(),
            "maml: {} means and {} variances for {} weights", mean.size(), variance.size(), mean_.size());
    for (const double s : variance) require(s >= 0, "maml: a variance is {}", s);
    mean_.assign(mean.begin(), mean.end());
    std::transform(variance.begin(), variance.end(), deviation_.begin(),
                   [](double s) { return std::sqrt(s); });
  }

  [[nodiscard]] std::unique_ptr<Workspace> make_workspace() const override {
    auto room = std::make_unique<Room>();
    room->meta = LaneWeights(size_, lanes);
    for (Points* set : {&room->train, &room->test}) {
      const auto& inputs = set == &room->train ? tasks_->train_inputs : tasks_->test_inputs;
      set->count = inputs.cols();
      set->chunks = (set->count + points - 1) / points;
      set->input.resize(static_cast<std::size_t>(set->chunks * points), P{});
      set->output = set->input;
    }
    for (Packs<T>* vector : {&room->theta, &room->gradient, &room->direction, &room->curvature})
      vector->resize(static_cast<std::size_t>(size_));
    for (Packs<T>* layer :
         {&room->h1, &room->h2, &room->d1, &room->d2, &room->Rh1, &room->Rh2, &room->Rd1, &room->Rd2})
      layer->resize(static_cast<std::size_t>(H_ * points));
    return room;
  }

  void load(Index first, Index count, Workspace& workspace) const override {
    require(first >= 0 && count >= 1 && count <= lanes && first + count <= instances(),
            "instances: {} from {} on, must lie in 0 .. {} and fit {} lanes", count, first, instances() - 1,
            static_cast<int>(lanes));
    auto& room = static_cast<Room&>(workspace);
    for (int lane = 0; lane < lanes; ++lane) {
      const Index task = first + std::min<Index>(lane, count - 1);
      const auto fill = [&](Points& set, const problems::Table& inputs, const problems::Table& outputs) {
        for (Index i = 0; i < set.count; ++i) {
          set.input[static_cast<std::size_t>(i)].v[lane] = static_cast<T>(inputs(task, i));
          set.output[static_cast<std::size_t>(i)].v[lane] = static_cast<T>(outputs(task, i));
        }
      };
      fill(room.train, tasks_->train_inputs, tasks_->train_outputs);
      fill(room.test, tasks_->test_inputs, tasks_->test_outputs);
    }
  }

  void draw(const WeightDraw& draw, Workspace& workspace) const override {
    static_cast<Room&>(workspace).meta.draw(draw, mean_.data(), deviation_.data());
  }
  void use_means(Workspace& workspace) const override {
    static_cast<Room&>(workspace).meta.use_means(mean_.data());
  }

  void start(Batch z, Workspace& workspace) const override {
    std::copy_n(static_cast<Room&>(workspace).meta[0], size_ * lanes, z.data);
  }
  void start_vjp(ConstBatch cotangent, Workspace& workspace) const override {
    // A diverged task has no derivative; the others go on.
    double* derivative = static_cast<Room&>(workspace).meta.derivative(0);
    for (Index i = 0; i < size_ * lanes; ++i)
      derivative[i] += std::isfinite(cotangent.data[i]) ? cotangent.data[i] : 0.0;
  }
  void collect(Workspace& workspace, std::span<double> d_mean,
               std::span<double> d_log_variance) const override {
    static_cast<Room&>(workspace).meta.collect(d_mean.data(), d_log_variance.data());
  }

  void step(Index /*k*/, Batch z, Workspace& workspace, double* residual) const override {
    auto& room = static_cast<Room&>(workspace);
    Vec4 squares[P::parts] = {};
    if (options_.step > 0) {
      to_packs(z, room.theta);
      loss_gradient(room, room.train);
      for (Index i = 0; i < size_; ++i) {
        for (int part = 0; part < P::parts; ++part) {
          const Vec4 change = options_.step * room.gradient[i].part(part);
          place(z.row(i), part) -= change;
          squares[part] += change * change;
        }
      }
    }
    if (residual == nullptr) return;
    for (int lane = 0; lane < lanes; ++lane) residual[lane] = std::sqrt(squares[lane / 4][lane % 4]);
  }

  void step_vjp(Index /*k*/, ConstBatch z, Batch cotangent, Workspace& workspace) const override {
    if (options_.step == 0) return;
    auto& room = static_cast<Room&>(workspace);
    to_packs(z, room.theta);
    to_packs(cotangent, room.direction);
    hessian_product(room, room.train);
    for (Index i = 0; i < size_; ++i) {
      for (int part = 0; part < P::parts; ++part)
        place(cotangent.row(i), part) -= options_.step * room.curvature[i].part(part);
    }
  }

  [[nodiscard]] bool knows(Quantity quantity) const override {
    return quantity == Quantity::objective || quantity == Quantity::largest_error;
  }
  void measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const override {
    if (!knows(quantity)) Operator::measure(quantity, k, z, workspace, value);
    auto& room = static_cast<Room&>(workspace);
    to_packs(z, room.theta);
    V sum{};
    V largest{};
    for (Index chunk = 0; chunk < room.test.chunks; ++chunk) {
      V error[points];
      forward(room, room.test, chunk, error);
      for (Index p = 0; p < points; ++p) {
        sum += error[p] * error[p];
        const V size = error[p] < 0 ? -error[p] : error[p];
        largest = size <= largest ? largest : size;  // NaN comes through
      }
    }
    for (int lane = 0; lane < lanes; ++lane) {
      value[lane] = quantity == Quantity::objective
                        ? static_cast<double>(sum[lane]) / static_cast<double>(room.test.count)
                        : static_cast<double>(largest[lane] + T(0) * sum[lane]);
    }
  }
  void measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value, Batch cotangent,
                   Workspace& workspace) const override {
    if (quantity != Quantity::objective)
      DifferentiableStep::measure_vjp(quantity, k, z, d_value, cotangent, workspace);
    auto& room = static_cast<Room&>(workspace);
    to_packs(z, room.theta);
    loss_gradient(room, room.test);
    for (int part = 0; part < P::parts; ++part) {
      const Vec4 factor = *reinterpret_cast<const Vec4Place*>(d_value + 4 * part);
      for (Index i = 0; i < size_; ++i) {
        const Vec4 added = factor * room.gradient[i].part(part);
        place(cotangent.row(i), part) += factor != 0 ? added : Vec4{};  // a diverged lane may be left out
      }
    }
  }

 private:
  struct Points {
    Index count = 0;
    Index chunks = 0;
    Packs<T> input;  // filled up to whole chunks
    Packs<T> output;
  };
  struct Room final : Workspace {
    LaneWeights meta;
    Points train;
    Points test;
    Packs<T> theta;               // the network's weights
    Packs<T> gradient;            // of a loss
    Packs<T> direction;           // that the Hessian is applied to
    Packs<T> curvature;           // the product
    Packs<T> h1, h2;              // H x points: layers after relu
    Packs<T> d1, d2;              // derivatives of the loss by them before relu
    Packs<T> Rh1, Rh2, Rd1, Rd2;  // how these change along the direction
  };

  /// Where the parts of a vector of weights begin.
  template <class Pointer>
  struct Parts {
    Parts(Pointer all, Index H) : w1(all), b1(w1 + H), w2(b1 + H), b2(w2 + H * H), w3(b2 + H), b3(w3 + H) {}
    Pointer w1, b1, w2, b2, w3, b3;
  };
  using Weights = Parts<const P*>;
  using Sums = Parts<P*>;

  void to_packs(ConstBatch z, Packs<T>& packs) const {
    for (Index i = 0; i < size_; ++i) {
      for (int part = 0; part < P::parts; ++part)
        packs[static_cast<std::size_t>(i)].set_part(part,
                                                    *reinterpret_cast<const Vec4Place*>(z.row(i) + 4 * part));
    }
  }
  static Vec4Place& place(double* row, int part) { return *reinterpret_cast<Vec4Place*>(row + 4 * part); }

  static V relu(V value) { return value <= 0 ? V{} : value; }  // NaN stays
  static V masked(V value, V layer) { return layer > 0 ? value : V{}; }

  /// Layers and errors g(a) - y of one chunk of points; 0 where the chunk is filled up.
  void forward(Room& room, const Points& set, Index chunk, V* error) const {
    const Weights w(room.theta.data(), H_);
    const P* x = set.input.data() + chunk * points;
    P* h1 = room.h1.data();
    P* h2 = room.h2.data();
    for (Index i = 0; i < H_; ++i) {
      for (Index p = 0; p < points; ++p) h1[i * points + p].v = relu(w.w1[i].v * x[p].v + w.b1[i].v);
    }
    product<T>(
        w.w2, H_, 1, H_, H_, h1, [&](Index i, Index) __attribute__((always_inline)) { return w.b2[i].v; },
        [&](Index i, Index p, V sum) __attribute__((always_inline)) { h2[i * points + p].v = relu(sum); });
    product<T>(
        w.w3, H_, 1, 1, H_, h2, [&](Index, Index) __attribute__((always_inline)) { return w.b3->v; },
        [&](Index, Index p, V sum) __attribute__((always_inline)) {
          const Index at = chunk * points + p;
          error[p] = at < set.count ? sum - set.output[static_cast<std::size_t>(at)].v : V{};
        });
  }

  /// d2 = relu'(.) w3 r and d1 = relu'(.) W2' d2.
  void backward(Room& room, const V* r) const {
    const Weights w(room.theta.data(), H_);
    P* d2 = room.d2.data();
    P* d1 = room.d1.data();
    const P* h1 = room.h1.data();
    for (Index i = 0; i < H_; ++i) {
      for (Index p = 0; p < points; ++p)
        d2[i * points + p].v = masked(w.w3[i].v * r[p], room.h2[static_cast<std::size_t>(i * points + p)].v);
    }
    product<T>(
        w.w2, 1, H_, H_, H_, d2, [](Index, Index) __attribute__((always_inline)) { return V{}; },
        [&](Index j, Index p, V sum)
            __attribute__((always_inline)) { d1[j * points + p].v = masked(sum, h1[j * points + p].v); });
  }

  /// gradient = the derivative of mean_i error_i^2 over the set.
  void loss_gradient(Room& room, const Points& set) const {
    std::fill(room.gradient.begin(), room.gradient.end(), P{});
    const Sums g(room.gradient.data(), H_);
    const T factor = T(2) / static_cast<T>(set.count);
    for (Index chunk = 0; chunk < set.chunks; ++chunk) {
      V r[points];
      forward(room, set, chunk, r);
      for (V& value : r) value *= factor;
      backward(room, r);
      const P* x = set.input.data() + chunk * points;
      add_outer<T>(room.d2.data(), H_, room.h1.data(), H_, g.w2);
      for (Index i = 0; i < H_; ++i) {
        V sums[4] = {g.w1[i].v, g.b1[i].v, g.b2[i].v, g.w3[i].v};
        for (Index p = 0; p < points; ++p) {
          const auto at = static_cast<std::size_t>(i * points + p);
          sums[0] += room.d1[at].v * x[p].v;
          sums[1] += room.d1[at].v;
          sums[2] += room.d2[at].v;
          sums[3] += r[p] * room.h2[at].v;
        }
        g.w1[i].v = sums[0];
        g.b1[i].v = sums[1];
        g.b2[i].v = sums[2];
        g.w3[i].v = sums[3];
      }
      for (const V& value : r) g.b3->v += value;
    }
  }

  /// curvature = Hessian of mean_i error_i^2 times direction: how the gradient changes along it. relu is
  /// linear almost everywhere, so only products of weights bend.
  void hessian_product(Room& room, const Points& set) const {
    std::fill(room.curvature.begin(), room.curvature.end(), P{});
    const Weights w(room.theta.data(), H_);
    const Weights v(room.direction.data(), H_);
    const Sums R(room.curvature.data(), H_);
    P* h1 = room.h1.data();
    P* h2 = room.h2.data();
    P* d2 = room.d2.data();
    P* Rh1 = room.Rh1.data();
    P* Rh2 = room.Rh2.data();
    P* Rd1 = room.Rd1.data();
    P* Rd2 = room.Rd2.data();
    const T factor = T(2) / static_cast<T>(set.count);
    for (Index chunk = 0; chunk < set.chunks; ++chunk) {
      V r[points];
      forward(room, set, chunk, r);
      for (V& value : r) value *= factor;
      backward(room, r);
      const P* x = set.input.data() + chunk * points;
      for (Index i = 0; i < H_; ++i) {
        for (Index p = 0; p < points; ++p)
          Rh1[i * points + p].v = masked(v.w1[i].v * x[p].v + v.b1[i].v, h1[i * points + p].v);
      }
      product<T>(
          v.w2, H_, 1, H_, H_, h1, [&](Index i, Index) __attribute__((always_inline)) { return v.b2[i].v; },
          [&](Index i, Index p, V sum) __attribute__((always_inline)) { Rh2[i * points + p].v = sum; });
      product<T>(
          w.w2, H_, 1, H_, H_,
          Rh1, [&](Index i, Index p) __attribute__((always_inline)) { return Rh2[i * points + p].v; },
          [&](Index i, Index p, V sum)
              __attribute__((always_inline)) { Rh2[i * points + p].v = masked(sum, h2[i * points + p].v); });
      V Rr[points];
      for (Index p = 0; p < points; ++p) {
        V sum = v.b3->v;
        for (Index i = 0; i < H_; ++i)
          sum += v.w3[i].v * h2[i * points + p].v + w.w3[i].v * Rh2[i * points + p].v;
        Rr[p] = chunk * points + p < set.count ? factor * sum : V{};
      }
      for (Index i = 0; i < H_; ++i) {
        for (Index p = 0; p < points; ++p)
          Rd2[i * points + p].v = masked(v.w3[i].v * r[p] + w.w3[i].v * Rr[p], h2[i * points + p].v);
      }
      product<T>(
          v.w2, 1, H_, H_, H_, d2, [](Index, Index) __attribute__((always_inline)) { return V{}; },
          [&](Index j, Index p, V sum) __attribute__((always_inline)) { Rd1[j * points + p].v = sum; });
      product<T>(
          w.w2, 1, H_, H_, H_,
          Rd2, [&](Index j, Index p) __attribute__((always_inline)) { return Rd1[j * points + p].v; },
          [&](Index j, Index p, V sum)
              __attribute__((always_inline)) { Rd1[j * points + p].v = masked(sum, h1[j * points + p].v); });
      add_outer<T>(Rd2, H_, h1, H_, R.w2);
      add_outer<T>(d2, H_, Rh1, H_, R.w2);
      for (Index i = 0; i < H_; ++i) {
        V sums[4] = {R.w1[i].v, R.b1[i].v, R.b2[i].v, R.w3[i].v};
        for (Index p = 0; p < points; ++p) {
          const Index at = i * points + p;
          sums[0] += Rd1[at].v * x[p].v;
          sums[1] += Rd1[at].v;
          sums[2] += Rd2[at].v;
          sums[3] += Rr[p] * h2[at].v + r[p] * Rh2[at].v;
        }
        R.w1[i].v = sums[0];
        R.b1[i].v = sums[1];
        R.b2[i].v = sums[2];
        R.w3[i].v = sums[3];
      }
      for (const V& value : Rr) R.b3->v += value;
    }
  }

  std::shared_ptr<const problems::RegressionTasks> tasks_;
  MamlOptions options_;
  Index H_;
  Index size_ = 0;
  WeightLayout layout_;
  std::vector<double> mean_;
  std::vector<double> deviation_;
};

}  // namespace

std::unique_ptr<LearnedOperator> make_maml(std::shared_ptr<const problems::RegressionTasks> tasks,
                                           MamlOptions options) {
  if (options.precision == Precision::single) return std::make_unique<Maml<float>>(std::move(tasks), options);
  return std::make_unique<Maml<double>>(std::move(tasks), options);
}

problems::Vector maml_curve(const problems::Vector& z, const problems::Vector& inputs) {
  // H^2 + 4H + 1 numbers.
  const auto H = static_cast<Index>(std::llround(std::sqrt(static_cast<double>(z.size() + 3)) - 2));
  require(H >= 1 && H * H + 4 * H + 1 == z.size(), "z: {} numbers are no network 1-H-H-1", z.size());
  problems::Vector outputs(inputs.size());
  for (Index i = 0; i < inputs.size(); ++i) {
    const problems::Vector h1 = (z.head(H) * inputs[i] + z.segment(H, H)).cwiseMax(0.0);
    const Eigen::Map<const problems::Table> w2(z.data() + 2 * H, H, H);
    const problems::Vector h2 = (w2 * h1 + z.segment(2 * H + H * H, H)).cwiseMax(0.0);
    outputs[i] = z.segment(3 * H + H * H, H).dot(h2) + z[z.size() - 1];
  }
  return outputs;
}

}  // namespace surefoot::algorithms
