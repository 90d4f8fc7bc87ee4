#include "surefoot/certify/certificate_json.hpp"

#include "surefoot/certify/json_fields.hpp"
#include "surefoot/certify/json_text.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/parts.hpp"
#include "surefoot/certify/sentences.hpp"
#include "surefoot/certify/worst_case_part.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/io/json_parse.hpp"
#include "surefoot/io/sha256.hpp"

#include <nlohmann/json.hpp>

namespace surefoot::certify {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view order_not_checked = "order not checked";

void write_weights(JsonText& text, const Weights& weights) {
  text.open('{');
  text.members("source", weights.source, "sha256", weights.sha256, "count", weights.count,          //
               "sampling", weights.sampling, "precision", weights.precision, "seed", weights.seed,  //
               "purpose", weights.purpose);
  if (!weights.read) text.members("read", false);
  text.close('}');
}

void write_pac_bayes(JsonText& text, const PacBayes& guarantee) {
  text.object("samples", guarantee.samples, "prior_samples", guarantee.prior_samples,    //
              "prior_sha256", guarantee.prior_sha256, "kl", guarantee.kl,                //
              "groups", guarantee.groups, "positions", guarantee.positions,              //
              "lambda_max", guarantee.lambda_max, "b", guarantee.b,                      //
              "losses", guarantee.losses, "prior_means", guarantee.prior_means,          //
              "candidates", guarantee.candidates, "delta_each", guarantee.delta_each,    //
              "omega_each", guarantee.omega_each, "regularizer", guarantee.regularizer,  //
              "design", name(guarantee.design), "draws", guarantee.draws, "runs", guarantee.runs);
}

void write_provenance(JsonText& text, const SampleProvenance& provenance) {
  const SampleRange& range = provenance.range;
  text.object("family", range.family, "seed", range.seed, "set", range.set,  //
              "first", range.first, "count", range.count, "earlier_looks", provenance.earlier_looks);
}

void write_sign_test(JsonText& text, const Independence::SignTest& test) {
  text.object("statistics", test.statistics, "about", test.about, "more", test.more, "less", test.less,  //
              "p_value", test.p_value);
}

void write_repeats(JsonText& text, const Independence::Repeats& repeats) {
  text.object("compared", repeats.compared, "comparable", repeats.comparable, "repeated", repeats.repeated);
}

void write_independence(JsonText& text, const Independence& found) {
  text.open('{');
  text.members("of", found.of, "level", Independence::level,  //
               "order", found.order_checked ? "order checked" : order_not_checked);
  text.members("exact_repeats", [&](JsonText& part) { write_repeats(part, found.exact); });
  text.members("rounded_repeats", [&](JsonText& part) { write_repeats(part, found.rounded); });
  text.members("recurring", [&](JsonText& part) {
    part.object("compared", found.recurring.compared, "different", found.recurring.different,  //
                "recurring", found.recurring.recurring);
  });
  if (found.sampled)
    text.members("sampled_repeats", [&](JsonText& part) {
      part.object("compared", found.sampled->compared, "different", found.sampled->different,  //
                  "repeated", found.sampled->repeated);
    });
  text.members("serial", [&](JsonText& part) { write_sign_test(part, found.serial); });
  text.members("drift", [&](JsonText& part) { write_sign_test(part, found.drift); });
  text.members("findings", found.findings(), "allowed", found.allowed);
  text.close('}');
}

void write_selection(JsonText& text, const Selection& selection) {
  text.object("value", selection.value, "variants", selection.variants, "variant", selection.variant,  //
              "rows", selection.rows, "steps", selection.steps, "where", selection.where,              //
              "failed", selection.failed, "missing", name(selection.missing),                          //
              "failed_lines", selection.failed_lines, "censored", selection.censored,                  //
              "missing_cells", selection.missing_cells);
}

void write_variant(JsonText& text, const Variant& variant, int format) {
  text.open('{');
  text.members("name", variant.name, "source", variant.source, "sha256", variant.sha256,  //
               "samples", variant.samples, "columns", variant.columns,                    //
               "first_step", variant.first_step, "last_step", variant.last_step,          //
               "non_finite_runs", variant.non_finite_runs, "values_rounded_up", variant.values_rounded_up);
  if (format > 1 && !variant.recorded_steps.empty()) text.members("recorded_steps", variant.recorded_steps);
  if (format > 1 && !variant.reading.empty()) text.members("reading", variant.reading);
  if (format > 1 && variant.independence)
    text.members("independence", [&](JsonText& part) { write_independence(part, *variant.independence); });
  if (format > 1 && variant.selection)
    text.members("selection", [&](JsonText& part) { write_selection(part, *variant.selection); });
  if (!variant.appended.empty())
    text.members("appended", [&](JsonText& part) {
      part.list(variant.appended, [](JsonText& item, const AppendedTable& table) {
        item.object("source", table.source, "sha256", table.sha256, "samples", table.samples,  //
                    "reading", table.reading);
      });
    });
  if (format > 1 && variant.groups)
    text.members("groups", [&](JsonText& part) {
      part.object("name", variant.groups->name, "ticks", variant.groups->ticks,  //
                  "fewest", variant.groups->fewest, "most", variant.groups->most);
    });
  if (variant.weights)
    text.members("weights", [&](JsonText& part) { write_weights(part, *variant.weights); });
  if (variant.pac_bayes)
    text.members("pac_bayes", [&](JsonText& part) { write_pac_bayes(part, *variant.pac_bayes); });
  if (format > 1 && variant.provenance)
    text.members("provenance", [&](JsonText& part) { write_provenance(part, *variant.provenance); });
  text.close('}');
}

void write_share(JsonText& text, const Share& share) {
  text.object("purpose", share.purpose, "claims", share.claims, "delta_each", share.delta_each);
}

template <class T>
auto list_of(const std::vector<T>& values, void (*write_item)(JsonText&, const T&)) {
  return [&values, write_item](JsonText& text) { text.list(values, write_item); };
}

// Opens the certificate's object and writes all of it but the digest.
void write_body(JsonText& text, const Certificate& certificate) {
  text.open('{');
  text.members("format", "surefoot-certificate", "format_version", certificate.format,  //
               "surefoot_version", certificate.version);
  if (certificate.format > 1) text.members("parts", parts_of(certificate));
  text.members("title", certificate.title);
  text.members("metric",
               [&](JsonText& part) { part.object("name", certificate.metric, "unit", certificate.unit); });
  if (certificate.scalar) text.members("scalar", true);
  text.members("confidence", [&](JsonText& part) {
    part.object("delta", certificate.delta, "simultaneous", name(certificate.simultaneous),  //
                "shares", list_of(certificate.shares, write_share));
  });
  text.members("declared", [&](JsonText& part) {
    part.object("steps", certificate.steps, "tolerances", certificate.tolerances,  //
                "quantiles", certificate.quantiles, "grid", certificate.grid,      //
                "grid_method", bounds::name(certificate.grid_method), "value_limit", certificate.value_limit);
  });
  text.members("variants", [&](JsonText& part) {
    part.list(certificate.variants, [&](JsonText& item, const Variant& variant) {
      write_variant(item, variant, certificate.format);
    });
  });
  const WorstCaseBounds worst(certificate);
  text.members("claims", [&](JsonText& part) {
    part.open('{');
    for (const ClaimKind* kind : claim_kinds()) {
      if (kind->size(certificate) > 0 || kind->always_listed())
        part.members(kind->part(), [&](JsonText& list) { kind->write(list, certificate, worst); });
    }
    part.close('}');
  });
  if (certificate.format > 1)
    text.members("wording", certificate.wording, "statements",
                 statements_of(certificate, certificate.wording));
  text.members("assumptions", certificate.assumptions);
  text.members("run", [&](JsonText& part) { part.json(certificate.run); });
  if (certificate.rerun != "null")
    text.members("rerun", [&](JsonText& part) { part.json(certificate.rerun); });
  if (certificate.worst_case != "null")
    text.members("worst_case", [&](JsonText& part) { part.json(certificate.worst_case); });
  if (certificate.range)
    text.members("range", [&](JsonText& part) {
      part.object("upper", certificate.range->upper, "thresholds", certificate.range->thresholds,  //
                  "cvar", certificate.range->levels);
    });
  if (certificate.loop)
    text.members("closed_loop", [&](JsonText& part) {
      part.object("ticks", certificate.loop->ticks, "limit", certificate.loop->limit);
    });
  if (certificate.shift)
    text.members("shift", [&](JsonText& part) {
      part.object("divergence", bounds::name(certificate.shift->divergence),  //
                  "radius", certificate.shift->radius);
    });
}

// What the digest is of: the certificate without it, compact.
std::string digested_text(const JsonText& body) {
  return body.compact() + '}';
}

Weights read_weights(const Fields& fields) {
  Weights weights;
  weights.source = fields.text("source");
  weights.sha256 = fields.text("sha256");
  weights.count = fields.count("count");
  weights.sampling = fields.text("sampling");
  weights.precision = fields.text("precision");
  weights.seed = fields.whole("seed");
  weights.purpose = fields.text("purpose");
  if (!fields.has("read")) return weights;
  weights.read = fields.truth("read");
  require(!weights.read, "weights: 'read' is said only where they were not");
  return weights;
}

PacBayes read_pac_bayes(const Fields& fields) {
  PacBayes guarantee;
  guarantee.samples = fields.count("samples");
  guarantee.prior_samples = fields.count("prior_samples");
  guarantee.prior_sha256 = fields.text("prior_sha256");
  guarantee.kl = fields.number("kl");
  guarantee.groups = fields.counts("groups");
  guarantee.positions = fields.counts("positions");
  guarantee.lambda_max = fields.number("lambda_max");
  guarantee.b = fields.number("b");
  guarantee.losses = fields.count("losses");
  guarantee.prior_means = fields.count("prior_means");
  guarantee.candidates = fields.count("candidates");
  guarantee.delta_each = fields.number("delta_each");
  guarantee.omega_each = fields.number("omega_each");
  guarantee.regularizer = fields.number("regularizer");
  guarantee.design = parse_design(fields.text("design"));
  guarantee.draws = fields.count("draws");
  guarantee.runs = fields.count("runs");
  return guarantee;
}

SampleProvenance read_provenance(const Fields& fields) {
  return {{fields.text("family"), fields.whole("seed"), fields.text("set"), fields.whole("first"),
           fields.count("count")},
          fields.optional_count("earlier_looks")};
}

Independence::SignTest read_sign_test(const Fields& fields) {
  Independence::SignTest test;
  test.statistics = fields.count("statistics");
  test.about = fields.text("about");
  test.more = fields.count("more");
  test.less = fields.count("less");
  test.p_value = fields.number("p_value");
  return test;
}

Independence::Repeats read_repeats(const Fields& fields) {
  return {fields.count("compared"), fields.count("comparable"), fields.count("repeated")};
}

Independence read_independence(const Fields& fields) {
  Independence found;
  found.of = fields.text("of");
  found.order_checked = fields.text("order") != order_not_checked;
  found.exact = read_repeats(fields.child("exact_repeats"));
  found.rounded = read_repeats(fields.child("rounded_repeats"));
  const Fields recurring = fields.child("recurring");
  found.recurring = {recurring.count("compared"), recurring.count("different"), recurring.count("recurring")};
  if (fields.has("sampled_repeats")) {
    const Fields sampled = fields.child("sampled_repeats");
    found.sampled = {sampled.count("compared"), sampled.count("different"), sampled.count("repeated")};
  }
  found.serial = read_sign_test(fields.child("serial"));
  found.drift = read_sign_test(fields.child("drift"));
  found.allowed = fields.truth("allowed");
  return found;
}

Selection read_selection(const Fields& fields) {
  Selection selection;
  selection.value = fields.text("value");
  selection.variants = fields.text("variants");
  selection.variant = fields.text("variant");
  selection.rows = fields.text("rows");
  selection.steps = fields.text("steps");
  selection.where = fields.texts("where");
  selection.failed = fields.texts("failed");
  selection.missing = parse_missing(fields.text("missing"));
  selection.failed_lines = fields.count("failed_lines");
  selection.censored = fields.count("censored");
  selection.missing_cells = fields.count("missing_cells");
  return selection;
}

AppendedTable read_appended(const Fields& fields) {
  return {fields.text("source"), fields.text("sha256"), fields.count("samples"), fields.texts("reading")};
}

Variant read_variant(const Fields& fields) {
  Variant variant;
  variant.name = fields.text("name");
  variant.source = fields.text("source");
  variant.sha256 = fields.text("sha256");
  variant.samples = fields.count("samples");
  variant.columns = fields.count("columns");
  variant.first_step = fields.count("first_step");
  variant.last_step = fields.count("last_step");
  variant.non_finite_runs = fields.count("non_finite_runs");
  variant.values_rounded_up = fields.truth("values_rounded_up");
  if (fields.has("recorded_steps")) variant.recorded_steps = fields.counts("recorded_steps");
  if (fields.has("reading")) variant.reading = fields.texts("reading");
  if (fields.has("independence")) variant.independence = read_independence(fields.child("independence"));
  if (fields.has("selection")) variant.selection = read_selection(fields.child("selection"));
  if (fields.has("appended")) variant.appended = fields.list<AppendedTable>("appended", read_appended);
  if (fields.has("groups")) {
    const Fields groups = fields.child("groups");
    variant.groups =
        Groups{groups.text("name"), groups.count("ticks"), groups.count("fewest"), groups.count("most")};
  }
  if (fields.has("weights")) variant.weights = read_weights(fields.child("weights"));
  if (fields.has("pac_bayes")) variant.pac_bayes = read_pac_bayes(fields.child("pac_bayes"));
  if (fields.has("provenance")) variant.provenance = read_provenance(fields.child("provenance"));
  return variant;
}

Share read_share(const Fields& fields) {
  return {fields.text("purpose"), fields.count("claims"), fields.number("delta_each")};
}

Certificate read_certificate(const Fields& fields) {
  require(fields.text("format") == "surefoot-certificate", "certificate: format is '{}'",
          fields.text("format"));
  const Index format = fields.count("format_version");
  require(format >= 1 && format <= current_format,
          "certificate: format_version {} is not known; this program reads 1 to {}", format, current_format);
  Certificate certificate;
  certificate.format = static_cast<int>(format);
  certificate.version = fields.text("surefoot_version");
  if (format > 1) require_known_parts(fields.texts("parts"));
  certificate.title = fields.text("title");
  certificate.metric = fields.child("metric").text("name");
  certificate.unit = fields.child("metric").text("unit");
  certificate.scalar = fields.has("scalar") && fields.truth("scalar");
  const Fields confidence = fields.child("confidence");
  certificate.delta = confidence.number("delta");
  certificate.simultaneous = parse_simultaneity(confidence.text("simultaneous"));
  certificate.shares = confidence.list<Share>("shares", read_share);
  const Fields declared = fields.child("declared");
  certificate.steps = declared.counts("steps");
  certificate.tolerances = declared.numbers("tolerances");
  certificate.quantiles = declared.numbers("quantiles");
  certificate.grid = declared.numbers("grid");
  certificate.grid_method = bounds::parse_risk_method(declared.text("grid_method"));
  certificate.value_limit = declared.count("value_limit");
  certificate.variants = fields.list<Variant>("variants", read_variant);
  const Fields claims = fields.child("claims");
  for (const ClaimKind* kind : claim_kinds())
    if (kind->always_listed() || claims.has(std::string(kind->part()).c_str()))
      kind->read(claims, certificate);
  certificate.wording = 1;
  if (format > 1) {
    const Index wording = fields.count("wording");
    require(wording >= 2 && wording <= current_wording,
            "certificate: wording {} is not known; this program knows 2 to {}", wording, current_wording);
    certificate.wording = static_cast<int>(wording);
  }
  certificate.assumptions = fields.texts("assumptions");
  certificate.run = fields.at("run").dump();
  if (fields.has("rerun")) certificate.rerun = fields.at("rerun").dump();
  if (fields.has("worst_case")) certificate.worst_case = fields.at("worst_case").dump();
  if (fields.has("range")) {
    const Fields range = fields.child("range");
    certificate.range = {range.number("upper"), range.numbers("thresholds"), range.numbers("cvar")};
  }
  if (fields.has("closed_loop")) {
    const Fields loop = fields.child("closed_loop");
    certificate.loop = {loop.count("ticks"), loop.count("limit")};
  }
  if (fields.has("shift")) {
    const Fields shift = fields.child("shift");
    certificate.shift = {bounds::parse_divergence(shift.text("divergence")), shift.number("radius")};
    certificate.shift->validate();
  }
  return certificate;
}

}  // namespace

std::string to_json(const Certificate& certificate) {
  JsonText text;
  write_body(text, certificate);
  const std::string digest = io::sha256_hex(digested_text(text));
  text.members("digest", [&](JsonText& part) { part.object("algorithm", "sha256", "value", digest); });
  text.close('}');
  return text.indented() + '\n';
}

ParsedCertificate parse_certificate(std::string_view text) {
  Json body = nullptr;
  try {
    body = io::parse_json("certificate", text, {});
  } catch (const Json::parse_error& error) {
    throw InputError(fmt::format("certificate: not JSON at byte {}", error.byte));
  } catch (const Json::exception&) {
    throw InputError("certificate: a number is out of range");
  }
  ParsedCertificate parsed;
  const Fields fields(body, "the certificate");
  parsed.recorded_digest = fields.child("digest").text("value");
  require(fields.child("digest").text("algorithm") == "sha256", "certificate: the digest is not sha256");
  parsed.certificate = read_certificate(fields);
  if (parsed.certificate.format > 1) parsed.statements = fields.texts("statements");
  body.erase("digest");
  const std::string text_without_digest = body.dump();
  parsed.computed_digest = io::sha256_hex(text_without_digest);
  JsonText as_written;
  write_body(as_written, parsed.certificate);
  parsed.canonical = digested_text(as_written) == text_without_digest;
  return parsed;
}

}  // namespace surefoot::certify
