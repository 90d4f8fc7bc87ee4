#pragma once

#include "surefoot/algorithms/learned_operator.hpp"
#include "surefoot/io/checkpoint_file.hpp"
#include "surefoot/learning/loss.hpp"
#include "surefoot/learning/objective.hpp"
#include "surefoot/learning/posterior.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace surefoot::learning {

/// How the prior variances lambda_j follow: by Adam on nu = log lambda (the paper), by the minimizer of the
/// KL divergence lambda_j = mean(s + (w - w0)^2) after every step, or not at all.
enum class PriorRule { gradient, closed_form, fixed };
std::string_view to_string(PriorRule rule);
PriorRule parse_prior_rule(std::string_view name);

/// Rates over a stage: constant, or from 1 down to final_rate along half a cosine.
enum class Schedule { constant, cosine };
std::string_view to_string(Schedule schedule);
Schedule parse_schedule(std::string_view name);

/// A stretch of training with one objective. The defaults are the paper's.
struct Stage {
  std::string name = "training";
  Index epochs = 1;
  Index batch = 100;            ///< runs per step, at most
  Index samples = 0;            ///< the first of them only; 0: all
  bool noise = true;            ///< false: runs at the means, no variances, no bound: plain training
  double mean_rate = 1e-3;      ///< Adam's rate for w
  double variance_rate = 1e-3;  ///< for zeta = log s
  double prior_rate = 1e-3;     ///< for nu = log lambda, PriorRule::gradient
  Schedule schedule = Schedule::constant;
  double final_rate = 0.01;            ///< share of the rates at the end of a cosine
  std::optional<double> log_variance;  ///< what zeta begins with; none: what it is
  PriorRule prior = PriorRule::gradient;
  Surrogate surrogate;
  Penalty penalty;

  void validate() const;
};

/// Calls visit(name, value) for every field of a stage: the one list that training files are read by and
/// checkpoints are compared by. Taken apart by all fields, so that a new one cannot be left out unseen.
template <class Visit>
void visit_fields(Stage& stage, const Visit& visit) {
  auto& [name, epochs, batch, samples, noise, mean_rate, variance_rate, prior_rate, schedule, final_rate,
         log_variance, prior, surrogate, penalty] = stage;
  visit("name", name);
  visit("epochs", epochs);
  visit("batch", batch);
  visit("samples", samples);
  visit("noise", noise);
  visit("mean_rate", mean_rate);
  visit("variance_rate", variance_rate);
  visit("prior_rate", prior_rate);
  visit("schedule", schedule);
  visit("final_rate", final_rate);
  visit("log_variance", log_variance);
  visit("prior", prior);
  auto& [surrogate_kind, scale, tolerance, width] = surrogate;
  visit("surrogate", surrogate_kind);
  visit("scale", scale);
  visit("tolerance", tolerance);
  visit("width", width);
  auto& [penalty_kind, weight, target] = penalty;
  visit("penalty", penalty_kind);
  visit("penalty_weight", weight);
  visit("target", target);
}

struct TrainOptions {
  std::uint64_t seed = 0;
  Index steps = 10;     ///< K, unrolled
  Index samples = 0;    ///< N: the first instances of the operator; 0: all of them
  double delta = 1e-5;  ///< of B
  std::vector<Stage> stages;
  /// Parts of a batch whose derivatives are summed apart, whatever the number of threads: results are the
  /// same bits on any machine. Each needs a workspace of its own.
  Index slots = 4;
  std::set<std::string> tied;                 ///< blocks whose variances are their prior's: s = lambda
  std::map<std::string, double> rate_factor;  ///< of a block's mean_rate; 1 if not named
  std::filesystem::path checkpoint;           ///< file; empty: none
  bool resume = true;                         ///< resume from the checkpoint if there is one
  double checkpoint_seconds = 60;             ///< between two of them
  io::Configuration identity = {};            ///< what else a checkpoint must agree with (the samples)

  void validate(const algorithms::WeightLayout& layout, Index instances) const;
};

struct TrainProgress {
  const Stage* stage = nullptr;
  Index stage_number = 0;  ///< from 0
  Index epoch = 0;         ///< of the stage, from 0
  double epoch_share = 0;  ///< of this epoch that is done
  bool epoch_done = false;
  double loss = 0;          ///< median of the losses of the last runs (a batch or more)
  double surrogate = 0;     ///< mean surrogate of this epoch
  double risk = 0;          ///< share of its runs at or above the surrogate's tolerance
  double regularizer = 0;   ///< B; 0 without noise
  double objective = 0;     ///< mean of the epoch
  double seconds = 0;       ///< since this call began
  double seconds_left = 0;  ///< estimated from the speed so far
};

struct TrainHooks {
  /// Once, if training resumes from a checkpoint.
  std::function<void()> resumed;
  /// Before the samples of an epoch (numbered through all stages) are used, also when resuming inside it: may
  /// replace them.
  std::function<void(Index epoch)> before_epoch;
  std::function<void(const TrainProgress&)> progress;
  /// After every step; true: write a checkpoint and stop.
  std::function<bool()> stop;
};

struct TrainResult {
  Posterior posterior;
  double regularizer = 0;  ///< B, prior on its grid
  bool finished = true;    ///< false: stopped by a hook
  double seconds = 0;
};

/// Where training begins: the operator's initial means and prior means, zeta = log_variance, lambda =
/// prior_variance everywhere.
Posterior initial_posterior(const algorithms::LearnedOperator& op, double log_variance = -10,
                            double prior_variance = 1e-2);

/// Algorithm 1 of Sambharya and Stellato, in stages: Adam on (w, zeta, nu) of
///   kl_inv( mean_i surrogate(loss_i(theta_i)), B(w, s, lambda) ) + penalty(B),
/// theta_i = w + sqrt(s) xi_i drawn for each run; without noise, of the mean surrogate at w. At the end the
/// prior's variances are moved to their grid.
/// Mini-batches are made of fixed small groups of samples in an order that depends on (seed, epoch) only.
/// A run that was killed resumes from its checkpoint and ends at the same weights, bit for bit; a checkpoint
/// of other settings, weights or samples is refused.
TrainResult train(algorithms::LearnedOperator& op, Posterior begin, const Loss& loss,
                  const TrainOptions& options, const TrainHooks& hooks = {});

}  // namespace surefoot::learning
