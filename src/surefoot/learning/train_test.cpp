#include "surefoot/learning/train.hpp"

#include "surefoot/algorithms/code_networks.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/families/sparse_coding.hpp"
#include "surefoot/learning/unroll.hpp"

#include "support/input_error.hpp"
#include "support/temporary_folder.hpp"
#include "support/thread_ranks.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>

namespace surefoot::learning {
namespace {

constexpr Index K = 3;

/// A small family, a network on it and the loss against its codes.
struct Setting {
  explicit Setting(const std::string& model = "alista", Index samples = 200)
      : codes(std::make_shared<problems::SparseCodes>(
            families::SparseCoding(2, {.measurements = 20, .variables = 40})
                .draw(families::SampleSet::training, samples))),
        op(algorithms::make_code_network(model, codes, {.steps = K})) {
    loss.target = [this](Index first, Index count, algorithms::Batch target) {
      codes->write_codes(first, count, target.width, target.data);
    };
  }
  std::shared_ptr<problems::SparseCodes> codes;
  std::unique_ptr<algorithms::LearnedOperator> op;
  Loss loss;
};

Stage fast_stage(bool noise) {
  Stage stage;
  stage.name = noise ? "bound" : "plain";
  stage.noise = noise;
  stage.epochs = 3;
  stage.batch = 50;
  stage.mean_rate = 1e-2;
  stage.variance_rate = 2e-2;
  stage.schedule = Schedule::cosine;
  stage.prior = PriorRule::closed_form;
  stage.penalty.kind = PenaltyKind::none;
  stage.surrogate.kind = noise ? SurrogateKind::tolerance : SurrogateKind::logarithm;
  return stage;
}

TrainOptions small_options() {
  TrainOptions options;
  options.seed = 4;
  options.steps = K;
  options.stages = {fast_stage(false), fast_stage(true)};
  return options;
}

bool same_bits(const Eigen::VectorXd& a, const Eigen::VectorXd& b) {
  return a.size() == b.size() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0;
}

void expect_same_weights(const Posterior& a, const Posterior& b, const std::string& what) {
  EXPECT_TRUE(same_bits(a.gaussians.mean, b.gaussians.mean)) << what;
  EXPECT_TRUE(same_bits(a.gaussians.log_variance, b.gaussians.log_variance)) << what;
  EXPECT_TRUE(same_bits(a.gaussians.prior_log_variance, b.gaussians.prior_log_variance)) << what;
}

TEST(Unroll, DerivativesOfEveryLossMatchDifferences) {
  Setting setting("glista");
  const auto begin = setting.op->initial();
  std::vector<double> mean = begin.mean;
  RandomStream stream(1, "test", 0);
  for (double& w : mean) w = 0.3 + 0.1 * stream.uniform();
  const std::vector<double> variance(mean.size(), 1e-4);
  for (const LossKind kind : {LossKind::regression, LossKind::nmse, LossKind::residual}) {
    for (const bool weighted : {false, true}) {
      setting.loss.kind = kind;
      setting.loss.step_weights = weighted ? std::vector<double>{0.2, 0.5, 1.0} : std::vector<double>{};
      Unroll unroll(*setting.op, setting.loss, K);
      const algorithms::WeightDraw draw{5, "test", 0};
      const Index count = 9;
      std::vector<double> seed(static_cast<std::size_t>(count));
      for (double& value : seed) value = stream.normal();
      const auto value = [&](const std::vector<double>& at) {
        setting.op->assign(at, variance);
        std::vector<double> losses(static_cast<std::size_t>(count));
        unroll.forward(3, count, &draw, losses.data());
        double sum = 0;
        for (Index i = 0; i < count; ++i) sum += seed[i] * losses[i];
        return sum;
      };
      value(mean);
      unroll.backward(seed.data());
      std::vector<double> d_mean(mean.size(), 0.0);
      std::vector<double> d_log_variance(mean.size(), 0.0);
      setting.op->collect(unroll.workspace(), d_mean, d_log_variance);
      for (std::size_t i = 0; i < mean.size(); ++i) {
        const double h = 1e-6;
        std::vector<double> up = mean;
        std::vector<double> down = mean;
        up[i] += h;
        down[i] -= h;
        const double difference = (value(up) - value(down)) / (2 * h);
        EXPECT_NEAR(d_mean[i], difference, 2e-5 * std::max(1.0, std::abs(difference)))
            << to_string(kind) << " " << i;
      }
    }
  }
}

TEST(Objective, DerivativesMatchDifferences) {
  for (const PenaltyKind kind : {PenaltyKind::none, PenaltyKind::one_sided, PenaltyKind::two_sided}) {
    const Penalty penalty{kind, 10, 0.02};
    for (const double q : {0.02, 0.3, 0.9}) {
      for (const double B : {0.004, 0.03}) {
        const double h = 1e-7;
        const ObjectiveValue at = training_objective(q, B, penalty);
        EXPECT_NEAR(
            at.by_risk,
            (training_objective(q + h, B, penalty).value - training_objective(q - h, B, penalty).value) /
                (2 * h),
            1e-5 * at.by_risk);
        EXPECT_NEAR(
            at.by_regularizer,
            (training_objective(q, B + h, penalty).value - training_objective(q, B - h, penalty).value) /
                (2 * h),
            1e-4 * std::abs(at.by_regularizer));
      }
    }
  }
  for (const double q : {0.0, 1.0}) {
    const ObjectiveValue edge = training_objective(q, 1e-3, {});
    EXPECT_TRUE(std::isfinite(edge.by_risk) && std::isfinite(edge.by_regularizer)) << q;
  }
}

TEST(Surrogate, DerivativesMatchDifferencesAndDivergedRunsFail) {
  for (const SurrogateKind kind :
       {SurrogateKind::logistic, SurrogateKind::logistic_mean, SurrogateKind::tolerance,
        SurrogateKind::logarithm, SurrogateKind::identity}) {
    const Surrogate surrogate{kind, 0.3, 0.5, 0.7};
    for (const double loss : {0.01, 0.5, 3.0}) {
      const double h = 1e-6;
      EXPECT_NEAR(surrogate.derivative(loss),
                  (surrogate.value(loss + h) - surrogate.value(loss - h)) / (2 * h), 1e-5)
          << to_string(kind) << " " << loss;
    }
    EXPECT_EQ(surrogate.derivative(infinity), 0);
    if (is_risk(kind)) {
      EXPECT_EQ(surrogate.value(infinity), 1);
    }
  }
}

TEST(Train, LowersTheLossAndEndsOnThePriorsGrid) {
  Setting setting;
  double first = 0;
  double last = 0;
  TrainHooks hooks;
  hooks.progress = [&](const TrainProgress& now) {
    if (!now.epoch_done) return;
    if (now.stage_number == 0 && now.epoch == 0) first = now.surrogate;
    if (now.stage_number == 0) last = now.surrogate;
    EXPECT_GE(now.seconds_left, 0);
  };
  const TrainResult result =
      train(*setting.op, initial_posterior(*setting.op), setting.loss, small_options(), hooks);
  EXPECT_TRUE(result.finished);
  EXPECT_LT(last, first - 0.05);
  EXPECT_TRUE(bounds::is_on_grid(result.posterior.gaussians, result.posterior.grid));
  EXPECT_EQ(result.regularizer,
            bounds::regularizer(result.posterior.gaussians, result.posterior.grid, 200, 1e-5));
}

TEST(Train, StageWithNoiseLowersItsObjective) {
  Setting setting("alista", 1000);
  TrainOptions options = small_options();
  options.stages = {fast_stage(true)};
  options.stages[0].epochs = 15;
  std::vector<double> objectives;
  TrainHooks hooks;
  hooks.progress = [&](const TrainProgress& now) {
    if (now.epoch_done) objectives.push_back(now.objective);
  };
  train(*setting.op, initial_posterior(*setting.op), setting.loss, options, hooks);
  ASSERT_EQ(objectives.size(), 15U);
  EXPECT_LT(objectives.front(), 1);
  EXPECT_LT(objectives.back(), objectives.front() - 0.01);
}

// What training moves is the B that is certified: at weights that do not move, free and tied, over blocks of
// several ranges, it is the slow version's, value by value.
TEST(Train, MovesTheRegularizerThatIsCertified) {
  for (const bool tied : {false, true}) {
    Setting setting("lista");
    TrainOptions options = small_options();
    options.stages = {fast_stage(true)};
    Stage& stage = options.stages[0];
    stage.epochs = 1;
    stage.prior = PriorRule::gradient;
    stage.mean_rate = stage.variance_rate = stage.prior_rate = 0;
    if (tied) options.tied = {"recurrence"};
    Posterior begin = initial_posterior(*setting.op, -6, 1e-3);
    RandomStream stream(8, "regularizer", 0);
    bounds::GaussianPair& pair = begin.gaussians;
    for (double& w : pair.mean) w += 0.1 * stream.normal();
    for (double& zeta : pair.log_variance) zeta += stream.uniform();
    for (double& nu : pair.prior_log_variance) nu += stream.uniform(-1, 1);
    double trained = 0;
    TrainHooks hooks;
    hooks.progress = [&](const TrainProgress& now) { trained = now.regularizer; };
    train(*setting.op, begin, setting.loss, options, hooks);
    for (std::size_t b = 0; tied && b < begin.layout.blocks.size(); ++b) {
      if (begin.layout.blocks[b].name != "recurrence") continue;
      pair.log_variance.segment(begin.layout.offset(b), begin.layout.blocks[b].size())
          .setConstant(pair.prior_log_variance[static_cast<Index>(b)]);
    }
    const double certified = bounds::regularizer(pair, begin.grid, 200, options.delta);
    EXPECT_GT(certified, 0.1);
    EXPECT_NEAR(trained, certified, 1e-10 * certified) << tied;
  }
}

TEST(Train, GivesTheSameBitsWhateverTheNumberOfThreads) {
  for (const std::string model : {"alista", "lista"}) {
    Setting setting(model);
    TrainOptions options = small_options();
    if (model == "lista") options.tied = {"recurrence", "observation"};
    set_threads(1);
    const TrainResult one = train(*setting.op, initial_posterior(*setting.op), setting.loss, options);
    set_threads(3);
    const TrainResult three = train(*setting.op, initial_posterior(*setting.op), setting.loss, options);
    set_threads(0);
    expect_same_weights(one.posterior, three.posterior, model);
  }
}

TEST(Train, StoppedAtTenRandomMomentsEndsAtTheSameWeights) {
  const test_support::TemporaryFolder folder;
  Setting setting("tilista");
  TrainOptions options = small_options();
  options.tied = {"matrix"};
  const Posterior begin = initial_posterior(*setting.op, -12, 1e-5);
  const TrainResult whole = train(*setting.op, begin, setting.loss, options);
  options.checkpoint = folder / "checkpoint";
  RandomStream stream(3, "stops", 0);
  int stops = 0;
  while (true) {
    auto left = static_cast<int>(1 + stream.below(4));
    TrainHooks hooks;
    hooks.stop = [&] { return stops < 10 && --left == 0; };
    const TrainResult part = train(*setting.op, begin, setting.loss, options, hooks);
    if (part.finished) {
      expect_same_weights(part.posterior, whole.posterior, "resumed");
      break;
    }
    ++stops;
  }
  EXPECT_GE(stops, 5);
}

TEST(Train, RefusesCheckpointsOfOtherSettingsAndDamagedOnes) {
  const test_support::TemporaryFolder folder;
  Setting setting;
  TrainOptions options = small_options();
  options.checkpoint = folder / "checkpoint";
  options.identity = {{"samples", "first"}};
  TrainHooks hooks;
  hooks.stop = [] { return true; };
  const Posterior begin = initial_posterior(*setting.op);
  EXPECT_FALSE(train(*setting.op, begin, setting.loss, options, hooks).finished);
  const std::array<const char*, 4> named{"seed is '4' there and '5' here", "stage bound: tolerance is",
                                         "samples is 'first' there and 'other' here",
                                         "belongs to another configuration"};
  for (std::size_t change = 0; change < named.size(); ++change) {
    TrainOptions other = options;
    Posterior start = begin;
    if (change == 0) other.seed = 5;
    if (change == 1) other.stages[1].surrogate.tolerance = 0.3;
    if (change == 2) other.identity = {{"samples", "other"}};
    if (change == 3) start.gaussians.mean[0] += 1e-9;
    EXPECT_INPUT_ERROR(train(*setting.op, start, setting.loss, other), named[change]) << change;
  }
  {
    std::fstream file(folder / "checkpoint", std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(200);
    file.put('x');
  }
  EXPECT_INPUT_ERROR(train(*setting.op, begin, setting.loss, options), "is damaged");
}

/// Another value of any field of a stage that can be trained with.
struct Changed {
  void operator()(std::string& value) const { value += "x"; }
  void operator()(Index& value) const { value += 1; }
  void operator()(double& value) const { value += 0.125; }
  void operator()(bool& value) const { value = !value; }
  void operator()(std::optional<double>& value) const { value = value.value_or(-9) - 1; }
  void operator()(Schedule& value) const {
    value = value == Schedule::constant ? Schedule::cosine : Schedule::constant;
  }
  void operator()(PriorRule& value) const {
    value = value == PriorRule::fixed ? PriorRule::gradient : PriorRule::fixed;
  }
  void operator()(SurrogateKind& value) const {
    value = value == SurrogateKind::logistic ? SurrogateKind::tolerance : SurrogateKind::logistic;
  }
  void operator()(PenaltyKind& value) const {
    value = value == PenaltyKind::none ? PenaltyKind::two_sided : PenaltyKind::none;
  }
};

TEST(Train, ACheckpointIsRefusedAfterAChangeOfAnyFieldOfAStage) {
  const test_support::TemporaryFolder folder;
  Setting setting;
  TrainOptions options = small_options();
  options.checkpoint = folder / "checkpoint";
  TrainHooks hooks;
  hooks.stop = [] { return true; };
  const Posterior begin = initial_posterior(*setting.op);
  EXPECT_FALSE(train(*setting.op, begin, setting.loss, options, hooks).finished);
  std::vector<std::string> fields;
  visit_fields(options.stages[1], [&](const char* field, const auto&) { fields.emplace_back(field); });
  EXPECT_EQ(fields.size(), 19U);
  for (const std::string& field : fields) {
    TrainOptions other = options;
    visit_fields(other.stages[1], [&](const char* name, auto& value) {
      if (field == name) Changed()(value);
    });
    EXPECT_INPUT_ERROR(train(*setting.op, begin, setting.loss, other), "belongs to ") << field;
  }
}

TEST(Train, NamesWhatIsWrongWithOptions) {
  Setting setting;
  const Posterior begin = initial_posterior(*setting.op);
  const auto refused = [&](const std::function<void(TrainOptions&)>& change, const char* message) {
    TrainOptions options = small_options();
    change(options);
    EXPECT_INPUT_ERROR(train(*setting.op, begin, setting.loss, options), message);
  };
  refused([](TrainOptions& o) { o.samples = 1000; }, "samples: 1000 is outside 0 .. 200");
  refused([](TrainOptions& o) { o.delta = 0; }, "delta: 0 is outside (0, 1)");
  refused([](TrainOptions& o) { o.tied = {"nothing"}; }, "tied: there is no block 'nothing'");
  refused([](TrainOptions& o) { o.rate_factor["nothing"] = 1; }, "rate_factor: there is no block 'nothing'");
  refused([](TrainOptions& o) { o.stages[0].batch = 0; }, "stage 'plain': batch 0 is below 1");
  refused([](TrainOptions& o) { o.stages[1].surrogate.kind = SurrogateKind::logarithm; },
          "stage 'bound': surrogate logarithm is no risk");
  refused([](TrainOptions& o) { o.stages[1].surrogate.kind = SurrogateKind::identity; },
          "stage 'bound': surrogate identity is no risk");
  refused([](TrainOptions& o) { o.stages[1].surrogate.width = 0; }, "surrogate width: 0 must be > 0");
  refused([](TrainOptions& o) { o.steps = -1; }, "steps: -1 is outside 0 .. 100000000");
}

/// What training says instead of going on with weights that mean nothing.
TEST(Train, NamesTheStepThatDiverges) {
  const test_support::TemporaryFolder folder;
  for (const SurrogateKind kind :
       {SurrogateKind::logarithm, SurrogateKind::logistic_mean, SurrogateKind::tolerance}) {
    Setting setting;
    TrainOptions options = small_options();
    options.checkpoint = folder / std::string(to_string(kind));
    options.checkpoint_seconds = 0;
    options.stages = {fast_stage(false)};
    options.stages[0].surrogate.kind = kind;
    options.stages[0].schedule = Schedule::constant;
    options.stages[0].mean_rate = 1e250;
    EXPECT_INPUT_ERROR(
        train(*setting.op, initial_posterior(*setting.op), setting.loss, options),
        "training diverged at step 2 of epoch 1 of stage 'plain': no run has a finite loss; try a "
        "smaller mean_rate (now 1e+250)")
        << to_string(kind);
    EXPECT_TRUE(std::filesystem::exists(options.checkpoint)) << "it is kept";
  }
}

/// A run without a finite loss is a failure, and takes no part in the mean of the others.
TEST(Train, LogisticMeanGoesOnWithTheRunsThatAreFinite) {
  constexpr Index samples = 50;
  const auto first_epoch = [&](bool broken, std::vector<double>& weights) {
    Setting setting("alista", samples);
    if (broken) {
      setting.codes->b.row(7).setConstant(1e200);
      setting.op->instances_changed();
    }
    TrainOptions options = small_options();
    options.stages = {fast_stage(false)};
    Stage& stage = options.stages[0];
    stage.batch = samples;
    stage.epochs = 1;
    stage.surrogate = {SurrogateKind::logistic_mean, 1.0, 0.1, 1.0};
    TrainProgress seen;
    TrainHooks hooks;
    hooks.progress = [&](const TrainProgress& now) { seen = now; };
    const Posterior begin = initial_posterior(*setting.op);
    const Posterior end = train(*setting.op, begin, setting.loss, options, hooks).posterior;
    weights.assign(end.gaussians.mean.begin(), end.gaussians.mean.end());
    EXPECT_TRUE(end.gaussians.mean.allFinite());
    EXPECT_NE(end.gaussians.mean, begin.gaussians.mean);
    // Alone, the mean of the finite losses.
    Unroll unroll(*setting.op, setting.loss, K);
    setting.op->assign({begin.gaussians.mean.data(), static_cast<std::size_t>(begin.gaussians.mean.size())},
                       std::vector<double>(static_cast<std::size_t>(begin.gaussians.mean.size()), 0.0));
    double sum = 0;
    Index finite = 0;
    for (Index i = 0; i < samples; ++i) {
      double loss = 0;
      unroll.forward(i, 1, nullptr, &loss);
      if (loss == infinity) continue;
      sum += loss;
      ++finite;
    }
    EXPECT_EQ(finite, broken ? samples - 1 : samples);
    const double mean = stage.surrogate.value(sum / static_cast<double>(finite));
    const double expected =
        (static_cast<double>(samples - finite) + static_cast<double>(finite) * mean) / samples;
    EXPECT_NEAR(seen.surrogate, expected, 1e-5 * expected);
  };
  std::vector<double> whole;
  std::vector<double> broken;
  first_epoch(false, whole);
  first_epoch(true, broken);
  for (std::size_t i = 0; i < whole.size(); ++i) EXPECT_NEAR(broken[i], whole[i], 1e-2) << i;
}

TEST(Train, IsTheSameBitsWhateverTheProcesses) {
  for (const char* model : {"alista", "lista", "tilista"}) {
    TrainOptions options = small_options();
    if (std::string(model) == "tilista") options.tied = {"matrix"};
    const auto weights = [&] {
      Setting setting(model);
      return train(*setting.op, initial_posterior(*setting.op), setting.loss, options).posterior;
    };
    const Posterior reference = weights();
    for (const int processes : {2, 3, 5}) {
      std::vector<Posterior> trained(static_cast<std::size_t>(processes));
      test::ThreadRanks::run(processes,
                             [&] { trained[static_cast<std::size_t>(ranks().rank())] = weights(); });
      for (const Posterior& posterior : trained)
        expect_same_weights(posterior, reference, fmt::format("{}, {} processes", model, processes));
    }
  }
}

}  // namespace
}  // namespace surefoot::learning
