#include "surefoot/runs/run.hpp"

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/ranks.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <exception>
#include <limits>

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
    if (op.can_reload()) fresh = make_buffer(op.state_size(), op.width());
    rooms.reserve(metrics.size());
    for (const Metric& metric : metrics) {
      rooms.emplace_back(metric, op);
      values.push_back(make_buffer(steps + 1, op.width()));
    }
    column.resize(static_cast<std::size_t>(std::max(steps + 1, op.iterate_size())));
  }
  std::unique_ptr<Workspace> workspace;
  Buffer state;
  Buffer fresh;  // states of lanes that begin while others run
  Buffer iterate;
  Buffer residual;
  std::vector<MetricRoom> rooms;
  std::vector<Buffer> values;  // per metric: time x lane
  Buffer column;
};

/// Blocks of instances in their order, for whichever thread asks.
class Supply {
 public:
  Supply(Part own, Index width, const RunOptions& options) : own_(own), width_(width), options_(options) {}

  /// The next block that is wanted, of no instance where there is none. What `wanted` throws is the end.
  Part next() {
    while (!stopped_.load(std::memory_order_relaxed)) {
      const Index first = own_.first + width_ * next_.fetch_add(1, std::memory_order_relaxed);
      if (first >= own_.end()) break;
      const Part block{first, std::min(width_, own_.end() - first)};
      if (!options_.wanted || options_.wanted(block.first, block.count)) return block;
    }
    return {};
  }
  void stop() { stopped_.store(true, std::memory_order_relaxed); }

 private:
  Part own_;
  Index width_;
  const RunOptions& options_;
  std::atomic<Index> next_{0};
  std::atomic<bool> stopped_{false};
};

/// The runs of one thread. Time counts the steps of a block; a lane that begins at time t has made time - t
/// steps. Lanes begin together, unless the operator ends some before others and can reload them.
class ThreadRun {
 public:
  ThreadRun(const Operator& op, const std::vector<Metric>& metrics, const Start& start,
            const RunOptions& options, const TraceSink& trace_sink, const IterateSink& iterate_sink,
            Supply& supply, Lane& lane)
      : op_(op),
        metrics_(metrics),
        start_(start),
        options_(options),
        trace_sink_(trace_sink),
        iterate_sink_(iterate_sink),
        supply_(supply),
        lane_(lane),
        width_(op.width()),
        z_{lane.state.data(), op.state_size(), op.width()},
        // A user's metric may depend on the step.
        may_end_early_(op.has_stopping_test() &&
                       std::none_of(metrics.begin(), metrics.end(),
                                    [](const Metric& metric) { return metric.kind == Metric::Kind::own; })),
        reloads_(may_end_early_ && op.can_reload() && options.stop_residual == 0),
        reload_lanes_(op.reload_lanes()),
        reload_interval_(op.reload_interval()),
        columns_(static_cast<std::size_t>(width_)),
        reloaded_(static_cast<std::size_t>(width_), -1) {}

  void operator()() {
    for (Part block = supply_.next(); block.count > 0; block = supply_.next()) {
      run_block(block);
      if (refusal_) std::rethrow_exception(refusal_);
    }
  }

 private:
  struct Column {
    Index instance = -1;  // -1: nothing runs
    Index begin = 0;      // time
    Index diverged = 0;   // the first step with an infinite or NaN residual
    std::size_t position = 0;
  };

  void run_block(Part block) {
    begin(block);
    while (settle()) {
      if (options_.interrupt) options_.interrupt();
      op_.step(time_, z_, *lane_.workspace, lane_.residual.data());
      ++time_;
      row_ = row_ == options_.steps ? 0 : row_ + 1;
      note_divergence();
      record();
    }
  }

  void begin(Part block) {
    time_ = row_ = due_ = 0;
    count_ = block.count;
    Workspace& workspace = *lane_.workspace;
    op_.load(block.first, block.count, workspace);
    bool measures = false;
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      lane_.rooms[i].load(block.first, block.count);
      measures = measures || metrics_[i].kind == Metric::Kind::quantity ||
                 metrics_[i].kind == Metric::Kind::objective_gap;
    }
    if (measures) op_.prepare_measures(workspace);
    for (Index column = 0; column < width_; ++column) {
      at(column) = {column < block.count ? block.first + column : -1, 0, std::numeric_limits<Index>::max()};
      take_start(column, block.first + std::min(column, block.count - 1));
    }
    set_starts(z_);
    record();
  }

  Column& at(Index column) { return columns_[static_cast<std::size_t>(column)]; }

  void take_start(Index column, Index instance) {
    if (start_.iterates == nullptr) return;
    const Table& iterates = *start_.iterates;
    const double* row = iterates.data() + instance * iterates.cols();
    for (Index i = 0; i < iterates.cols(); ++i) lane_.iterate[i * width_ + column] = row[i];
  }
  void set_starts(Batch z) {
    if (start_.iterates == nullptr) {
      op_.start(z, *lane_.workspace);
    } else {
      op_.write({lane_.iterate.data(), op_.iterate_size(), width_}, *lane_.workspace, z);
    }
    read_at_ = -1;
  }

  // A metric may not see a NaN (a running maximum passes over it); the residual of such an iterate does.
  void note_divergence() {
    bool finite = true;
    for (Index column = 0; column < width_; ++column) finite &= std::isfinite(lane_.residual[column]);
    if (finite) return;
    for (Index column = 0; column < width_; ++column) {
      if (std::isfinite(lane_.residual[column])) continue;
      at(column).diverged = std::min(at(column).diverged, time_ - at(column).begin);
    }
  }

  void record() {
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      double* value = lane_.values[i].data() + row_ * width_;
      if (metrics_[i].kind == Metric::Kind::residual) {
        std::copy_n(lane_.residual.data(), width_, value);
      } else {
        lane_.rooms[i].evaluate(time_, z_, *lane_.workspace, value);
      }
    }
    if (time_ == due_) give_iterates();
  }

  void give_iterates() {
    due_ = -1;
    const std::vector<Index>& steps = options_.iterate_steps;
    for (Index column = 0; column < width_; ++column) {
      const Column& run = at(column);
      const auto next = [&] { return run.begin + steps[run.position]; };
      if (run.instance < 0 || run.position == steps.size()) continue;
      if (next() == time_) give_iterate(column);
      if (run.position < steps.size() && (due_ < 0 || next() < due_)) due_ = next();
    }
  }

  void give_iterate(Index column) {
    if (read_at_ != time_) op_.read(z_, *lane_.workspace, 0, op_.iterate_size(), lane_.iterate.data());
    read_at_ = time_;
    for (Index i = 0; i < op_.iterate_size(); ++i) lane_.column[i] = lane_.iterate[i * width_ + column];
    iterate_sink_(at(column).position++, at(column).instance, lane_.column.data());
  }

  // Hands over the runs that are done and gives their lanes to others; whether anything runs.
  bool settle() {
    if (!reloads_) {
      const bool over = time_ == options_.steps ||
                        (options_.stop_residual > 0 && time_ > 0 && small_everywhere()) ||
                        (may_end_early_ && op_.finished(z_, count_));
      for (Index column = 0; over && column < count_; ++column) finish(column);
      return !over;
    }
    Index running = 0;
    bool in_step = true;
    for (Index column = 0; column < width_; ++column) {
      const Column& run = at(column);
      if (run.instance >= 0 && (time_ - run.begin == options_.steps || has_ended(column))) finish(column);
      if (run.instance < 0) continue;
      ++running;
      in_step = in_step && (time_ - run.begin) % reload_interval_ == 0;
    }
    if (exhausted_ || (running > 0 && (width_ - running < reload_lanes_ || !in_step))) return running > 0;
    return refill() || running > 0;
  }

  // Lanes of a batch lie side by side: this one is the first of a batch that begins there.
  [[nodiscard]] bool has_ended(Index column) const {
    return op_.finished({z_.data + column, z_.rows, z_.width}, 1);
  }
  [[nodiscard]] bool small_everywhere() const {
    return std::all_of(lane_.residual.begin(), lane_.residual.begin() + count_,
                       [&](double residual) { return residual <= options_.stop_residual; });
  }

  // Whether there were instances left.
  bool refill() {
    bool any = false;
    for (Index column = 0; column < width_; ++column) {
      Index& next = reloaded_[static_cast<std::size_t>(column)];
      next = -1;
      if (at(column).instance >= 0 || !has_next()) continue;
      next = rest_.first++;
      --rest_.count;
      any = true;
      at(column) = {next, time_, std::numeric_limits<Index>::max()};
      for (MetricRoom& room : lane_.rooms) room.load_lane(column, next);
      take_start(column, next);
    }
    if (!any) return false;
    due_ = time_;
    op_.reload(reloaded_.data(), *lane_.workspace);
    const Batch fresh{lane_.fresh.data(), z_.rows, z_.width};
    set_starts(fresh);
    for (Index i = 0; i < z_.rows; ++i) {
      for (Index column = 0; column < width_; ++column) {
        if (reloaded_[static_cast<std::size_t>(column)] >= 0) z_.row(i)[column] = fresh.row(i)[column];
      }
    }
    record();
    return true;
  }

  // What `wanted` throws is thrown again when the lanes that run are done.
  bool has_next() {
    if (rest_.count > 0 || exhausted_) return rest_.count > 0;
    try {
      rest_ = supply_.next();
    } catch (...) {
      refusal_ = std::current_exception();
    }
    exhausted_ = rest_.count == 0;
    return !exhausted_;
  }

  void finish(Index column) {
    Column& run = at(column);
    if (options_.ending_sink) options_.ending_sink(run.instance, op_.ending(z_, column));
    while (run.position < options_.iterate_steps.size()) give_iterate(column);
    const Index last = time_ - run.begin;
    const Index rows = options_.steps + 1;
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      const double* values = lane_.values[i].data() + column;
      const Index from = metrics_[i].first_step();
      Index row = (run.begin + from) % rows;
      bool failed = false;
      for (Index k = from; k <= options_.steps; ++k) {
        const double value = values[row * width_];
        failed = failed || !std::isfinite(value) || k >= run.diverged;
        lane_.column[k - from] = failed ? infinity : value;
        if (k < last) row = row == options_.steps ? 0 : row + 1;  // the last is repeated
      }
      trace_sink_(i, run.instance, lane_.column.data());
    }
    run.instance = -1;
  }

  const Operator& op_;
  const std::vector<Metric>& metrics_;
  const Start& start_;
  const RunOptions& options_;
  const TraceSink& trace_sink_;
  const IterateSink& iterate_sink_;
  Supply& supply_;
  Lane& lane_;
  Index width_;
  Batch z_;
  bool may_end_early_;
  bool reloads_;
  Index count_ = 0;  // lanes of the block
  bool exhausted_ = false;
  Index reload_lanes_;     // that must wait before others are loaded
  Index reload_interval_;  // steps that lanes which run have made a multiple of, then
  Index time_ = 0;
  Index due_ = 0;       // time of the next iterates that are asked for; -1: none
  Index row_ = 0;       // of the values: time modulo steps + 1, so that a lane's are there when it ends
  Index read_at_ = -1;  // time of what `iterate` holds
  std::vector<Column> columns_;
  std::vector<Index> reloaded_;
  Part rest_{};  // of the block that lanes are filled from
  std::exception_ptr refusal_;
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
  const Part own = own_instances(op, options);
  const Index blocks = (own.count + op.width() - 1) / op.width();
  std::vector<std::unique_ptr<Lane>> rooms(static_cast<std::size_t>(std::clamp<Index>(blocks, 1, threads())));
  rooms[0] = std::make_unique<Lane>(op, metrics, options.steps);  // reports metrics that do not fit
  Supply supply(own, op.width(), options);
  parallel_blocks(static_cast<Index>(rooms.size()), [&](Index thread) {
    std::unique_ptr<Lane>& room = rooms[static_cast<std::size_t>(thread)];
    try {
      if (!room) room = std::make_unique<Lane>(op, metrics, options.steps);
      ThreadRun(op, metrics, start, options, trace_sink, iterate_sink, supply, *room)();
    } catch (...) {
      supply.stop();
      throw;
    }
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
    const std::size_t bytes = part.size() - head_bytes;
    const bool fits =
        bytes % row_bytes == 0 && is_within(first, static_cast<Index>(bytes / row_bytes), table.rows());
    if (!fits) throw std::logic_error("rows of another process are of another table");
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
