#pragma once

#include "surefoot/worst_case/method.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

/// Methods by name. A new one is one short function and a line in catalogue.cpp.
namespace surefoot::worst_case {

struct Parameters {
  double alpha = 0.5;        ///< averaged: T = (1 - alpha) I + alpha N
  double factor = 0.9;       ///< contractive: |T z - T w| <= factor |z - w|
  double L = 1;              ///< smoothness
  double mu = 0;             ///< strong convexity
  std::vector<double> step;  ///< step sizes, the last is repeated; empty: 1/L, or 1 for the proximal point
  std::optional<double> momentum;  ///< heavy-ball, nesterov; none: the usual choice for L and mu
  friend bool operator==(const Parameters&, const Parameters&) = default;
};

/// What is asked: row `steps` of a trace of a method. `residual` is |z^k - z^{k-1}| (halpern: |z - N
/// z| at z^{k-1}), `distance` |z^k - z*|, `gap` f(z^k) - f*, `gradient` |grad f(z^k)|.
struct Question {
  std::string method = "averaged";
  Parameters parameters;
  Index steps = 1;
  std::string metric;  ///< empty: the method's first
  Initial initial = Initial::distance;
  friend bool operator==(const Question&, const Question&) = default;
};

/// Sets one of alpha, factor, L, mu, momentum; InputError for a name that the method does not have.
void set_parameter(Question& question, std::string_view name, double value);

struct NamedMethod {
  std::string_view name;
  std::string_view what;                     ///< one line
  std::vector<std::string_view> parameters;  ///< those it has
  std::vector<std::string_view> metrics;     ///< the first is the default
};
const std::vector<NamedMethod>& named_methods();
/// InputError that lists the known ones.
const NamedMethod& named_method(std::string_view name);

/// With the metric filled in and everything checked; InputError names what does not fit.
Question resolved(Question question);

/// The method with its calls.
Method build(const Question& question);

/// The exact worst case per unit of the start where a formula for it is known (docs/worst_case.md cites
/// them), to nearest.
std::optional<double> closed_form(const Question& question);

/// "the residual |z^70 - z^69|", for sentences.
std::string metric_in_words(const Question& question);
/// "every 0.5-averaged operator", ...
std::string class_in_words(const Question& question);

}  // namespace surefoot::worst_case
