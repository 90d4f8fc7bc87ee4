#include "surefoot/experiments/run_drawn.hpp"

#include "surefoot/algorithms/gradient_descent.hpp"
#include "surefoot/certify/learned.hpp"
#include "surefoot/certify/run_counter.hpp"
#include "surefoot/certify/settings_json.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/nearest_name.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/block_runs.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/families/family_key.hpp"
#include "surefoot/io/json_dump.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <memory>
#include <utility>

namespace surefoot::experiments {

namespace {

using DrawnJson = nlohmann::ordered_json;

DrawnFamily drawn_kalman() {
  const auto family = std::make_shared<const families::RobustKalman>();
  return {"robust-kalman", "robust Kalman filtering of a vehicle (second-order cones), by SCS",
          families::key_of(family->options()), "samples",
          [family](std::uint64_t seed, Index first, Index count, Preset preset) {
            return scs_run(family->problem(family->draw(seed, count, first).observations),
                           scs_preset(preset));
          }};
}

DrawnFamily drawn_control() {
  const auto family = std::make_shared<const families::ModelPredictiveControl>();
  return {"model-predictive-control", "control of carts with limited forces (quadratic programs), by OSQP",
          families::key_of(family->options()), std::string(to_string(families::SampleSet::test)),
          [family](std::uint64_t seed, Index first, Index count, Preset preset) {
            return osqp_run(family->problem(family->draw(seed, families::SampleSet::test, count, first)),
                            osqp_preset(preset));
          }};
}

DrawnFamily drawn_quadratics() {
  const auto family = std::make_shared<const families::UnconstrainedQp>();
  return {"unconstrained-qp", "quadratics without constraints, by gradient descent",
          families::key_of(family->options()), std::string(to_string(families::SampleSet::test)),
          [family](std::uint64_t seed, Index first, Index count, Preset /*there is one*/) {
            const auto c = std::make_shared<const problems::Table>(
                family->draw(seed, families::SampleSet::test, count, first));
            SolverRun run;
            run.op = std::make_unique<algorithms::GradientDescent>(
                family->problem(*c), algorithms::GradientDescentOptions{1 / family->curvature().maxCoeff()});
            run.solve = [family, c](const Interrupt& /*there is nothing to wait for*/) {
              return family->solutions(*c);
            };
            return run;
          }};
}

std::vector<std::string> names_of_drawn_families() {
  std::vector<std::string> names;
  for (const DrawnFamily& family : drawn_families()) names.push_back(family.name);
  return names;
}

}  // namespace

const std::vector<DrawnFamily>& drawn_families() {
  static const std::vector<DrawnFamily> all{drawn_kalman(), drawn_control(), drawn_quadratics()};
  return all;
}

const DrawnFamily& drawn_family(const std::string& name) {
  const auto found = std::ranges::find(drawn_families(), name, &DrawnFamily::name);
  if (found != drawn_families().end()) return *found;
  const std::string near = nearest_name(name, names_of_drawn_families());
  throw InputError(fmt::format("run family: '{}' is not one of {}{}", name,
                               fmt::join(names_of_drawn_families(), ", "),
                               near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

void DrawnRunOptions::validate() const {
  require(iterations >= 1 && iterations <= most_steps, "--iterations: {} is outside 1 .. {}", iterations,
          most_steps);
  require(samples >= 1, "--samples: say how many problems are to be run, a number fixed beforehand");
  require(samples <= most_counted, "--samples: {} is outside 1 .. {}", samples, most_counted);
  require(first <= most_counted, "--first: {} is outside 0 .. {}", first, most_counted);
  require(seed >= 0, "--seed: {} is below 0", seed);
}

DrawnRun::DrawnRun(const std::string& family, DrawnRunOptions options, certify::Options claims)
    : family_(drawn_family(family)), options_(std::move(options)), claims_(std::move(claims)) {
  options_.validate();
  problems().validate();
  claims_.value_limit = std::min(claims_.value_limit, values_kept);
  const SolverRun one = drawn(options_.first, 1);
  solver_ = one.op->name();
  record_ = certify::settings_json(one.op->settings());
  const runs::Metric metric = metric_of(one);  // refuses names that it does not know
  claims_.metric = metric.name;
  claims_.unit = metric.unit;
  claims_ = certify::resolved(claims_, {certify::recorded_steps(metric, options_.iterations)});
  require_memory(*one.op);
}

certify::SampleRange DrawnRun::problems() const {
  return {family_.key.text(), options_.seed, family_.set, options_.first, options_.samples};
}

SolverRun DrawnRun::drawn(Index first, Index count) const {
  return family_.draw(static_cast<std::uint64_t>(options_.seed), first, count, options_.preset);
}

runs::Metric DrawnRun::metric_of(const SolverRun& run) const {
  return metric_of_block(options_.metric, run);
}

certify::Certificate DrawnRun::count(certify::CountJournal& journal) const {
  const std::vector<Index> steps =
      certify::recorded_steps(metric_of(drawn(options_.first, 1)), options_.iterations);
  certify::RunCounter counter(certify::tally_spec(claims_, steps), &journal);
  counter.expect(options_.samples);
  count_blocks({options_.samples, options_.iterations, options_.metric, solver_,
                [&](Index at, Index size) { return drawn(options_.first + at, size); }, options_.block_size},
               counter, journal);
  certify::Variant variant;
  variant.name = solver_;
  variant.source = "surefoot run";
  certify::Certificate certificate = certify::certify(claims_, {{variant, counter.finish()}});
  DrawnJson record = DrawnJson::parse(record_);
  record["family"] = family_.key.text();
  record["iterations"] = options_.iterations;
  record["seed"] = options_.seed;
  record["start"] = "cold";
  certificate.run = io::json_dump(record);
  return certificate;
}

void DrawnRun::require_memory(const algorithms::Operator& op) const {
  MemoryNeeds needs(options_.memory_limit);
  needs.add_blocks(op, options_.iterations, threads());
  needs.add_counts(CountedSizes::of(claims_, options_.iterations + 1), options_.samples,
                   certify::RunCounter::tallies, options_.checkpoints);
  needs.add("problems", numbers_of_block(op, options_.metric, options_.samples));
  needs.require_fit();
}

}  // namespace surefoot::experiments
