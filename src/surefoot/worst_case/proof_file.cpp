#include "surefoot/worst_case/proof_file.hpp"

#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/io/json_parse.hpp"
#include "surefoot/io/sha256.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <mutex>

namespace surefoot::worst_case {

namespace {

using Json = nlohmann::ordered_json;

constexpr int format_version = 1;
constexpr const char* format_name = "surefoot-proof";
constexpr const char* own_name = "own";

bool has_parameter(const NamedMethod& method, std::string_view name) {
  return std::find(method.parameters.begin(), method.parameters.end(), name) != method.parameters.end();
}

Json vector_json(const Vector& vector) {
  return {{"start", vector.start}, {"outputs", vector.outputs}};
}

Json own_json(const Method& method) {
  Json classes = Json::array();
  for (const Class& what : method.classes()) {
    Json one{{"kind", name(what.kind)}, {"a", what.a}, {"b", nullptr}};
    if (std::isfinite(what.b)) one["b"] = what.b;
    classes.push_back(std::move(one));
  }
  Json calls = Json::array();
  for (const Method::Call& call : method.calls())
    calls.push_back({{"oracle", call.oracle}, {"point", vector_json(call.point)}});
  Json measured = Json::array();
  for (const Vector& vector : method.measured()) measured.push_back(vector_json(vector));
  return {{"name", own_name},
          {"classes", std::move(classes)},
          {"calls", std::move(calls)},
          {"norm_of", std::move(measured)},
          {"values_of", method.measured_values()},
          {"initial", name(method.initial())},
          {"assumed_values", method.assumed_values()}};
}

Json question_json(const Question& question) {
  const NamedMethod& method = named_method(question.method);
  const Parameters& given = question.parameters;
  Json parameters = Json::object();
  if (has_parameter(method, "alpha")) parameters["alpha"] = given.alpha;
  if (has_parameter(method, "factor")) parameters["factor"] = given.factor;
  if (has_parameter(method, "L")) parameters["L"] = given.L;
  if (has_parameter(method, "mu")) parameters["mu"] = given.mu;
  if (has_parameter(method, "step")) parameters["step"] = given.step;
  if (has_parameter(method, "momentum")) {
    parameters["momentum"] = nullptr;
    if (given.momentum) parameters["momentum"] = *given.momentum;
  }
  return {{"name", question.method},
          {"parameters", std::move(parameters)},
          {"metric", question.metric},
          {"initial", name(question.initial)}};
}

Json bound_json(const ProvenBound& bound) {
  Json pairs = Json::array();
  for (const Multipliers::OfPair& item : bound.multipliers.pairs)
    pairs.push_back({item.pair.i, item.pair.j, item.multiplier});
  return {{"steps", bound.steps},
          {"bound", bound.bound},
          {"exponent", bound.multipliers.exponent},
          {"initial", bound.multipliers.initial},
          {"pairs", std::move(pairs)}};
}

Json body(const ProofFile& proof) {
  Json bounds = Json::array();
  for (const ProvenBound& bound : proof.bounds) bounds.push_back(bound_json(bound));
  return {{"format", format_name},
          {"format_version", format_version},
          {"surefoot_version", proof.version},
          {"method", proof.own ? own_json(*proof.own) : question_json(proof.question)},
          {"start", proof.start},
          {"bounds", std::move(bounds)}};
}

// An object of which every field must be known.
class Object {
 public:
  Object(const Json& json, std::string place, std::initializer_list<const char*> known)
      : json_(json), place_(std::move(place)) {
    require(json.is_object(), "proof: {} is not an object", place_);
    for (const auto& item : json.items()) {
      const std::string& key = item.key();
      const bool expected =
          std::any_of(known.begin(), known.end(), [&](const char* one) { return key == one; });
      require(expected, "proof: {} has an unknown field '{}'", place_, key);
    }
    for (const char* key : known) require(json.contains(key), "proof: {} has no '{}'", place_, key);
  }
  [[nodiscard]] const Json& at(const char* key) const { return json_.at(key); }
  [[nodiscard]] double number(const char* key) const { return number_of(at(key), key); }
  [[nodiscard]] std::int64_t whole(const char* key) const { return whole_of(at(key), key); }
  [[nodiscard]] std::string text(const char* key) const {
    require(at(key).is_string(), "proof: {}.{} is not a text", place_, key);
    return at(key).get<std::string>();
  }
  [[nodiscard]] const Json& list(const char* key) const {
    require(at(key).is_array(), "proof: {}.{} is not a list", place_, key);
    return at(key);
  }
  [[nodiscard]] std::vector<double> numbers(const char* key) const {
    std::vector<double> values;
    for (const Json& value : list(key)) values.push_back(number_of(value, key));
    return values;
  }
  [[nodiscard]] std::vector<std::size_t> counts(const char* key) const {
    std::vector<std::size_t> values;
    for (const Json& value : list(key)) values.push_back(static_cast<std::size_t>(whole_of(value, key)));
    return values;
  }
  [[nodiscard]] std::int64_t whole_of(const Json& value, const char* key) const {
    const bool fits = value.is_number_integer() &&
                      (!value.is_number_unsigned() || value.get<std::uint64_t>() <= (std::uint64_t{1} << 62));
    require(fits, "proof: {}.{} is not a whole number in range", place_, key);
    return value.get<std::int64_t>();
  }

 private:
  [[nodiscard]] double number_of(const Json& value, const char* key) const {
    require(value.is_number(), "proof: {}.{} is not a number", place_, key);
    return value.get<double>();
  }

  const Json& json_;
  std::string place_;
};

Vector read_vector(const Json& json, const std::string& place) {
  const Object object(json, place, {"start", "outputs"});
  return {object.number("start"), object.numbers("outputs")};
}

Method read_own(const Json& json) {
  const Object object(json, "method",
                      {"name", "classes", "calls", "norm_of", "values_of", "initial", "assumed_values"});
  Method::Parts parts;
  for (const Json& one : object.list("classes")) {
    const Object fields(one, "method.classes", {"kind", "a", "b"});
    parts.classes.push_back({parse_kind(fields.text("kind")), fields.number("a"),
                             fields.at("b").is_null() ? infinity : fields.number("b")});
  }
  for (const Json& one : object.list("calls")) {
    const Object fields(one, "method.calls", {"oracle", "point"});
    parts.calls.emplace_back(static_cast<std::size_t>(fields.whole("oracle")),
                             read_vector(fields.at("point"), "method.calls.point"));
  }
  for (const Json& one : object.list("norm_of")) parts.measured.push_back(read_vector(one, "method.norm_of"));
  parts.measured_values = object.counts("values_of");
  parts.initial = parse_initial(object.text("initial"));
  parts.assumed_values = object.counts("assumed_values");
  return Method(std::move(parts));
}

Question read_question(const Json& json) {
  const Object object(json, "method", {"name", "parameters", "metric", "initial"});
  Question question;
  question.method = object.text("name");
  const NamedMethod& method = named_method(question.method);
  const Json& given = object.at("parameters");
  require(given.is_object(), "proof: method.parameters is not an object");
  for (const auto& [key, value] : given.items())
    require(has_parameter(method, key), "proof: method.parameters has an unknown field '{}'", key);
  const auto number = [&](const char* key, double& target) {
    if (!has_parameter(method, key)) return;
    require(given.contains(key) && given.at(key).is_number(), "proof: method.parameters.{} is not a number",
            key);
    target = given.at(key).get<double>();
  };
  Parameters& parameters = question.parameters;
  number("alpha", parameters.alpha);
  number("factor", parameters.factor);
  number("L", parameters.L);
  number("mu", parameters.mu);
  if (has_parameter(method, "step")) {
    require(given.contains("step"), "proof: method.parameters has no 'step'");
    parameters.step = Object({{"step", given.at("step")}}, "method.parameters", {"step"}).numbers("step");
  }
  if (has_parameter(method, "momentum")) {
    require(given.contains("momentum"), "proof: method.parameters has no 'momentum'");
    if (!given.at("momentum").is_null()) {
      parameters.momentum = 0.0;
      number("momentum", *parameters.momentum);
    }
  }
  question.metric = object.text("metric");
  question.initial = parse_initial(object.text("initial"));
  return question;
}

ProvenBound read_bound(const Json& json) {
  const Object object(json, "bounds", {"steps", "bound", "exponent", "initial", "pairs"});
  ProvenBound bound;
  bound.steps = object.whole("steps");
  bound.bound = object.number("bound");
  bound.multipliers.exponent = static_cast<int>(std::clamp<std::int64_t>(object.whole("exponent"), -1, 1000));
  bound.multipliers.initial = object.whole("initial");
  for (const Json& item : object.list("pairs")) {
    require(item.is_array() && item.size() == 3,
            "proof: bounds.pairs holds something that is not [i, j, multiplier]");
    bound.multipliers.pairs.push_back({{object.whole_of(item[0], "pairs"), object.whole_of(item[1], "pairs")},
                                       object.whole_of(item[2], "pairs")});
  }
  return bound;
}

Json parsed_json(std::string_view text) {
  constexpr io::JsonLimits limits{.deepest = 16, .most_fields = 1000};
  try {
    return io::parse_json("proof", text, limits);
  } catch (const Json::exception&) {
    throw InputError("proof: it is not JSON");
  }
}

}  // namespace

Method ProofFile::method(const ProvenBound& bound) const {
  if (own) return *own;
  Question one = question;
  one.steps = bound.steps;
  return build(one);
}

ProofFile prove_steps(const Question& question, const std::vector<Index>& steps, double start,
                      const ProveOptions& options, const StepDone& done) {
  require(!steps.empty(), "steps: there are none");
  ProofFile result;
  result.start = start;
  result.version = version;
  std::vector<std::optional<ProvenBound>> found(steps.size());
  result.question = question;
  for (const Index k : steps) {
    Question one = question;
    one.steps = k;
    result.question = resolved(one);
  }
  // The longest first, so that no thread is left with them at the end.
  std::vector<std::size_t> order(steps.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return steps[a] > steps[b]; });
  std::mutex telling;
  parallel_blocks(static_cast<Index>(steps.size()), [&](Index block) {
    const std::size_t place = order[static_cast<std::size_t>(block)];
    const Method method = result.method({steps[place], 0, {}});
    if (std::optional<Multipliers> multipliers = prove(method, options)) {
      const double bound = proven_bound(method, *multipliers, start);
      found[place] = ProvenBound{steps[place], bound, std::move(*multipliers)};
    }
    if (!done) return;
    const std::scoped_lock lock(telling);
    done(steps[place], found[place]);
  });
  for (std::optional<ProvenBound>& one : found) {
    if (one) result.bounds.push_back(std::move(*one));
  }
  return result;
}

ProofFile prove_method(const Method& method, double start, const ProveOptions& options) {
  ProofFile result;
  result.own = method;
  result.start = start;
  result.version = version;
  if (std::optional<Multipliers> multipliers = prove(method, options))
    result.bounds.push_back({0, proven_bound(method, *multipliers, start), std::move(*multipliers)});
  return result;
}

std::string digest_of(const ProofFile& proof) {
  return io::sha256_hex(body(proof).dump());
}

std::string to_json(const ProofFile& proof) {
  Json json = body(proof);
  const std::string digest = io::sha256_hex(json.dump());
  json["digest"] = {{"algorithm", "sha256"}, {"value", digest}};
  return json.dump() + "\n";
}

ParsedProof parse_proof(std::string_view text) {
  Json json = parsed_json(text);
  require(json.is_object() && json.contains("format") && io::is_text(json.at("format"), format_name),
          "proof: format is not {}", format_name);
  require(json.contains("format_version") && json.at("format_version") == format_version,
          "proof: format_version is not {}, the one that this program reads", format_version);
  const Object object(
      json, "the file",
      {"format", "format_version", "surefoot_version", "method", "start", "bounds", "digest"});
  ParsedProof result;
  const Object digest(object.at("digest"), "digest", {"algorithm", "value"});
  require(digest.text("algorithm") == "sha256", "proof: digest.algorithm is '{}'", digest.text("algorithm"));
  result.stated_digest = digest.text("value");
  ProofFile& proof = result.proof;
  proof.version = object.text("surefoot_version");
  const Json& method = object.at("method");
  require(method.is_object() && method.contains("name") && method.at("name").is_string(),
          "proof: method has no 'name'");
  if (io::is_text(method.at("name"), own_name)) {
    proof.own = read_own(method);
  } else {
    proof.question = read_question(method);
  }
  proof.start = object.number("start");
  for (const Json& bound : object.list("bounds")) proof.bounds.push_back(read_bound(bound));
  json.erase("digest");
  result.computed_digest = io::sha256_hex(json.dump());
  return result;
}

bool is_proof(std::string_view text) {
  // The name stands in the first bytes of what to_json() writes; certificates have another one there.
  return text.substr(0, 200).find(format_name) != std::string_view::npos;
}

Replay replay(const ParsedProof& parsed) {
  Replay result;
  const ProofFile& proof = parsed.proof;
  if (parsed.stated_digest != parsed.computed_digest)
    result.findings.emplace_back("digest: the text is not the one that was sealed");
  if (digest_of(proof) != parsed.computed_digest)
    result.findings.emplace_back("structure: there are things in it that do not belong there");
  if (proof.bounds.empty()) result.findings.emplace_back("bounds: nothing is proven");
  for (const ProvenBound& bound : proof.bounds) {
    ++result.bounds;
    const std::string at =
        proof.own ? std::string("bound") : fmt::format("bound after {} steps", bound.steps);
    if (proof.own && bound.steps != 0)
      result.findings.push_back(at + ": its method has one number of steps, named 0");
    const Method method = proof.method(bound);
    const std::string wrong = what_is_wrong(method, bound.multipliers);
    if (!wrong.empty()) {
      result.findings.push_back(fmt::format("{}: {}", at, wrong));
    } else if (bound.bound != proven_bound(method, bound.multipliers, proof.start)) {
      result.findings.push_back(fmt::format("{}: {} is stated, {} is proven", at, bound.bound,
                                            proven_bound(method, bound.multipliers, proof.start)));
    } else {
      ++result.proven;
    }
  }
  return result;
}

std::vector<std::string> sentences(const ProofFile& proof) {
  std::vector<std::string> lines;
  for (const ProvenBound& bound : proof.bounds) {
    const Initial initial = proof.own ? proof.own->initial() : proof.question.initial;
    const std::string_view assumed = initial == Initial::distance ? "|z^0 - z*|" : "f(z^0) - f*";
    Question one = proof.question;
    one.steps = bound.steps;
    lines.push_back(fmt::format(
        "{} is at most {:.17g} for {} if {} <= {}",
        proof.own ? std::string("what is measured") : metric_in_words(one), bound.bound,
        proof.own ? std::string("everything of its class") : class_in_words(one), assumed, proof.start));
  }
  return lines;
}

}  // namespace surefoot::worst_case
