#include "surefoot/certify/learned.hpp"

#include "surefoot/certify/run_counter.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/learning/posterior_file.hpp"

#include <cmath>
#include <numeric>
#include <utility>

namespace surefoot::certify {

namespace {

void assign(const LearnedModel& model) {
  const Eigen::VectorXd& mean = model.posterior.gaussians.mean;
  const Eigen::VectorXd variance = model.posterior.variance();
  model.op.assign({mean.data(), static_cast<std::size_t>(mean.size())},
                  {variance.data(), static_cast<std::size_t>(variance.size())});
}

// Tells the progress after every run.
TraceListener listener_of(const CalibrationOptions& options, const runs::RunOptions& run_options,
                          const RunCounter& counter) {
  if (!options.progress) return nullptr;
  return [&options, all = options.draws * run_options.count, done = counter.counted()](
             Index, const double*) mutable { options.progress(++done, all); };
}

/// H weight vectors, each run on all samples: drawn here and given to the operator as means.
void count_shared(const LearnedModel& model, const CalibrationOptions& options,
                  const runs::RunOptions& run_options, RunCounter& counter) {
  const Eigen::VectorXd& mean = model.posterior.gaussians.mean;
  const Eigen::VectorXd deviation = model.posterior.variance().array().sqrt();
  const Eigen::VectorXd none = Eigen::VectorXd::Zero(mean.size());
  const auto span = [](const Eigen::VectorXd& v) {
    return std::span<const double>(v.data(), static_cast<std::size_t>(v.size()));
  };
  const TraceListener listener = listener_of(options, run_options, counter);
  Eigen::VectorXd drawn(mean.size());
  for (Index h = 0; h < options.draws; ++h) {
    RandomStream random(static_cast<std::uint64_t>(options.seed), paper_purpose,
                        static_cast<std::uint64_t>(h));
    for (Index i = 0; i < mean.size(); ++i) drawn[i] = mean[i] + deviation[i] * random.normal();
    model.op.assign(span(drawn), span(none));
    counter.run(SampledOperator(model.op), model.metric, {}, run_options, h * model.op.instances(), listener);
  }
  assign(model);
}

void count_stratified(const LearnedModel& model, const CalibrationOptions& options,
                      const runs::RunOptions& run_options, RunCounter& counter) {
  const TraceListener listener = listener_of(options, run_options, counter);
  for (Index repeat = 0; repeat < options.draws; ++repeat) {
    const SampledOperator op(model.op, static_cast<std::uint64_t>(options.seed), stratified_purpose, repeat);
    counter.run(op, model.metric, {}, run_options, repeat * model.op.instances(), listener);
  }
}

/// `op` is what ran: it says what was drawn.
Weights weights_of(const LearnedModel& model, const algorithms::Operator& op, Index seed,
                   std::string_view purpose) {
  Weights weights;
  weights.source = model.source.empty() ? "weights" : model.source;
  weights.sha256 = learning::posterior_sha256(model.posterior);
  weights.count = model.posterior.gaussians.mean.size();
  weights.sampling = op.sampling();
  weights.precision = model.precision;
  weights.seed = seed;
  weights.purpose = purpose;
  return weights;
}

Variant variant_of(const LearnedModel& model, const std::optional<SampleRange>& samples, Index count) {
  Variant variant;
  variant.name = model.name.empty() ? std::string(model.op.name()) : model.name;
  variant.source = fmt::format("{}, {} steps", model.op.name(), model.steps);
  if (!samples) return variant;
  samples->validate();
  require(samples->count == count, "samples: {} are named, {} are counted", samples->count, count);
  variant.provenance = SampleProvenance{*samples};
  return variant;
}

runs::RunOptions run_options_of(const LearnedModel& model, Index first, Index count) {
  require(model.steps >= 1 && model.steps <= most_steps, "steps: {} is outside 1 .. {}", model.steps,
          most_steps);
  require(first >= 0 && first < model.op.instances(), "first: {} is outside 0 .. {}", first,
          model.op.instances() - 1);
  require(is_within(first, count, model.op.instances()), "count: {} samples from {} on, there are {}", count,
          first, model.op.instances());
  learning::require_layout(model.posterior, model.op.weights());
  runs::RunOptions options;
  options.steps = model.steps;
  options.first = first;
  options.count = count == 0 ? model.op.instances() - first : count;
  return options;
}

}  // namespace

void SampledOperator::load(Index first, Index count, algorithms::Workspace& workspace) const {
  op_.load(first, count, workspace);
  if (!draws_) {
    op_.use_means(workspace);
    return;
  }
  algorithms::WeightDraw draw = base_;
  draw.first_draw += static_cast<std::uint64_t>(first);
  op_.draw(draw, workspace);
}

std::vector<Index> recorded_steps(const runs::Metric& metric, Index steps) {
  std::vector<Index> recorded(static_cast<std::size_t>(steps - metric.first_step() + 1));
  std::iota(recorded.begin(), recorded.end(), metric.first_step());
  return recorded;
}

void CalibrationOptions::validate() const {
  require(draws >= 1, "draws: {} is below 1", draws);
  require(seed >= 0, "seed: {} is negative", seed);
  require(prior_samples >= 0, "prior_samples: {} is negative", prior_samples);
}

Calibrated calibrate(const LearnedModel& model, const PacBayesOptions& resolved_options,
                     const CalibrationOptions& options) {
  options.validate();
  const runs::RunOptions run_options = run_options_of(model, options.first, options.count);
  (void)checked_product("draws", options.draws, model.op.instances());  // runs in all
  require_declared_grid(model.posterior.grid, options.prior_samples);
  const bool stratified = options.design == Design::stratified;
  Calibrated result{
      variant_of(model, options.samples, run_options.count), charge(model.posterior),
      runs::Tally(tally_spec(resolved_options.claims, recorded_steps(model.metric, model.steps)))};
  result.guarantee.samples = run_options.count;
  result.guarantee.prior_samples = options.prior_samples;
  result.guarantee.design = options.design;
  result.guarantee.draws = options.draws;
  result.variant.weights =
      weights_of(model, model.op, options.seed, stratified ? stratified_purpose : paper_purpose);
  if (!stratified) result.variant.weights->sampling = "weights";  // drawn here, not by the operator
  assign(model);
  RunCounter counter(result.tally.spec(), options.journal);
  if (stratified) {
    count_stratified(model, options, run_options, counter);
  } else {
    count_shared(model, options, run_options, counter);
  }
  result.tally = counter.finish();
  return result;
}

Certificate certify_hold_out(const LearnedModel& model, Options options, const HoldOutOptions& hold_out) {
  return certify_hold_out(std::vector<LearnedModel>{model}, std::move(options), hold_out);
}

Certificate certify_hold_out(const std::vector<LearnedModel>& models, Options options,
                             const HoldOutOptions& hold_out) {
  require(!models.empty(), "models: there is none");
  require(hold_out.seed >= 0, "seed: {} is negative", hold_out.seed);
  const std::vector<Index> steps = recorded_steps(models.front().metric, models.front().steps);
  options.metric = models.front().metric.name;
  options.unit = models.front().metric.unit;
  options = resolved(std::move(options), {steps});
  std::vector<Counted> counted;
  for (const LearnedModel& model : models) {
    require(recorded_steps(model.metric, model.steps) == steps, "model '{}' makes other steps than the first",
            model.name);
    const runs::RunOptions run_options = run_options_of(model, hold_out.first, hold_out.count);
    assign(model);
    RunCounter counter(tally_spec(options, steps), hold_out.journal);
    Variant variant = variant_of(model, hold_out.samples, run_options.count);
    const SampledOperator op =
        hold_out.at_means
            ? SampledOperator(model.op)
            : SampledOperator(model.op, static_cast<std::uint64_t>(hold_out.seed), hold_out_purpose, 0);
    variant.weights = weights_of(model, op, hold_out.at_means ? 0 : hold_out.seed,
                                 hold_out.at_means ? "" : hold_out_purpose);
    counter.run(op, model.metric, {}, run_options);
    counted.push_back({variant, counter.finish()});
  }
  return certify(options, counted);
}

}  // namespace surefoot::certify
