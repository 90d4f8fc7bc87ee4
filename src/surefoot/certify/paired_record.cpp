#include "surefoot/certify/paired_record.hpp"

#include "surefoot/certify/json_fields.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/json_parse.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace surefoot::certify {
namespace {

using RecordJson = nlohmann::ordered_json;
constexpr const char* record_key = "surefoot_paired";

RecordJson parsed_record(std::string_view text) {
  RecordJson json = RecordJson::object();
  try {
    json = io::parse_json("paired record", text, {});
  } catch (const RecordJson::exception&) {
    throw InputError("paired record: not JSON");
  }
  return json;
}

PairedQuantile read_quantile(const Fields& fields) {
  return {fields.number_or_infinity("at_most"), fields.count("problems_below"),
          fields.count("problems_at_most")};
}

PairedSuccess read_success(const Fields& fields) {
  PairedSuccess cell;
  cell.claim = parse_claim(fields.text("claim"), ShareIs::optional);
  cell.both = fields.count("both");
  cell.only_a = fields.count("first_only");
  cell.only_b = fields.count("second_only");
  cell.neither = fields.count("neither");
  return cell;
}

PairedTimes read_times(const Fields& fields) {
  PairedTimes times;
  if (fields.has("tolerance")) times.tolerance = fields.number("tolerance");
  times.a_earlier = fields.count("first_earlier");
  times.b_earlier = fields.count("second_earlier");
  times.ties = fields.count("ties");
  times.ratios = fields.list<PairedRatio>("ratios", [](const Fields& ratio) {
    return PairedRatio{ratio.number("share"), ratio.count("rank"),
                       read_quantile(ratio.child("second_over_first")),
                       read_quantile(ratio.child("first_over_second"))};
  });
  return times;
}

PairedComparison read_comparison(const Fields& fields) {
  require(fields.count(record_key) == 1, "paired record: of another version");
  PairedComparison comparison;
  comparison.a = fields.text("first");
  comparison.b = fields.text("second");
  comparison.pairs = fields.count("pairs");
  comparison.delta = fields.number("delta");
  comparison.scalar = fields.has("scalar") && fields.truth("scalar");
  comparison.metric = comparison.scalar ? fields.text("metric") : PairedOptions().metric;
  comparison.anytime = fields.has("anytime") && fields.truth("anytime");
  comparison.shares = fields.numbers("shares");
  comparison.tables = fields.list<PairedTable>("tables", [](const Fields& table) {
    return PairedTable{table.text("source"), table.text("sha256")};
  });
  if (fields.has("allow")) comparison.allow = fields.number("allow");
  comparison.success = fields.list<PairedSuccess>("success", read_success);
  comparison.times = fields.list<PairedTimes>("settling", read_times);
  return comparison;
}

/// InputError unless the declarations could have been made.
void require_declarations(const PairedComparison& comparison) {
  PairedOptions options;
  options.delta = comparison.delta;
  options.shares = comparison.shares;
  options.allow = comparison.allow;
  options.scalar = comparison.scalar;
  for (const PairedSuccess& cell : comparison.success) options.claims.push_back(cell.claim);
  for (const PairedTimes& times : comparison.times)
    if (times.tolerance) options.tolerances.push_back(*times.tolerance);
  options.validate();
  require(comparison.pairs > 0, "paired record: there is no problem");
}

void check_counts(const PairedComparison& comparison, std::vector<std::string>& findings) {
  const auto expect = [&](bool holds, const std::string& text) {
    if (!holds) findings.push_back(text);
  };
  // Counts are not negative, so no sum of them can hide one.
  const auto are_all = [&](std::initializer_list<Index> counts) {
    Index left = comparison.pairs;
    for (const Index count : counts) {
      if (count < 0 || count > left) return false;
      left -= count;
    }
    return left == 0;
  };
  for (const PairedSuccess& cell : comparison.success)
    expect(are_all({cell.both, cell.only_a, cell.only_b, cell.neither}),
           fmt::format("'{}': the counts are not of {} problems", to_text(cell.claim), comparison.pairs));
  for (const PairedTimes& times : comparison.times) {
    expect(are_all({times.a_earlier, times.b_earlier, times.ties}),
           fmt::format("earlier and ties are not {} problems", comparison.pairs));
    expect(times.tolerance.has_value() != comparison.scalar, "a tolerance is of iterations, not of scalars");
    std::vector<double> shares;
    for (const PairedRatio& ratio : times.ratios) shares.push_back(ratio.share);
    expect(shares == comparison.shares, "ratios are not of the declared shares");
  }
}

void check_ratios(const PairedComparison& comparison, std::vector<std::string>& findings) {
  for (const PairedTimes& times : comparison.times) {
    for (const PairedRatio& ratio : times.ratios) {
      for (const PairedQuantile* found : {&ratio.b_over_a, &ratio.a_over_b}) {
        const bool fits = ratio.rank == 0
                              ? found->value == infinity
                              : found->value >= 0 && 0 <= found->below && found->below < ratio.rank &&
                                    ratio.rank <= found->at_most && found->at_most <= comparison.pairs;
        if (!fits)
          findings.push_back(
              fmt::format("a ratio of share {} is not the {}-th smallest of {} problems: {} are "
                          "below, {} at most",
                          ratio.share, ratio.rank, comparison.pairs, found->below, found->at_most));
      }
    }
  }
}

void add_differences(const RecordJson& stated, const RecordJson& computed, std::string_view by,
                     std::vector<std::string>& findings) {
  for (const RecordJson& change : RecordJson::diff(stated, computed)) {
    const auto path = change.at("path").get<std::string>();
    const RecordJson::json_pointer pointer(path);
    const auto text = [&](const RecordJson& json) {
      return json.contains(pointer) ? io::excerpt(json.at(pointer).dump()) : std::string("nothing");
    };
    findings.push_back(fmt::format("{} is {}, {} {}", path.substr(1), text(stated), by, text(computed)));
  }
}

}  // namespace

bool is_paired_record(std::string_view text) {
  const auto skip = [&text](std::string_view mark) {
    text.remove_prefix(std::min(text.find_first_not_of(" \t\r\n"), text.size()));
    const bool there = text.starts_with(mark);
    if (there) text.remove_prefix(mark.size());
    return there;
  };
  return skip("{") && skip("\"") && text.starts_with(record_key) &&
         text.substr(std::string_view(record_key).size()).starts_with('"');
}

CheckedRecord check_paired_record(std::string_view text) {
  RecordJson stated = parsed_record(text);
  CheckedRecord checked;
  checked.comparison = read_comparison(Fields(stated, "the record"));
  require_declarations(checked.comparison);
  check_counts(checked.comparison, checked.findings);
  if (!checked.findings.empty()) return checked;
  conclude(checked.comparison);
  check_ratios(checked.comparison, checked.findings);
  RecordJson computed = parsed_record(to_json(checked.comparison));
  if (stated.erase("digest") != 1) checked.findings.emplace_back("there is no digest");
  computed.erase("digest");
  add_differences(stated, computed, "its counts give", checked.findings);
  const RecordJson with_digest = parsed_record(text);
  if (checked.findings.empty() && with_digest.at("digest") != io::sha256_hex(stated.dump()))
    checked.findings.emplace_back("the digest is not that of the record");
  return checked;
}

std::vector<std::string> differences(const PairedComparison& stated, const PairedComparison& recounted) {
  std::vector<std::string> findings;
  const auto comparable = [](const PairedComparison& comparison) {
    RecordJson json = parsed_record(to_json(comparison));
    json.erase("digest");
    for (RecordJson& table : json["tables"]) table.erase("source");
    return json;
  };
  add_differences(comparable(stated), comparable(recounted), "the tables give", findings);
  return findings;
}

}  // namespace surefoot::certify
