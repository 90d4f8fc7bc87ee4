#include "surefoot/certify/part_tally.hpp"

#include "surefoot/core/bytes.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/version.hpp"
#include "surefoot/io/json_parse.hpp"
#include "surefoot/io/sealed_bytes.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <utility>

namespace surefoot::certify {

namespace {

constexpr std::string_view tally_heading = "surefoot tally ";
constexpr std::string_view tally_format = "2\n";

/// Everything that is declared, by the names of options: the one list of what is written, read and compared.
template <class Declared, class Visit>
void each_declaration(Declared& options, Visit&& visit) {
  visit("title", options.title);
  visit("metric", options.metric);
  visit("unit", options.unit);
  visit("delta", options.delta);
  visit("claims", options.kinds);
  visit("delta of kinds", options.kind_delta);
  visit("simultaneous", options.simultaneous);
  visit("choose", options.choose);
  visit("tolerances", options.tolerances);
  visit("quantiles", options.quantiles);
  visit("quantiles by default", options.default_quantiles);
  visit("steps", options.steps);
  visit("risk method", options.risk_method);
  visit("quantile method", options.quantile_method);
  visit("budget method", options.budget_method);
  visit("average method", options.average_method);
  visit("grid", options.grid);
  visit("range", options.range);
  visit("thresholds", options.thresholds);
  visit("cvar", options.cvar);
  visit("shift", options.shift);
  visit("values kept", options.value_limit);
}

class WriteDeclaration {
 public:
  explicit WriteDeclaration(ByteWriter& to) : to_(to) {}
  template <class T>
  void operator()(const char* /*name*/, const T& value) {
    write(value);
  }

 private:
  void write(const std::string& text) { to_.text(text); }
  void write(double value) { to_.number(value); }
  void write(bool value) { to_.number(value); }
  void write(Index value) { to_.number(value); }
  void write(const std::vector<double>& values) { to_.list(values); }
  void write(const std::vector<Index>& values) { to_.list(values); }
  void write(const std::vector<std::string>& texts) {
    to_.number(static_cast<Index>(texts.size()));
    for (const std::string& text : texts) to_.text(text);
  }
  void write(const std::map<std::string, double, std::less<>>& numbers) {
    to_.number(static_cast<Index>(numbers.size()));
    for (const auto& [name, value] : numbers) {
      to_.text(name);
      to_.number(value);
    }
  }
  void write(const std::optional<double>& value) {
    to_.number(value.has_value());
    if (value) to_.number(*value);
  }
  void write(const std::optional<bounds::Shift>& value) { to_.text(value ? bounds::to_text(*value) : ""); }
  template <class Enum>
  requires std::is_enum_v<Enum>
  void write(Enum value) { to_.text(name(value)); }

  ByteWriter& to_;
};

class ReadDeclaration {
 public:
  explicit ReadDeclaration(ByteReader& from) : from_(from) {}
  template <class T>
  void operator()(const char* /*name*/, T& value) {
    read(value);
  }

 private:
  void read(std::string& text) { text = from_.text(); }
  void read(double& value) { value = from_.number<double>(); }
  void read(bool& value) { value = from_.number<unsigned char>() != 0; }
  void read(Index& value) { value = from_.number<Index>(); }
  void read(std::vector<double>& values) { values = from_.list<double>(); }
  void read(std::vector<Index>& values) { values = from_.list<Index>(); }
  void read(std::vector<std::string>& texts) {
    texts.clear();
    const auto count = from_.number<Index>();
    for (Index i = 0; i < count; ++i) texts.push_back(from_.text());
  }
  void read(std::map<std::string, double, std::less<>>& numbers) {
    const auto count = from_.number<Index>();
    for (Index i = 0; i < count; ++i) {
      std::string name = from_.text();
      numbers[std::move(name)] = from_.number<double>();
    }
  }
  void read(std::optional<double>& value) {
    value.reset();
    if (from_.number<unsigned char>() != 0) value = from_.number<double>();
  }
  void read(std::optional<bounds::Shift>& value) {
    value.reset();
    if (const std::string text = from_.text(); !text.empty()) value = bounds::parse_shift(text);
  }
  void read(Simultaneity& value) { value = parse_simultaneity(from_.text()); }
  void read(Choice& value) { value = parse_choice(from_.text()); }
  void read(bounds::RiskMethod& value) { value = bounds::parse_risk_method(from_.text()); }
  void read(bounds::QuantileMethod& value) { value = bounds::parse_quantile_method(from_.text()); }
  void read(bounds::BudgetMethod& value) { value = bounds::parse_budget_method(from_.text()); }
  void read(bounds::MeanMethod& value) { value = bounds::parse_mean_method(from_.text()); }

  ByteReader& from_;
};

/// Each declaration in words, for whoever compares two.
class DeclarationWords {
 public:
  template <class T>
  void operator()(const char* name, const T& value) {
    if constexpr (std::is_enum_v<T>)
      all.emplace_back(name, name_of(value));
    else
      all.emplace_back(name, word(value));
  }
  std::vector<std::pair<std::string, std::string>> all;

 private:
  template <class Enum>
  static std::string name_of(Enum value) {
    return std::string(name(value));
  }
  template <class T>
  static std::string word(const T& value) {
    return fmt::format("{}", value);
  }
  template <class T>
  static std::string word(const std::vector<T>& values) {
    return fmt::format("{}", fmt::join(values, ", "));
  }
  static std::string word(const std::map<std::string, double, std::less<>>& numbers) {
    std::string words;
    for (const auto& [name, value] : numbers)
      words += fmt::format("{}{} {}", words.empty() ? "" : ", ", name, value);
    return words;
  }
  static std::string word(const std::optional<double>& value) {
    return value ? fmt::format("{}", *value) : "none";
  }
  static std::string word(const std::optional<bounds::Shift>& value) {
    return value ? bounds::to_text(*value) : "none";
  }
};

std::vector<std::pair<std::string, std::string>> words_of(const Options& options) {
  DeclarationWords words;
  each_declaration(options, words);
  return words.all;
}

std::string declaration_bytes(const Options& options) {
  ByteWriter to;
  each_declaration(options, WriteDeclaration{to});
  return to.take();
}

std::string range_words(const Part& rows) {
  return rows.count == 1 ? fmt::format("row {}", rows.first)
                         : fmt::format("rows {} .. {}", rows.first, rows.end() - 1);
}

void require_countable(const Options& options) {
  require(!options.scalar && options.sampling == Sampling::problems,
          "tally: is of tables with a column per step whose rows are problems, not of {}",
          options.scalar                         ? "one number per problem (scalar)"
          : options.sampling == Sampling::groups ? "groups, of which one could be in two parts"
                                                 : "a log (sequence)");
}

// A count for every bin stands in the bytes: no memory is taken for bins that are not there.
void require_bins(const runs::TallySpec& spec, std::string_view state) {
  const std::size_t numbers = state.size() / sizeof(Index);
  const auto fits = [&](std::size_t rows, std::size_t bins) { return bins == 0 || rows <= numbers / bins; };
  require(fits(spec.steps.size(), spec.tolerances.size() + 1) &&
              fits(spec.tolerances.size(), spec.steps.size() + 1) &&
              fits(spec.claim_columns.size(), spec.grid.size() + 1),
          "{} bytes hold no counts of {} steps at {} tolerances", state.size(), spec.steps.size(),
          spec.tolerances.size());
}

/// The digest by which rows are known.
std::string identity_of(const RowSource& source) {
  require_name("source", source.name);
  require(!source.name.empty(), "source: has no name");
  require(source.sha256.empty() || io::is_sha256_hex(source.sha256),
          "sha256: '{}' is not 64 hexadecimal digits in lower case", io::excerpt(source.sha256));
  return source.sha256.empty() ? io::sha256_hex(source.name) : source.sha256;
}

}  // namespace

PartTally::PartTally(Options resolved_options, std::string run)
    : options_(std::move(resolved_options)), run_(std::move(run)) {
  require_countable(options_);
}

void PartTally::add(const std::string& variant, runs::Tally tally, DependenceCheck check, Index first_row,
                    RowSource source) {
  require_name("names", variant);
  const std::string identity = identity_of(source);
  require(is_within(first_row, tally.samples(), most_counted),
          "first_row: rows {} + {} are not all in 0 .. {}", first_row, tally.samples(), most_counted);
  for (const Variant& other : variants_)
    require(other.name != variant, "names: two variants are called {}", io::excerpt(variant));
  IndexRanges rows;
  rows.add(first_row, tally.samples());
  Variant added{variant, std::move(tally), {}};
  added.sources.emplace(identity, Counted{std::move(source), std::move(rows), std::move(check)});
  variants_.push_back(std::move(added));
}

bool PartTally::known() const {
  return std::ranges::all_of(variants_, [](const Variant& variant) {
    return std::ranges::all_of(variant.sources, [](const auto& each) { return each.second.source.known; });
  });
}

void PartTally::require_mergeable(const PartTally& other, const std::string& name) const {
  for (const PartTally* each : {&other, this})
    require(
        each->known(),
        "{}: does not say which samples were counted{}; count with source=, and first_row= if they do not "
        "begin there",
        name, each == &other ? "" : ", nor do the tallies before it");
  const auto here = words_of(options_);
  const auto there = words_of(other.options_);
  for (std::size_t i = 0; i < here.size(); ++i)
    require(here[i].second == there[i].second,
            "{}: declares something else than the tallies before it: {} is '{}' and not '{}'", name,
            here[i].first, io::excerpt(there[i].second), io::excerpt(here[i].second));
  require(declaration_bytes(options_) == declaration_bytes(other.options_),
          "{}: declares something else than the tallies before it", name);
  require(run_ == other.run_, "{}: its runs were made in another way than those before it: {} and not {}",
          name, io::excerpt(other.run_), io::excerpt(run_));
  require(variants_.size() == other.variants_.size(), "{}: has {} variants, the tallies before it {}", name,
          other.variants_.size(), variants_.size());
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    const Variant& mine = variants_[i];
    const Variant& theirs = other.variants_[i];
    require(mine.name == theirs.name, "{}: is of the variant {}, the tallies before it of {}", name,
            io::excerpt(theirs.name), io::excerpt(mine.name));
    const std::vector<Index>& steps = mine.tally.spec().steps;
    const std::vector<Index>& others = theirs.tally.spec().steps;
    require(steps == others,
            "{}: its columns are {} steps {} .. {}, those of the tallies before it {} steps {} .. {}", name,
            others.size(), others.front(), others.back(), steps.size(), steps.front(), steps.back());
    for (const auto& [identity, counted] : theirs.sources) {
      const auto known = mine.sources.find(identity);
      if (known == mine.sources.end()) continue;
      const Counted& before = known->second;
      const std::optional<Part> twice = before.rows.first_common(counted.rows);
      require(!twice, "{}: {} of {} are counted already", name, range_words(twice.value_or(Part{})),
              io::printable(counted.source.name));
      require(before.source.name == counted.source.name && before.source.sha256 == counted.source.sha256,
              "{}: calls the source {}, the tallies before it {}", name, io::printable(counted.source.name),
              io::printable(before.source.name));
      require(before.source.reading == counted.source.reading,
              "{}: {} was read in another way than by the tallies before it", name,
              io::printable(counted.source.name));
    }
    checked_sum("samples", mine.tally.samples(), theirs.tally.samples());
  }
}

void PartTally::merge(const PartTally& other, const std::string& name) {
  require_mergeable(other, name);
  for (std::size_t i = 0; i < variants_.size(); ++i) {
    Variant& mine = variants_[i];
    const Variant& theirs = other.variants_[i];
    mine.tally.merge(theirs.tally);
    for (const auto& [identity, counted] : theirs.sources) {
      const auto [known, is_new] = mine.sources.try_emplace(identity, counted);
      if (is_new) continue;
      for (const Part& part : counted.rows.parts()) known->second.rows.add(part.first, part.count);
      known->second.check.merge(counted.check);
    }
    prune(mine);
  }
}

namespace {

/// The order of sources: by their names, whatever order they came in.
template <class Map>
auto in_order(Map& sources) {
  std::vector<decltype(&sources.begin()->second)> all;
  for (auto& [identity, counted] : sources) all.push_back(&counted);  // by their digests
  std::ranges::stable_sort(all, {}, [](const auto* each) -> const std::string& { return each->source.name; });
  return all;
}

}  // namespace

void PartTally::prune(Variant& variant) {
  if (variant.sources.size() < 2) return;
  std::vector<DependenceCheck*> checks;
  for (Counted* each : in_order(variant.sources)) checks.push_back(&each->check);
  DependenceCheck::prune(checks);
}

Certificate PartTally::certificate(bool allow_dependence) const {
  std::vector<certify::Counted> counted;
  for (const Variant& each : variants_) {
    certify::Variant variant;
    variant.name = each.name;
    std::vector<const DependenceCheck*> checks;
    for (const Counted* of : in_order(each.sources)) {
      const RowSource& source = of->source;
      const std::string shown = io::printable(source.name);
      Index next = 0;
      for (const Part& part : of->rows.parts()) {
        require(part.first == next, "{} of {} are not counted", range_words({next, part.first - next}),
                shown);
        next = part.end();
      }
      require(each.sources.size() == 1 || !source.sha256.empty(),
              "{}: is known by its name alone; samples of several sources need the digest of each", shown);
      if (checks.empty()) {
        variant.source = source.name;
        variant.sha256 = source.sha256;
        variant.reading = source.reading;
      } else {
        variant.appended.push_back({source.name, source.sha256, next, source.reading});
      }
      checks.push_back(&of->check);
    }
    variant.independence = DependenceCheck::of_tables(checks).result();
    variant.independence->require_none(checks.size() == 1 ? io::printable(variant.source) : each.name,
                                       allow_dependence);
    counted.push_back({variant, each.tally});
  }
  Certificate certificate = certify(options_, counted);
  certificate.run = run_;
  return certificate;
}

Index PartTally::samples() const {
  return variants_.empty() ? 0 : variants_.front().tally.samples();
}

std::vector<std::string> PartTally::rows() const {
  std::vector<std::string> words;
  if (variants_.empty()) return words;
  for (const auto* of : in_order(variants_.front().sources))
    for (const Part& part : of->rows.parts())
      words.push_back(of->source.known ? fmt::format("{} of {}", range_words(part), of->source.name)
                                       : fmt::format("{} rows", part.count));
  return words;
}

std::string PartTally::bytes() const {
  return io::sealed_bytes(std::string(tally_heading) + std::string(tally_format), [&](ByteWriter& to) {
    to.text(version);
    each_declaration(options_, WriteDeclaration{to});
    to.text(run_);
    to.number(static_cast<Index>(variants_.size()));
    for (const Variant& variant : variants_) {
      to.text(variant.name);
      to.list(variant.tally.spec().steps);
      to.text(variant.tally.state());
      to.number(static_cast<Index>(variant.sources.size()));
      for (const auto& [identity, counted] : variant.sources) {
        to.text(counted.source.name);
        to.text(counted.source.sha256);
        to.number(counted.source.known);
        WriteDeclaration{to}("reading", counted.source.reading);
        counted.rows.write_state(to);
        to.text(counted.check.state());
      }
    }
  });
}

bool PartTally::is_tally(std::string_view bytes) {
  return bytes.starts_with(tally_heading);
}

void PartTally::read_variant(PartTally& tally, ByteReader& from) {
  const std::string name = from.text();
  require_name("names", name);
  for (const Variant& other : tally.variants_)
    require(other.name != name, "two variants are called {}", io::excerpt(name));
  const std::vector<Index> steps = from.list<Index>();
  require(!steps.empty() && steps.front() >= 0, "there are {} steps, or one below 0", steps.size());
  const runs::TallySpec spec = tally_spec(tally.options_, steps);
  const std::string_view state = from.text_view();
  require_bins(spec, state);
  Variant variant{name, runs::Tally::from_state(spec, state), {}};
  Index rows = 0;
  const auto sources = from.number<Index>();
  for (Index i = 0; i < sources; ++i) {
    RowSource source;
    source.name = from.text();
    source.sha256 = from.text();
    source.known = from.number<unsigned char>() != 0;
    ReadDeclaration{from}("reading", source.reading);
    IndexRanges ranges = IndexRanges::read_state(from);
    DependenceCheck check = DependenceCheck::from_state(steps, from.text_view());
    require(check.rows() == ranges.size(), "{} rows are counted and {} were looked at", ranges.size(),
            check.rows());
    rows = checked_sum("rows", rows, ranges.size());
    const std::string identity = identity_of(source);
    const bool is_new =
        variant.sources.emplace(identity, Counted{std::move(source), std::move(ranges), std::move(check)})
            .second;
    require(is_new, "the source {} is there twice", identity);
  }
  const auto known = [](const auto& each) { return each.second.source.known; };
  require(sources == 1 || std::ranges::all_of(variant.sources, known), "one of {} sources is not known",
          sources);
  require(rows == variant.tally.samples() && rows > 0, "{} rows are named and {} counted", rows,
          variant.tally.samples());
  tally.variants_.push_back(std::move(variant));
}

PartTally PartTally::from_bytes(std::string_view bytes, const std::string& name) {
  require(is_tally(bytes), "{}: is not a tally", name);
  const std::string heading = std::string(tally_heading) + std::string(tally_format);
  require(bytes.starts_with(heading), "{}: is a tally of another version of the format", name);
  ByteReader from(io::sealed_body(bytes, heading, name), name);
  const std::string counted_by = from.text();
  require(counted_by == version,
          "{}: was counted by version {}, and this is {}; tallies of different versions are not put together",
          name, io::excerpt(counted_by), version);
  try {
    Options options;
    each_declaration(options, ReadDeclaration{from});
    PartTally tally(std::move(options), from.text());
    require(nlohmann::json::accept(tally.run_), "how runs were made is no JSON");
    (void)io::parse_json("run", tally.run_, {});
    const auto variants = from.number<Index>();
    require(variants >= 1, "there is no variant");
    for (Index i = 0; i < variants; ++i) read_variant(tally, from);
    from.finish();
    std::vector<std::vector<Index>> recorded;
    for (const Variant& variant : tally.variants_) recorded.push_back(variant.tally.spec().steps);
    require(declaration_bytes(resolved(tally.options_, recorded)) == declaration_bytes(tally.options_),
            "its declarations are not complete");
    return tally;
  } catch (const InputError& error) {
    const std::string message = error.what();
    throw InputError(message.starts_with(name) ? message : fmt::format("{}: is no tally: {}", name, message));
  }
}

}  // namespace surefoot::certify
