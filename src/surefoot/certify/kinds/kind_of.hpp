#pragma once

#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/json_fields.hpp"
#include "surefoot/certify/json_text.hpp"
#include "surefoot/certify/kinds/claim_checker.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/shift_part.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/runs/tally.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <type_traits>
#include <utility>

namespace surefoot::certify {

/// What finds a change in a field: of a certificate of a table, and of one of our own runs.
struct FoundBy {
  Evidence in_tables = Evidence::arithmetic;
  Evidence in_runs = Evidence::arithmetic;
};
inline constexpr FoundBy by_arithmetic{};
inline constexpr FoundBy by_counting_again{Evidence::data, Evidence::rerun};

/// Visitors of a claim's fields. `visit(name, field)` is a field; `visit.or_infinite` one whose infinity is
/// written as null; `visit.derived` a value that follows from the others, is written for readers and
/// compared when it is read (ParsedCertificate::canonical).
class WriteFields {
 public:
  explicit WriteFields(JsonText& text) : text_(text) {}
  template <class T>
  void operator()(const char* name, const T& value, FoundBy = by_arithmetic) {
    if constexpr (std::is_enum_v<T>) {
      text_.members(name, bounds::name(value));
    } else {
      text_.members(name, value);
    }
  }
  void or_infinite(const char* name, double value, FoundBy = by_arithmetic) { text_.members(name, value); }
  template <class T>
  void derived(const char* name, const T& value, FoundBy = by_arithmetic) {
    text_.members(name, value);
  }

 private:
  JsonText& text_;
};

class ReadFields {
 public:
  explicit ReadFields(const Fields& from) : from_(from) {}
  void operator()(const char* name, std::size_t& value, FoundBy = by_arithmetic) {
    value = static_cast<std::size_t>(from_.count(name));
  }
  void operator()(const char* name, Index& value, FoundBy = by_arithmetic) { value = from_.count(name); }
  void operator()(const char* name, double& value, FoundBy = by_arithmetic) { value = from_.number(name); }
  void operator()(const char* name, std::string& value, FoundBy = by_arithmetic) { value = from_.text(name); }
  void operator()(const char* name, std::optional<Index>& value, FoundBy = by_arithmetic) {
    value = from_.optional_count(name);
  }
  template <class Method>
  requires std::is_enum_v<Method>
  void operator()(const char* name, Method& value, FoundBy = by_arithmetic) {
    bounds::parse(from_.text(name), value);
  }
  void or_infinite(const char* name, double& value, FoundBy = by_arithmetic) {
    value = from_.number_or_infinity(name);
  }
  template <class T>
  void derived(const char*, const T&, FoundBy = by_arithmetic) {}

 private:
  const Fields& from_;
};

class ListFields {
 public:
  explicit ListFields(std::string_view part) : part_(part) {}
  template <class T>
  void operator()(const char* name, const T&, FoundBy found = by_arithmetic) {
    checks.push_back({fmt::format("claims.{}.{}", part_, name), found.in_tables, found.in_runs});
  }
  template <class T>
  void or_infinite(const char* name, const T& value, FoundBy found = by_arithmetic) {
    (*this)(name, value, found);
  }
  template <class T>
  void derived(const char* name, const T& value, FoundBy found = by_arithmetic) {
    (*this)(name, value, found);
  }
  std::vector<FieldCheck> checks;

 private:
  std::string_view part_;
};

// clang-format off
/// A kind whose claims are Claim, held in a list of the certificate. Claim has variant, samples and delta. Own, the
/// class that derives from it, has
///   template <class Visit, class C> static void each_field(Visit& visit, C& claim);
///     the one list of fields
///   static auto key(const Claim& claim);
///     what makes two claims the same question
///   void check_one(const Claim& claim, ClaimChecker& checker) const;
///     recomputes the claim from its counts
///   template \<class Visit\> static void derive(Visit& visit, const Certificate& certificate, const Claim& claim);
///     if there are: values that follow from the claim and from what is declared, for readers
///   static std::string difference(const Claim& recounted, const Claim& stated);
///     between a recount of the data and what is stated; empty if there is none
// clang-format on
template <class Own, class Claim>
class KindOf : public ClaimKind {
 public:
  using Claims = std::vector<Claim>;
  explicit KindOf(Claims Certificate::*where) : where_(where) {}

  [[nodiscard]] Index size(const Certificate& certificate) const final {
    return static_cast<Index>(claims(certificate).size());
  }
  [[nodiscard]] double delta(const Certificate& certificate) const final {
    return claims(certificate).empty() ? 0.0 : claims(certificate).front().delta;
  }

  void write(JsonText& text, const Certificate& certificate, const WorstCaseBounds& worst) const final {
    text.list(claims(certificate), [&](JsonText& item, const Claim& claim) {
      item.open('{');
      WriteFields visit(item);
      Own::each_field(visit, claim);
      if constexpr (has_worst_case) {
        if (worst.used()) visit.derived("with_worst_case", worst.better(claim));
      }
      if constexpr (promises_share) {
        if (certificate.shift) visit.derived("under_shift", share_under(*certificate.shift, claim));
      }
      if constexpr (requires { Own::derive(visit, certificate, claim); })
        Own::derive(visit, certificate, claim);
      item.close('}');
    });
  }

  void read(const Fields& from, Certificate& certificate) const final {
    certificate.*where_ = from.list<Claim>(std::string(part()).c_str(), [](const Fields& fields) {
      Claim claim;
      ReadFields visit(fields);
      Own::each_field(visit, claim);
      return claim;
    });
  }

  [[nodiscard]] std::vector<FieldCheck> fields() const final {
    ListFields visit(part());
    Claim claim;
    Own::each_field(visit, claim);
    if constexpr (requires { Own::derive(visit, Certificate(), claim); })
      Own::derive(visit, Certificate(), claim);
    if constexpr (has_worst_case) visit.derived("with_worst_case", 0);
    if (!claimed_of(Sampling::problems))  // our own runs are problems
      for (FieldCheck& check : visit.checks) check.in_runs.reset();
    if constexpr (promises_share) visit.derived("under_shift", 0);
    return visit.checks;
  }

  [[nodiscard]] bool made_twice(const Certificate& certificate) const final {
    std::set<decltype(Own::key(std::declval<Claim>()))> keys;
    for (const Claim& claim : claims(certificate)) keys.insert(Own::key(claim));
    return keys.size() != claims(certificate).size();
  }

  void check(const Certificate& certificate, ClaimChecker& checker) const final {
    const Claims& all = claims(certificate);
    for (std::size_t i = 0; i < all.size(); ++i) {
      checker.claim(fmt::format("{} claim {}", singular(), i), [&] {
        if (checker.check_common(all[i].variant, all[i].samples, all[i].delta, all.front().delta))
          own().check_one(all[i], checker);
      });
    }
  }

  [[nodiscard]] std::vector<std::string> recount(const Certificate& certificate, std::size_t variant,
                                                 const runs::Tally& tally) const final {
    Claims stated;
    std::ranges::copy_if(claims(certificate), std::back_inserter(stated),
                         [&](const Claim& claim) { return claim.variant == variant; });
    std::vector<std::string> differences;
    if (stated.empty()) return differences;
    // Certify the recount with the stated delta of each claim: every count and bound must come out again.
    Options options = options_of(certificate);
    options.simultaneous = Simultaneity::each;
    options.kinds = {std::string(name())};
    options.delta = stated.front().delta;
    Certificate made;
    try {
      made = certify(options, {{Variant{}, tally}});
    } catch (const InputError& error) {
      return {fmt::format("{} claims: {}", singular(), error.what())};
    }
    const Claims& recounted = claims(made);
    if (recounted.size() != stated.size())
      differences.push_back(
          fmt::format("{} {} claims, the certificate has {}", recounted.size(), singular(), stated.size()));
    for (std::size_t i = 0; i < std::min(recounted.size(), stated.size()); ++i) {
      const std::string difference = Own::difference(recounted[i], stated[i]);
      if (!difference.empty())
        differences.push_back(fmt::format("{} claim {}: {}", singular(), i, difference));
    }
    return differences;
  }

  void keep_tolerances([[maybe_unused]] const std::vector<double>& tolerances,
                       [[maybe_unused]] Certificate& certificate) const final {
    if constexpr (requires(Claim claim) { claim.tolerance; }) {
      std::erase_if(certificate.*where_,
                    [&](const Claim& claim) { return std::ranges::count(tolerances, claim.tolerance) == 0; });
    }
  }

 protected:
  [[nodiscard]] const Claims& claims(const Certificate& certificate) const { return certificate.*where_; }
  void add(Certificate& certificate, const Claim& claim) const { (certificate.*where_).push_back(claim); }

 private:
  static constexpr bool has_worst_case = requires(const WorstCaseBounds& worst, const Claim& claim) {
    worst.better(claim);
  };
  static constexpr bool promises_share = requires(const Claim& claim) { promised_share(claim); };
  [[nodiscard]] const Own& own() const { return static_cast<const Own&>(*this); }

  Claims Certificate::*where_;
};

}  // namespace surefoot::certify
