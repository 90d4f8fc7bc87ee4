#pragma once

#include "surefoot/learning/train.hpp"

/// Stages that the experiments' own trainings are made of.
namespace surefoot::experiments {

/// Training at the means for the logarithm of the loss, its rate falling to final_rate times itself.
learning::Stage plain_stage(const char* name, Index epochs, double rate, double final_rate);

/// Training of means and variances for the bound on the share of runs whose loss is below `tolerance`.
learning::Stage bound_stage(const char* name, Index epochs, double tolerance, double width, double mean_rate,
                            double variance_rate);

/// At least one epoch.
Index times(double factor, Index epochs);

}  // namespace surefoot::experiments
