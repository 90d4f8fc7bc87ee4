#include "surefoot/learning/train.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/detail/vector_math.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/io/checkpoint_file.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/learning/train_state.hpp"
#include "surefoot/learning/unroll.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <numbers>
#include <numeric>

namespace surefoot::learning {

using algorithms::LearnedOperator;
using Clock = std::chrono::steady_clock;

namespace {

// A field of a stage as checkpoints compare it.
std::string field_text(const std::string& value) {
  return value;
}
std::string field_text(Index value) {
  return fmt::format("{}", value);
}
std::string field_text(double value) {
  return fmt::format("{:.17g}", value);
}
std::string field_text(const std::optional<double>& value) {
  return value ? field_text(*value) : "none";
}
template <class T>
std::string field_text(const T& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value ? "true" : "false";
  } else {
    return std::string(to_string(value));
  }
}

constexpr Index range =
    Index{1} << 12;  // weights that one thread treats at a time: all their numbers fit its cache

// body(begin, end) over [0, size) in fixed ranges.
template <class Body>
void over_ranges(Index size, const Body& body) {
  if (size <= range) return body(Index{0}, size);
  parallel_blocks((size + range - 1) / range,
                  [&](Index r) { body(r * range, std::min(size, (r + 1) * range)); });
}

// sum over i of f(i), the same bits whatever the number of threads.
template <class F>
double sum_over(Index begin, Index size, const F& f) {
  std::vector<double> partial(static_cast<std::size_t>((size + range - 1) / range), 0.0);
  over_ranges(size, [&](Index from, Index to) {
    double sum = 0;
    for (Index i = begin + from; i < begin + to; ++i) sum += f(i);
    partial[static_cast<std::size_t>(from / range)] = sum;
  });
  return std::accumulate(partial.begin(), partial.end(), 0.0);
}

class Trainer {
 public:
  Trainer(LearnedOperator& op, Posterior begin, const Loss& loss, const TrainOptions& options,
          const TrainHooks& hooks)
      : op_(op), posterior_(std::move(begin)), loss_(loss), options_(options), hooks_(hooks) {
    posterior_.validate();
    options_.validate(posterior_.layout, op.instances());
    loss_.validate(options_.steps);
    require(posterior_.layout.size() == op.weights().size(), "posterior: {} weights, the operator has {}",
            posterior_.layout.size(), op.weights().size());
    samples_ = options_.samples > 0 ? options_.samples : op.instances();
    size_ = posterior_.layout.size();
    for (const auto& block : posterior_.layout.blocks) {
      tied_.push_back(options_.tied.contains(block.name));
      const auto factor = options_.rate_factor.find(block.name);
      factor_.push_back(factor == options_.rate_factor.end() ? 1.0 : factor->second);
    }
    const bounds::GaussianPair& pair = posterior_.gaussians;
    state_.mean = pair.mean;
    state_.log_variance = pair.log_variance;
    state_.prior_log_variance = pair.prior_log_variance;
    noisy_ = std::any_of(options_.stages.begin(), options_.stages.end(),
                         [](const Stage& stage) { return stage.noise; });
    reset_adam();
    variance_ = Eigen::VectorXd::Zero(size_);
    for (const auto& block : posterior_.layout.blocks)
      sums_.emplace_back(static_cast<std::size_t>((block.size() + range - 1) / range));
    d_mean_ = Eigen::VectorXd::Zero(size_);
    d_log_variance_ = Eigen::VectorXd::Zero(size_);
    slot_mean_ = Eigen::VectorXd::Zero(size_);
    slot_log_variance_ = Eigen::VectorXd::Zero(size_);
    tie_variances();
    checkpoint_ = io::CheckpointFile(options_.checkpoint, configuration(), options_.checkpoint_seconds);
  }

  TrainResult operator()() {
    begin_ = Clock::now();
    const auto stages = static_cast<Index>(options_.stages.size());
    const bool goes_on = options_.resume && checkpoint_.kept() && std::filesystem::exists(checkpoint_.path());
    bool resumed = ranks().as_first(goes_on);
    if (resumed) {
      restore_state(checkpoint_.read().value_or(""), state_);
      require(state_.stage <= stages, "state of training: stage {} of {}", state_.stage, stages);
      if (hooks_.resumed) hooks_.resumed();
    }
    work_before_ = work_done();
    for (; state_.stage < stages; ++state_.stage, state_.epoch = 0, state_.updates = 0) {
      const Stage& stage = options_.stages[static_cast<std::size_t>(state_.stage)];
      if (!resumed || (state_.epoch == 0 && state_.batch == 0)) begin_stage(stage);
      resumed = false;
      for (; state_.epoch < stage.epochs; ++state_.epoch, state_.batch = 0) {
        if (!run_epoch(stage)) {
          checkpoint();
          return result(false);
        }
      }
    }
    checkpoint();
    return result(true);
  }

 private:
  void reset_adam() {
    state_.mean_adam = Adam(size_);
    state_.variance_adam = Adam(noisy_ ? size_ : 0);
    state_.prior_adam = Adam(state_.prior_log_variance.size());
  }

  void begin_stage(const Stage& stage) {
    reset_adam();
    if (stage.log_variance) {
      for (std::size_t b = 0; b < tied_.size(); ++b) {
        const Index first = posterior_.layout.offset(b);
        const Index count = posterior_.layout.blocks[b].size();
        if (tied_[b]) {
          state_.prior_log_variance[static_cast<Index>(b)] = *stage.log_variance;
        } else {
          state_.log_variance.segment(first, count).setConstant(*stage.log_variance);
        }
      }
      tie_variances();
    }
    if (stage.noise) measure_weights();
    if (stage.noise && stage.prior == PriorRule::closed_form) fit_prior();
  }

  [[nodiscard]] bounds::GroupSums sums(std::size_t block) const {
    bounds::GroupSums total;
    total.weights = static_cast<double>(posterior_.layout.blocks[block].size());
    total.tied = tied_[block];
    for (const bounds::GroupSums& part : sums_[block]) {
      total.shifts += part.shifts;
      total.variances += part.variances;
      total.log_variances += part.log_variances;
    }
    return total;
  }
  // Variances and sums of a range of a block from the weights as they are.
  void measure_range(std::size_t block, Index from, Index to) {
    const Index first = posterior_.layout.offset(block);
    double* s = variance_.data() + first;
    const double* zeta = state_.log_variance.data() + first;
    std::copy(zeta + from, zeta + to, s + from);
    exponentials(s + from, to - from);
    const double* w = state_.mean.data() + first;
    const double* w0 = posterior_.gaussians.prior_mean.data() + first;
    bounds::GroupSums part;
    for (Index i = from; i < to; ++i) {
      part.shifts += (w[i] - w0[i]) * (w[i] - w0[i]);
      part.variances += s[i];
      part.log_variances += zeta[i];
    }
    sums_[block][static_cast<std::size_t>(from / range)] = part;
  }
  void measure_block(std::size_t block) {
    over_ranges(posterior_.layout.blocks[block].size(),
                [&](Index from, Index to) { measure_range(block, from, to); });
  }
  void measure_weights() {
    for (std::size_t b = 0; b < tied_.size(); ++b) measure_block(b);
    measured_ = true;
  }

  void tie_variances() {
    for (std::size_t b = 0; b < tied_.size(); ++b) {
      if (!tied_[b]) continue;
      state_.log_variance.segment(posterior_.layout.offset(b), posterior_.layout.blocks[b].size())
          .setConstant(state_.prior_log_variance[static_cast<Index>(b)]);
      measure_block(b);
    }
  }

  [[nodiscard]] double largest_nu() const { return posterior_.grid.log_lambda(1); }

  void fit_prior() {
    for (std::size_t b = 0; b < tied_.size(); ++b) {
      if (tied_[b]) continue;
      const bounds::GroupSums parts = sums(b);
      state_.prior_log_variance[static_cast<Index>(b)] =
          std::min(largest_nu(), std::log((parts.variances + parts.shifts) / parts.weights));
    }
  }

  // B at the current weights, with its derivative by nu.
  double regularizer(Eigen::VectorXd& d_nu) const {
    return bounds::regularizer_from_sums([&](Index block) { return sums(static_cast<std::size_t>(block)); },
                                         state_.prior_log_variance, posterior_.grid, samples_, options_.delta,
                                         d_nu);
  }

  [[nodiscard]] double rate_share(const Stage& stage, Index batches) const {
    if (stage.schedule == Schedule::constant) return 1;
    const double done = static_cast<double>(state_.epoch * batches + state_.batch) /
                        static_cast<double>(std::max<Index>(1, stage.epochs * batches));
    return stage.final_rate + (1 - stage.final_rate) * 0.5 * (1 + std::cos(std::numbers::pi * done));
  }

  [[nodiscard]] Index epochs_before() const {
    Index epochs = state_.epoch;
    for (Index s = 0; s < state_.stage; ++s) epochs += options_.stages[static_cast<std::size_t>(s)].epochs;
    return epochs;
  }
  [[nodiscard]] double work_done() const { return static_cast<double>(epochs_before()); }

  // Groups of `group` consecutive samples, several to a batch.
  struct Batches {
    Index samples = 0;
    Index group = 0;
    Index groups = 0;     // of all samples
    Index per_batch = 0;  // groups
    Index batches = 0;
  };
  [[nodiscard]] Batches batches(const Stage& stage) const {
    Batches shape;
    shape.samples = stage.samples > 0 ? std::min(stage.samples, samples_) : samples_;
    const Index batch = std::min(stage.batch, shape.samples);
    shape.per_batch = (batch + op_.width() - 1) / op_.width();
    shape.group = (batch + shape.per_batch - 1) / shape.per_batch;
    shape.groups = (shape.samples + shape.group - 1) / shape.group;
    shape.batches = (shape.groups + shape.per_batch - 1) / shape.per_batch;
    return shape;
  }

  bool run_epoch(const Stage& stage) {
    const Index epoch = epochs_before();
    if (hooks_.before_epoch) hooks_.before_epoch(epoch);
    const Batches shape = batches(stage);
    std::vector<Index> order(static_cast<std::size_t>(shape.groups));
    std::iota(order.begin(), order.end(), Index{0});
    RandomStream stream(options_.seed, "training: order", static_cast<std::uint64_t>(epoch));
    for (Index i = shape.groups - 1; i > 0; --i)
      std::swap(order[i], order[stream.below(static_cast<std::uint64_t>(i + 1))]);
    progress_ = {};
    runs_ = 0;
    failures_ = 0;
    surrogate_sum_ = 0;
    objective_sum_ = 0;
    steps_ = 0;
    while (state_.batch < shape.batches) {
      const Index first = state_.batch * shape.per_batch;
      const Index last = std::min(shape.groups, first + shape.per_batch);
      update(stage, shape, std::span(order).subspan(first, last - first), epoch, first);
      ++state_.batch;
      report(stage, shape);
      if (hooks_.stop && ranks().any(hooks_.stop())) return false;
      if (checkpoint_.due()) checkpoint();
    }
    return true;
  }

  // One step of Adam on the runs of some groups.
  void update(const Stage& stage, const Batches& shape, std::span<const Index> groups, Index epoch,
              Index position) {
    ++state_.updates;
    assign_weights(stage);
    const Index count = std::min<Index>(options_.slots, static_cast<Index>(groups.size()));
    while (static_cast<Index>(unrolls_.size()) < count)
      unrolls_.push_back(std::make_unique<Unroll>(op_, loss_, options_.steps));
    Index runs = 0;
    for (const Index group : groups) runs += std::min(shape.group, shape.samples - group * shape.group);
    losses_.assign(groups.size() * static_cast<std::size_t>(shape.group), -1.0);
    const std::vector<Index> own = own_slots(count);
    parallel_blocks(static_cast<Index>(own.size()), [&](Index place) {
      const Index slot = own[static_cast<std::size_t>(place)];
      std::vector<double> seed(static_cast<std::size_t>(op_.width()), 0.0);
      for (auto g = static_cast<std::size_t>(slot); g < groups.size(); g += static_cast<std::size_t>(count)) {
        const Index first = groups[g] * shape.group;
        const Index width = std::min(shape.group, shape.samples - first);
        double* losses = losses_.data() + g * static_cast<std::size_t>(shape.group);
        const algorithms::WeightDraw draw{
            options_.seed, "training: weights",
            (static_cast<std::uint64_t>(epoch) << 32U) +
                static_cast<std::uint64_t>((position + static_cast<Index>(g)) * op_.width())};
        Unroll& unroll = *unrolls_[static_cast<std::size_t>(slot)];
        unroll.forward(first, width, stage.noise ? &draw : nullptr, losses);
        for (Index lane = 0; lane < width; ++lane) {
          seed[lane] = stage.surrogate.kind == SurrogateKind::logistic_mean
                           ? 1.0
                           : stage.surrogate.derivative(losses[lane]);
          seed[lane] /= static_cast<double>(runs);
        }
        unroll.backward(seed.data());
      }
    });
    workspaces_.clear();
    for (const Index slot : own)
      workspaces_.push_back(&unrolls_[static_cast<std::size_t>(slot)]->workspace());
    if (ranks().several()) {
      exchange_slots(stage, shape, count, own);
    } else {
      for (algorithms::Workspace* workspace : workspaces_) {
        op_.collect_all({&workspace, 1}, slot_span(slot_mean_), slot_span(slot_log_variance_));
        for (std::size_t b = 0; b < tied_.size(); ++b) {
          if (!op_.collects_in_ranges(b)) add_slot(b);
        }
      }
    }
    apply(stage, shape, mean_surrogate(stage, runs));
  }

  // Processes take slots in turn.
  [[nodiscard]] static std::vector<Index> own_slots(Index count) {
    std::vector<Index> own;
    for (Index slot = ranks().rank(); slot < count; slot += ranks().count()) own.push_back(slot);
    return own;
  }

  [[nodiscard]] std::span<double> slot_span(Eigen::VectorXd& values) const {
    return {values.data(), static_cast<std::size_t>(size_)};
  }

  // Adds a slot's derivatives of a block to those of all, and clears them. Slots are rounded one by one
  // before they are added in their order, so that the sum does not depend on which process has which.
  void add_slot(std::size_t block) {
    const Index first = posterior_.layout.offset(block);
    const Index count = posterior_.layout.blocks[block].size();
    d_mean_.segment(first, count) += slot_mean_.segment(first, count);
    d_log_variance_.segment(first, count) += slot_log_variance_.segment(first, count);
    slot_mean_.segment(first, count).setZero();
    slot_log_variance_.segment(first, count).setZero();
  }

  // Every process gets the derivatives and losses of all slots.
  void exchange_slots(const Stage& stage, const Batches& shape, Index count, const std::vector<Index>& own) {
    const auto group = static_cast<std::size_t>(shape.group);
    const std::size_t groups = losses_.size() / group;
    const std::size_t values = static_cast<std::size_t>(size_) * sizeof(double);
    std::string message;
    for (std::size_t place = 0; place < own.size(); ++place) {
      op_.collect(*workspaces_[place], slot_span(slot_mean_), slot_span(slot_log_variance_));
      message.append(reinterpret_cast<const char*>(slot_mean_.data()), values);
      if (stage.noise) message.append(reinterpret_cast<const char*>(slot_log_variance_.data()), values);
      slot_mean_.setZero();
      slot_log_variance_.setZero();
      for (auto g = static_cast<std::size_t>(own[place]); g < groups; g += static_cast<std::size_t>(count))
        message.append(reinterpret_cast<const char*>(losses_.data() + g * group), group * sizeof(double));
    }
    const std::vector<std::string> messages = ranks().all_gather(message);
    std::vector<std::size_t> read(messages.size(), 0);
    for (Index slot = 0; slot < count; ++slot) {
      const auto from = static_cast<std::size_t>(slot % ranks().count());
      const auto take = [&](double* into, std::size_t bytes) {
        std::memcpy(into, messages[from].data() + read[from], bytes);
        read[from] += bytes;
      };
      take(slot_mean_.data(), values);
      if (stage.noise) take(slot_log_variance_.data(), values);
      for (std::size_t b = 0; b < tied_.size(); ++b) add_slot(b);
      for (auto g = static_cast<std::size_t>(slot); g < groups; g += static_cast<std::size_t>(count))
        take(losses_.data() + g * group, group * sizeof(double));
    }
  }

  // Mean surrogate of the batch and, for sigma of a mean, the factor of the derivatives: backward() leaves
  // out runs whose loss is infinite.
  struct BatchRisk {
    double value = 0;
    double factor = 1;
  };
  BatchRisk mean_surrogate(const Stage& stage, Index runs) {
    double sum = 0;
    Index infinite = 0;
    const bool of_mean = stage.surrogate.kind == SurrogateKind::logistic_mean;
    for (const double loss : losses_) {
      if (loss < 0) continue;  // no run
      failures_ += loss >= stage.surrogate.tolerance ? 1 : 0;
      if (loss == infinity) ++infinite;
      if (loss == infinity && of_mean) continue;  // a failure, of which there is no mean
      sum += of_mean ? loss : stage.surrogate.value(loss);
    }
    require(infinite < runs,
            "training diverged at step {} of epoch {} of stage '{}': no run has a finite loss; try a smaller "
            "mean_rate (now {})",
            state_.batch + 1, state_.epoch + 1, stage.name, stage.mean_rate);
    runs_ += runs;
    if (!of_mean) return {sum / static_cast<double>(runs), 1};
    const double mean = sum / static_cast<double>(runs - infinite);
    const double value = stage.surrogate.value(mean);
    const double factor = stage.surrogate.derivative(mean);
    if (infinite == 0) return {value, factor};
    const double failed = static_cast<double>(infinite) / static_cast<double>(runs);
    return {failed + (1 - failed) * value, factor};
  }

  void assign_weights(const Stage& stage) {
    if (stage.noise && !measured_) measure_weights();
    op_.assign({state_.mean.data(), static_cast<std::size_t>(size_)},
               {variance_.data(), static_cast<std::size_t>(size_)});
  }

  // Derivatives of a block that is collected in ranges, into the arrays of all.
  void collect_block(std::size_t block) {
    const Index first = posterior_.layout.offset(block);
    over_ranges(posterior_.layout.blocks[block].size(), [&](Index from, Index to) {
      collect_range(block, from, to, d_mean_.data() + first + from, d_log_variance_.data() + first + from);
    });
  }

  // Slot by slot, as add_slot() adds them.
  void collect_range(std::size_t block, Index from, Index to, double* d_mean, double* d_log_variance) const {
    std::array<double, range> slot_mean;
    std::array<double, range> slot_log_variance;
    const Index size = to - from;
    for (algorithms::Workspace* workspace : workspaces_) {
      std::fill_n(slot_mean.data(), size, 0.0);
      std::fill_n(slot_log_variance.data(), size, 0.0);
      op_.collect_range({&workspace, 1}, block, from, to, slot_mean.data(), slot_log_variance.data());
      for (Index i = 0; i < size; ++i) d_mean[i] += slot_mean[static_cast<std::size_t>(i)];
      for (Index i = 0; i < size; ++i) d_log_variance[i] += slot_log_variance[static_cast<std::size_t>(i)];
    }
  }

  // Derivatives of a range of a block, from the operator or from the arrays of all, which are cleared.
  void take_derivatives(std::size_t block, bool from_operator, Index from, Index to, double* d_mean,
                        double* d_log_variance) {
    const Index size = to - from;
    if (from_operator) {
      std::fill_n(d_mean, size, 0.0);
      std::fill_n(d_log_variance, size, 0.0);
      collect_range(block, from, to, d_mean, d_log_variance);
      return;
    }
    double* own_mean = d_mean_.data() + posterior_.layout.offset(block) + from;
    double* own_log_variance = d_log_variance_.data() + posterior_.layout.offset(block) + from;
    std::copy_n(own_mean, size, d_mean);
    std::copy_n(own_log_variance, size, d_log_variance);
    std::fill_n(own_mean, size, 0.0);
    std::fill_n(own_log_variance, size, 0.0);
  }

  void apply(const Stage& stage, const Batches& shape, const BatchRisk& risk) {
    const double share = rate_share(stage, shape.batches);
    const double n = static_cast<double>(samples_);
    Eigen::VectorXd d_nu = Eigen::VectorXd::Zero(state_.prior_log_variance.size());
    ObjectiveValue objective{risk.value, 1, 0};
    if (stage.noise) {
      progress_.regularizer = regularizer(d_nu);
      objective = training_objective(risk.value, progress_.regularizer, stage.penalty);
    }
    surrogate_sum_ += risk.value;
    objective_sum_ += objective.value;
    ++steps_;
    const double by_risk = objective.by_risk * risk.factor;
    const double by_B = objective.by_regularizer / n;
    for (std::size_t b = 0; b < tied_.size(); ++b) {
      const Index first = posterior_.layout.offset(b);
      const Index count = posterior_.layout.blocks[b].size();
      const double inverse_lambda = std::exp(-state_.prior_log_variance[static_cast<Index>(b)]);
      const bool ranged = op_.collects_in_ranges(b) && !ranks().several();
      if (stage.noise && tied_[b]) {
        if (ranged) collect_block(b);
        d_nu[static_cast<Index>(b)] =
            objective.by_regularizer * d_nu[static_cast<Index>(b)] +
            by_risk * sum_over(first, count, [&](Index i) { return d_log_variance_[i]; });
      } else if (stage.noise) {
        d_nu[static_cast<Index>(b)] *= objective.by_regularizer;
      }
      const bool moves = factor_[b] > 0 && stage.mean_rate > 0;
      over_ranges(count, [&](Index from, Index to) {
        // The derivatives of this range; while its numbers are in the cache, everything is done with them.
        std::array<double, range> d_mean;
        std::array<double, range> d_log_variance;
        take_derivatives(b, ranged && !(stage.noise && tied_[b]), from, to, d_mean.data(),
                         d_log_variance.data());
        const Index size = to - from;
        const double* w = state_.mean.data() + first + from;
        const double* w0 = posterior_.gaussians.prior_mean.data() + first + from;
        const double* s = variance_.data() + first + from;
        for (Index i = 0; moves && stage.noise && i < size; ++i)
          d_mean[i] = by_risk * d_mean[i] + bounds::kl_by_mean(by_B, w[i] - w0[i], inverse_lambda);
        if (moves) {
          state_.mean_adam.update(state_.updates, share * stage.mean_rate * factor_[b], first + from,
                                  first + to, d_mean.data(), state_.mean.data(), stage.noise ? 1.0 : by_risk);
        }
        if (!stage.noise) return;
        if (!tied_[b]) {
          for (Index i = 0; i < size; ++i)
            d_log_variance[i] =
                by_risk * d_log_variance[i] + bounds::kl_by_log_variance(by_B, s[i], inverse_lambda);
          state_.variance_adam.update(state_.updates, share * stage.variance_rate, first + from, first + to,
                                      d_log_variance.data(), state_.log_variance.data());
        }
        measure_range(b, from, to);
      });
    }
    if (!stage.noise) return;
    for (std::size_t b = 0; b < tied_.size(); ++b) {
      const auto j = static_cast<Index>(b);
      const bool follows = tied_[b] || stage.prior == PriorRule::gradient;
      if (!follows) continue;
      const double rate = tied_[b] ? stage.variance_rate : stage.prior_rate;
      state_.prior_adam.update(state_.updates, share * rate, j, j + 1, d_nu.data() + j,
                               state_.prior_log_variance.data());
      state_.prior_log_variance[j] = std::min(state_.prior_log_variance[j], largest_nu());
    }
    tie_variances();
    if (stage.prior == PriorRule::closed_form) fit_prior();
  }

  static double seconds_since(Clock::time_point time) {
    return std::chrono::duration<double>(Clock::now() - time).count();
  }

  void report(const Stage& stage, const Batches& shape) {
    require(std::isfinite(objective_sum_), "training: the objective of stage '{}' is not finite in epoch {}",
            stage.name, state_.epoch + 1);
    if (!hooks_.progress) return;
    const bool done = state_.batch == shape.batches;
    if (!done && seconds_since(last_report_) < 0.2) return;
    last_report_ = Clock::now();
    progress_.stage = &stage;
    progress_.stage_number = state_.stage;
    progress_.epoch = state_.epoch;
    progress_.epoch_share = static_cast<double>(state_.batch) / static_cast<double>(shape.batches);
    progress_.epoch_done = done;
    std::vector<double> sorted;
    std::copy_if(losses_.begin(), losses_.end(), std::back_inserter(sorted), [](double x) { return x >= 0; });
    const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
    std::nth_element(sorted.begin(), middle, sorted.end());
    progress_.loss = *middle;
    progress_.surrogate = surrogate_sum_ / static_cast<double>(steps_);
    progress_.objective = objective_sum_ / static_cast<double>(steps_);
    progress_.risk = static_cast<double>(failures_) / static_cast<double>(runs_);
    progress_.seconds = seconds_since(begin_);
    double total = 0;
    for (const Stage& each : options_.stages) total += static_cast<double>(each.epochs);
    const double now = work_done() + progress_.epoch_share;
    progress_.seconds_left = progress_.seconds * (total - now) / std::max(1e-9, now - work_before_);
    hooks_.progress(progress_);
  }

  void checkpoint() {
    if (checkpoint_.kept()) checkpoint_.write(state_bytes(state_));
  }

  [[nodiscard]] io::Configuration configuration() const {
    io::Configuration all{{"work", "training"},
                          {"seed", fmt::format("{}", options_.seed)},
                          {"steps", fmt::format("{}", options_.steps)},
                          {"number of samples", fmt::format("{}", samples_)},
                          {"delta", fmt::format("{:.17g}", options_.delta)},
                          {"slots", fmt::format("{}", options_.slots)},
                          {"operator", fmt::format("{}, width {}", op_.name(), op_.width())},
                          {"loss", std::string(to_string(loss_.kind))}};
    all.insert(all.end(), options_.identity.begin(), options_.identity.end());
    std::string weights;
    for (const double weight : loss_.step_weights) weights += fmt::format("{:.17g} ", weight);
    all.emplace_back("weights of steps", weights);
    for (std::size_t b = 0; b < tied_.size(); ++b) {
      const auto& block = posterior_.layout.blocks[b];
      all.emplace_back("block " + block.name, fmt::format("{} x {}, tied {}, rate factor {:.17g}", block.rows,
                                                          block.cols, bool(tied_[b]), factor_[b]));
    }
    for (Stage stage : options_.stages) {
      const std::string of = "stage " + stage.name + ": ";
      visit_fields(stage, [&](const char* field, const auto& value) {
        all.emplace_back(of + field, field_text(value));
      });
    }
    io::Sha256 digest;
    const bounds::GaussianPair& pair = posterior_.gaussians;
    for (const Eigen::VectorXd* v :
         {&pair.mean, &pair.log_variance, &pair.prior_mean, &pair.prior_log_variance})
      digest.update(v->data(), static_cast<std::size_t>(v->size()) * sizeof(double));
    all.emplace_back("digest of the initial weights", digest.hex());
    return all;
  }

  TrainResult result(bool finished) {
    TrainResult out;
    out.finished = finished;
    out.seconds = seconds_since(begin_);
    bounds::GaussianPair& pair = posterior_.gaussians;
    pair.mean = state_.mean;
    pair.log_variance = state_.log_variance;
    pair.prior_log_variance = state_.prior_log_variance;
    if (finished) {
      round_prior(posterior_);
      for (std::size_t b = 0; b < tied_.size(); ++b) {
        if (!tied_[b]) continue;
        pair.log_variance.segment(posterior_.layout.offset(b), posterior_.layout.blocks[b].size())
            .setConstant(pair.prior_log_variance[static_cast<Index>(b)]);
      }
    }
    out.regularizer =
        bounds::regularizer(pair, posterior_.grid, std::max<Index>(8, samples_), options_.delta);
    out.posterior = posterior_;
    return out;
  }

  LearnedOperator& op_;
  Posterior posterior_;
  const Loss& loss_;
  const TrainOptions options_;
  const TrainHooks& hooks_;
  Index samples_ = 0;
  Index size_ = 0;
  bool noisy_ = false;
  std::vector<bool> tied_;
  std::vector<double> factor_;
  TrainState state_;
  Eigen::VectorXd variance_;                          // exp(log_variance), in stages with noise
  std::vector<std::vector<bounds::GroupSums>> sums_;  // per block and range
  bool measured_ = false;                             // variance_ and sums_ are those of state_
  Eigen::VectorXd d_mean_;
  Eigen::VectorXd d_log_variance_;
  Eigen::VectorXd slot_mean_;  // of one slot
  Eigen::VectorXd slot_log_variance_;
  std::vector<std::unique_ptr<Unroll>> unrolls_;
  std::vector<algorithms::Workspace*> workspaces_;  // of those that took part in the update
  std::vector<double> losses_;                      // of the batch, -1 where there is no run
  io::CheckpointFile checkpoint_;
  TrainProgress progress_;
  Index runs_ = 0;
  Index failures_ = 0;
  Index steps_ = 0;
  double surrogate_sum_ = 0;
  double objective_sum_ = 0;
  double work_before_ = 0;
  Clock::time_point begin_;
  Clock::time_point last_report_;
};

}  // namespace

TrainResult train(LearnedOperator& op, Posterior begin, const Loss& loss, const TrainOptions& options,
                  const TrainHooks& hooks) {
  return Trainer(op, std::move(begin), loss, options, hooks)();
}

}  // namespace surefoot::learning
