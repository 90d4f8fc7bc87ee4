#include "surefoot/algorithms/learned_operator.hpp"

#include "surefoot/core/enum_names.hpp"

#include <algorithm>

namespace surefoot::algorithms {

namespace {

constexpr EnumNames<Precision, 2> precision_names{
    {{Precision::single, "single"}, {Precision::twice, "double"}}};

}  // namespace

std::string_view to_string(Precision precision) {
  return name_in(precision_names, precision);
}

Precision parse_precision(std::string_view name) {
  return value_in(precision_names, "precision", name);
}

Index WeightLayout::size() const {
  return offset(blocks.size());
}

Index WeightLayout::offset(std::size_t block) const {
  Index total = 0;
  for (std::size_t b = 0; b < block; ++b) total += blocks[b].size();
  return total;
}

InitialWeights LearnedOperator::initial() const {
  const std::vector<double> zeros(static_cast<std::size_t>(weights().size()), 0.0);
  return {zeros, zeros};
}

void LearnedOperator::step_to(Index k, ConstBatch before, Batch after, Workspace& workspace) const {
  std::copy_n(before.data, before.rows * before.width, after.data);
  step(k, after, workspace, nullptr);
}

void LearnedOperator::collect_all(std::span<Workspace* const> workspaces, std::span<double> d_mean,
                                  std::span<double> d_log_variance) const {
  for (Workspace* workspace : workspaces) collect(*workspace, d_mean, d_log_variance);
}

void LearnedOperator::collect_range(std::span<Workspace* const>, std::size_t, Index, Index, double*,
                                    double*) const {}

void LearnedOperator::start_vjp(ConstBatch, Workspace&) const {}

}  // namespace surefoot::algorithms
