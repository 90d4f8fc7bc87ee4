#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/report/figure.hpp"

namespace surefoot::report {

/// Share of problems below each tolerance over the steps, a panel per variant.
Figure success_figure(const certify::Certificate& certificate);

/// Quantiles over the steps, a panel per variant; logarithmic unless the metric is negative or in dB.
Figure quantile_figure(const certify::Certificate& certificate);

}  // namespace surefoot::report
