#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/claim_text.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/core/types.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

/// A claim that runs are made for until it holds, by bounds that hold at every number of runs. It is one of
/// three claims of a certificate:
///   SHARE% below V after K             a success rate
///   SHARE% below V within K, or alone  an iteration budget
///   SHARE% at most V after K           a quantile
/// "At most V" alone is of runs with one number each.
class Until {
 public:
  /// InputError points at the word that does not fit.
  explicit Until(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }
  [[nodiscard]] double share() const { return *claim_.share; }
  /// The kind of claim that it is.
  [[nodiscard]] std::string_view kind() const { return kind_; }

  /// What somebody has declared beside it; what has not been declared is the claim itself.
  struct Declared {
    bool kinds = false;
    bool tolerances = false;
    bool quantiles = false;
    bool steps = false;
  };
  /// Options with the claim among what is declared, to hold at every number of runs. InputError if something
  /// else is declared.
  [[nodiscard]] Options declare(Options options, const Declared& declared) const;

  /// InputError unless the claim can be made of runs with these steps.
  void require_recorded(const std::vector<Index>& steps) const;
  /// Whether the run, a number for each of the steps, is one of those that fail.
  [[nodiscard]] bool fails(const std::vector<Index>& steps, const double* values) const;

  /// Whether it follows from the certificate.
  [[nodiscard]] bool holds(const Certificate& certificate) const;

 private:
  std::string text_;
  ClaimText claim_;
  std::string_view kind_;
};

/// Counts runs in their order and says when there is something to look at.
class UntilLooks {
 public:
  /// `delta` of the claim.
  UntilLooks(double share, double delta) : share_(share), delta_(delta) {}

  void add(bool failed) {
    ++runs_;
    failures_ += failed ? 1 : 0;
  }
  [[nodiscard]] Index runs() const { return runs_; }
  [[nodiscard]] Index failures() const { return failures_; }
  /// The share that is certified now.
  [[nodiscard]] double certified() const;
  /// The fewest runs at which the claim holds if no further one fails; before that it cannot hold.
  [[nodiscard]] Index next_look();

 private:
  double share_;
  double delta_;
  Index runs_ = 0;
  Index failures_ = 0;
  Index known_for_ = -1;  // failures that next_ is of
  Index next_ = 0;
};

/// Where the claim stands, as a sentence for the user.
std::string standing_of(const Until& until, UntilLooks& looks, bool holds);

}  // namespace surefoot::certify
