#pragma once

#include "surefoot/certify/certificate.hpp"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace surefoot::certify {

/// What finds a change in a field of a certificate whose digest and words were made to fit again.
enum class Evidence {
  arithmetic,  ///< the certificate alone
  data,        ///< the tables, counted again
  weights,     ///< the weights, read again
  rerun,       ///< the runs, made again
  nothing,     ///< it is an assertion of whoever made the certificate
};
std::string_view name(Evidence evidence);

/// A field of the JSON text, "variants.samples", and the least evidence that finds every change in it: in
/// certificates of a table of results, and in those of runs that this program made, where there is a command
/// to repeat.
struct FieldCheck {
  std::string field;
  std::optional<Evidence> in_tables;  ///< none: not a field of such certificates
  std::optional<Evidence> in_runs;
};

/// All fields, in the order of the text. tests/end_to_end/forgery_test.cpp changes each of them in every kind
/// of certificate and compares.
const std::vector<FieldCheck>& field_checks();

/// What a check went through besides arithmetic.
struct Checked {
  bool data = false;
  bool steps = false;  ///< with data: every table says the steps of its columns
  bool weights = false;
  bool rerun = false;
};

/// What the reader takes on trust after such a check: what another check would cover, in words, and the
/// fields that none covers.
std::vector<std::string> taken_on_trust(const Certificate& certificate, const Checked& checked);

/// What format 1 does not record, so that nothing of it can be checked; empty for later formats.
std::vector<std::string> missing_in_format(const Certificate& certificate);

}  // namespace surefoot::certify
