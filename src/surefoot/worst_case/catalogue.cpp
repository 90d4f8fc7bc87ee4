#include "surefoot/worst_case/catalogue.hpp"

#include "surefoot/bounds/worst_case.hpp"
#include "surefoot/core/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace surefoot::worst_case {

namespace {

// The points that metrics speak of: the last, the one before, and the gradient or residual where it is known.
struct Trace {
  Vector last = Method::start();
  Vector before = Method::start();
};

double step_size(const Question& question, Index k, double usual) {
  const std::vector<double>& given = question.parameters.step;
  return given.empty() ? usual : given[std::min(static_cast<std::size_t>(k), given.size() - 1)];
}

double step_size(const Question& question, Index k) {
  return step_size(question, k, 1.0 / question.parameters.L);
}

// z+ = T z with T averaged or Lipschitz.
Trace fixed_point(Method& method, const Question& question, const Class& what) {
  const std::size_t map = method.add(what);
  Trace trace;
  for (Index k = 0; k < question.steps; ++k) {
    trace.before = trace.last;
    trace.last += method.call(map, trace.last);
  }
  return trace;
}

Trace averaged(Method& method, const Question& question) {
  return fixed_point(method, question, Class::averaged(question.parameters.alpha));
}

Trace contractive(Method& method, const Question& question) {
  return fixed_point(method, question, Class::lipschitz(question.parameters.factor));
}

// z^{k+1} = z^0 + (k+1)/(k+2) (N z^k - z^0); the trace ends in N z, so that `residual` is |N z - z|.
Trace halpern(Method& method, const Question& question) {
  const std::size_t map = method.add(Class::averaged(1.0));
  Trace trace;
  Vector z = Method::start();
  for (Index k = 0; k < question.steps; ++k) {
    trace.before = z;
    trace.last = z + method.call(map, z);
    const double weight = static_cast<double>(k + 1) / static_cast<double>(k + 2);
    z = Method::start() + weight * (trace.last - Method::start());
  }
  return trace;
}

Trace proximal_point(Method& method, const Question& question) {
  const std::size_t function = method.add(Class::convex(question.parameters.mu));
  Trace trace;
  for (Index k = 0; k < question.steps; ++k) {
    trace.before = trace.last;
    trace.last = method.implicit(function, trace.last, step_size(question, k, 1.0)).point;
  }
  return trace;
}

// z^{k+1} = y^k - h_k grad f(y^k), y^{k+1} = z^{k+1} + b_{k+1} (z^{k+1} - z^k); with a second function h, the
// proximal step of h from there.
template <class Momentum>
Trace accelerated(Method& method, const Question& question, bool composite, const Momentum& momentum) {
  const std::size_t smooth = method.add(Class::smooth(question.parameters.L, question.parameters.mu));
  const std::size_t other = composite ? method.add(Class::convex()) : smooth;
  Trace trace;
  Vector y = Method::start();
  for (Index k = 0; k < question.steps; ++k) {
    const double h = step_size(question, k);
    Vector next = y - h * method.call(smooth, y);
    if (composite) next = method.implicit(other, next, h).point;
    trace.before = trace.last;
    trace.last = next;
    y = trace.last + momentum(k) * (trace.last - trace.before);
  }
  return trace;
}

// (t_k - 1)/t_{k+1}, t_0 = 1, t_{k+1} = (1 + sqrt(1 + 4 t_k^2))/2 (Beck and Teboulle 2009).
auto fista_momentum() {
  return [t = 1.0](Index) mutable {
    const double next = 0.5 * (1.0 + std::sqrt(1.0 + 4.0 * t * t));
    const double momentum = (t - 1.0) / next;
    t = next;
    return momentum;
  };
}

Trace gradient(Method& method, const Question& question) {
  return accelerated(method, question, false, [](Index) { return 0.0; });
}

Trace ista(Method& method, const Question& question) {
  return accelerated(method, question, true, [](Index) { return 0.0; });
}

Trace fista(Method& method, const Question& question) {
  auto momentum = fista_momentum();
  return accelerated(method, question, false, [&](Index k) { return momentum(k); });
}

Trace composite_fista(Method& method, const Question& question) {
  auto momentum = fista_momentum();
  return accelerated(method, question, true, [&](Index k) { return momentum(k); });
}

Trace nesterov(Method& method, const Question& question) {
  const double root = std::sqrt(question.parameters.mu / question.parameters.L);
  const double momentum = question.parameters.momentum.value_or((1.0 - root) / (1.0 + root));
  return accelerated(method, question, false, [=](Index) { return momentum; });
}

// z^{k+1} = z^k - h grad f(z^k) + b (z^k - z^{k-1}), z^{-1} = z^0; b = (1 - sqrt(mu/L))^2 by default, 1/L the
// step.
Trace heavy_ball(Method& method, const Question& question) {
  const std::size_t function = method.add(Class::smooth(question.parameters.L, question.parameters.mu));
  const double root = std::sqrt(question.parameters.mu / question.parameters.L);
  const double momentum = question.parameters.momentum.value_or((1.0 - root) * (1.0 - root));
  Trace trace;
  for (Index k = 0; k < question.steps; ++k) {
    const Vector next = trace.last - step_size(question, k) * method.call(function, trace.last) +
                        momentum * (trace.last - trace.before);
    trace.before = trace.last;
    trace.last = next;
  }
  return trace;
}

struct Entry {
  NamedMethod named;
  Trace (*run)(Method&, const Question&);
};

const std::vector<Entry>& entries() {
  static const std::vector<Entry> all{
      {{"averaged",
        "z+ = T z, T alpha-averaged; alpha = 1 is nonexpansive",
        {"alpha"},
        {"residual", "distance"}},
       averaged},
      {{"contractive", "z+ = T z, T Lipschitz with a factor", {"factor"}, {"residual", "distance"}},
       contractive},
      {{"halpern", "z+ = z0/(k+2) + (k+1)/(k+2) N z, N nonexpansive", {}, {"residual"}}, halpern},
      {{"proximal-point",
        "proximal steps on a convex function",
        {"mu", "step"},
        {"residual", "distance", "gap"}},
       proximal_point},
      {{"gradient",
        "gradient descent on a smooth convex function",
        {"L", "mu", "step"},
        {"gap", "gradient", "distance", "residual"}},
       gradient},
      {{"heavy-ball",
        "gradient descent with heavy-ball momentum",
        {"L", "mu", "step", "momentum"},
        {"gap", "gradient", "distance", "residual"}},
       heavy_ball},
      {{"nesterov",
        "Nesterov's method with constant momentum",
        {"L", "mu", "step", "momentum"},
        {"gap", "gradient", "distance", "residual"}},
       nesterov},
      {{"fista",
        "Nesterov's method with FISTA's momentum on a smooth convex function",
        {"L", "mu", "step"},
        {"gap", "gradient", "distance", "residual"}},
       fista},
      {{"ista",
        "proximal gradient on a sum of a smooth and a convex function",
        {"L", "mu", "step"},
        {"gap", "distance", "residual"}},
       ista},
      {{"composite-fista",
        "FISTA on a sum of a smooth and a convex function",
        {"L", "mu", "step"},
        {"gap", "distance", "residual"}},
       composite_fista},
  };
  return all;
}

const Entry& entry(std::string_view name) {
  const std::vector<Entry>& all = entries();
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Entry& one) { return one.named.name == name; });
  if (found == all.end()) {
    std::string names;
    for (const Entry& one : all) names += fmt::format("{}{}", names.empty() ? "" : ", ", one.named.name);
    throw InputError(fmt::format("method: '{}' is none of {}", name, names));
  }
  return *found;
}

template <class List>
bool has(const List& list, std::string_view value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

bool usual_step(const Parameters& parameters) {
  return parameters.step.empty() || (parameters.step.size() == 1 && parameters.step[0] == 1.0 / parameters.L);
}

}  // namespace

const std::vector<NamedMethod>& named_methods() {
  static const std::vector<NamedMethod> all = [] {
    std::vector<NamedMethod> result;
    for (const Entry& one : entries()) result.push_back(one.named);
    return result;
  }();
  return all;
}

const NamedMethod& named_method(std::string_view name) {
  return entry(name).named;
}

void set_parameter(Question& question, std::string_view name, double value) {
  const NamedMethod& method = named_method(question.method);
  require(name != "step" && has(method.parameters, name), "{}: {} has no such parameter; it has {}", name,
          question.method, fmt::join(method.parameters, ", "));
  Parameters& parameters = question.parameters;
  if (name == "alpha") parameters.alpha = value;
  if (name == "factor") parameters.factor = value;
  if (name == "L") parameters.L = value;
  if (name == "mu") parameters.mu = value;
  if (name == "momentum") parameters.momentum = value;
}

Question resolved(Question question) {
  const NamedMethod& method = named_method(question.method);
  if (question.metric.empty()) question.metric = method.metrics.front();
  require(has(method.metrics, question.metric), "metric: '{}' is not one of {} ({})", question.metric,
          question.method, fmt::join(method.metrics, ", "));
  require(question.steps >= (question.metric == "residual" ? 1 : 0) && question.steps <= 1000,
          "steps: {} is outside {}..1000 for the metric {}", question.steps,
          question.metric == "residual" ? 1 : 0, question.metric);
  const Parameters& parameters = question.parameters;
  if (has(method.parameters, "alpha")) Class::averaged(parameters.alpha).validate();
  if (has(method.parameters, "factor")) Class::lipschitz(parameters.factor).validate();
  if (has(method.parameters, "L")) {
    require(parameters.L < infinity, "L: {} is not finite", parameters.L);
    Class::smooth(parameters.L, parameters.mu).validate();
  } else if (has(method.parameters, "mu")) {
    Class::convex(parameters.mu).validate();
  }
  for (const double step : parameters.step)
    require(step > 0.0 && step < infinity, "step: {} is not positive and finite", step);
  if (parameters.momentum)
    require(std::isfinite(*parameters.momentum), "momentum: {} is not finite", *parameters.momentum);
  if (question.initial == Initial::gap) {
    require(has(method.parameters, "L"), "initial: a gap at the start needs a smooth function; {} has none",
            question.method);
  }
  return question;
}

Method build(const Question& given) {
  const Question question = resolved(given);
  Method method;
  const Trace trace = entry(question.method).run(method, question);
  if (question.metric == "residual") method.measure_norm(trace.last - trace.before);
  if (question.metric == "distance") method.measure_norm(trace.last);
  if (question.metric == "gap") method.measure_gap(trace.last);
  if (question.metric == "gradient") method.measure_norm(method.call(0, trace.last));
  if (question.initial == Initial::gap) method.assume_gap();
  method.validate();
  return method;
}

std::optional<double> closed_form(const Question& given) {
  const Question question = resolved(given);
  const Parameters& parameters = question.parameters;
  const auto steps = static_cast<double>(question.steps);
  const double L = parameters.L;
  const std::string& name = question.method;
  const bool plain = parameters.mu == 0.0 && question.initial == Initial::distance;
  if (question.metric == "distance") {
    if (name == "averaged") return 1.0;
    if (name == "contractive") return std::pow(parameters.factor, steps);
    if (name == "gradient" && question.initial == Initial::distance) {
      double product = 1;
      for (Index k = 0; k < question.steps; ++k) {
        const double h = step_size(question, k);
        product *= std::max(std::abs(1.0 - h * parameters.mu), std::abs(1.0 - h * L));
      }
      if (parameters.step.size() < 2) return product;
    }
    return std::nullopt;
  }
  if (question.metric == "residual") {
    const Index before = question.steps - 1;
    if (name == "averaged" && parameters.alpha == 1.0) return 2.0;
    if (name == "averaged" && parameters.alpha >= 0.5)
      return bounds::averaged_rate_residual(parameters.alpha, before, 1.0);
    if (name == "contractive" && parameters.factor < 1.0)
      return bounds::linear_rate_residual(parameters.factor, before, 1.0);
    if (name == "halpern") return 2.0 / steps;
    if (name == "proximal-point" && plain && parameters.step.empty()) return 1.0 / steps;
    return std::nullopt;
  }
  if (question.metric == "gap" && plain && usual_step(parameters)) {
    if (name == "gradient") return L / (4.0 * steps + 2.0);
    if (name == "ista" && question.steps > 0) return L / (4.0 * steps);
  }
  if (question.metric == "gradient" && name == "gradient" && parameters.mu == 0.0 && usual_step(parameters) &&
      question.initial == Initial::gap)
    return std::sqrt(2.0 * L / (2.0 * steps + 1.0));
  return std::nullopt;
}

std::string metric_in_words(const Question& question) {
  const Index k = question.steps;
  if (question.metric == "residual") {
    return question.method == "halpern" ? fmt::format("the residual |z - N z| at z^{}", k - 1)
                                        : fmt::format("the residual |z^{} - z^{}|", k, k - 1);
  }
  if (question.metric == "distance") return fmt::format("the distance |z^{} - z*|", k);
  if (question.metric == "gap") return fmt::format("the gap f(z^{}) - f*", k);
  return fmt::format("the gradient |grad f(z^{})|", k);
}

std::string class_in_words(const Question& question) {
  const Parameters& parameters = question.parameters;
  if (question.method == "averaged") {
    return parameters.alpha == 1.0 ? "every nonexpansive operator"
                                   : fmt::format("every {}-averaged operator", parameters.alpha);
  }
  if (question.method == "contractive") return fmt::format("every {}-Lipschitz operator", parameters.factor);
  if (question.method == "halpern") return "every nonexpansive operator";
  const std::string strongly =
      parameters.mu > 0.0 ? fmt::format("{}-strongly convex function", parameters.mu) : "convex function";
  if (question.method == "proximal-point") return "every " + strongly;
  const std::string smooth = fmt::format("every {}-smooth {}", parameters.L, strongly);
  return question.method == "ista" || question.method == "composite-fista" ? smooth + " plus a convex one"
                                                                           : smooth;
}

}  // namespace surefoot::worst_case
