// Against a forger: every field of every kind of certificate is changed, the digest and the words are made to
// fit again, and what finds the change is compared with certify::field_checks(), which docs/trust.md shows.
#include "surefoot/certify/assumptions.hpp"
#include "surefoot/certify/certificate_json.hpp"
#include "surefoot/certify/count_long_table.hpp"
#include "surefoot/certify/count_table.hpp"
#include "surefoot/certify/counted_rows.hpp"
#include "surefoot/certify/evidence.hpp"
#include "surefoot/certify/kinds/claim_kind.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/io/byte_source.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/learning/posterior_file.hpp"

#include "support/program.hpp"
#include "support/tampering.hpp"
#include "support/training_file.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

namespace surefoot {
namespace {

using certify::Certificate;
using certify::Evidence;
using testing::ProgramResult;
using testing::ProgramTest;
using testing::slurp;
using ForgedJson = nlohmann::ordered_json;

/// A certificate with what it can be checked against.
struct Kind {
  std::string name;
  ForgedJson body;
  std::vector<std::string> data;
  std::vector<std::string> weights;
  std::optional<Certificate> repeated;  ///< what its command made again
  std::string only = {};                ///< of fields that begin so; empty: of all
};

void collect_leaves(const ForgedJson& value, const std::string& pointer, std::vector<std::string>& found) {
  if (!value.is_structured() || value.empty()) {
    found.push_back(pointer);
    return;
  }
  for (const auto& [key, child] : value.items()) {
    std::string escaped = key;
    for (std::size_t at = 0; (at = escaped.find('/', at)) != std::string::npos; at += 2)
      escaped.replace(at, 1, "~1");
    collect_leaves(child, pointer + "/" + escaped, found);
  }
}

// "/claims/quantile/12/rank" is the field claims.quantile.rank; what stands inside `run` is one field.
std::string field_of(const std::string& pointer) {
  std::string field;
  std::size_t begin = 1;
  while (begin <= pointer.size()) {
    const std::size_t end = std::min(pointer.find('/', begin), pointer.size());
    const std::string key = pointer.substr(begin, end - begin);
    if (key.empty() || key.find_first_not_of("0123456789") != std::string::npos)
      field += (field.empty() ? "" : ".") + key;
    begin = end + 1;
  }
  for (const std::string group : {"run", "rerun.options"})
    if (field.starts_with(group + ".")) return group;
  return field;
}

// Others of the same form: the name of another choice, another digest.
std::vector<ForgedJson> changed_texts(const std::string& text) {
  std::vector<ForgedJson> changed{text + "x", std::string()};
  const std::vector<std::vector<std::string>> choices{
      {"all", "each"},
      {"exact", "kl", "pinsker", "pac-bayes", "grid", "anytime"},
      {"settling", "every-step", "first-hit", "paper"},
      {"stratified", "paper"},
      {"weights", "pre-activations", "means"},
      {"double", "single"},
      {"training", "hold-out", "rows"},
      {"table", "problem data", "groups"},
      {"betting", "kl"},
      {"order checked", "order not checked"},
      {"stated", "estimated"},
      {"refuse", "failed"},
      {"kl", "tv", "chi2", "ratio"}};
  for (const std::vector<std::string>& choice : choices) {
    if (std::ranges::find(choice, text) == choice.end()) continue;
    for (const std::string& other : choice) changed.emplace_back(other);
  }
  if (io::is_sha256_hex(text)) changed.emplace_back(text.substr(0, 63) + (text.back() == '0' ? '1' : '0'));
  return changed;
}

std::vector<ForgedJson> changes_of(const ForgedJson& value) {
  if (value.is_boolean()) return {!value.get<bool>()};
  if (value.is_number_integer())
    return {value.get<Index>() + 1,
            value.get<Index>() - 1,
            value.get<Index>() + 3,
            -7,
            most_counted,
            -most_counted,
            std::numeric_limits<Index>::max(),
            std::numeric_limits<Index>::min()};
  if (value.is_number_float()) {
    const auto number = value.get<double>();
    return {number * 1.01, number * 0.99, -number};
  }
  if (value.is_string()) return changed_texts(value.get<std::string>());
  if (value.is_null()) return {ForgedJson(1), ForgedJson::object({{"solver", "OSQP"}})};
  return {ForgedJson::array({1})};  // an empty list or object
}

// What a forger does after a change: the digest, and the words unless they are what was changed.
std::string resealed_with_words(const ForgedJson& changed, const std::string& field) {
  if (field == "statements" || field == "assumptions" || field == "wording") return test::resealed(changed);
  ForgedJson body = changed;
  const Certificate certificate = certify::parse_certificate(test::resealed(body)).certificate;
  body["statements"] = certify::statements_of(certificate, certificate.wording);
  body["assumptions"] = certify::assumptions_of(certificate, certificate.wording);
  return test::resealed(body);
}

bool found_by_data(const Kind& kind, const Certificate& certificate) {
  if (kind.data.empty()) return false;
  certify::Verification verification;
  if (const auto tables = certify::variants_by_table(certificate); !tables.empty()) {
    for (const std::vector<std::size_t>& variants : tables)
      certify::recount_table(certificate, variants, kind.data.front(), {}, nullptr, verification);
    return !verification.holds();
  }
  std::size_t next = 0;
  for (std::size_t i = 0; i < certificate.variants.size(); ++i) {
    certify::CountedRows counted(certify::counted_apart(certificate.variants[i]));
    for (std::size_t of = 0; of < certify::table_count(certificate.variants[i]) && next < kind.data.size();
         ++of) {
      const std::string& file = kind.data[next++];
      const certify::Variant& variant = certificate.variants[i];
      std::optional<certify::RunTable> table;
      try {
        table.emplace(file, variant.first_step, io::TableOptions{},
                      variant.groups ? variant.groups->name : "");
      } catch (const InputError&) {
        if (variant.groups) return true;  // another column is not there
        throw;
      }
      certify::require_same_sampling(certificate, *table);
      table->follow(counted.next_row());
      runs::Tally tally = table->count(certify::recount_spec(certificate, table->steps()), nullptr);
      counted.add(std::move(tally), table->check(), {file, table->sha256(), 0, table->reading()});
    }
    certify::compare_counted(certificate, i, counted, verification);
  }
  return !verification.holds();
}

bool found_by_weights(const Kind& kind, const Certificate& certificate) {
  certify::Verification verification;
  for (std::size_t i = 0; i < kind.weights.size(); ++i) {
    std::string bytes = slurp(kind.weights[i]);
    const std::string digest = io::sha256_hex(bytes);
    const auto source = io::memory_bytes(kind.weights[i], std::move(bytes));
    certify::compare_weights(certificate, i, learning::load_posterior(*source), digest, verification);
  }
  return !verification.holds();
}

Evidence evidence_against(const Kind& kind, const ForgedJson& changed, const std::string& field) {
  try {
    const certify::ParsedCertificate parsed = certify::parse_certificate(resealed_with_words(changed, field));
    if (!certify::verify(parsed).holds()) return Evidence::arithmetic;
    if (found_by_data(kind, parsed.certificate)) return Evidence::data;
    if (found_by_weights(kind, parsed.certificate)) return Evidence::weights;
    if (!kind.repeated) return Evidence::nothing;
    certify::Verification verification;
    certify::compare_repeated(parsed.certificate, *kind.repeated, verification);
    return verification.holds() ? Evidence::nothing : Evidence::rerun;
  } catch (const InputError&) {
    return Evidence::arithmetic;
  }
}

class Forgery : public ProgramTest {
 protected:
  [[nodiscard]] ForgedJson body(const std::string& folder) const {
    return ForgedJson::parse(slurp(folder_ / folder / "certificate.json"));
  }

  void make(const std::string& command) const {
    const ProgramResult result = surefoot(command);
    ASSERT_EQ(result.code, 0) << command << ": " << result.err;
  }

  std::vector<Kind> kinds() {
    const std::string tables = SUREFOOT_SOURCE_DIR "/tests/certificates/v1/";
    const std::string few = " --tolerances 1e-2,1e-1 --quantiles 0.5,0.9 ";
    std::vector<Kind> made;
    // Every kind of claims there is, in a certificate of tables and in one of runs; means, which are of
    // finite numbers, in certificates with a range.
    std::string kinds = "--claims ";
    for (const certify::ClaimKind* kind : certify::claim_kinds())
      if (kind->claimed_of(certify::Sampling::problems) && kind->name() != "mean")
        kinds.append(kinds.back() == ' ' ? "" : ",").append(kind->name());
    kinds += ' ';
    make("certify " + tables + "cold.csv " + tables + "warm.csv" + few + kinds +
         "--title tables --out table");
    made.push_back({"table", body("table"), {tables + "cold.csv", tables + "warm.csv"}, {}, {}});
    make("certify " + tables + "cold.csv" + few +
         "--quantile-method grid --risk-method kl --budget-method paper --shift kl:0.02 --out grid");
    made.push_back({"grid", body("grid"), {tables + "cold.csv"}, {}, {}});
    write("more.csv", "k=1,k=2,k=3,k=4,k=5\n" + random_rows(120));
    write("still_more.csv", "k=1,k=2,k=3,k=4,k=5\n" + random_rows(77));
    make("certify more.csv" + few + "--anytime --steps 2,5 --out anytime");
    make("certify still_more.csv --append anytime --out appended");
    made.push_back({"appended",
                    body("appended"),
                    {(folder_ / "more.csv").string(), (folder_ / "still_more.csv").string()},
                    {},
                    {}});
    write("flights.csv", flights());
    make("certify flights.csv" + few + "--group flight --out groups");
    made.push_back({"groups", body("groups"), {(folder_ / "flights.csv").string()}, {}, {}});
    make("certify " + tables + "cold.csv --tolerances 1e-2,1e-1 --sequence --out log");
    made.push_back({"log", body("log"), {tables + "cold.csv"}, {}, {}});
    write("finite.csv",
          finite_rows(tables + "warm.csv"));  // a worst case and a run that diverged refute each other
    make("certify finite.csv" + few +
         "--steps 2,5 --choose before --worst-case averaged:0.5 --dist0 40 --out worst");
    made.push_back({"worst case", body("worst"), {(folder_ / "finite.csv").string()}, {}, {}});
    make("certify finite.csv" + few +
         "--steps 2,5 --choose before --range 0,1e3 --thresholds 1 --cvar 0.2,0.9 --out mean");
    made.push_back({"mean", body("mean"), {(folder_ / "finite.csv").string()}, {}, {}});
    write_results();
    make(
        "certify results.csv --value t --variants solver --rows problem --where settings=a --failed ok=no "
        "--missing failed --tolerances 0.25,0.5 --quantiles 0.5,0.9 --out long");
    made.push_back({"long table", body("long"), {(folder_ / "results.csv").string()}, {}, {}});
    make(
        "certify results.csv --scalar --value t --rows line --where settings=a --where solver=x "
        "--tolerances 0.25,0.5 --quantiles 0.5,0.9 --out scalar");
    made.push_back({"scalar", body("scalar"), {(folder_ / "results.csv").string()}, {}, {}});
    write_box_family();
    const std::string run_worst =
        "run qp box --iterations 20 --steps 10,20 --preset paper --worst-case averaged:0.5 --dist0 40" + few;
    make(run_worst + "--out run_worst");
    make(run_worst + "--out run_worst_again");
    made.push_back({"run with a worst case", body("run_worst"), {}, {}, repeated("run_worst_again")});
    const std::string qp =
        "run qp " SUREFOOT_SOURCE_DIR
        "/examples/mpc --iterations 20 --steps 10,20 --shift tv:0.05 --range 0,1e6 --thresholds 1" +
        few + kinds;
    make(qp + "--out qp");
    make(qp + "--out again");
    made.push_back({"run", body("qp"), {}, {}, repeated("again")});
    const std::string drawn = "run family unconstrained-qp --samples 300 --iterations 20 --steps 10,20" + few;
    make(drawn + "--out drawn");
    make(drawn + "--out drawn_again");
    made.push_back({"drawn", body("drawn"), {}, {}, repeated("drawn_again")});
    const std::string loop = "run loop " SUREFOOT_SOURCE_DIR
                             "/examples/cartpole --rollouts 120 --ticks 2 --limits 3,20 --shares 0.5 ";
    make(loop + "--out loop");
    make(loop + "--out loop_again");
    made.push_back({"closed loop", body("loop/cost"), {}, {}, repeated("loop_again/cost")});
    made.push_back({"tube", body("loop/tube"), {}, {}, repeated("loop_again/tube")});
    // Repeats that only the sample of many rows shows.
    const std::string sampled = "variants.independence.sampled_repeats";
    write("many.csv", "k=1,k=2,k=3\n" + repeated_rows(0));
    make("certify many.csv --claims success --tolerances 0.5 --steps 1 --allow-dependence --out many");
    made.push_back({"repeats", body("many"), {(folder_ / "many.csv").string()}, {}, {}, sampled});
    write_repeated_family();
    const std::string repeating =
        "run qp again --iterations 1 --steps 1 --claims success --tolerances 0.5 --allow-dependence ";
    make(repeating + "--out repeating");
    make(repeating + "--out repeating_again");
    made.push_back({"run with repeats", body("repeating"), {}, {}, repeated("repeating_again"), sampled});
    write("train.toml", testing::training_file(2));
    make("train train.toml --quiet --out trained");
    const std::string weights = (folder_ / "trained/weights.safetensors").string();
    const std::string calibrate =
        "calibrate trained/weights.safetensors --tolerances=-10,-5 --quantiles 0.5,0.9 ";
    make(calibrate + "--guarantees pac-bayes --out learned");
    make(calibrate + "--guarantees pac-bayes --out learned_again");
    make(calibrate + "--guarantees hold-out --hold-out 0:200 --out fresh");
    make(calibrate + "--guarantees hold-out --hold-out 0:200 --look-again --out fresh_again");
    made.push_back(
        {"pac-bayes", body("learned/pac-bayes"), {}, {weights}, repeated("learned_again/pac-bayes")});
    ForgedJson stated = body("learned/pac-bayes");
    stated["variants"][0]["weights"]["read"] = false;
    Certificate unread = certify::parse_certificate(test::resealed(stated)).certificate;
    unread.assumptions = certify::assumptions_of(unread);
    made.push_back(
        {"weights that were not read", ForgedJson::parse(certify::to_json(unread)), {}, {weights}, unread});
    made.push_back({"hold-out", body("fresh/hold-out"), {}, {weights}, repeated("fresh_again/hold-out")});
    for (const char* part : {"more", "still_more"})
      make(fmt::format("certify {0}.csv --names solver{1} --tally {0}.tally", part, few));
    make("certify still_more.tally more.tally --out merged");
    const ForgedJson merged = body("merged");
    const std::string first = merged.at("variants").at(0).at("source");
    const std::string second = first == "more.csv" ? "still_more.csv" : "more.csv";
    made.push_back(
        {"merged tallies", merged, {(folder_ / first).string(), (folder_ / second).string()}, {}, {}});
    const std::string tune =
        "tune qp " SUREFOOT_SOURCE_DIR
        "/examples/mpc --iterations 40 --target \"80% below 1e-1\" --over rho=0.1:1:log:2 --grid 2 ";
    make(tune + "--out tuned");
    make(tune + "--out tuned_again");
    made.push_back({"tuned", body("tuned"), {}, {}, repeated("tuned_again")});
    write(
        "schedule.toml",
        "model = 'schedule'\n[family]\nkind = 'qp'\nfolder = '" SUREFOOT_SOURCE_DIR
        "/examples/mpc'\nsamples = 20\n[network]\nsteps = 4\nrho = 0.4\n[[stage]]\nnoise = false\nepochs = 1\n"
        "batch = 10\nsurrogate = 'logarithm'\n");
    make("train schedule.toml --quiet --out schedule");
    const std::string schedule = (folder_ / "schedule/weights.safetensors").string();
    const std::string rows =
        "calibrate schedule/weights.safetensors --guarantees hold-out-means --hold-out 100:200 "
        "--problems " SUREFOOT_SOURCE_DIR "/examples/mpc" +
        few;
    make(rows + "--out rows");
    make(rows + "--look-again --out rows_again");
    made.push_back({"schedule of a folder",
                    body("rows/hold-out-means"),
                    {},
                    {schedule},
                    repeated("rows_again/hold-out-means")});
    return made;
  }

  static std::string random_rows(int count) {
    std::string rows;
    for (int i = 0; i < count; ++i) {
      RandomStream random(static_cast<std::uint64_t>(count), "forged rows", static_cast<std::uint64_t>(i));
      for (int k = 0; k < 5; ++k)
        rows += fmt::format("{:.17g}{}", random.uniform() * std::pow(10.0, -k), k < 4 ? ',' : '\n');
    }
    return rows;
  }

  /// 60 flights of 2 to 5 ticks, one after the other; a tick of the last has diverged.
  static std::string flights() {
    std::string rows = "flight,k=1,k=2,k=3,k=4\n";
    RandomStream random(2, "forged flights", 0);
    for (int flight = 0; flight < 60; ++flight) {
      const double level = std::exp(random.normal());
      for (int tick = 0; tick < 2 + flight % 4; ++tick) {
        rows += fmt::format("\"F {}\"", flight);
        for (int k = 1; k <= 4; ++k)
          rows += flight == 59 && k == 4
                      ? ",inf"
                      : fmt::format(",{:.6g}", level * std::exp(-k + 0.3 * random.normal()));
        rows += '\n';
      }
    }
    return rows;
  }

  static std::string finite_rows(const std::string& file) {
    std::string rows;
    std::istringstream lines(slurp(file));
    for (std::string line; std::getline(lines, line);)
      if (line.find("nan") == std::string::npos && line.find("inf") == std::string::npos) rows += line + '\n';
    return rows;
  }

  /// 68,000 rows, of which the last 2,000 have been there before.
  static std::string repeated_rows(double middle) {
    std::string rows;
    for (int i = 0; i < 68000; ++i) {
      RandomStream random(5, "forged repeats", static_cast<std::uint64_t>(i < 66000 ? i : i - 2000));
      rows += fmt::format("{:.17g},{:.17g},{:.17g}\n", random.uniform() - middle, random.uniform() - middle,
                          random.uniform() - middle);
    }
    return rows;
  }
  void write_repeated_family() {
    std::filesystem::create_directories(folder_ / "again");
    const std::string identity =
        "%%MatrixMarket matrix coordinate real general\n3 3 3\n1 1 1\n2 2 1\n3 3 1\n";
    write("again/P.mtx", identity);
    write("again/A.mtx", identity);
    write("again/l.csv", "-1,-1,-1\n");
    write("again/u.csv", "1,1,1\n");
    write("again/q.csv", repeated_rows(0.5));
  }

  /// Results of two solvers as benchmarks write them, with failures, limits that were exceeded, and one
  /// missing.
  void write_results() {
    RandomStream random(2, "forged results", 0);
    std::string rows = "problem,solver,settings,t,ok\n";
    for (int i = 0; i < 90; ++i)
      for (const char* solver : {"x", "y"})
        for (const char* settings : {"a", "b"}) {
          const double u = random.uniform();
          if (i == 40 && *solver == 'y') continue;
          rows += fmt::format("p{},{},{},{},{}\n", i, solver, settings,
                              u > 0.97 ? "> 0.97" : fmt::format("{:.3f}", u), i % 30 == 7 ? "no" : "yes");
        }
    write("results.csv", rows);
  }

  /// Quadratic programs over boxes around 0, so that the cold start fits the worst case of OSQP.
  void write_box_family() {
    std::filesystem::create_directories(folder_ / "box");
    const std::string heading = "%%MatrixMarket matrix coordinate real general\n2 2 2\n";
    write("box/P.mtx", heading + "1 1 2\n2 2 0.1\n");
    write("box/A.mtx", heading + "1 1 1\n2 2 1\n");
    write("box/l.csv", "-1,-1\n");
    write("box/u.csv", "1,2\n");
    RandomStream random(1, "forged boxes", 0);
    std::string rows;
    for (int i = 0; i < 300; ++i) rows += fmt::format("{:.17g},{:.17g}\n", random.normal(), random.normal());
    write("box/q.csv", rows);
  }

  [[nodiscard]] Certificate repeated(const std::string& folder) const {
    return certify::parse_certificate(slurp(folder_ / folder / "certificate.json")).certificate;
  }
};

#ifdef SUREFOOT_SANITIZED
constexpr int most_places = 1;
#else
constexpr int most_places = 12;
#endif

/// The least evidence that finds every change, by field, for certificates of tables or of runs.
using Findings = std::map<std::string, Evidence>;

void change_every_field(const Kind& kind, Findings& findings, std::vector<std::string>& order) {
  std::vector<std::string> leaves;
  collect_leaves(kind.body, "", leaves);
  std::map<std::string, int> tried;
  for (const std::string& pointer : leaves) {
    const std::string field = field_of(pointer);
    // The digest is made to fit; what another command gives is tried below.
    if (field.starts_with("digest") || field.starts_with("rerun")) continue;
    if (!field.starts_with(kind.only)) continue;
    // An empty list of claims is no field: whatever stands in it is no claim.
    if (field.starts_with("claims.") && kind.body.at(ForgedJson::json_pointer(pointer)).is_array()) continue;
    if (++tried[field] > most_places) continue;  // a grid of 801 tolerances need not be gone through
    if (std::ranges::find(order, field) == order.end()) order.push_back(field);
    Evidence& least = findings.try_emplace(field, Evidence::arithmetic).first->second;
    for (const ForgedJson& value : changes_of(kind.body.at(ForgedJson::json_pointer(pointer)))) {
      ForgedJson changed = kind.body;
      if (changed.at(ForgedJson::json_pointer(pointer)) == value) continue;
      changed.at(ForgedJson::json_pointer(pointer)) = value;
      least = std::max(least, evidence_against(kind, changed, field));
    }
  }
}

TEST_F(Forgery, EveryFieldIsFoundByTheEvidenceThatIsDocumented) {
  Findings tables;
  Findings runs;
  std::vector<std::string> order;
  for (const Kind& kind : kinds()) {
    ASSERT_TRUE(certify::verify(certify::parse_certificate(test::resealed(kind.body))).holds()) << kind.name;
    change_every_field(kind, kind.repeated ? runs : tables, order);
  }
#ifdef SUREFOOT_SANITIZED
  // One place for each field: whatever finds it there, nothing weaker is needed elsewhere.
  for (const certify::FieldCheck& check : certify::field_checks()) {
    if (const auto found = tables.find(std::string(check.field)); found != tables.end()) {
      EXPECT_LE(found->second, check.in_tables.value()) << check.field;
    }
    if (const auto found = runs.find(std::string(check.field)); found != runs.end()) {
      EXPECT_LE(found->second, check.in_runs.value()) << check.field;
    }
  }
  return;
#endif
  const auto text = [](const Findings& findings, const std::string& field) {
    const auto found = findings.find(field);
    return found == findings.end() ? "nullopt" : "Evidence::" + std::string(certify::name(found->second));
  };
  std::set<std::string> found;
  for (const std::string& field : order)
    found.insert(fmt::format("{{\"{}\", {}, {}}}", field, text(tables, field), text(runs, field)));
  std::set<std::string> documented;
  for (const certify::FieldCheck& check : certify::field_checks()) {
    const auto name = [](const std::optional<Evidence>& evidence) {
      return evidence ? "Evidence::" + std::string(certify::name(*evidence)) : std::string("nullopt");
    };
    documented.insert(
        fmt::format("{{\"{}\", {}, {}}}", check.field, name(check.in_tables), name(check.in_runs)));
  }
  for (const std::string& row : documented)
    EXPECT_TRUE(found.contains(row)) << row << " is documented, not found";
  for (const std::string& row : found)
    EXPECT_TRUE(documented.contains(row)) << row << " is found, not documented";
}

TEST_F(Forgery, ThePageOnTrustShowsTheTable) {
  const std::string page = slurp(SUREFOOT_SOURCE_DIR "/docs/trust.md");
  for (const certify::FieldCheck& check : certify::field_checks()) {
    const auto name = [](const std::optional<Evidence>& evidence) {
      return evidence ? std::string(certify::name(*evidence)) : std::string("-");
    };
    const std::string row =
        fmt::format("| `{}` | {} | {} |\n", check.field, name(check.in_tables), name(check.in_runs));
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

/// A table of a chain and a certificate of it that was made in spite of that.
class ForgedRows : public Forgery {
 protected:
  void SetUp() override {
    Forgery::SetUp();
    double state = 0;
    RandomStream random(1, "forged rows", 0);
    std::string rows;
    for (int i = 0; i < 1000; ++i) {
      state = 0.95 * state + random.normal();
      rows +=
          fmt::format("{:.9g},{:.9g},{:.9g}\n", std::exp(state), std::exp(state - 1), std::exp(state - 2));
    }
    write("chain.csv", "k=1,k=2,k=3\n" + rows);
    write("plain.csv", rows);
    make("certify chain.csv --tolerances 1 --quantiles 0.5 --allow-dependence --out chain");
    make("certify plain.csv --tolerances 1 --quantiles 0.5 --allow-dependence --first-step 901 --out plain");
  }
  ProgramResult verify_with(const ForgedJson& forged, const std::string& data) {
    write("forged.json", resealed_with_words(forged, ""));
    EXPECT_EQ(surefoot("verify forged.json").code, 0) << "arithmetic alone cannot know";
    return surefoot("verify forged.json --data " + data);
  }
};

TEST_F(ForgedRows, DependenceCannotBeSaidToBeOfOtherRows) {
  ForgedJson forged = body("chain");
  forged["run"] = {{"solver", "OSQP"}};
  forged["parts"].push_back("run");
  ForgedJson& rows = forged["variants"][0]["independence"];
  rows["of"] = "problem data";
  rows["findings"] = ForgedJson::array();
  rows["allowed"] = false;
  for (const char* test : {"serial", "drift"}) {
    rows[test]["more"] = 0;
    rows[test]["less"] = 0;
    rows[test]["p_value"] = 1.0;
  }
  const ProgramResult result = verify_with(forged, "chain.csv");
  EXPECT_EQ(result.code, 1) << result.out << result.err;
  EXPECT_NE(result.out.find("its rows are not independent samples"), std::string::npos) << result.out;
  EXPECT_NE(surefoot("verify forged.json").out.find(" run,"), std::string::npos) << "on trust";
}

TEST_F(ForgedRows, AnOlderFormatDoesNotHideDependence) {
  certify::ParsedCertificate parsed =
      certify::parse_certificate(slurp(folder_ / "chain" / "certificate.json"));
  Certificate& certificate = parsed.certificate;
  certificate.format = 1;
  certificate.wording = 1;
  certificate.variants.front().independence.reset();
  certificate.variants.front().reading.clear();
  certificate.variants.front().recorded_steps.clear();
  certificate.assumptions = certify::assumptions_of(certificate, certificate.wording);
  write("forged.json", certify::to_json(certificate));
  const ProgramResult alone = surefoot("verify forged.json");
  EXPECT_EQ(alone.code, 0) << alone.out << alone.err;
  const ProgramResult result = surefoot("verify forged.json --data chain.csv");
  EXPECT_EQ(result.code, 1) << result.out << result.err;
  EXPECT_NE(result.out.find("its rows are not independent samples"), std::string::npos) << result.out;
}

TEST_F(ForgedRows, HowATableWasReadCannotBeLeftOut) {
  ForgedJson forged = body("chain");
  forged["variants"][0].erase("reading");
  auto& parts = forged["parts"];
  parts.erase(std::find(parts.begin(), parts.end(), "reading"));
  const ProgramResult result = verify_with(forged, "chain.csv");
  EXPECT_EQ(result.code, 1) << result.out << result.err;
  EXPECT_NE(result.out.find("it is read thus"), std::string::npos) << result.out;
}

TEST_F(ForgedRows, StepsOfATableWithoutLabelsAreOnTrust) {
  const std::string unsaid = "which steps the columns are";
  const ProgramResult plain = surefoot("verify plain/certificate.json --data plain.csv");
  EXPECT_EQ(plain.code, 0) << plain.out;
  EXPECT_NE(plain.out.find(unsaid), std::string::npos) << plain.out;
  const ProgramResult labelled = surefoot("verify chain/certificate.json --data chain.csv");
  EXPECT_EQ(labelled.code, 0) << labelled.out;
  EXPECT_EQ(labelled.out.find(unsaid), std::string::npos) << labelled.out;
}

TEST_F(Forgery, InventedCountsPassArithmeticAndFailAgainstDataAndRuns) {
  const std::string tables = SUREFOOT_SOURCE_DIR "/tests/certificates/v1/";
  make("certify " + tables + "warm.csv --tolerances 1e-2 --quantiles 0.5 --out warm");
  ForgedJson forged = body("warm");
  forged["variants"][0]["name"] = "cold";
  forged["variants"][0]["sha256"] = io::sha256_of_file(tables + "cold.csv");
  write("forged.json", resealed_with_words(forged, ""));
  EXPECT_EQ(surefoot("verify forged.json").code, 0);
  const ProgramResult checked = surefoot("verify forged.json --data " + tables + "cold.csv");
  EXPECT_EQ(checked.code, 1) << checked.out << checked.err;
}

TEST_F(Forgery, RunsAreMadeAgainAndEveryCountCompared) {
  const std::string family = SUREFOOT_SOURCE_DIR "/examples/mpc";
  make("run qp " + family +
       " --iterations 20 --steps 10,20 --tolerances 1e-1 --quantiles 0.5 --preset paper --out qp");
  const ProgramResult good = surefoot("verify qp/certificate.json --rerun " + family);
  EXPECT_EQ(good.code, 0) << good.out << good.err;
  EXPECT_NE(good.out.find("runs repeated"), std::string::npos);
  // Everything that arithmetic cannot find.
  ForgedJson forged = body("qp");
  forged["metric"]["name"] = "distance";
  forged["run"]["settings"]["rho"] = 7;
  write("forged.json", resealed_with_words(forged, ""));
  EXPECT_EQ(surefoot("verify forged.json").code, 0);
  ProgramResult caught = surefoot("verify forged.json --rerun " + family);
  EXPECT_EQ(caught.code, 1) << caught.out << caught.err;
  EXPECT_NE(caught.out.find("metric/name"), std::string::npos) << caught.out;
  EXPECT_NE(caught.out.find("run/settings/rho"), std::string::npos) << caught.out;
  // Another command gives other runs.
  for (const char* option : {"--rho", "--alpha", "--iterations", "--metric", "--scaling"}) {
    ForgedJson other = body("qp");
    std::string& value = other["rerun"]["options"][option].get_ref<std::string&>();
    value = std::string(option) == "--metric" ? "primal-residual" : value == "0" ? "3" : "1" + value;
    write("other.json", resealed_with_words(other, ""));
    caught = surefoot("verify other.json --rerun " + family);
    EXPECT_NE(caught.code, 0) << option << caught.out << caught.err;
  }
  // Files are found by digest, whatever their names, and not otherwise.
  std::filesystem::create_directories(folder_ / "elsewhere");
  for (const char* name : {"P.mtx", "A.mtx", "q.csv", "l.csv"})
    std::filesystem::copy_file(family + "/" + name, folder_ / "elsewhere" / name);
  std::filesystem::copy_file(family + "/u.csv", folder_ / "elsewhere" / "upper.csv");
  EXPECT_EQ(surefoot("verify qp/certificate.json --rerun elsewhere").code, 0);
  write("elsewhere/upper.csv", "1\n");
  const ProgramResult missing = surefoot("verify qp/certificate.json --rerun elsewhere");
  EXPECT_EQ(missing.code, 2);
  EXPECT_NE(missing.err.find("u.csv"), std::string::npos) << missing.err;
}

TEST_F(Forgery, ACommandFromOutsideCannotWriteOrRunAnythingElse) {
  make("run qp " SUREFOOT_SOURCE_DIR
       "/examples/mpc --iterations 5 --tolerances 1e-1 --quantiles 0.5 --out qp");
  const auto refused = [&](const char* pointer, const ForgedJson& value) {
    ForgedJson changed = body("qp");
    changed[ForgedJson::json_pointer(pointer)] = value;
    write("changed.json", resealed_with_words(changed, ""));
    const ProgramResult result = surefoot("verify changed.json --rerun " SUREFOOT_SOURCE_DIR "/examples/mpc");
    return result.code == 2 && result.err.find("--rerun") != std::string::npos &&
           std::count(result.err.begin(), result.err.end(), '\n') == 1;
  };
  EXPECT_TRUE(refused("/rerun/words", {"verify", "x"}));
  EXPECT_TRUE(refused("/rerun/words", {"run", "command"}));
  EXPECT_TRUE(refused("/rerun/words", ForgedJson::array()));
  EXPECT_TRUE(refused("/rerun/options/--out", "/tmp/anywhere"));
  EXPECT_TRUE(refused("/rerun/options/--checkpoint", "/tmp/anywhere"));
  EXPECT_TRUE(refused("/rerun/options/--settings", "/tmp/anywhere"));
  EXPECT_TRUE(refused("/rerun/options/--ledger", "/tmp/anywhere"));
  EXPECT_TRUE(refused("/rerun/options/-x", "1"));
  EXPECT_TRUE(refused("/rerun/options/--start", "/etc/passwd"));  // a file that no digest names
  EXPECT_TRUE(refused("/rerun/files/0/file", "../P.mtx"));
  EXPECT_TRUE(refused("/rerun/files/0/option", "--out"));
  EXPECT_TRUE(refused("/rerun/certificate", "../../etc"));
  EXPECT_TRUE(refused("/rerun/certificate", "/etc"));
  const ProgramResult none =
      surefoot("verify " SUREFOOT_SOURCE_DIR "/tests/certificates/v1/table.json --rerun .");
  EXPECT_EQ(none.code, 2);
  EXPECT_NE(none.err.find("does not record a command"), std::string::npos) << none.err;
}

TEST_F(Forgery, LearnedAndReproducedCertificatesAreMadeAgain) {
  write("train.toml", testing::training_file(2));
  make("train train.toml --quiet --out trained");
  make(
      "calibrate trained/weights.safetensors --hold-out 0:200 --tolerances=-10,-5 --quantiles "
      "0.5 --out learned");
  for (const char* kind : {"pac-bayes", "hold-out", "hold-out-means", "pac-bayes-paper"}) {
    const ProgramResult again =
        surefoot(fmt::format("verify learned/{}/certificate.json --rerun trained", kind));
    EXPECT_EQ(again.code, 0) << kind << again.out << again.err;
  }
  ForgedJson forged = body("learned/hold-out");
  forged["variants"][0]["weights"]["seed"] = 4;
  write("forged.json", resealed_with_words(forged, ""));
  EXPECT_EQ(surefoot("verify forged.json --rerun trained").code, 1);
  make("reproduce robust-kalman --samples 20 --steps 30 --out kalman");
  const ProgramResult again = surefoot("verify kalman/states/certificate.json --rerun");
  EXPECT_EQ(again.code, 0) << again.out << again.err;
}

}  // namespace
}  // namespace surefoot
