#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/series.hpp"

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace surefoot::report {

using certify::Series;

/// The best certified success rate of all variants (or of the given one) at each step, and what was observed
/// of the variant that has it: the observed curve that belongs to the certified one.
std::vector<Series::Point> best_success(const certify::Certificate& certificate, double tolerance,
                                        std::optional<std::size_t> variant = std::nullopt);

/// Whether steps are best seen by their logarithm: they span more than two decades, and half of the problems
/// are below some tolerance already within the first tenth (or nothing is known of that).
bool acts_early(const certify::Certificate& certificate);

/// Up to `count` of the certificate's (increasing) steps with the first and the last: evenly, or evenly in
/// their logarithm where they are best seen so.
std::vector<Index> telling_steps(const certify::Certificate& certificate, std::size_t count);

}  // namespace surefoot::report
