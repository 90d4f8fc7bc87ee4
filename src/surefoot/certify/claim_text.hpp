#pragma once

#include "surefoot/core/types.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace surefoot::certify {

/// A claim as people write it, the same wherever one is written:
///   SHARE% below|at most VALUE [after K|within K]
/// "95% below 3e-4 after 60": at step 60, 95 % of the problems are below 3e-4; "within 60": from step 60 on,
/// up to the last recorded one.
struct ClaimText {
  enum class When { unsaid, after, within };

  std::optional<double> share;  ///< in (0, 1); none where the text has none
  bool strict = true;           ///< below, not at most
  double value = 0;
  When when = When::unsaid;
  Index step = 0;
};

enum class ShareIs { required, optional };

/// InputError points at the word that does not fit.
ClaimText parse_claim(std::string_view text, ShareIs share = ShareIs::required);
std::string to_text(const ClaimText& claim);

}  // namespace surefoot::certify
