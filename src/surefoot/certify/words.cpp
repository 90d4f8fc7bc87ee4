#include "surefoot/certify/words.hpp"

#include "surefoot/certify/rollouts.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/utf8.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

namespace surefoot::certify {

namespace {

constexpr std::size_t longest_exact_tolerance = 8;
constexpr std::size_t name_width = 32;

std::string ticks_text(Index ticks) {
  return fmt::format("{} tick{}", count_label(ticks), ticks == 1 ? "" : "s");
}

}  // namespace

std::string_view things(const Certificate& certificate) {
  if (certificate.loop) return "rollouts";
  switch (sampling_of(certificate)) {
    case Sampling::problems:
      return "problems";
    case Sampling::groups:
      return "groups";
    case Sampling::sequence:
      return "ticks";
  }
  return "";
}

std::string named_things(const Certificate& certificate) {
  std::string words(things(certificate));
  if (certificate.loop) return fmt::format("{} of {}", words, ticks_text(certificate.loop->ticks));
  for (const Variant& variant : certificate.variants)
    if (variant.groups && !variant.groups->name.empty())
      return fmt::format("{} (one per {})", words, variant.groups->name);
  return words;
}

std::string note_on_groups(const Certificate& certificate) {
  if (sampling_of(certificate) != Sampling::groups) return "";
  return "A group is below a tolerance if every one of its ticks is: its value is the largest of its ticks.";
}

Voice under_opening(const Certificate& certificate) {
  if (sampling_of(certificate) == Sampling::groups) {
    const std::string groups = named_things(certificate);
    return {"in ",
            fmt::format("of {} every tick is", groups),
            fmt::format("of {} every tick has been", groups),
            "stays",
            groups,
            "",
            "are"};
  }
  // The opening names the metric: what takes a time is said by its unit alone.
  constexpr std::array<std::string_view, 13> times{
      "s", "sec", "seconds", "ms", "milliseconds", "us", "µs", "μs", "ns", "min", "minutes", "h", "hours"};
  if (certificate.scalar && std::ranges::count(times, certificate.unit) > 0)
    return {"", "of problems take", "of problems have taken", "stay", "", "", ""};
  const std::string of_things = fmt::format("of {}", things(certificate));
  return {"", of_things + " are", of_things + " have been", "stay", "", "", ""};
}

Voice standing_alone(const Certificate& certificate) {
  if (sampling_of(certificate) == Sampling::groups) {
    const std::string groups = "new " + named_things(certificate);
    const std::string every = fmt::format("of {} the {} of every tick", groups, certificate.metric);
    return {"in ",   every + " is", every + " has been",
            "stays", groups,        fmt::format("the {} of ", certificate.metric),
            "is"};
  }
  const std::string problems =
      of_new_things(certificate) + std::string(about_weights(certificate, ", weights drawn anew for each,"));
  return {fmt::format("the {} of ", certificate.metric),
          problems + " is",
          problems + " has been",
          "stays",
          "",
          "",
          ""};
}

std::string_view below_or_at_most(const Certificate& certificate) {
  return certificate.scalar ? "at most" : "below";
}

std::string scalar_clause(const Certificate& certificate, const Voice& voice, const std::string& share,
                          const std::string& value) {
  return fmt::format("{}at least {} {} at most {}", voice.subject, share, voice.problems,
                     with_unit(certificate, value));
}

std::string_view about_weights(const Certificate& certificate, std::string_view words) {
  return draws_weights(certificate) ? words : "";
}

std::string after_steps(Index step) {
  if (step == 0) return "at the start";
  return fmt::format("after {} iteration{}", count_label(step), step == 1 ? "" : "s");
}

std::string after_steps(const Certificate& certificate, Index step) {
  if (!certificate.loop) return after_steps(step);
  const Index limit = certificate.loop->limit > 0 ? certificate.loop->limit : step;
  const std::string iterations = fmt::format("{} iteration{}", count_label(limit), limit == 1 ? "" : "s");
  if (certificate.loop->limit == 0) return fmt::format("with a limit of {} a tick", iterations);
  return fmt::format("after {} of at most {}", ticks_text(step), iterations);
}

std::string_view step_name(const Certificate& certificate) {
  if (!certificate.loop) return "iteration";
  return certificate.loop->limit > 0 ? "tick" : "limit";
}

std::string of_new_things(const Certificate& certificate) {
  return "of new " + (certificate.loop ? named_things(certificate) : std::string("problems"));
}

std::string lasting_every_step(const Certificate& certificate, std::string_view horizon) {
  if (certificate.loop) return fmt::format(" and with each larger limit that was run ({})", horizon);
  return fmt::format(" and at each later recorded iteration ({})", horizon);
}

std::string listed(const std::vector<std::string>& parts) {
  if (parts.size() < 2) return parts.empty() ? "" : parts.front();
  return fmt::format("{} and {}", fmt::join(parts.begin(), parts.end() - 1, ", "), parts.back());
}

std::string horizon_words(const Certificate& certificate) {
  const auto& variants = certificate.variants;
  const bool same = std::ranges::all_of(
      variants, [&](const Variant& variant) { return variant.last_step == variants.front().last_step; });
  if (variants.empty() || !same) return "up to the last recorded iteration of each variant";
  return horizon_words(certificate, variants.front().last_step);
}

std::string horizon_words(const Certificate& certificate, Index last_step) {
  if (certificate.loop && certificate.loop->limit == 0)
    return fmt::format("up to {}", count_label(last_step));
  return fmt::format("up to {} {}", step_name(certificate), count_label(last_step));
}

bool records_one_step(const Certificate& certificate) {
  return std::ranges::all_of(certificate.variants,
                             [](const Variant& variant) { return variant.columns <= 1; });
}

std::string tolerance_text(const Certificate& certificate, double tolerance) {
  if (certificate.loop && certificate.metric == violation_of_bounds && tolerance <= no_violation)
    return exact_label(tolerance) + " (violates no bound)";
  const std::string exact = exact_label(tolerance);
  return with_unit(certificate,
                   exact.size() > longest_exact_tolerance ? upper_bound_value(tolerance) : exact);
}

std::string short_name(const Certificate& certificate, std::size_t variant) {
  return shortened(certificate.variants[variant].name, name_width);
}

}  // namespace surefoot::certify
