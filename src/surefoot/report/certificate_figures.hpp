#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/report/figure.hpp"

#include <vector>

namespace surefoot::report {

/// Share of problems below each tolerance over the steps, a panel per variant.
Figure success_figure(const certify::Certificate& certificate);

/// Quantiles over the steps, a panel per variant; logarithmic unless the metric is negative or in dB.
Figure quantile_figure(const certify::Certificate& certificate);

/// Of scalars: the share of problems over the values that it does not exceed, a panel per variant.
Figure distribution_figure(const certify::Certificate& certificate);

/// Those of a certificate: of scalars their distribution, otherwise success rates and quantiles over the
/// steps.
std::vector<Figure> figures_of(const certify::Certificate& certificate);

}  // namespace surefoot::report
