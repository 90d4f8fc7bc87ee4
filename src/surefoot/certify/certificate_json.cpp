#include "surefoot/certify/certificate_json.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/io/sha256.hpp"

#include <nlohmann/json.hpp>

#include <cmath>
#include <set>

namespace surefoot::certify {

namespace {

using Json = nlohmann::ordered_json;

constexpr int format_version = 1;

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}
Json step_or_null(const std::optional<Index>& step) {
  return step ? Json(*step) : Json(nullptr);
}

std::string_view name(Simultaneity simultaneous) {
  return simultaneous == Simultaneity::all ? "all" : "each";
}

Json to_json_value(const Weights& weights) {
  return {{"source", weights.source},     {"sha256", weights.sha256},       {"count", weights.count},
          {"sampling", weights.sampling}, {"precision", weights.precision}, {"seed", weights.seed},
          {"purpose", weights.purpose}};
}

Json to_json_value(const PacBayes& guarantee) {
  return {{"samples", guarantee.samples},
          {"prior_samples", guarantee.prior_samples},
          {"prior_sha256", guarantee.prior_sha256},
          {"kl", guarantee.kl},
          {"groups", guarantee.groups},
          {"positions", guarantee.positions},
          {"lambda_max", guarantee.lambda_max},
          {"b", guarantee.b},
          {"losses", guarantee.losses},
          {"prior_means", guarantee.prior_means},
          {"candidates", guarantee.candidates},
          {"delta_each", guarantee.delta_each},
          {"omega_each", guarantee.omega_each},
          {"regularizer", guarantee.regularizer},
          {"design", name(guarantee.design)},
          {"draws", guarantee.draws},
          {"runs", guarantee.runs}};
}

Json to_json_value(const Variant& variant) {
  Json value{{"name", variant.name},
             {"source", variant.source},
             {"sha256", variant.sha256},
             {"samples", variant.samples},
             {"columns", variant.columns},
             {"first_step", variant.first_step},
             {"last_step", variant.last_step},
             {"non_finite_runs", variant.non_finite_runs},
             {"values_rounded_up", variant.values_rounded_up}};
  if (variant.weights) value["weights"] = to_json_value(*variant.weights);
  if (variant.pac_bayes) value["pac_bayes"] = to_json_value(*variant.pac_bayes);
  return value;
}

Json to_json_value(const SuccessClaim& claim) {
  return {{"variant", claim.variant},
          {"step", claim.step},
          {"tolerance", claim.tolerance},
          {"method", bounds::name(claim.method)},
          {"samples", claim.samples},
          {"failures", claim.failures},
          {"delta", claim.delta},
          {"empirical", claim.empirical},
          {"lower_bound", claim.lower_bound}};
}

Json to_json_value(const QuantileClaim& claim) {
  return {{"variant", claim.variant},
          {"step", claim.step},
          {"quantile", claim.quantile},
          {"method", bounds::name(claim.method)},
          {"samples", claim.samples},
          {"rank", claim.rank},
          {"below", claim.below},
          {"at_most", claim.at_most},
          {"delta", claim.delta},
          {"empirical", number_or_null(claim.empirical)},
          {"upper_bound", number_or_null(claim.upper_bound)}};
}

Json to_json_value(const BudgetClaim& claim) {
  return {{"variant", claim.variant},
          {"tolerance", claim.tolerance},
          {"quantile", claim.quantile},
          {"method", bounds::name(claim.method)},
          {"covered_by_confidence", claim.method != bounds::BudgetMethod::paper},
          {"samples", claim.samples},
          {"rank", claim.rank},
          {"reached", claim.reached},
          {"reached_before", claim.reached_before},
          {"delta", claim.delta},
          {"empirical", step_or_null(claim.empirical)},
          {"steps", step_or_null(claim.steps)}};
}

Json to_json_value(const Share& share) {
  return {{"purpose", share.purpose}, {"claims", share.claims}, {"delta_each", share.delta_each}};
}

template <class T>
Json list_of(const std::vector<T>& values) {
  Json list = Json::array();
  for (const T& value : values) list.push_back(to_json_value(value));
  return list;
}

// Reads fields of one JSON object; errors say where it stands.
class Fields {
 public:
  Fields(const Json& object, std::string place) : object_(object), place_(std::move(place)) {
    require(object.is_object(), "certificate: {} is not an object", place_);
  }

  [[nodiscard]] bool has(const char* key) const { return object_.contains(key); }
  [[nodiscard]] const Json& at(const char* key) const {
    const auto found = object_.find(key);
    require(found != object_.end(), "certificate: {} has no '{}'", place_, key);
    return *found;
  }
  [[nodiscard]] std::string text(const char* key) const {
    require(at(key).is_string(), "certificate: {}.{} is not a text", place_, key);
    return at(key).get<std::string>();
  }
  [[nodiscard]] bool truth(const char* key) const {
    require(at(key).is_boolean(), "certificate: {}.{} is not true or false", place_, key);
    return at(key).get<bool>();
  }
  [[nodiscard]] double number(const char* key) const { return number_of(at(key), key); }
  [[nodiscard]] double number_or_infinity(const char* key) const {
    return at(key).is_null() ? infinity : number_of(at(key), key);
  }
  [[nodiscard]] Index count(const char* key) const { return count_of(at(key), key); }
  [[nodiscard]] std::optional<Index> optional_count(const char* key) const {
    return at(key).is_null() ? std::nullopt : std::optional(count_of(at(key), key));
  }
  [[nodiscard]] std::vector<double> numbers(const char* key) const {
    std::vector<double> values;
    for (const Json& value : array(key)) values.push_back(number_of(value, key));
    return values;
  }
  [[nodiscard]] std::vector<Index> counts(const char* key) const {
    std::vector<Index> values;
    for (const Json& value : array(key)) values.push_back(count_of(value, key));
    return values;
  }
  [[nodiscard]] std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> values;
    for (const Json& value : array(key)) {
      require(value.is_string(), "certificate: {}.{} holds something that is not a text", place_, key);
      values.push_back(value.get<std::string>());
    }
    return values;
  }
  [[nodiscard]] const Json& array(const char* key) const {
    require(at(key).is_array(), "certificate: {}.{} is not a list", place_, key);
    return at(key);
  }
  [[nodiscard]] Fields child(const char* key) const { return {at(key), place_ + "." + key}; }

  template <class T, class Read>
  [[nodiscard]] std::vector<T> list(const char* key, Read&& read) const {
    std::vector<T> values;
    const Json& items = array(key);
    values.reserve(items.size());
    for (const Json& item : items) {
      values.push_back(read(Fields(item, fmt::format("{}.{}[{}]", place_, key, values.size()))));
    }
    return values;
  }

 private:
  [[nodiscard]] double number_of(const Json& value, const char* key) const {
    require(value.is_number(), "certificate: {}.{} is not a number", place_, key);
    return value.get<double>();
  }
  [[nodiscard]] Index count_of(const Json& value, const char* key) const {
    constexpr std::uint64_t largest = std::numeric_limits<Index>::max();
    const bool fits =
        value.is_number_integer() && (!value.is_number_unsigned() || value.get<std::uint64_t>() <= largest);
    require(fits, "certificate: {}.{} is not a whole number in range", place_, key);
    return value.get<Index>();
  }

  const Json& object_;
  std::string place_;
};

Weights read_weights(const Fields& fields) {
  Weights weights;
  weights.source = fields.text("source");
  weights.sha256 = fields.text("sha256");
  weights.count = fields.count("count");
  weights.sampling = fields.text("sampling");
  weights.precision = fields.text("precision");
  weights.seed = fields.count("seed");
  weights.purpose = fields.text("purpose");
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
  if (fields.has("weights")) variant.weights = read_weights(fields.child("weights"));
  if (fields.has("pac_bayes")) variant.pac_bayes = read_pac_bayes(fields.child("pac_bayes"));
  return variant;
}

SuccessClaim read_success(const Fields& fields) {
  SuccessClaim claim;
  claim.variant = static_cast<std::size_t>(fields.count("variant"));
  claim.step = fields.count("step");
  claim.tolerance = fields.number("tolerance");
  claim.method = bounds::parse_risk_method(fields.text("method"));
  claim.samples = fields.count("samples");
  claim.failures = fields.count("failures");
  claim.delta = fields.number("delta");
  claim.empirical = fields.number("empirical");
  claim.lower_bound = fields.number("lower_bound");
  return claim;
}

QuantileClaim read_quantile(const Fields& fields) {
  QuantileClaim claim;
  claim.variant = static_cast<std::size_t>(fields.count("variant"));
  claim.step = fields.count("step");
  claim.quantile = fields.number("quantile");
  claim.method = bounds::parse_quantile_method(fields.text("method"));
  claim.samples = fields.count("samples");
  claim.rank = fields.count("rank");
  claim.below = fields.count("below");
  claim.at_most = fields.count("at_most");
  claim.delta = fields.number("delta");
  claim.empirical = fields.number_or_infinity("empirical");
  claim.upper_bound = fields.number_or_infinity("upper_bound");
  return claim;
}

BudgetClaim read_budget(const Fields& fields) {
  BudgetClaim claim;
  claim.variant = static_cast<std::size_t>(fields.count("variant"));
  claim.tolerance = fields.number("tolerance");
  claim.quantile = fields.number("quantile");
  claim.method = bounds::parse_budget_method(fields.text("method"));
  claim.samples = fields.count("samples");
  claim.rank = fields.count("rank");
  claim.reached = fields.count("reached");
  claim.reached_before = fields.count("reached_before");
  claim.delta = fields.number("delta");
  claim.empirical = fields.optional_count("empirical");
  claim.steps = fields.optional_count("steps");
  return claim;
}

Share read_share(const Fields& fields) {
  return {fields.text("purpose"), fields.count("claims"), fields.number("delta_each")};
}

Simultaneity parse_simultaneity(const std::string& text) {
  require(text == "all" || text == "each", "certificate: simultaneous is '{}', not all or each", text);
  return text == "all" ? Simultaneity::all : Simultaneity::each;
}

Certificate read_certificate(const Fields& fields) {
  require(fields.text("format") == "surefoot-certificate", "certificate: format is '{}'",
          fields.text("format"));
  require(fields.count("format_version") == format_version,
          "certificate: format_version {} is not known; this program reads {}",
          fields.count("format_version"), format_version);
  Certificate certificate;
  certificate.version = fields.text("surefoot_version");
  certificate.title = fields.text("title");
  certificate.metric = fields.child("metric").text("name");
  certificate.unit = fields.child("metric").text("unit");
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
  certificate.success = claims.list<SuccessClaim>("success_rate", read_success);
  certificate.quantile = claims.list<QuantileClaim>("quantile", read_quantile);
  certificate.budget = claims.list<BudgetClaim>("iteration_budget", read_budget);
  certificate.assumptions = fields.texts("assumptions");
  certificate.run = fields.at("run").dump();
  return certificate;
}

Json body_of(const Certificate& certificate) {
  Json body;
  body["format"] = "surefoot-certificate";
  body["format_version"] = format_version;
  body["surefoot_version"] = certificate.version;
  body["title"] = certificate.title;
  body["metric"] = {{"name", certificate.metric}, {"unit", certificate.unit}};
  body["confidence"] = {{"delta", certificate.delta},
                        {"simultaneous", name(certificate.simultaneous)},
                        {"shares", list_of(certificate.shares)}};
  body["declared"] = {{"steps", certificate.steps},
                      {"tolerances", certificate.tolerances},
                      {"quantiles", certificate.quantiles},
                      {"grid", certificate.grid},
                      {"grid_method", bounds::name(certificate.grid_method)},
                      {"value_limit", certificate.value_limit}};
  body["variants"] = list_of(certificate.variants);
  body["claims"] = {{"success_rate", list_of(certificate.success)},
                    {"quantile", list_of(certificate.quantile)},
                    {"iteration_budget", list_of(certificate.budget)}};
  body["assumptions"] = certificate.assumptions;
  body["run"] = Json::parse(certificate.run);
  return body;
}

// User texts may hold any bytes; a certificate is always valid UTF-8.
std::string compact_text(const Json& body) {
  return body.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string digest_of(const Json& body) {
  return io::sha256_hex(compact_text(body));
}

// Refuses what the parsed tree would hide: keys given twice, of which one would win, and depths that no
// certificate has.
class Watch {
 public:
  bool operator()(int depth, Json::parse_event_t event, Json& parsed) {
    constexpr int deepest = 64;
    require(depth <= deepest, "certificate: nested deeper than {}", deepest);
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end) keys_.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      require(keys_.back().insert(key).second, "certificate: '{}' is given twice in one object", key);
    }
    return true;
  }

 private:
  std::vector<std::set<std::string>> keys_;
};

}  // namespace

std::string to_json(const Certificate& certificate) {
  // Through text and back, so that the digest is of what a reader will parse.
  Json body = Json::parse(compact_text(body_of(certificate)));
  body["digest"] = {{"algorithm", "sha256"}, {"value", digest_of(body)}};
  return body.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

ParsedCertificate parse_certificate(std::string_view text) {
  Json body;
  try {
    Watch watch;
    body = Json::parse(text, [&](int depth, Json::parse_event_t event, Json& parsed) {
      return watch(depth, event, parsed);
    });
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
  body.erase("digest");
  parsed.computed_digest = digest_of(body);
  parsed.canonical = compact_text(body_of(parsed.certificate)) == compact_text(body);
  return parsed;
}

}  // namespace surefoot::certify
