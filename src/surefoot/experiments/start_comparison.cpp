#include "surefoot/experiments/start_comparison.hpp"

#include "surefoot/algorithms/scs.hpp"
#include "surefoot/certify/compare.hpp"
#include "surefoot/certify/learned.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/experiments/checkpoints.hpp"
#include "surefoot/experiments/counted_traces.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/learned.hpp"
#include "surefoot/experiments/learned_bench.hpp"
#include "surefoot/experiments/warm_start.hpp"
#include "surefoot/families/folder_parameters.hpp"
#include "surefoot/learning/posterior_file.hpp"
#include "surefoot/report/text_table.hpp"
#include "surefoot/runs/run.hpp"
#include "surefoot/runs/start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

namespace surefoot::experiments {

namespace {

constexpr const char* learned_name = "learned";
constexpr const char* shifted_name = "shifted";

struct StartedRuns {
  std::string name;
  problems::Table traces;  ///< a row per problem, a column per recorded step
};

/// What the network sees, a row per problem.
problems::Table seen(const FolderStart& model, const problems::Table& parameters) {
  const families::ParameterMap map = families::ParameterMap::parse(model.inputs);
  const Eigen::Map<const Eigen::RowVectorXd> center(map.center.data(), map.size());
  const Eigen::Map<const Eigen::RowVectorXd> scale(map.scale.data(), map.size());
  return ((parameters.rowwise() - center).array().rowwise() / scale.array()).matrix();
}

class StartRunner {
 public:
  StartRunner(const LearnedSetting& setting, const certify::SampleRange& range,
              certify::CountJournal* journal)
      : setting_(setting), model_(std::get<FolderStart>(setting.options)), range_(range), journal_(journal) {
    keep_ = [this](const std::function<problems::Table()>& make) {
      return journal_ == nullptr ? make() : kept_table(*journal_, make);
    };
    bench_ = make_start(
        model_,
        {.set = families::SampleSet::hold_out, .count = range.count, .first = range.first, .keep = keep_});
  }

  [[nodiscard]] runs::Metric metric() const {
    return runs::quantity(algorithms::Quantity::optimality_residual);
  }

  std::vector<StartedRuns> operator()(const learning::Posterior& weights) {
    std::vector<StartedRuns> all;
    learning::require_layout(weights, bench_.warm->weights());
    const Eigen::VectorXd& mean = weights.gaussians.mean;
    const auto size = static_cast<std::size_t>(mean.size());
    bench_.warm->assign({mean.data(), size}, std::vector<double>(size, 0.0));
    all.push_back({learned_name, run(certify::SampledOperator(*bench_.warm), runs::cold_start())});
    all.push_back({"cold", run(*bench_.solver, runs::cold_start())});
    all.push_back({"nearest", run(*bench_.solver, nearest())});
    families::FolderOptions folder = model_.family;
    const families::FolderProblems problems = families::read_folder(folder);
    const Index there = std::visit([](const auto& family) { return family.instances(); }, problems);
    if (const auto starts = families::read_beside(families::start_table, folder, there)) {
      certify::ProblemData data = data_of(problems);
      data.tables.push_back(certify::view_of(*starts));
      certify::independence_of_problems(data).require_none(families::start_table, false);
      all.push_back({shifted_name, run(*bench_.solver, runs::given_start(iterates_of(*starts)))});
    }
    return all;
  }

 private:
  // The rows of these problems as the solver here has them; (x, y, s) of SCS, as `run cone` takes it, is mu_y
  // = y + s / R.
  [[nodiscard]] problems::Table iterates_of(const problems::Table& starts) const {
    const Index own = bench_.solver->iterate_size();
    problems::Table rows = starts.middleRows(range_.first, range_.count);
    const auto* scs = dynamic_cast<const algorithms::Scs*>(bench_.solver.get());
    if (scs != nullptr && rows.cols() == own + scs->problem().constraints()) {
      const Index n = scs->problem().variables();
      const Index m = scs->problem().constraints();
      for (Index i = 0; i < m; ++i) {
        const double factor = i < scs->problem().cones.zero ? scs->options().zero_factor : 1.0;
        rows.col(n + i) += scs->options().scale * factor * rows.col(n + m + i);
      }
      rows = problems::Table(rows.leftCols(own));
    }
    require(rows.cols() == own, "start: has {} numbers for a problem, an iterate of {} has {}", starts.cols(),
            bench_.solver->name(), own);
    return rows;
  }

  // The base are the training problems, which are others than these.
  runs::Start nearest() {
    const FolderStartBench base =
        make_start(model_, {.count = setting_.samples, .first = setting_.first, .keep = keep_});
    return runs::nearest_neighbour_start(seen(model_, *bench_.parameters), seen(model_, *base.parameters),
                                         folder_solutions(model_, base, keep_));
  }

  problems::Table run(const algorithms::Operator& op, const runs::Start& start) {
    return keep_([&] {
      runs::RunOptions options;
      options.steps = setting_.steps;
      options.interrupt = host().check;
      return std::move(runs::run_traces(op, {metric()}, start, options).front().values);
    });
  }

  const LearnedSetting& setting_;
  const FolderStart& model_;
  certify::SampleRange range_;
  certify::CountJournal* journal_;
  Keep keep_;
  FolderStartBench bench_;
};

/// By how many iterations fewer at least; nothing where it is not shown to be fewer.
std::string fewer(const certify::BudgetComparison& cell) {
  return cell.verdict == certify::Verdict::a_is_better
             ? fmt::format("{}", *cell.b.more_than + 1 - *cell.a.at_most)
             : std::string(nothing);
}

const certify::BudgetComparison& cell_at(const certify::VariantComparison& pair, double quantile,
                                         double tolerance) {
  const auto found = std::find_if(pair.budget.begin(), pair.budget.end(), [&](const auto& cell) {
    return cell.quantile == quantile && cell.tolerance == tolerance;
  });
  require(found != pair.budget.end(), "starts: nothing is compared for {} below {}", quantile, tolerance);
  return *found;
}

report::TextTable budgets(const certify::Certificate& certificate, const certify::Comparison& comparison) {
  report::TextTable table;
  table.key_columns = 2;
  table.columns = {{"share"}, {"below"}};
  for (const certify::Variant& variant : certificate.variants)
    table.columns.push_back({variant.name, report::Align::right, "iterations from the start"});
  for (const certify::VariantComparison& pair : comparison.pairs)
    table.columns.push_back(
        {certificate.variants[pair.b].name, report::Align::right, "learned: fewer, at least, than"});
  for (const double quantile : certificate.quantiles) {
    for (std::size_t t = certificate.tolerances.size(); t-- > 0;) {
      const double tolerance = certificate.tolerances[t];
      std::vector<std::string> cells{percent_label(quantile), exact_label(tolerance)};
      for (std::size_t variant = 0; variant < certificate.variants.size(); ++variant)
        cells.push_back(budget_cell(best_budget(certificate, quantile, tolerance, variant).certified));
      for (const certify::VariantComparison& pair : comparison.pairs)
        cells.push_back(fewer(cell_at(pair, quantile, tolerance)));
      table.add_row(std::move(cells));
    }
  }
  return table;
}

/// Learning pays for a share and a tolerance if fewer iterations are shown than from every other start.
std::string verdict(const certify::Certificate& certificate, const certify::Comparison& comparison) {
  std::vector<std::string> pays;
  std::vector<bool> beaten(comparison.pairs.size(), false);
  for (const double quantile : certificate.quantiles) {
    for (const double tolerance : certificate.tolerances) {
      bool everywhere = true;
      for (std::size_t pair = 0; pair < comparison.pairs.size(); ++pair) {
        const bool better =
            cell_at(comparison.pairs[pair], quantile, tolerance).verdict == certify::Verdict::a_is_better;
        everywhere = everywhere && better;
        beaten[pair] = beaten[pair] || better;
      }
      if (everywhere)
        pays.push_back(fmt::format("{} below {}", percent_label(quantile), exact_label(tolerance)));
    }
  }
  if (!pays.empty())
    return fmt::format("Learning pays: fewer iterations than from every other start are shown for {}.",
                       fmt::join(pays, ", "));
  // Where another start is shown to be better, learning does not pay; otherwise nothing is shown.
  std::vector<std::string> worse;
  std::vector<std::string> others;
  for (std::size_t pair = 0; pair < comparison.pairs.size(); ++pair) {
    const std::string other = "the " + certificate.variants[comparison.pairs[pair].b].name + " start";
    if (!beaten[pair]) others.push_back(other);
    const auto& cells = comparison.pairs[pair].budget;
    const bool is_worse = std::any_of(cells.begin(), cells.end(), [](const certify::BudgetComparison& cell) {
      return cell.verdict == certify::Verdict::b_is_better;
    });
    if (is_worse) worse.push_back(other);
  }
  const std::string advice =
      " More training problems, more steps of the solver in training (unroll) or another size of the network may help.";
  if (!worse.empty() && !others.empty())
    return fmt::format("Learning does not pay here: fewer iterations are shown from {}.{}",
                       fmt::join(worse, " and "), advice);
  const Index problems = certificate.variants.front().samples;
  return fmt::format(
      "Learning is not shown to pay with these {} problems: nowhere are fewer iterations shown than from {}.{}",
      problems,
      others.empty() ? "all other starts at once" : fmt::format("{}", fmt::join(others, " nor from ")),
      advice);
}

/// What a certificate says of weights that are run at their means.
certify::Weights weights_at_means(const Candidate& candidate) {
  certify::Weights weights;
  weights.source = candidate.source.empty() ? "weights" : candidate.source;
  weights.sha256 = learning::posterior_sha256(candidate.posterior);
  weights.count = candidate.posterior.gaussians.mean.size();
  weights.sampling = "means";
  weights.precision = "double";
  return weights;
}

}  // namespace

StartComparison compare_starts(const LearnedSetting& setting, const Candidate& weights,
                               const certify::SampleRange& range, certify::Options options,
                               certify::CountJournal* journal) {
  StartRunner runner(setting, range, journal);
  const std::vector<StartedRuns> all = runner(weights.posterior);
  const std::vector<Index> steps = certify::recorded_steps(runner.metric(), setting.steps);
  const double delta = options.delta;
  options.delta = delta / 2;
  options.metric = runner.metric().name;
  options.unit = runner.metric().unit;
  options.all_steps = true;  // bounds from the other side are of claimed steps
  options = certify::resolved(std::move(options), {steps});
  std::vector<certify::Counted> counted;
  for (const StartedRuns& start : all) {
    counted.push_back(counted_traces(start.name, fmt::format("{} start, {} steps", start.name, setting.steps),
                                     steps, start.traces, options));
    counted.back().variant.provenance = certify::SampleProvenance{range};
    if (start.name == learned_name) counted.back().variant.weights = weights_at_means(weights);
  }
  StartComparison result;
  result.certificate = certify::certify(options, counted);

  certify::CompareOptions against;
  against.delta = delta / 2;
  for (std::size_t other = 1; other < all.size(); ++other)
    against.variants.emplace_back(all.front().name, all[other].name);
  const certify::Comparison comparison =
      certify::compare(result.certificate, result.certificate, against, true);
  result.finding = fmt::format(
      "Certified iterations of {} from each start, and by how many fewer at least the learned start needs; \"-\" is "
      "not shown. All of it holds together with confidence {}{}.\n\n{}\n{}\n",
      setting.folder()->kind == to_string(families::FolderKind::cone) ? "SCS" : "OSQP",
      confidence_label(comparison.delta),
      all.back().name == shifted_name
          ? ", if each row of the table start was made from its own problem alone (not from the one before)"
          : "",
      report::to_text(budgets(result.certificate, comparison)), verdict(result.certificate, comparison));
  return result;
}

}  // namespace surefoot::experiments
