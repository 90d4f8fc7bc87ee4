#include "surefoot/certify/rollouts.hpp"

#include "surefoot/bounds/quantile.hpp"
#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/runs/tally.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>
#include <utility>

namespace surefoot::certify {
namespace {

/// Of a tube, which has no claims about tolerances.
const std::vector<double> tube_declares{1.0};

/// With the words of a closed loop.
Certificate in_loop(Certificate certificate, ClosedLoop loop) {
  certificate.loop = loop;
  certificate.assumptions = assumptions_of(certificate);
  return certificate;
}

}  // namespace

Certificate certify_rollouts(const problems::Table& values, const std::vector<Index>& limits, Index ticks,
                             Options options, Variant variant) {
  require(ticks >= 1, "ticks: is {}, must be >= 1", ticks);
  require(values.rows() >= 1, "rollouts: there are none");
  require(values.cols() == static_cast<Index>(limits.size()) && !limits.empty(),
          "rollouts: have {} columns for {} limits", values.cols(), limits.size());
  for (const double tolerance : options.tolerances)
    require(std::isfinite(tolerance), "tolerances: {} is not finite", tolerance);
  require(!options.anytime(),
          "anytime: claims of rollouts are for a number of rollouts that was fixed beforehand");
  require(!options.range && options.thresholds.empty() && options.cvar.empty(),
          "range: means and CVaR are not claimed of rollouts: success rates and the smallest limit, at all "
          "limits");
  options.kinds = {"success", "budget"};
  options.budget_method = bounds::BudgetMethod::every_step;
  options.choose = Choice::before;
  options.steps = limits;
  options = resolved(std::move(options), {limits});
  runs::Tally tally(tally_spec(options, limits));
  std::vector<double> row(limits.size());
  for (Index i = 0; i < values.rows(); ++i) {
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double value = values(i, static_cast<Index>(k));
      row[k] = std::isfinite(value) ? value : std::numeric_limits<double>::max();
    }
    tally.add_run(row.data());
  }
  Certificate certificate = certify(options, {{std::move(variant), tally}});
  return in_loop(std::move(certificate), {ticks, 0});
}

Certificate certify_tube(const problems::Table& states, Index states_of_plant, Index limit, double share,
                         double delta, const Variant& variant) {
  require(states_of_plant >= 1 && states.cols() % states_of_plant == 0 && states.cols() > states_of_plant,
          "states: have {} columns, must have those of the {} states at each tick and before the first",
          states.cols(), states_of_plant);
  require(states.rows() >= 1, "rollouts: there are none");
  require(limit >= 1, "limit: is {}, must be >= 1", limit);
  const Index last = states.cols() / states_of_plant - 1;
  Options options;
  options.kinds = {"quantile"};
  options.quantiles = {share};
  options.tolerances = tube_declares;
  options.all_steps = true;
  options.delta = delta;
  options.metric = "state of the plant";
  options.title = "Tube of the states of a closed loop";
  std::vector<Index> ticks(static_cast<std::size_t>(last));
  std::iota(ticks.begin(), ticks.end(), Index{1});
  options = resolved(std::move(options), {ticks});
  const runs::TallySpec spec = tally_spec(options, ticks);
  std::vector<Counted> counted;
  std::vector<double> row(ticks.size());
  for (Index state = 0; state < states_of_plant; ++state) {
    for (const double sign : {1.0, -1.0}) {
      runs::Tally tally(spec);
      for (Index i = 0; i < states.rows(); ++i) {
        for (std::size_t t = 0; t < row.size(); ++t) {
          const double value = states(i, ticks[t] * states_of_plant + state);
          row[t] = std::isfinite(value) ? sign * value : infinity;
        }
        tally.add_run(row.data());
      }
      Variant own = variant;
      own.name = fmt::format("state {}{}", state + 1, sign > 0 ? "" : " times -1");
      counted.push_back({std::move(own), std::move(tally)});
    }
  }
  return in_loop(certify(options, counted), {last, limit});
}

double share_of_tube(Index rollouts, Index states_of_plant, Index ticks, double delta) {
  const auto claims = static_cast<double>(2 * states_of_plant * ticks);
  for (const double share : {0.99, 0.95, 0.9})
    if (bounds::order_statistic_rank(rollouts, share, delta / claims) > 0) return share;
  return 0.5;
}

Independence independence_of_rollouts(const problems::Table& rows, Index rollouts) {
  require(rollouts >= 1 && rows.rows() % rollouts == 0, "rows: {} of them are not those of {} rollouts",
          rows.rows(), rollouts);
  const problems::Table by_rollout =
      Eigen::Map<const problems::Table>(rows.data(), rollouts, rows.size() / rollouts);
  ProblemData data;
  data.tables.push_back(view_of(by_rollout));
  return independence_of_problems(data);
}

std::vector<std::string> wrong_in_loop(const Certificate& certificate) {
  std::vector<std::string> wrong;
  const auto expect = [&](bool holds, std::string text) {
    if (!holds) wrong.push_back("closed loop: " + std::move(text));
  };
  const auto recorded = nlohmann::ordered_json::parse(certificate.run);
  const auto run = recorded.find("loop");
  const bool of_loop = run != recorded.end() && run->is_object();
  if (!certificate.loop) {
    expect(!of_loop, "the run is of rollouts, and the certificate does not say so");
    return wrong;
  }
  const ClosedLoop& loop = *certificate.loop;
  expect(!certificate.scalar && sampling_of(certificate) == Sampling::problems &&
             !holds_anytime(certificate) && certificate.worst_case == "null" && certificate.bands.empty() &&
             certificate.mean.empty() && certificate.wording > 2,
         "claims are success rates, quantiles and smallest limits");
  expect(loop.ticks >= 1 && loop.limit >= 0, fmt::format("{} ticks with limit {}", loop.ticks, loop.limit));
  expect(std::ranges::all_of(certificate.budget,
                             [&](const BudgetClaim& claim) {
                               return loop.limit == 0 && claim.method == bounds::BudgetMethod::every_step;
                             }),
         "the smallest limit is found among limits, by method every-step");
  expect(loop.limit == 0 || (certificate.tolerances == tube_declares &&
                             certificate.grid_method == bounds::RiskMethod::exact),
         "tolerances and methods are declared, and a tube has none");
  for (const Variant& variant : certificate.variants)
    expect(loop.limit == 0 ? variant.first_step >= 1
                           : variant.first_step >= 1 && variant.last_step <= loop.ticks,
           fmt::format("steps from {} to {} are no {}", variant.first_step, variant.last_step,
                       loop.limit == 0 ? "limits" : "ticks of a rollout"));
  if (!of_loop) return wrong;
  const auto same = [&](const char* name, Index number) {
    const auto found = run->find(name);
    return found == run->end() || *found == number;
  };
  expect(same("ticks", loop.ticks) && (loop.limit == 0 || same("limit_of_tube", loop.limit)),
         "ticks and limit are not those of the run");
  for (const Variant& variant : certificate.variants)
    expect(same("rollouts", variant.samples), "as many rollouts were not run");
  return wrong;
}

}  // namespace surefoot::certify
