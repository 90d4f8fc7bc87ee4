#include "surefoot/algorithms/maml.hpp"

#include "surefoot/algorithms/detail/registers.hpp"
#include "surefoot/algorithms/detail/relu_switches.hpp"
#include "surefoot/algorithms/detail/sorted_points.hpp"
#include "surefoot/core/detail/vector_math.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>
#include <vector>

namespace surefoot::algorithms {

void MamlOptions::validate() const {
  require(hidden >= 1, "hidden: {} is below 1", hidden);
  require(std::isfinite(step) && step >= 0, "step: is {}, must be >= 0", step);
  require(std::isfinite(initial_deviation) && initial_deviation >= 0,
          "initial_deviation: is {}, must be >= 0", initial_deviation);
}

namespace {

/// A task at a time, the units of the second layer in the lanes of vector registers. The input is a number,
/// so unit j of the first layer, relu(w_j x + b_j), works on the first or on the last of the sorted points,
/// and
///   what goes into unit i of the second layer = x sum_j W_ji w_j + sum_j W_ji b_j + b_i, j over those that
///   work,
/// changes its two sums only where a unit switches. Backwards likewise: with d_i(x) the derivative by what
/// goes into unit i,
///   dL/dW_ji = w_j sum_x x d_i(x) + b_j sum_x d_i(x), x over the points that unit j works on,
/// and the derivatives by w_j and b_j are products of the same sums with W_j. How all this changes along a
/// direction, for products with the Hessian, has the same form.
template <class T>
class Maml final : public LearnedOperator {
 public:
  using V = typename Register<T>::V;
  static constexpr Index lanes = Register<T>::lanes;

  Maml(std::shared_ptr<const problems::RegressionTasks> tasks, MamlOptions options)
      : tasks_(checked(std::move(tasks))),
        options_(options),
        H_(options.hidden),
        train_(tasks_->train_inputs, tasks_->train_outputs),
        test_(tasks_->test_inputs, tasks_->test_outputs) {
    options_.validate();
    layout_.blocks = {{"weight0", H_}, {"bias0", H_},      {"weight1", H_, H_},
                      {"bias1", H_},   {"weight2", 1, H_}, {"bias2", 1}};
    size_ = layout_.size();
    mean_.assign(static_cast<std::size_t>(size_), 0.0);
    deviation_ = mean_;
  }

  [[nodiscard]] std::string_view name() const override { return "maml"; }
  [[nodiscard]] Settings settings() const override {
    return {{"solver", "maml"},
            {"settings", Settings{{"hidden", options_.hidden},
                                  {"step", options_.step},
                                  {"precision", std::string(to_string(options_.precision))}}}};
  }
  [[nodiscard]] Index instances() const override { return tasks_->instances(); }
  [[nodiscard]] Index state_size() const override { return size_; }
  [[nodiscard]] Index primal_size() const override { return size_; }
  [[nodiscard]] Index width() const override { return 1; }
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
    const auto size = static_cast<std::size_t>(size_);
    room->xi.assign(size, T(0));
    room->d_mean.assign(size, 0.0);
    room->d_log_variance.assign(size, 0.0);
    room->direction = packed_weights();
    room->derivative = packed_weights();
    const Index points = std::max(train_.count, test_.count);
    for (Layer* layer : {&room->layer, &room->change}) {
      layer->h2 = RegisterRows<T>(points, H_);
      layer->out = RegisterRows<T>((points + lanes - 1) / lanes * lanes, lanes);
      layer->error = RegisterRows<T>(1, points);
      layer->sums = RegisterRows<T>(H_ + 2, H_);
      layer->input_sums = RegisterRows<T>(H_ + 2, H_);
    }
    room->by_weight = RegisterRows<T>((H_ + lanes - 1) / lanes * lanes, lanes);
    room->by_bias = room->by_weight;
    room->test_switches = switches_of(test_.count);
    room->known.push_back({packed_weights(), false, false, switches_of(train_.count)});
    return room;
  }

  void load(Index first, Index count, Workspace& workspace) const override {
    require(first >= 0 && count == 1 && first < instances(),
            "instances: {} from {} on, must be one of 0 .. {}", count, first, instances() - 1);
    auto& room = static_cast<Room&>(workspace);
    room.task = first;
    room.chained = false;
    forget(room);
  }
  void prepare_vjps(Workspace& workspace) const override { static_cast<Room&>(workspace).chained = true; }

  void draw(const WeightDraw& draw, Workspace& workspace) const override {
    auto& room = static_cast<Room&>(workspace);
    fill_normals({draw.seed, purpose_key(draw.purpose), draw.first_draw, 0}, room.xi.data(), size_);
    room.drawn = true;
  }
  void use_means(Workspace& workspace) const override { static_cast<Room&>(workspace).drawn = false; }

  void start(Batch z, Workspace& workspace) const override {
    auto& room = static_cast<Room&>(workspace);
    forget(room);
    if (!room.drawn) {
      std::copy_n(mean_.data(), size_, z.data);
      return;
    }
    for (Index i = 0; i < size_; ++i) z.data[i] = mean_[i] + deviation_[i] * static_cast<double>(room.xi[i]);
  }
  void start_vjp(ConstBatch cotangent, Workspace& workspace) const override {
    auto& room = static_cast<Room&>(workspace);
    double* d_mean = room.d_mean.data();
    double* d_log_variance = room.d_log_variance.data();
    // A diverged task has no derivative; the others go on.
    const auto part = [&](Index i) { return std::isfinite(cotangent.data[i]) ? cotangent.data[i] : 0.0; };
    for (Index i = 0; i < size_; ++i) d_mean[i] += part(i);
    room.directed = false;  // the next cotangent is another
    if (!room.drawn) return;
    for (Index i = 0; i < size_; ++i)  // theta = w + exp(zeta / 2) xi
      d_log_variance[i] += 0.5 * part(i) * (deviation_[i] * static_cast<double>(room.xi[i]));
  }
  void collect(Workspace& workspace, std::span<double> d_mean,
               std::span<double> d_log_variance) const override {
    auto& room = static_cast<Room&>(workspace);
    for (Index i = 0; i < size_; ++i) {
      d_mean[i] += room.d_mean[i];
      d_log_variance[i] += room.d_log_variance[i];
    }
    std::fill(room.d_mean.begin(), room.d_mean.end(), 0.0);
    std::fill(room.d_log_variance.begin(), room.d_log_variance.end(), 0.0);
  }

  void step(Index k, Batch z, Workspace& workspace, double* residual) const override {
    step_to(k, z, z, workspace);
    if (residual == nullptr) return;
    *residual = 0;
    if (options_.step == 0) return;
    auto& room = static_cast<Room&>(workspace);
    V squares[4] = {};
    for (Index i = 0; i < room.derivative.size(); i += 4 * lanes) {
      for (int part = 0; part < 4; ++part) {
        const V numbers = fetch(std::as_const(room.derivative)[0] + i + part * lanes);
        squares[part] += numbers * numbers;
      }
    }
    const T sum = sum_of<T>((squares[0] + squares[1]) + (squares[2] + squares[3]));
    *residual = options_.step * std::sqrt(static_cast<double>(sum));
  }
  void step_to(Index k, ConstBatch before, Batch after, Workspace& workspace) const override {
    auto& room = static_cast<Room&>(workspace);
    if (options_.step == 0) {
      if (before.data != after.data) std::copy_n(before.data, size_, after.data);
      return;
    }
    take_weights(k, before, room);
    room.measured = none;
    Switches& switches = train_switches(room);
    forward<false, true>(room, train_, switches);
    backward<false>(room, train_, switches);
    if (room.chained) {
      Known& next = known_after(k + 1, room);
      add_derivative(-options_.step, room, before.data, after.data, &next.theta);
      next.packed = true;
      next.switched = false;
    } else {
      add_derivative(-options_.step, room, before.data, after.data, nullptr);
    }
  }

  void step_vjp(Index k, ConstBatch z, Batch cotangent, Workspace& workspace) const override {
    if (options_.step == 0) return;
    auto& room = static_cast<Room&>(workspace);
    take_weights(k, z, room);
    room.measured = none;
    if (!room.chained || !room.directed) pack(cotangent, room.direction);
    Switches& switches = train_switches(room);
    forward<true, true>(room, train_, switches);
    backward<true>(room, train_, switches);
    add_derivative(-options_.step, room, cotangent.data, cotangent.data,
                   room.chained ? &room.direction : nullptr);
    room.directed = room.chained;
  }

  [[nodiscard]] bool knows(Quantity quantity) const override {
    return quantity == Quantity::objective || quantity == Quantity::largest_error;
  }
  void measure(Quantity quantity, Index k, ConstBatch z, Workspace& workspace, double* value) const override {
    if (!knows(quantity)) Operator::measure(quantity, k, z, workspace, value);
    auto& room = static_cast<Room&>(workspace);
    take_weights(k, z, room);
    find_switches(room, test_, room.test_switches);
    if (room.chained) {
      forward<false, true>(room, test_, room.test_switches);
      room.measured = k;
    } else {
      forward<false, false>(room, test_, room.test_switches);
    }
    const T* error = room.layer.error[0];
    V sums{};
    V sizes{};
    Index p = 0;
    for (; p + lanes <= test_.count; p += lanes) {
      const V own = fetch(error + p);
      sums += own * own;
      sizes = larger<T>(sizes, own);
      sizes = larger<T>(sizes, -own);
    }
    T sum = sum_of<T>(sums);
    T largest = 0;
    for (Index lane = 0; lane < lanes; ++lane) largest = std::max(largest, sizes[lane]);
    for (; p < test_.count; ++p) {
      sum += error[p] * error[p];
      largest = std::max(largest, std::abs(error[p]));
    }
    *value = quantity == Quantity::objective
                 ? static_cast<double>(sum) / static_cast<double>(test_.count)
                 : static_cast<double>(largest + T(0) * sum);  // NaN comes through
  }
  void measure_vjp(Quantity quantity, Index k, ConstBatch z, const double* d_value, Batch cotangent,
                   Workspace& workspace) const override {
    if (quantity != Quantity::objective)
      DifferentiableStep::measure_vjp(quantity, k, z, d_value, cotangent, workspace);
    if (*d_value == 0) return;  // a diverged task may be left out
    auto& room = static_cast<Room&>(workspace);
    if (!room.chained || room.measured != k) {
      take_weights(k, z, room);
      find_switches(room, test_, room.test_switches);
      forward<false, true>(room, test_, room.test_switches);
    }
    backward<false>(room, test_, room.test_switches);
    add_derivative(*d_value, room, cotangent.data, cotangent.data, room.chained ? &room.direction : nullptr);
    room.directed = room.chained;
  }

 private:
  static constexpr Index none = -1;
  using Switches = ReluSwitches<T>;

  /// What goes through the network, or how it changes along the direction.
  struct Layer {
    RegisterRows<T> h2;          // points x H: the second layer after relu
    RegisterRows<T> out;         // points x lanes: parts of the output
    RegisterRows<T> error;       // per point
    RegisterRows<T> sums;        // snapshots of sum d over the points so far; row 0: none, row H + 1: all
    RegisterRows<T> input_sums;  // of sum x d
  };
  /// Of the network after some steps; chained: of all steps so far, one after the other.
  struct Known {
    RegisterRows<T> theta;  // its weights
    bool packed = false;    // theta is there
    bool switched = false;  // and switches are those of the points to learn from
    Switches switches;
  };
  struct Room final : Workspace {
    Index task = 0;
    bool drawn = false;     // meta weights w + sqrt(s) xi rather than w
    bool chained = false;   // as prepare_vjps() says
    Index measured = none;  // chained: layer and switches are those of measure() after so many steps
    bool directed = false;  // chained: direction is the cotangent
    std::vector<Known> known;
    std::size_t now = 0;
    RegisterRows<T>& theta() { return known[now].theta; }
    std::vector<T> xi;
    std::vector<double> d_mean;
    std::vector<double> d_log_variance;
    RegisterRows<T> direction;   // that the Hessian is applied to
    RegisterRows<T> derivative;  // gradient of a loss, or Hessian times direction
    RegisterRows<T> by_weight;   // H x lanes: parts of the derivative by w1
    RegisterRows<T> by_bias;     // by b1
    Switches test_switches;
    Layer layer;
    Layer change;
  };

  /// The parts of a vector of weights, H + 5 rows and up to three of zeros, so that four go at a time.
  template <class Pointer>
  struct Parts {
    Parts(Pointer all, Index H, Index row)
        : w1(all), b1(w1 + row), w2(b1 + row), b2(w2 + H * row), w3(b2 + row), b3(w3 + row) {}
    Pointer w1, b1, w2, b2, w3, b3;
  };
  [[nodiscard]] Parts<const T*> parts(const RegisterRows<T>& weights) const {
    return {weights[0], H_, weights.stride()};
  }
  [[nodiscard]] Parts<T*> parts(RegisterRows<T>& weights) const { return {weights[0], H_, weights.stride()}; }

  static std::shared_ptr<const problems::RegressionTasks> checked(
      std::shared_ptr<const problems::RegressionTasks> tasks) {
    require(tasks != nullptr, "tasks: there are none");
    tasks->validate();
    return tasks;
  }

  /// part(i) for numbers i .. i + 7 of a row of H, one(i) for those left over.
  template <class Part, class One>
  [[gnu::always_inline]] void along_row(const Part& part, const One& one) const {
    Index i = 0;
    for (; i + 8 <= H_; i += 8) part(i);
    for (; i < H_; ++i) one(i);
  }
  void pack(ConstBatch z, RegisterRows<T>& weights) const {
    for (Index row = 0; row < H_ + 4; ++row) {
      T* to = weights[row];
      const double* from = z.data + row * H_;
      along_row(
          [&](Index i) {
            Eight<T>::put(to + i, __builtin_convertvector(Eight<double>::at(from + i), typename Eight<T>::V));
          },
          [&](Index i) { to[i] = static_cast<T>(from[i]); });
    }
    weights[H_ + 4][0] = static_cast<T>(z.data[size_ - 1]);
  }
  [[nodiscard]] RegisterRows<T> packed_weights() const { return {(H_ + 5 + 3) / 4 * 4, H_}; }
  [[nodiscard]] Switches switches_of(Index points) const { return {H_, points}; }
  static void forget(Room& room) {
    for (Known& known : room.known) known.packed = false;
    room.measured = none;
    room.directed = false;
  }
  Known& known_after(Index k, Room& room) const {
    const auto steps = static_cast<std::size_t>(k);
    while (room.known.size() <= steps)
      room.known.push_back({packed_weights(), false, false, switches_of(train_.count)});
    return room.known[steps];
  }
  void take_weights(Index k, ConstBatch z, Room& room) const {
    room.now = room.chained ? static_cast<std::size_t>(k) : 0;
    Known& own = known_after(room.chained ? k : 0, room);
    if (room.chained && own.packed) return;
    pack(z, own.theta);
    own.packed = true;
    own.switched = false;
  }
  Switches& train_switches(Room& room) const {
    Known& own = room.known[room.now];
    if (!own.switched) find_switches(room, train_, own.switches);
    own.switched = true;
    return own.switches;
  }
  /// to = from + factor derivative, and into `packed` too, if there is one
  void add_derivative(double factor, Room& room, const double* from, double* to,
                      RegisterRows<T>* packed) const {
    if (packed != nullptr) {
      add_and_pack<true>(factor, room, from, to, *packed);
    } else {
      add_and_pack<false>(factor, room, from, to, room.direction);
    }
  }
  template <bool packing>
  void add_and_pack(double factor, const Room& room, const double* from, double* to,
                    RegisterRows<T>& packed) const {
    for (Index row = 0; row < H_ + 4; ++row) {
      const T* derivative = room.derivative[row];
      T* result_packed = packed[row];
      const double* own = from + row * H_;
      double* result = to + row * H_;
      along_row(
          [&](Index i) {
            const typename Eight<double>::V sum =
                Eight<double>::at(own + i) + factor * doubles(Eight<T>::at(derivative + i));
            Eight<double>::put(result + i, sum);
            if constexpr (packing)
              Eight<T>::put(result_packed + i, __builtin_convertvector(sum, typename Eight<T>::V));
          },
          [&](Index i) {
            result[i] = own[i] + factor * static_cast<double>(derivative[i]);
            if constexpr (packing) result_packed[i] = static_cast<T>(result[i]);
          });
    }
    to[size_ - 1] = from[size_ - 1] + factor * static_cast<double>(room.derivative[H_ + 4][0]);
    if constexpr (packing) packed[H_ + 4][0] = static_cast<T>(to[size_ - 1]);
  }

  [[gnu::always_inline]] static V relu(V value) { return larger<T>(V{}, value); }  // NaN stays
  [[gnu::always_inline]] static V masked(V value, V layer) { return layer > 0 ? value : V{}; }

  void find_switches(Room& room, const SortedPoints<T>& set, Switches& switches) const {
    const Parts<const T*> w = parts(std::as_const(room.theta()));
    switches.find(w.w1, w.b1, room.theta().stride(), H_, set.input[room.task], set.count);
  }

  /// Errors g(x) - y of the task's points and, with a direction, how they change; the second layer is kept
  /// where a backward sweep follows.
  template <bool directed, bool kept>
  void forward(Room& room, const SortedPoints<T>& set, const Switches& switches) const {
    const Index count = set.count;
    const T* x = set.input[room.task];
    const T* y = set.output[room.task];
    const Parts<const T*> w = parts(std::as_const(room.theta()));
    const Parts<const T*> v = parts(std::as_const(room.direction));
    const Index row = room.theta().stride();
    const int* first = switches.first.data();
    const int* next = switches.next.data();

    T* all_h2 = room.layer.h2[0];
    T* all_h2_change = room.change.h2[0];
    T* outs = room.layer.out[0];
    T* out_changes = room.change.out[0];
    in_groups(
        row / lanes, [&](auto G, Index group) __attribute__((always_inline)) {
          const Index begin = group * lanes;
          V slope[G] = {};
          V level[G];
          V slope_change[G] = {};
          V level_change[G];
          for (int g = 0; g < G; ++g) {
            level[g] = fetch(w.b2 + begin + g * lanes);
            if constexpr (directed) level_change[g] = fetch(v.b2 + begin + g * lanes);
          }
          const auto add = [&](Index j, T factor) __attribute__((always_inline)) {
            const T weight = factor * w.w1[j];
            const T bias = factor * w.b1[j];
            const T weight_change = directed ? factor * v.w1[j] : T(0);
            const T bias_change = directed ? factor * v.b1[j] : T(0);
            for (int g = 0; g < G; ++g) {
              const V own = fetch(w.w2 + j * row + begin + g * lanes);
              slope[g] += weight * own;
              level[g] += bias * own;
              if constexpr (directed) {
                const V other = fetch(v.w2 + j * row + begin + g * lanes);
                slope_change[g] += weight_change * own + weight * other;
                level_change[g] += bias_change * own + bias * other;
              }
            }
          };
          for (int i = 0; i < switches.count_from_begin; ++i) add(switches.from_begin[i], T(1));
          for (Index p = 0; p < count; ++p) {
            for (int j = first[p]; j >= 0; j = next[j]) add(j, w.w1[j] > 0 ? T(1) : T(-1));
            V out = group == 0 ? V{} : fetch(outs + p * lanes);
            V out_change{};
            if constexpr (directed) out_change = group == 0 ? V{} : fetch(out_changes + p * lanes);
            for (int g = 0; g < G; ++g) {
              const Index at = begin + g * lanes;
              const V h2 = relu(slope[g] * x[p] + level[g]);
              out += fetch(w.w3 + at) * h2;
              if constexpr (kept) put(all_h2 + p * row + at, h2);
              if constexpr (directed) {
                const V change = masked(slope_change[g] * x[p] + level_change[g], h2);
                out_change += fetch(v.w3 + at) * h2 + fetch(w.w3 + at) * change;
                put(all_h2_change + p * row + at, change);
              }
            }
            put(outs + p * lanes, out);
            if constexpr (directed) put(out_changes + p * lanes, out_change);
          }
        });
    const T bias = *w.b3 + not_finite(room.theta());
    T* errors = room.layer.error[0];
    T* error_changes = room.change.error[0];
    sums_of_rows(outs, count, errors);
    for (Index p = 0; p < count; p += lanes) put(errors + p, fetch(errors + p) + bias - fetch(y + p));
    if constexpr (directed) {
      sums_of_rows(out_changes, count, error_changes);
      for (Index p = 0; p < count; ++p) error_changes[p] += *v.b3;
    }
  }

  /// 0, or NaN if a weight is not finite: that is seen even where its unit does not work.
  static T not_finite(const RegisterRows<T>& weights) {
    typedef typename Switches::Count Bits __attribute__((vector_size(register_bytes)));
    Bits bits{};
    for (Index i = 0; i < weights.size(); i += lanes) bits |= Bits(fetch(weights[0] + i) * T(0));
    return sum_of<T>(V(bits));
  }

  /// derivative = that of mean_p error_p^2 by the weights or, directed, its change along the direction: the
  /// Hessian times the direction. relu is linear almost everywhere, so only products of weights bend.
  template <bool directed>
  void backward(Room& room, const SortedPoints<T>& set, Switches& switches) const {
    const Index count = set.count;
    const T* x = set.input[room.task];
    Layer& layer = room.layer;
    Layer& change = room.change;
    const Parts<const T*> w = parts(std::as_const(room.theta()));
    const Parts<const T*> v = parts(std::as_const(room.direction));
    const Parts<T*> result = parts(room.derivative);
    const Index row = room.theta().stride();
    const T factor = T(2) / static_cast<T>(count);
    const int* first = switches.first.data();
    const int* next = switches.next.data();
    int* snapshots = switches.snapshot.data();
    const T* errors = layer.error[0];
    const T* error_changes = change.error[0];
    const T* all_h2 = layer.h2[0];
    const T* all_h2_change = change.h2[0];
    T* by_weights = room.by_weight[0];
    T* by_biases = room.by_bias[0];
    T* sums = layer.sums[0];
    T* input_sums = layer.input_sums[0];
    T* sum_changes = change.sums[0];
    T* input_sum_changes = change.input_sums[0];
    T by_output = 0;
    for (Index p = 0; p < count; ++p) by_output += directed ? error_changes[p] : errors[p];
    *result.b3 = factor * by_output;
    in_groups(
        row / lanes, [&](auto G, Index group) __attribute__((always_inline)) {
          const Index begin = group * lanes;
          V sum[G] = {};
          V input_sum[G] = {};
          V sum_change[G] = {};
          V input_sum_change[G] = {};
          V outer[G] = {};  // by w3
          const auto keep = [&](Index snapshot) __attribute__((always_inline)) {
            for (int g = 0; g < G; ++g) {
              const Index at = begin + g * lanes;
              put(sums + snapshot * row + at, sum[g]);
              put(input_sums + snapshot * row + at, input_sum[g]);
              if constexpr (directed) {
                put(sum_changes + snapshot * row + at, sum_change[g]);
                put(input_sum_changes + snapshot * row + at, input_sum_change[g]);
              }
            }
          };
          int snapshot = 0;
          for (Index p = 0; p < count; ++p) {
            if (first[p] >= 0) {
              keep(++snapshot);
              for (int j = first[p]; j >= 0; j = next[j]) snapshots[j] = snapshot;
            }
            const T r = factor * errors[p];
            const T r_change = directed ? factor * error_changes[p] : T(0);
            for (int g = 0; g < G; ++g) {
              const Index at = begin + g * lanes;
              const V h2 = fetch(all_h2 + p * row + at);
              const V d = masked(fetch(w.w3 + at) * r, h2);
              sum[g] += d;
              input_sum[g] += d * x[p];
              if constexpr (directed) {
                const V d_change = masked(fetch(v.w3 + at) * r + fetch(w.w3 + at) * r_change, h2);
                sum_change[g] += d_change;
                input_sum_change[g] += d_change * x[p];
                outer[g] += r_change * h2 + r * fetch(all_h2_change + p * row + at);
              } else {
                outer[g] += r * h2;
              }
            }
          }
          keep(H_ + 1);
          for (int g = 0; g < G; ++g) {
            put(result.b2 + begin + g * lanes, directed ? sum_change[g] : sum[g]);
            put(result.w3 + begin + g * lanes, outer[g]);
          }
          const auto emit = [&](Index j, auto from_on) __attribute__((always_inline)) {
            V by_weight{};
            V by_bias{};
            const Index snapshot_row = snapshots[j] * row;
            const auto own_sum = [&](const T* rows, Index at) __attribute__((always_inline)) {
              const V before = fetch(rows + snapshot_row + at);
              return from_on ? fetch(rows + (H_ + 1) * row + at) - before : before;
            };
            for (int g = 0; g < G; ++g) {
              const Index at = begin + g * lanes;
              const V d = own_sum(sums, at);
              const V xd = own_sum(input_sums, at);
              const V own = fetch(w.w2 + j * row + at);
              V by_own;
              if constexpr (directed) {
                const V d_change = own_sum(sum_changes, at);
                const V xd_change = own_sum(input_sum_changes, at);
                const V other = fetch(v.w2 + j * row + at);
                by_own = w.w1[j] * xd_change + w.b1[j] * d_change + (v.w1[j] * xd + v.b1[j] * d);
                by_weight += own * xd_change + other * xd;
                by_bias += own * d_change + other * d;
              } else {
                by_own = w.w1[j] * xd + w.b1[j] * d;
                by_weight += own * xd;
                by_bias += own * d;
              }
              put(result.w2 + j * row + at, by_own);
            }
            put(by_weights + j * lanes, group == 0 ? by_weight : fetch(by_weights + j * lanes) + by_weight);
            put(by_biases + j * lanes, group == 0 ? by_bias : fetch(by_biases + j * lanes) + by_bias);
          };
          for (int i = 0; i < switches.count_up_to; ++i) emit(switches.up_to[i], std::false_type());
          for (int i = 0; i < switches.count_from_on; ++i) emit(switches.from_on[i], std::true_type());
        });
    sums_of_rows(by_weights, H_, result.w1);
    sums_of_rows(by_biases, H_, result.b1);
  }

  std::shared_ptr<const problems::RegressionTasks> tasks_;
  MamlOptions options_;
  Index H_;
  SortedPoints<T> train_;
  SortedPoints<T> test_;
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

}  // namespace surefoot::algorithms
