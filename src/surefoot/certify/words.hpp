#pragma once

#include "surefoot/certify/certificate.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Words that the sentences of several kinds of claims share. They are parts of wordings (sentences.hpp).
namespace surefoot::certify {

inline constexpr std::size_t quoted_tolerances = 4;  ///< tolerances that sentences to quote speak of
inline constexpr double least_quoted = 0.01;         ///< below it, a share is not worth a sentence

/// How a clause is put: under an opening that names the metric ("at least 90 % of problems are below ..."),
/// or so that it stands alone ("the residual of at least 90 % of new problems is below ...").
struct Voice {
  std::string subject;   ///< before "at least"
  std::string problems;  ///< after the share, with the verb
  std::string have_been;
  std::string stay;
  std::string groups;     ///< "groups (one per flight)", of certificates of groups
  std::string metric_of;  ///< before a share of ticks
  std::string are;        ///< their verb
};

Voice under_opening(const Certificate& certificate);
Voice standing_alone(const Certificate& certificate);

/// What success is: strictly below a tolerance, of scalars at most it.
std::string_view below_or_at_most(const Certificate& certificate);
/// "the runtime of at least 99 % of new problems is at most 2.25 ms"; `value` without its unit.
std::string scalar_clause(const Certificate& certificate, const Voice& voice, const std::string& share,
                          const std::string& value);

/// "weights drawn anew for each", where they are.
std::string_view about_weights(const Certificate& certificate, std::string_view words);

/// "after 40 iterations", "at the start".
std::string after_steps(Index step);
/// The same; of closed loops "with a limit of 5 iterations a tick", or "after 30 ticks of at most 5
/// iterations".
std::string after_steps(const Certificate& certificate, Index step);
/// What a step is called in tables: "iteration"; of closed loops "limit" or "tick".
std::string_view step_name(const Certificate& certificate);
/// "of new problems", "of new rollouts of 100 ticks".
std::string of_new_things(const Certificate& certificate);
/// " and with each larger limit that was run (up to 50)": how long method every-step lasts.
std::string lasting_every_step(const Certificate& certificate, std::string_view horizon);
/// "a, b and c".
std::string listed(const std::vector<std::string>& parts);
/// "up to iteration 400", or of each variant where they differ.
std::string horizon_words(const Certificate& certificate);
std::string horizon_words(const Certificate& certificate, Index last_step);
bool records_one_step(const Certificate& certificate);

/// A tolerance is what the user named and is shown as it is; one of many digits is rounded up, which claims
/// less.
std::string tolerance_text(const Certificate& certificate, double tolerance);

/// The name of a variant, cut where it would fill a table.
std::string short_name(const Certificate& certificate, std::size_t variant);

}  // namespace surefoot::certify
