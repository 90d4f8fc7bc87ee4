#include "surefoot/runs/run.hpp"

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/ranks.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

namespace surefoot::runs {

using algorithms::Batch;
using algorithms::Buffer;
using algorithms::make_buffer;
using algorithms::Operator;
using algorithms::Workspace;
using problems::Table;

void RunOptions::validate() const {
  require(steps >= 0 && steps <= most_steps, "steps: is {}, must be in 0 .. {}", steps, most_steps);
  require(first >= 0, "first: is {}, must be >= 0", first);
  require(count >= 0, "count: is {}, must be >= 0", count);
  require(stop_residual >= 0, "stop_residual: is {}, must be >= 0", stop_residual);
  for (std::size_t i = 0; i < iterate_steps.size(); ++i) {
    require(iterate_steps[i] >= 0 && iterate_steps[i] <= steps, "iterate_steps: {} must lie in 0 .. {}",
            iterate_steps[i], steps);
    require(i == 0 || iterate_steps[i] > iterate_steps[i - 1], "iterate_steps: must be ascending at {}",
            iterate_steps[i]);
  }
}

namespace {

/// What one thread needs for a block.
struct Lane {
  Lane(const Operator& op, const std::vector<Metric>& metrics, Index steps)
      : workspace(op.make_workspace()),
        state(make_buffer(op.state_size(), op.width())),
        iterate(make_buffer(op.iterate_size(), op.width())),
        residual(static_cast<std::size_t>(op.width()), infinity) {
    rooms.reserve(metrics.size());
    for (const Metric& metric : metrics) {
      rooms.emplace_back(metric, op);
      values.push_back(make_buffer(steps + 1, op.width()));
    }
    column.resize(static_cast<std::size_t>(std::max(steps + 1, op.iterate_size())));
  }
  std::unique_ptr<Workspace> workspace;
  Buffer state;
  Buffer iterate;
  Buffer residual;
  std::vector<Index> diverged;  // per lane: the first step with an infinite or NaN residual
  std::vector<MetricRoom> rooms;
  std::vector<Buffer> values;  // per metric: step x lane
  Buffer column;
};

/// Rooms handed to whichever thread begins a block.
class Pool {
 public:
  template <class Make>
  std::unique_ptr<Lane> take(const Make& make) {
    {
      const std::scoped_lock lock(mutex_);
      if (!free_.empty()) {
        std::unique_ptr<Lane> lane = std::move(free_.back());
        free_.pop_back();
        return lane;
      }
    }
    return make();
  }
  void give(std::unique_ptr<Lane> lane) {
    const std::scoped_lock lock(mutex_);
    free_.push_back(std::move(lane));
  }

 private:
  std::mutex mutex_;
  std::vector<std::unique_ptr<Lane>> free_;
};

class BlockRun {
 public:
  BlockRun(const Operator& op, const std::vector<Metric>& metrics, const Start& start,
           const RunOptions& options, const TraceSink& trace_sink, const IterateSink& iterate_sink,
           Lane& lane, Index first, Index count)
      : op_(op),
        metrics_(metrics),
        start_(start),
        options_(options),
        trace_sink_(trace_sink),
        iterate_sink_(iterate_sink),
        lane_(lane),
        first_(first),
        count_(count),
        width_(op.width()),
        z_{lane.state.data(), op.state_size(), op.width()} {}

  void operator()() {
    begin();
    record(0);
    for (Index k = 0; k < options_.steps; ++k) {
      if (options_.interrupt) options_.interrupt();
      op_.step(k, z_, *lane_.workspace, lane_.residual.data());
      note_divergence(k + 1);
      record(k + 1);
      if (options_.stop_residual > 0 && small_everywhere()) break;
      if (may_end_early() && op_.finished(z_, count_)) {
        repeat_values(k + 1);
        break;
      }
    }
    finish();
  }

 private:
  void begin() {
    Workspace& workspace = *lane_.workspace;
    lane_.diverged.assign(static_cast<std::size_t>(width_), std::numeric_limits<Index>::max());
    op_.load(first_, count_, workspace);
    bool measures = false;
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      lane_.rooms[i].load(first_, count_);
      measures = measures || metrics_[i].kind == Metric::Kind::quantity ||
                 metrics_[i].kind == Metric::Kind::objective_gap;
    }
    if (measures) op_.prepare_measures(workspace);
    if (start_.iterates == nullptr) {
      op_.start(z_, workspace);
      return;
    }
    const Table& iterates = *start_.iterates;
    for (Index column = 0; column < width_; ++column) {
      const double* row = iterates.data() + (first_ + std::min(column, count_ - 1)) * iterates.cols();
      for (Index i = 0; i < iterates.cols(); ++i) lane_.iterate[i * width_ + column] = row[i];
    }
    op_.write({lane_.iterate.data(), op_.iterate_size(), width_}, workspace, z_);
  }

  Index& diverged_at(Index column) { return lane_.diverged[static_cast<std::size_t>(column)]; }

  // A metric may not see a NaN (a running maximum passes over it); the residual of such an iterate does.
  void note_divergence(Index k) {
    for (Index column = 0; column < count_; ++column) {
      if (!std::isfinite(lane_.residual[column])) diverged_at(column) = std::min(diverged_at(column), k);
    }
  }

  void record(Index k) {
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      double* value = lane_.values[i].data() + k * width_;
      if (metrics_[i].kind == Metric::Kind::residual) {
        std::copy_n(lane_.residual.data(), width_, value);
      } else {
        lane_.rooms[i].evaluate(k, z_, *lane_.workspace, value);
      }
    }
    if (position_ < options_.iterate_steps.size() && options_.iterate_steps[position_] == k) give_iterates();
  }

  void give_iterates() {
    op_.read(z_, *lane_.workspace, 0, op_.iterate_size(), lane_.iterate.data());
    for (Index column = 0; column < count_; ++column) {
      for (Index i = 0; i < op_.iterate_size(); ++i) lane_.column[i] = lane_.iterate[i * width_ + column];
      iterate_sink_(position_, first_ + column, lane_.column.data());
    }
    ++position_;
  }

  [[nodiscard]] bool small_everywhere() const {
    return std::all_of(lane_.residual.begin(), lane_.residual.begin() + count_,
                       [&](double residual) { return residual <= options_.stop_residual; });
  }

  // A user's metric may depend on the step.
  [[nodiscard]] bool may_end_early() const {
    return std::none_of(metrics_.begin(), metrics_.end(),
                        [](const Metric& metric) { return metric.kind == Metric::Kind::own; });
  }

  void repeat_values(Index last) {
    for (Buffer& values : lane_.values) {
      const double* from = values.data() + last * width_;
      for (Index k = last + 1; k <= options_.steps; ++k) {
        std::copy_n(from, width_, values.data() + k * width_);
      }
    }
  }

  void finish() {
    if (options_.ending_sink) {
      for (Index column = 0; column < count_; ++column) {
        options_.ending_sink(first_ + column, op_.ending(z_, column));
      }
    }
    while (position_ < options_.iterate_steps.size()) give_iterates();
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      const Index from = metrics_[i].first_step();
      for (Index column = 0; column < count_; ++column) {
        bool failed = false;
        for (Index k = from; k <= options_.steps; ++k) {
          const double value = lane_.values[i][k * width_ + column];
          failed = failed || !std::isfinite(value) || k >= diverged_at(column);
          lane_.column[k - from] = failed ? infinity : value;
        }
        trace_sink_(i, first_ + column, lane_.column.data());
      }
    }
  }

  const Operator& op_;
  const std::vector<Metric>& metrics_;
  const Start& start_;
  const RunOptions& options_;
  const TraceSink& trace_sink_;
  const IterateSink& iterate_sink_;
  Lane& lane_;
  Index first_;
  Index count_;
  Index width_;
  Batch z_;
  std::size_t position_ = 0;
};

}  // namespace

Part own_instances(const Operator& op, const RunOptions& options) {
  const Index count = options.count > 0 ? options.count : op.instances() - options.first;
  if (!options.shared) return {options.first, count};
  const Index width = op.width();
  const Part blocks = ranks().own_part((count + width - 1) / width);
  const Index begin = std::min(count, blocks.first * width);
  return {options.first + begin, std::min(count, blocks.end() * width) - begin};
}

void run(const Operator& op, const std::vector<Metric>& metrics, const Start& start,
         const RunOptions& options, const TraceSink& trace_sink, const IterateSink& iterate_sink) {
  options.validate();
  require(options.first < op.instances(), "first: is {}, must be below {} (instances)", options.first,
          op.instances());
  const Index count = options.count > 0 ? options.count : op.instances() - options.first;
  require(is_within(options.first, count, op.instances()), "count: is {}, there are {} instances from {} on",
          count, op.instances() - options.first, options.first);
  require(metrics.empty() || trace_sink, "trace_sink: is missing");
  require(options.iterate_steps.empty() || iterate_sink, "iterate_sink: is missing");
  require(!options.ending_sink || op.has_stopping_test(), "ending_sink: {} has no stopping test", op.name());
  require(options.stop_residual == 0 || metrics.empty(), "stop_residual: is {}, must be 0 with metrics",
          options.stop_residual);
  if (start.iterates != nullptr) {
    require(start.iterates->rows() == op.instances() && start.iterates->cols() == op.iterate_size(),
            "start: is {} x {}, must be {} x {} (instances x iterate)", start.iterates->rows(),
            start.iterates->cols(), op.instances(), op.iterate_size());
    problems::require_finite(*start.iterates, "start");
  }
  const Index width = op.width();
  Pool pool;
  pool.give(std::make_unique<Lane>(op, metrics, options.steps));  // reports metrics that do not fit
  const Part own = own_instances(op, options);
  parallel_blocks((own.count + width - 1) / width, [&](Index block) {
    const Index first = own.first + block * width;
    const Index columns = std::min(width, own.end() - first);
    if (options.wanted && !options.wanted(first, columns)) return;
    std::unique_ptr<Lane> lane =
        pool.take([&] { return std::make_unique<Lane>(op, metrics, options.steps); });
    BlockRun(op, metrics, start, options, trace_sink, iterate_sink, *lane, first, columns)();
    pool.give(std::move(lane));
  });
}

void share_rows(Table& table, Part own) {
  if (!ranks().several() || table.cols() == 0) return;
  const std::size_t row_bytes = static_cast<std::size_t>(table.cols()) * sizeof(double);
  const auto bytes_of = [&](Index row) { return reinterpret_cast<char*>(table.data() + row * table.cols()); };
  ByteWriter head;
  head.number(own.first);
  std::string message = head.take();
  const std::size_t head_bytes = message.size();
  message.append(bytes_of(own.first), static_cast<std::size_t>(own.count) * row_bytes);
  for (const std::string& part : ranks().all_gather(message)) {
    const auto first = ByteReader(std::string_view(part).substr(0, head_bytes), "rows").number<Index>();
    std::copy(part.begin() + static_cast<std::ptrdiff_t>(head_bytes), part.end(), bytes_of(first));
  }
}

std::vector<Trace> run_traces(const Operator& op, const std::vector<Metric>& metrics, const Start& start,
                              const RunOptions& options) {
  options.validate();
  const Index count = options.count > 0 ? options.count : op.instances() - options.first;
  std::vector<Trace> traces;
  traces.reserve(metrics.size());
  for (const Metric& metric : metrics) {
    traces.push_back({metric.name, metric.unit, metric.first_step(),
                      Table(std::max<Index>(count, 0), options.steps + 1 - metric.first_step())});
  }
  RunOptions shared = options;
  shared.shared = true;
  run(op, metrics, start, shared, [&](std::size_t metric, Index instance, const double* trace) {
    Table& values = traces[metric].values;
    std::copy_n(trace, values.cols(), values.data() + (instance - options.first) * values.cols());
  });
  const Part own = own_instances(op, shared);
  for (Trace& trace : traces) share_rows(trace.values, {own.first - options.first, own.count});
  return traces;
}

Table run_iterates(const Operator& op, const Start& start, const RunOptions& options) {
  options.validate();
  const Index count = options.count > 0 ? options.count : op.instances() - options.first;
  Table iterates(std::max<Index>(count, 0), op.iterate_size());
  RunOptions last = options;
  last.iterate_steps = {options.steps};
  last.shared = true;
  run(op, {}, start, last, nullptr, [&](std::size_t, Index instance, const double* iterate) {
    std::copy_n(iterate, iterates.cols(), iterates.data() + (instance - options.first) * iterates.cols());
  });
  const Part own = own_instances(op, last);
  share_rows(iterates, {own.first - options.first, own.count});
  return iterates;
}

Table solve(const Operator& op, const SolveOptions& options, const Start& start) {
  require(options.residual > 0, "residual: is {}, must be > 0", options.residual);
  RunOptions run_options;
  run_options.steps = options.max_steps;
  run_options.stop_residual = options.residual;
  run_options.interrupt = options.interrupt;
  Table solutions = run_iterates(op, start, run_options);
  // One more step from the solutions tells whether they are ones.
  run_options = {};
  run_options.steps = 2;
  const std::vector<Trace> check =
      run_traces(op, {fixed_point_residual()}, given_start(solutions), run_options);
  for (Index instance = 0; instance < op.instances(); ++instance) {
    const double residual = check[0].values(instance, 1);
    require(residual <= 100 * options.residual,
            "max_steps: after {} steps of {} the residual of instance {} is {}, above {}", options.max_steps,
            op.name(), instance, residual, options.residual);
  }
  return solutions;
}

}  // namespace surefoot::runs
