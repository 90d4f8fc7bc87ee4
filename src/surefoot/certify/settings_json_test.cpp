#include "surefoot/certify/settings_json.hpp"

#include "surefoot/algorithms/gradient_descent.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/algorithms/scs.hpp"
#include "surefoot/algorithms/warm_start.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <functional>
#include <map>
#include <string>

namespace surefoot::certify {
namespace {

using nlohmann::json;

/// A change of every field, by its name, and its value in the record.
template <class Options>
using Changes = std::map<std::string, std::pair<std::function<void(Options&)>, json>>;

template <class Options, class Record>
void expect_every_field(const Changes<Options>& changes, const Record& record, const Options& base = {}) {
  const json plain = record(base);
  for (const auto& [name, change] : changes) {
    Options options = base;
    change.first(options);
    json expected = plain;
    ASSERT_TRUE(expected["settings"].contains(name)) << name;
    EXPECT_NE(expected["settings"][name], change.second) << name;
    expected["settings"][name] = change.second;
    EXPECT_EQ(record(options), expected) << name;
  }
}

TEST(SettingsJson, HoldsEveryOptionOfOsqp) {
  using algorithms::OsqpOptions;
  const Changes<OsqpOptions> changes{
      {"rho", {[](OsqpOptions& o) { o.rho = 0.7; }, 0.7}},
      {"sigma", {[](OsqpOptions& o) { o.sigma = 0.7; }, 0.7}},
      {"alpha", {[](OsqpOptions& o) { o.alpha = 0.7; }, 0.7}},
      {"equality_factor", {[](OsqpOptions& o) { o.equality_factor = 0.7; }, 0.7}},
      {"loose_rho", {[](OsqpOptions& o) { o.loose_rho = 0.7; }, 0.7}},
      {"scaling", {[](OsqpOptions& o) { o.scaling = 3; }, 3}},
      {"scale_each", {[](OsqpOptions& o) { o.scale_each = false; }, false}},
      {"reference_q", {[](OsqpOptions& o) { o.reference_q = Eigen::Vector2d(1, 2); }, {1.0, 2.0}}},
      {"system", {[](OsqpOptions& o) { o.system = algorithms::SystemKind::kkt; }, "kkt"}}};
  const auto whole_record = [](const OsqpOptions& options) {
    return json::parse(settings_json(settings_of(options)));
  };
  const auto record = [&](const OsqpOptions& options) {
    json fields = whole_record(options);
    fields.erase("description");  // follows from the others
    return fields;
  };
  expect_every_field(changes, record);
  expect_every_field(changes, record, OsqpOptions::defaults());
  const Changes<OsqpOptions> changes_of_defaults{
      {"adaptive_rho", {[](OsqpOptions& o) { o.adaptive_rho = false; }, false}},
      {"adaptive_rho_interval", {[](OsqpOptions& o) { o.adaptive_rho_interval = 7; }, 7}},
      {"adaptive_rho_tolerance", {[](OsqpOptions& o) { o.adaptive_rho_tolerance = 7; }, 7.0}},
      {"check_termination", {[](OsqpOptions& o) { o.check_termination = 7; }, 7}},
      {"eps_abs", {[](OsqpOptions& o) { o.eps_abs = 0.7; }, 0.7}},
      {"eps_rel", {[](OsqpOptions& o) { o.eps_rel = 0.7; }, 0.7}},
      {"eps_prim_inf", {[](OsqpOptions& o) { o.eps_prim_inf = 0.7; }, 0.7}},
      {"eps_dual_inf", {[](OsqpOptions& o) { o.eps_dual_inf = 0.7; }, 0.7}},
      {"check_dualgap", {[](OsqpOptions& o) { o.check_dualgap = false; }, false}},
      {"scaled_termination", {[](OsqpOptions& o) { o.scaled_termination = true; }, true}},
      {"max_iter", {[](OsqpOptions& o) { o.max_iter = 7; }, 7}},
      {"stop", {[](OsqpOptions& o) { o.stop = true; }, true}}};
  expect_every_field(changes_of_defaults, record, OsqpOptions::defaults());
  EXPECT_EQ(record(OsqpOptions::defaults())["package"], algorithms::emulated_osqp);
  OsqpOptions stopped = OsqpOptions::defaults();
  stopped.stop = true;
  stopped.adaptive_rho_interval = 0;
  EXPECT_EQ(
      whole_record(stopped)["description"],
      "OSQP as in the package osqp 1.1.3, adaptive rho every 100 iterations, 10 passes of scaling, stopping "
      "test every 25 iterations, obeyed");
  EXPECT_EQ(whole_record(OsqpOptions::paper())["description"],
            "OSQP, rho fixed, no scaling, no stopping test");
}

TEST(SettingsJson, HoldsEveryOptionOfScs) {
  using algorithms::ScsOptions;
  const Changes<ScsOptions> changes{
      {"alpha", {[](ScsOptions& o) { o.alpha = 0.7; }, 0.7}},
      {"rho_x", {[](ScsOptions& o) { o.rho_x = 0.7; }, 0.7}},
      {"scale", {[](ScsOptions& o) { o.scale = 0.7; }, 0.7}},
      {"zero_factor", {[](ScsOptions& o) { o.zero_factor = 0.7; }, 0.7}},
      {"tau_factor", {[](ScsOptions& o) { o.tau_factor = 0.7; }, 0.7}},
      {"system", {[](ScsOptions& o) { o.system = algorithms::SystemKind::dense; }, "dense"}}};
  const auto record = [](const ScsOptions& options) {
    return json::parse(settings_json(settings_of(options, {})));
  };
  expect_every_field(changes, record);
  expect_every_field(changes, record, ScsOptions::defaults());
  const Changes<ScsOptions> changes_of_defaults{
      {"normalize", {[](ScsOptions& o) { o.normalize = false; }, false}},
      {"adaptive_scale", {[](ScsOptions& o) { o.adaptive_scale = false; }, false}},
      {"adaptive_diag_scale", {[](ScsOptions& o) { o.adaptive_diag_scale = false; }, false}},
      {"acceleration_lookback", {[](ScsOptions& o) { o.acceleration_lookback = 7; }, 7}},
      {"acceleration_interval", {[](ScsOptions& o) { o.acceleration_interval = 7; }, 7}},
      {"acceleration_type_1", {[](ScsOptions& o) { o.acceleration_type_1 = false; }, false}},
      {"acceleration_regularization", {[](ScsOptions& o) { o.acceleration_regularization = 0.7; }, 0.7}},
      {"acceleration_relaxation", {[](ScsOptions& o) { o.acceleration_relaxation = 0.7; }, 0.7}},
      {"check_termination", {[](ScsOptions& o) { o.check_termination = false; }, false}},
      {"eps_abs", {[](ScsOptions& o) { o.eps_abs = 0.7; }, 0.7}},
      {"eps_rel", {[](ScsOptions& o) { o.eps_rel = 0.7; }, 0.7}},
      {"eps_infeas", {[](ScsOptions& o) { o.eps_infeas = 0.7; }, 0.7}},
      {"max_iters", {[](ScsOptions& o) { o.max_iters = 7; }, 7}},
      {"stop", {[](ScsOptions& o) { o.stop = true; }, true}}};
  expect_every_field(changes_of_defaults, record, ScsOptions::defaults());
  EXPECT_EQ(record(ScsOptions::defaults())["package"], algorithms::emulated_scs);
  EXPECT_EQ(record(ScsOptions::fixed())["settings"]["iterate"], "returned");
  EXPECT_FALSE(record(ScsOptions::paper())["settings"].contains("iterate"));
}

TEST(SettingsJson, HoldsTheCones) {
  problems::Cones cones;
  cones.zero = 1;
  cones.nonnegative = 2;
  cones.second_order = {3};
  cones.semidefinite = {4, 5};
  const json expected{{"zero", 1}, {"nonnegative", 2}, {"second_order", {3}}, {"semidefinite", {4, 5}}};
  EXPECT_EQ(json::parse(settings_json(settings_of(algorithms::ScsOptions{}, cones)))["cones"], expected);
}

TEST(SettingsJson, KeepsTheOrderAndTheTextOfARecord) {
  EXPECT_EQ(settings_json(settings_of(algorithms::OsqpOptions{})),
            R"({"solver":"OSQP","settings":{"rho":0.1,"sigma":1e-06,"alpha":1.6,"equality_factor":1000.0,)"
            R"("loose_rho":1e-06,"scaling":10,"scale_each":true,"reference_q":[],"system":null,)"
            R"("adaptive_rho":false},"description":"OSQP as in the package osqp 1.1.3, rho fixed, )"
            R"(10 passes of scaling, no stopping test"})");
}

TEST(SettingsJson, AnOperatorSaysItsOwn) {
  problems::Quadratic problem;
  problem.P = problems::Matrix::Identity(2, 2);
  problem.c = problems::Table::Zero(3, 2);
  const auto solver =
      std::make_shared<algorithms::GradientDescent>(problem, algorithms::GradientDescentOptions{.step = 0.5});
  EXPECT_EQ(settings_json(solver->settings()), R"({"solver":"gradient-descent","settings":{"step":0.5}})");
  const algorithms::WarmStart warm(solver, std::make_shared<const problems::Table>(problem.c));
  EXPECT_EQ(json::parse(settings_json(warm.settings()))["started"]["settings"]["step"], 0.5);
  EXPECT_EQ(warm.sampling(), "pre-activations");
  EXPECT_EQ(solver->sampling(), "");
}

}  // namespace
}  // namespace surefoot::certify
