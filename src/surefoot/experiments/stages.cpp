#include "surefoot/experiments/stages.hpp"

#include <algorithm>
#include <cmath>

namespace surefoot::experiments {

learning::Stage plain_stage(const char* name, Index epochs, double rate, double final_rate) {
  learning::Stage stage;
  stage.name = name;
  stage.noise = false;
  stage.epochs = epochs;
  stage.batch = 64;
  stage.mean_rate = rate;
  stage.schedule = learning::Schedule::cosine;
  stage.final_rate = final_rate;
  stage.surrogate.kind = learning::SurrogateKind::logarithm;
  return stage;
}

learning::Stage bound_stage(const char* name, Index epochs, double tolerance, double width, double mean_rate,
                            double variance_rate) {
  learning::Stage stage = plain_stage(name, epochs, mean_rate, 0.02);
  stage.noise = true;
  stage.batch = 256;
  stage.variance_rate = variance_rate;
  stage.prior = learning::PriorRule::closed_form;
  stage.penalty.kind = learning::PenaltyKind::none;
  stage.surrogate.kind = learning::SurrogateKind::tolerance;
  stage.surrogate.tolerance = tolerance;
  stage.surrogate.width = width;
  return stage;
}

Index times(double factor, Index epochs) {
  return std::max<Index>(1, std::llround(factor * static_cast<double>(epochs)));
}

}  // namespace surefoot::experiments
