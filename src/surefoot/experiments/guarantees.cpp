#include "surefoot/experiments/guarantees.hpp"

#include "surefoot/bounds/quantile.hpp"
#include "surefoot/certify/learned.hpp"
#include "surefoot/certify/pac_bayes.hpp"
#include "surefoot/certify/run_counter.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/experiments/checkpoints.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/learned_bench.hpp"
#include "surefoot/experiments/learned_weights.hpp"
#include "surefoot/experiments/memory_needs.hpp"
#include "surefoot/experiments/start_comparison.hpp"
#include "surefoot/learning/posterior_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

namespace surefoot::experiments {

namespace {

constexpr EnumNames<GuaranteeKind, 5> kind_names{{{GuaranteeKind::pac_bayes, "pac-bayes"},
                                                  {GuaranteeKind::pac_bayes_paper, "pac-bayes-paper"},
                                                  {GuaranteeKind::hold_out, "hold-out"},
                                                  {GuaranteeKind::hold_out_means, "hold-out-means"},
                                                  {GuaranteeKind::starts, "starts"}}};

/// Samples that the bound speaks of, and how many others the prior mean was trained on.
struct BoundSamples {
  Index first = 0;
  Index count = 0;
  Index prior_samples = 0;
};

class Maker {
 public:
  Maker(const std::vector<Candidate>& candidates, const GuaranteePlan& plan)
      : candidates_(candidates), plan_(resolved(plan, candidates)) {
    setting_ = setting_of(candidates.front().posterior, candidates.front().source);
    setting_.find_files(plan.folder, candidates.front().file);
    for (const Candidate& candidate : candidates) {
      const LearnedSetting other = setting_of(candidate.posterior, candidate.source);
      require(other.same_model(setting_), "{}: is not of the same model and family as {}", candidate.source,
              candidates.front().source);
      if (setting_.has_rows() && plan_.hold_out) require_unseen(other, candidate.source);
      require(plan.samples > 0 || (other.samples == setting_.samples && other.first == setting_.first),
              "{}: was trained on other samples than {}; say which ones the bound is of (--samples)",
              candidate.source, candidates.front().source);
    }
  }

  std::vector<Guarantee> operator()() {
    std::vector<Guarantee> guarantees;
    MemoryNeeds needs = memory();
    needs.require_fit();
    for (const bool hold_out : {false, true}) {
      if (!wanted(hold_out)) continue;
      const BoundSamples samples = samples_of(hold_out);
      BenchRequest request{
          .set = set_of(hold_out), .count = samples.count, .first = samples.first, .metric = plan_.metric};
      if (plan_.journal != nullptr) {
        request.keep = [&](const std::function<problems::Table()>& make) {
          return kept_table(*plan_.journal, make);
        };
      }
      const LearnedBench bench = make_bench(setting_, request);
      const certify::SampleRange range =
          samples_range(setting_, set_of(hold_out), samples.first, samples.count);
      if (guarantees.empty()) {
        needs.add_blocks(*bench.op, setting_.steps, threads());
        needs.require_fit();
      }
      if (!hold_out) {
        require_prior(*bench.op);
        require_not_scaled_by(samples);
      }
      for (const GuaranteeKind kind : plan_.kinds) {
        if (is_hold_out(kind) != hold_out) continue;
        const auto begin = std::chrono::steady_clock::now();
        Guarantee made{kind, samples.prior_samples > 0, {}, 0};
        if (kind == GuaranteeKind::starts)
          made = beside_other_starts(range);
        else
          made.certificate = hold_out ? held_out(kind, bench, range) : pac_bayes(kind, bench, samples, range);
        made.certificate.title = fmt::format("{}, {} steps: {}", setting_.model, setting_.steps, label(made));
        made.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        guarantees.push_back(std::move(made));
      }
    }
    return guarantees;
  }

 private:
  // Rows of the same files are training samples and fresh ones.
  void require_unseen(const LearnedSetting& trained, const std::string& source) const {
    require(trained.seen_first >= 0, "{}: its metadata do not say which samples it depends on", source);
    const NamedSamples& fresh = *plan_.hold_out;
    const Index last = checked_sum("hold-out", fresh.first, fresh.count) - 1;
    require(last < trained.seen_first || trained.seen_last < fresh.first,
            "{}: depends on {} {} .. {} of its {}, and {} .. {} are to be new", source,
            trained.folder() != nullptr ? "problems" : "rows", trained.seen_first, trained.seen_last,
            trained.folder() != nullptr ? "folder" : "files", fresh.first, last);
  }

  // Of the larger of the two sets of samples: one goes before the other comes.
  [[nodiscard]] MemoryNeeds memory() const {
    Index samples = 0;
    for (const bool hold_out : {false, true})
      samples = std::max(samples, wanted(hold_out) ? samples_of(hold_out).count : 0);
    MemoryNeeds needs(plan_.memory_limit);
    needs.add("samples",
              static_cast<double>(samples) * numbers_by_sample(setting_, algorithms::Precision::twice));
    certify::Options claims;
    claims.tolerances = plan_.tolerances;
    claims.quantiles = plan_.quantiles;
    claims.all_steps = wanted(false);  // PAC-Bayes claims are of every step, on a grid
    CountedSizes sizes = CountedSizes::of(claims, setting_.steps + 1);
    sizes.values = wanted(true);
    if (wanted(false)) sizes.grid = static_cast<double>(certify::fine_grid("").size());
    sizes.variants = static_cast<double>(candidates_.size());
    needs.add_counts(sizes, samples, certify::RunCounter::tallies,
                     plan_.journal != nullptr && plan_.journal->keeps());
    constexpr double numbers_by_weight =
        16;  // of the network, variances, drawn ones, the file and its digest
    needs.add("weights",
              numbers_by_weight * static_cast<double>(candidates_.front().posterior.layout.size()));
    return needs;
  }

  [[nodiscard]] BoundSamples samples_of(bool hold_out) const {
    return hold_out ? BoundSamples{plan_.hold_out->first, plan_.hold_out->count, 0} : bound_samples();
  }

  [[nodiscard]] families::SampleSet set_of(bool hold_out) const {
    return hold_out ? plan_.hold_out_set : families::SampleSet::training;
  }

  [[nodiscard]] bool wanted(bool hold_out) const {
    return std::any_of(plan_.kinds.begin(), plan_.kinds.end(),
                       [&](GuaranteeKind kind) { return is_hold_out(kind) == hold_out; });
  }

  [[nodiscard]] BoundSamples bound_samples() const {
    BoundSamples samples{setting_.first, setting_.samples, 0};
    if (plan_.samples > 0) samples = {plan_.first, plan_.samples, 0};
    require(samples.count >= 8, "samples: {} is below 8", samples.count);
    require(samples.first >= 0, "first: {} is negative", samples.first);
    const Index end = checked_sum("samples", samples.first, samples.count);
    if (!plan_.prior) return samples;
    require_digest(plan_.prior->posterior, plan_.prior->source);
    const LearnedSetting prior = setting_of(plan_.prior->posterior, plan_.prior->source);
    require(prior.same_model(setting_), "{}: the prior is not of the same model and family",
            plan_.prior->source);
    require(prior.seen_first >= 0, "{}: its metadata do not say which samples it depends on",
            plan_.prior->source);
    require(prior.seen_last < samples.first || end <= prior.seen_first,
            "{}: depends on samples {} .. {}, which overlap the bound's {} .. {}", plan_.prior->source,
            prior.seen_first, prior.seen_last, samples.first, end - 1);
    samples.prior_samples = prior.samples;
    return samples;
  }

  // The prior mean must not depend on the bound's samples: the model's own, or weights trained on others.
  void require_prior(const algorithms::LearnedOperator& op) const {
    const std::vector<double> own = op.initial().prior_mean;
    for (const Candidate& candidate : candidates_) {
      learning::require_layout(candidate.posterior, op.weights());
      const Eigen::VectorXd& mean = candidate.posterior.gaussians.prior_mean;
      require_grid(candidate);
      if (plan_.prior) {
        require(mean == plan_.prior->posterior.gaussians.mean, "{}: its prior mean is not the mean of {}",
                candidate.source, plan_.prior->source);
      } else {
        require(std::equal(mean.begin(), mean.end(), own.begin(), own.end()),
                "{}: its prior mean is not the model's own; name the weights it came from (--prior), "
                "or use hold-out",
                candidate.source);
      }
    }
  }

  // What the network sees is a part of the prior: it must not depend on the bound's samples either.
  void require_not_scaled_by(const BoundSamples& samples) const {
    const auto* start = std::get_if<FolderStart>(&setting_.options);
    if (start == nullptr) return;
    const Index end = checked_sum("samples", samples.first, samples.count);
    const Index scaled_end = checked_sum("scaled_count", start->scaled_first, start->scaled_count);
    require(
        end <= start->scaled_first || scaled_end <= samples.first,
        "pac-bayes: what the network sees was scaled on problems {} .. {}, which overlap the bound's {} .. {}; "
        "use --hold-out, or weights that were trained from a prior on other problems (--prior)",
        start->scaled_first, scaled_end - 1, samples.first, end - 1);
  }

  // The learned start at its means and others, run on the same problems.
  Guarantee beside_other_starts(const certify::SampleRange& range) {
    require(given() == 1, "starts: is for one file of weights");
    require(std::holds_alternative<FolderStart>(setting_.options),
            "starts: is for learned starts on the problems of a folder, not for {}", setting_.model);
    certify::Options options;
    options.delta = plan_.delta;
    options.tolerances = plan_.tolerances;
    options.quantiles = plan_.quantiles;
    StartComparison compared =
        compare_starts(setting_, candidates_.front(), range, std::move(options), plan_.journal);
    return {GuaranteeKind::starts, false, std::move(compared.certificate), 0, std::move(compared.finding)};
  }

  // So must the grid of prior variances: the declared one, or the prior's.
  void require_grid(const Candidate& candidate) const {
    const bounds::PriorGrid& grid = candidate.posterior.grid;
    if (plan_.prior && grid.lambda_max == plan_.prior->posterior.grid.lambda_max &&
        grid.b == plan_.prior->posterior.grid.b)
      return;
    try {
      certify::require_declared_grid(grid, 0);
    } catch (const InputError& error) {
      throw InputError(fmt::format("{}: {}", candidate.source, error.what()));
    }
  }

  certify::LearnedModel model_of(const Candidate& candidate, const LearnedBench& bench) const {
    certify::LearnedModel model{*bench.op, candidate.posterior, bench.metric, setting_.steps};
    model.name = candidate.name;
    model.source = candidate.source;
    return model;
  }

  void declare(certify::Options& claims, const LearnedBench& bench) const {
    claims.delta = plan_.delta;
    claims.tolerances = plan_.tolerances;
    claims.quantiles = plan_.quantiles;
    claims.metric = bench.metric.name;
    claims.unit = bench.metric.unit;
  }

  certify::Certificate pac_bayes(GuaranteeKind kind, const LearnedBench& bench, const BoundSamples& samples,
                                 const certify::SampleRange& range) {
    certify::PacBayesOptions options;
    declare(options.claims, bench);
    const bool paper = kind == GuaranteeKind::pac_bayes_paper;
    if (paper) options = certify::paper_accounting(options, std::max<Index>(6, given()));
    options = certify::resolved(options, certify::recorded_steps(bench.metric, setting_.steps));
    certify::CalibrationOptions calibration;
    calibration.seed = plan_.seed;
    calibration.prior_samples = samples.prior_samples;
    calibration.samples = range;
    calibration.draws = plan_.draws;
    calibration.journal = plan_.journal;
    if (paper && plan_.paper_draws > 0) {
      calibration.design = certify::Design::paper;
      calibration.draws = plan_.paper_draws;
    }
    std::vector<certify::Calibrated> counted;
    for (const Candidate& candidate : candidates_) {
      Progress progress("calibrating " + candidate.name);
      calibration.progress = [&](Index done, Index all) {
        progress.update(static_cast<double>(done), static_cast<double>(all), "runs");
      };
      counted.push_back(certify::calibrate(model_of(candidate, bench), options, calibration));
    }
    return certify::certify(options, counted);
  }

  // Every candidate is a variant; their claims share one budget.
  certify::Certificate held_out(GuaranteeKind kind, const LearnedBench& bench,
                                const certify::SampleRange& range) {
    certify::Options options;
    declare(options, bench);
    certify::HoldOutOptions hold_out;
    hold_out.at_means = kind == GuaranteeKind::hold_out_means;
    hold_out.seed = plan_.seed;
    hold_out.samples = range;
    hold_out.journal = plan_.journal;
    std::vector<certify::LearnedModel> models;
    for (const Candidate& candidate : candidates_) models.push_back(model_of(candidate, bench));
    return certify::certify_hold_out(models, options, hold_out);
  }

  [[nodiscard]] Index given() const { return static_cast<Index>(candidates_.size()); }

  const std::vector<Candidate>& candidates_;
  const GuaranteePlan plan_;
  LearnedSetting setting_;
};

}  // namespace

bool is_hold_out(GuaranteeKind kind) {
  return kind == GuaranteeKind::hold_out || kind == GuaranteeKind::hold_out_means ||
         kind == GuaranteeKind::starts;
}

std::vector<GuaranteeKind> possible_kinds(const std::vector<Candidate>& candidates, bool hold_out,
                                          bool prior) {
  const LearnedSetting setting = setting_of(candidates.front().posterior, candidates.front().source);
  const bool starts = std::holds_alternative<FolderStart>(setting.options);
  std::vector<GuaranteeKind> kinds;
  for (const GuaranteeKind kind : all_guarantees) {
    const bool possible = kind == GuaranteeKind::starts ? starts && hold_out && candidates.size() == 1
                          : is_hold_out(kind)           ? hold_out
                                                        : !starts || prior;
    if (possible) kinds.push_back(kind);
  }
  require(!kinds.empty(),
          "{}: what the network sees was scaled on its training problems, so that no PAC-Bayes bound on them "
          "holds; name problems that training has not seen, --hold-out FIRST:COUNT",
          candidates.front().source);
  return kinds;
}

std::string_view name(GuaranteeKind kind) {
  return name_in(kind_names, kind);
}

std::string guarantee_names() {
  return all_names(kind_names);
}

GuaranteeKind parse_guarantee(const std::string& text) {
  return value_in(kind_names, "guarantee", text);
}

Candidate load_candidate(const std::filesystem::path& file) {
  Candidate candidate;
  candidate.posterior = learning::load_posterior(file);
  note_missing_digest(candidate.posterior, file.string());
  candidate.source = file.filename().string();
  candidate.file = file;
  const auto model = candidate.posterior.metadata.find("model");
  candidate.name = model == candidate.posterior.metadata.end() ? file.stem().string() : model->second;
  return candidate;
}

GuaranteePlan resolved(GuaranteePlan plan, const std::vector<Candidate>& candidates) {
  plan.validate();
  require(!candidates.empty(), "weights: there are none");
  const LearnedSetting setting = setting_of(candidates.front().posterior, candidates.front().source);
  const ClaimedMetric& metric = learned_optimizer(setting.model).metric(plan.metric);
  if (plan.tolerances.empty()) plan.tolerances = metric.tolerances;
  return plan;
}

void GuaranteePlan::validate() const {
  require(!kinds.empty(), "guarantees: there is none");
  require(delta > 0.0 && delta < 1.0, "delta: {} is outside (0, 1)", delta);
  require(draws >= 1, "draws: {} is below 1", draws);
  require(paper_draws >= 0, "paper draws: {} is negative", paper_draws);
  const bool held_out = std::any_of(kinds.begin(), kinds.end(), is_hold_out);
  require(!held_out || hold_out, "hold-out: say which samples nobody has looked at, --hold-out FIRST:COUNT");
  require(held_out || !hold_out, "hold-out: samples are named and no hold-out certificate is asked for");
  require(seed >= 0, "seed: {} is negative", seed);
}

std::vector<Guarantee> make_guarantees(const std::vector<Candidate>& candidates, const GuaranteePlan& plan) {
  return Maker(candidates, plan)();
}

certify::SampleRange hold_out_range(const std::vector<Candidate>& candidates, const GuaranteePlan& plan) {
  require(plan.hold_out && !candidates.empty(), "hold-out: no samples are named");
  return samples_range(setting_of(candidates.front().posterior, candidates.front().source), plan.hold_out_set,
                       plan.hold_out->first, plan.hold_out->count);
}

std::optional<certify::SampleRange> bound_rows(const std::vector<Candidate>& candidates,
                                               const GuaranteePlan& plan) {
  require(!candidates.empty(), "weights: there are none");
  const LearnedSetting setting = setting_of(candidates.front().posterior, candidates.front().source);
  if (!setting.has_rows() || std::all_of(plan.kinds.begin(), plan.kinds.end(), is_hold_out)) return {};
  return samples_range(setting, families::SampleSet::hold_out, plan.samples > 0 ? plan.first : setting.first,
                       plan.samples > 0 ? plan.samples : setting.samples);
}

std::string metric_in_unit(const certify::Certificate& certificate) {
  return certificate.unit.empty() ? certificate.metric : certificate.metric + " in " + certificate.unit;
}

void require_validation_set(const LearnedSetting& setting) {
  require(!setting.has_rows(),
          "--validate: rows of {} are good for one look; keep some and use calibrate --hold-out FIRST:COUNT",
          setting.folder() != nullptr ? "a folder" : "your files");
}

std::string observed_in_validation(const std::vector<Candidate>& candidates, GuaranteePlan plan,
                                   Index count) {
  require(count >= 1, "--validate: {} samples, at least 1 is needed", count);
  for (const Candidate& candidate : candidates)
    require_validation_set(setting_of(candidate.posterior, candidate.source));
  plan.kinds = {GuaranteeKind::hold_out, GuaranteeKind::hold_out_means};
  plan.hold_out_set = families::SampleSet::validation;
  plan.hold_out = NamedSamples{0, count};
  const std::vector<Guarantee> seen = make_guarantees(candidates, plan);
  const certify::Certificate& first = seen.front().certificate;
  const Index step = first.steps.back();
  report::TextTable table;
  table.columns = {{"observed", report::Align::left}};
  for (const Candidate& candidate : candidates) {
    table.columns.push_back({"drawn weights", report::Align::right, candidate.name});
    table.columns.push_back({"at the means", report::Align::right, candidate.name});
  }
  // A row for every claim of the first variant; the others make the same ones in the same order.
  const auto add_rows = [&](const auto& claims_of, const auto& head, const auto& value) {
    const auto& firsts = claims_of(first);
    const std::size_t each = firsts.size() / candidates.size();
    for (std::size_t i = 0; i < each; ++i) {
      if (firsts[i].step != step) continue;
      std::vector<std::string> cells{head(firsts[i])};
      for (std::size_t variant = 0; variant < candidates.size(); ++variant) {
        for (const Guarantee& guarantee : seen)
          cells.push_back(value(claims_of(guarantee.certificate)[variant * each + i]));
      }
      table.add_row(std::move(cells));
    }
  };
  add_rows(
      [](const certify::Certificate& certificate) -> const auto& { return certificate.success; },
      [&](const certify::SuccessClaim& claim) {
        return fmt::format("share below {} {}", exact_label(claim.tolerance), first.unit);
      },
      [](const certify::SuccessClaim& claim) { return observed_percent(claim.empirical); });
  add_rows(
      [](const certify::Certificate& certificate) -> const auto& { return certificate.quantile; },
      [](const certify::QuantileClaim& claim) {
        return fmt::format("{} of problems at most", percent_label(claim.quantile));
      },
      [](const certify::QuantileClaim& claim) { return observed_value(claim.empirical); });
  return fmt::format(
      "{} after {} steps, observed on validation samples 0 .. {}: no guarantee, look as often "
      "as you like\n\n{}",
      metric_in_unit(first), step, count - 1, report::to_text(table));
}

std::string label(const Guarantee& guarantee) {
  switch (guarantee.kind) {
    case GuaranteeKind::pac_bayes:
      return guarantee.split ? "PAC-Bayes, split prior" : "PAC-Bayes";
    case GuaranteeKind::pac_bayes_paper:
      return guarantee.split ? "split prior, paper's accounting" : "PAC-Bayes, paper's accounting";
    case GuaranteeKind::hold_out:
      return "hold-out";
    case GuaranteeKind::hold_out_means:
      return "hold-out at the means";
    case GuaranteeKind::starts:
      return "beside other starts";
  }
  return "?";
}

BestQuantile best_quantile(const certify::Certificate& certificate, double quantile, Index step) {
  BestQuantile best;
  bool found = false;
  for (const certify::QuantileClaim& claim : certificate.quantile) {
    if (claim.quantile != quantile || claim.step != step) continue;
    if (found && claim.upper_bound >= best.certified) continue;
    best = {claim.upper_bound, claim.empirical, claim.variant};
    found = true;
  }
  return best;
}

report::TextTable guarantee_table(const std::vector<Guarantee>& guarantees) {
  report::TextTable table;
  table.columns = {{"share of problems"}};
  for (const Guarantee& guarantee : guarantees) {
    if (guarantee.kind == GuaranteeKind::starts) continue;  // has a table of its own
    table.columns.push_back({"observed", report::Align::right, label(guarantee)});
    table.columns.push_back({"certified", report::Align::right, label(guarantee)});
  }
  if (guarantees.empty()) return table;
  const certify::Certificate& first = guarantees.front().certificate;
  for (const double quantile : first.quantiles) {
    std::vector<std::string> cells{percent_label(quantile)};
    for (const Guarantee& guarantee : guarantees) {
      if (guarantee.kind == GuaranteeKind::starts) continue;
      const Index step = guarantee.certificate.steps.back();
      const BestQuantile best = best_quantile(guarantee.certificate, quantile, step);
      cells.push_back(observed_value(best.observed));
      cells.push_back(upper_bound_value(best.certified));
    }
    table.add_row(std::move(cells));
  }
  return table;
}

}  // namespace surefoot::experiments
