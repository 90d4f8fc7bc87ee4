#include "surefoot/experiments/tuning.hpp"

#include "surefoot/bounds/binomial.hpp"
#include "surefoot/bounds/quantile.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/number_text.hpp"
#include "surefoot/core/random.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/experiments/checkpoints.hpp"
#include "surefoot/experiments/counted_traces.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/io/json_dump.hpp"
#include "surefoot/runs/tally.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace surefoot::experiments {
namespace {

using TuneJson = nlohmann::ordered_json;

/// Candidates that are one piece of the journal.
constexpr std::size_t works_of_piece = 16;
constexpr const char* default_name = "default";
constexpr const char* tuned_name = "tuned";

/// The problems of the search in the order of the race.
std::vector<Index> race_order(const TuneSplit& split, std::uint64_t seed) {
  std::vector<Index> order(static_cast<std::size_t>(split.search.count));
  std::iota(order.begin(), order.end(), split.search.first);
  RandomStream stream(seed, "order of problems of a search", 0);
  for (std::size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[stream.below(i)]);
  return order;
}

Index fewest_certified(double share, double delta) {
  Index n = 1;
  while (bounds::order_statistic_rank(n, share, delta) == 0) {
    require(n <= bounds::max_samples / 2, "--target: the share {} needs more than {} problems",
            exact_label(share), bounds::max_samples);
    n *= 2;
  }
  Index low = n / 2;  // too few
  while (n - low > 1) {
    const Index middle = low + (n - low) / 2;
    (bounds::order_statistic_rank(middle, share, delta) > 0 ? n : low) = middle;
  }
  return n;
}

/// A piece of the journal that runs are made for: what `make` writes, or what is left of it. What the subject
/// notes of its runs is kept with it.
template <class Make, class Read>
void kept_piece(Tunable& subject, certify::CountJournal& journal, const Make& make, const Read& read) {
  if (const std::optional<std::string> left = journal.begin(); left && !left->empty()) {
    ByteReader from(*left, "runs of a checkpoint");
    subject.add_notes(from.text_view());
    read(from);
    from.finish();
    return;
  }
  ByteWriter made;
  try {
    journal.interrupt();
    make(made);
  } catch (const Interrupted&) {
    if (journal.keeps()) journal.keep("");  // this piece had not come to anything
    throw;
  }
  ByteWriter to;
  to.text(subject.take_notes());
  to.bytes(made.take());
  if (!journal.keeps()) return;
  if (journal.due()) {
    journal.keep(to.take());
  } else {
    journal.end(to.take());
  }
}

/// The time of a search, which goes on where a checkpoint has left it. Whether a rung was too late is a piece
/// of the journal: a search that had ended has ended.
class SearchClock {
 public:
  SearchClock(double seconds, certify::CountJournal& journal) : seconds_(seconds), journal_(journal) {}

  [[nodiscard]] double now() const {
    return before_ + std::chrono::duration<double>(std::chrono::steady_clock::now() - begin_).count();
  }
  bool is_late() {
    double at = 0;
    if (const std::optional<std::string> left = journal_.begin(); left && !left->empty()) {
      ByteReader from(*left, "time of a checkpoint");
      at = from.number<double>();
      from.finish();
      before_ = at;
      begin_ = std::chrono::steady_clock::now();
    } else {
      at = now();
      ByteWriter to;
      to.number(at);
      if (journal_.keeps()) journal_.end(to.take());
      if (at >= seconds_) journal_.flush();
    }
    return at >= seconds_;
  }

 private:
  double seconds_;
  certify::CountJournal& journal_;
  double before_ = 0;
  std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// Runs the works of a rung, a few at a time: each piece of the journal is made once.
class KeptTimes {
 public:
  KeptTimes(Tunable& subject, const std::vector<Index>& order, double tolerance,
            certify::CountJournal& journal, std::function<void(Index runs)> done)
      : subject_(subject), order_(order), tolerance_(tolerance), journal_(journal), done_(std::move(done)) {}

  std::vector<std::vector<double>> operator()(const std::vector<RaceWork>& works) {
    std::vector<std::vector<double>> all(works.size());
    Piece piece;
    const auto finish = [&] {
      std::vector<std::vector<double>> times = kept(piece.works);
      for (std::size_t i = 0; i < times.size(); ++i) {
        done_(static_cast<Index>(times[i].size()));
        std::vector<double>& whole = all[piece.of[i]];
        whole.insert(whole.end(), times[i].begin(), times[i].end());
      }
      piece = {};
    };
    for (std::size_t i = 0; i < works.size(); ++i) {
      for (Index done = 0; done < works[i].count;) {
        const Index count = std::min(works[i].count - done, room_in(piece));
        const auto begin = order_.begin() + works[i].first + done;
        piece.works.push_back({works[i].candidate, {begin, begin + count}});
        piece.of.push_back(i);
        piece.runs += count;
        done += count;
        if (is_full(piece)) finish();
      }
    }
    if (!piece.works.empty()) finish();
    return all;
  }

 private:
  struct Piece {
    std::vector<TuneWork> works;
    std::vector<std::size_t> of;  // by work: its place among all
    Index runs = 0;
  };
  [[nodiscard]] Index room_in(const Piece& piece) const {
    return subject_.runs_of_piece() > 0 ? subject_.runs_of_piece() - piece.runs : most_counted;
  }
  [[nodiscard]] bool is_full(const Piece& piece) const {
    return subject_.runs_of_piece() > 0 ? piece.runs >= subject_.runs_of_piece()
                                        : piece.works.size() >= works_of_piece;
  }

  std::vector<std::vector<double>> kept(const std::vector<TuneWork>& works) {
    std::vector<std::vector<double>> times;
    kept_piece(
        subject_, journal_,
        [&](ByteWriter& to) {
          times = subject_.times(works, tolerance_);
          for (const std::vector<double>& each : times) to.list(each);
        },
        [&](ByteReader& from) {
          for (const TuneWork& work : works) {
            times.push_back(from.list<double>());
            require(times.back().size() == work.problems.size(), "times of a checkpoint: {} of {} problems",
                    times.back().size(), work.problems.size());
          }
        });
    return times;
  }

  Tunable& subject_;
  const std::vector<Index>& order_;
  double tolerance_;
  certify::CountJournal& journal_;
  std::function<void(Index)> done_;
};

/// Runs of a part of the certified problems: a piece of the journal.
TuneTraces kept_part(Tunable& subject, const std::optional<SettingValues>& candidate, Part problems,
                     certify::CountJournal& journal) {
  TuneTraces traces;
  kept_piece(
      subject, journal,
      [&](ByteWriter& to) {
        traces = subject.traces(candidate, problems);
        to.list(traces.steps);
        write_table(traces.values, to);
      },
      [&](ByteReader& from) {
        traces.steps = from.list<Index>();
        traces.values = read_table(from);
        require(traces.values.rows() == problems.count &&
                    traces.values.cols() == static_cast<Index>(traces.steps.size()) &&
                    !traces.steps.empty() && traces.steps.front() >= 0 &&
                    std::ranges::is_sorted(traces.steps, std::ranges::less_equal()),
                "traces of a checkpoint: {} x {} numbers of {} problems at {} steps", traces.values.rows(),
                traces.values.cols(), problems.count, traces.steps.size());
      });
  return traces;
}

/// Runs of the certified problems.
TuneTraces kept_traces(Tunable& subject, const std::optional<SettingValues>& candidate, Part problems,
                       certify::CountJournal& journal) {
  const Index piece = subject.runs_of_piece() > 0 ? subject.runs_of_piece() : problems.count;
  TuneTraces all;
  for (Index done = 0; done < problems.count; done += piece) {
    const Index count = std::min(piece, problems.count - done);
    TuneTraces some = kept_part(subject, candidate, {problems.first + done, count}, journal);
    if (done == 0) {
      all.steps = std::move(some.steps);
      all.values.resize(problems.count, some.values.cols());
    }
    require(some.values.cols() == all.values.cols(), "traces: {} steps, and {} of the problems before",
            some.values.cols(), all.values.cols());
    all.values.middleRows(done, count) = some.values;
  }
  return all;
}

certify::Counted counted(const char* name, const TuneTraces& traces, const certify::Options& claims) {
  return counted_traces(name, "surefoot tune", traces.steps, traces.values, claims);
}

certify::Certificate certified(const Tunable& subject, const TuneOptions& options, const TuneResult& result) {
  const certify::ClaimText target = options.claim();
  certify::Options claims;
  claims.kinds = {"budget"};
  claims.choose = certify::Choice::before;
  claims.tolerances = {target.value};
  claims.quantiles = {*target.share};
  claims.delta = options.certificate_delta(result.default_traces.has_value());
  claims.metric = subject.metric();
  claims.unit = subject.unit();
  std::vector<std::vector<Index>> steps;
  if (result.default_traces) steps.push_back(result.default_traces->steps);
  steps.push_back(result.tuned_traces.steps);
  claims = certify::resolved(std::move(claims), steps);
  std::vector<certify::Counted> variants;
  if (result.default_traces) variants.push_back(counted(default_name, *result.default_traces, claims));
  variants.push_back(counted(tuned_name, result.tuned_traces, claims));
  return certify::certify(claims, variants);
}

certify::PairedComparison compared(const TuneOptions& options, const TuneResult& result) {
  const certify::ClaimText target = options.claim();
  certify::PairedOptions paired;
  paired.delta = options.paired_delta();
  paired.tolerances = {target.value};
  paired.shares =
      *target.share > 0.5 ? std::vector<double>{0.5, *target.share} : std::vector<double>{*target.share};
  const auto runs_of = [&](const char* name, const TuneTraces& traces) {
    certify::PairedRuns runs(name, traces.steps, paired);
    for (Index i = 0; i < traces.values.rows(); ++i) runs.add_run(traces.values.row(i).data());
    return runs;
  };
  return certify::compare_paired(runs_of(default_name, *result.default_traces),
                                 runs_of(tuned_name, result.tuned_traces), paired);
}

/// The settings that there are to compare with, as a candidate; none if there are none.
std::vector<SettingValues> candidates_of_default(const Tunable& subject) {
  if (!subject.has_default()) return {};
  return {subject.default_candidate().value_or(SettingValues{})};
}

/// The share of a racer's problems that it solves at all.
double solved_share(const Racer& racer) {
  const auto solved = std::ranges::count_if(racer.times, [](double time) { return time < infinity; });
  return static_cast<double>(solved) / static_cast<double>(racer.times.size());
}

TuneJson json_of(const SettingTexts& settings) {
  TuneJson json = TuneJson::object();
  for (const auto& [name, value] : settings) json[name] = value;
  return json;
}

}  // namespace

certify::ClaimText TuneOptions::claim() const {
  const certify::ClaimText claim = certify::parse_claim(target);
  require(
      claim.strict && claim.when == certify::ClaimText::When::unsaid,
      "--target: '{}' is not a share below a tolerance, as in \"90% below 1e-4\"; the iterations are what is "
      "sought",
      target);
  return claim;
}

void TuneOptions::validate() const {
  require(!target.empty(), "--target: say what is to be reached, as in --target \"90% below 1e-4\"");
  (void)claim();
  require(search_share >= least_search_share && search_share <= 1 - least_search_share,
          "--search-share: {} is outside {} .. {}", search_share, least_search_share, 1 - least_search_share);
  require(delta > 0 && delta < 1, "--confidence: {} is outside (0, 1)", 1 - delta);
  require(runs >= 0 && runs <= most_counted, "--runs: {} is outside 0 .. {}", runs, most_counted);
  require(seconds >= 0 && std::isfinite(seconds), "--time: {} is not a number of seconds", seconds);
  require(grid >= 0 && grid <= 1'000'000, "--grid: {} is outside 0 .. 1000000", grid);
  require((runs > 0) + (seconds > 0) + (grid > 0) <= 1, "--runs, --time and --grid: only one of them");
  require(ranks().count() == 1, "tune: runs are made in one process; use threads");
}

TuneSplit split_problems(Index problems, const TuneOptions& options, bool has_default) {
  const double share = *options.claim().share;
  const Index certified = fewest_certified(share, options.budget_delta(has_default));
  const auto searched = [&](Index all) {
    return static_cast<Index>(options.search_share * static_cast<double>(all));
  };
  const auto enough = [&](Index all) {
    return searched(all) >= fewest_search_problems && all - searched(all) >= certified;
  };
  if (!enough(problems)) {
    Index few = 0;
    Index needed = std::max(certified, fewest_search_problems);
    while (!enough(needed)) {  // least_search_share bounds it
      few = needed;
      needed *= 2;
    }
    while (needed - few > 1) {
      const Index middle = few + (needed - few) / 2;
      (enough(middle) ? needed : few) = middle;
    }
    throw InputError(fmt::format(
        "{} problems are too few to choose settings on some and certify {} with confidence {} on the others: at "
        "least {} are needed",
        problems, percent_label(share), confidence_label(options.delta), needed));
  }
  return {{0, searched(problems)}, {searched(problems), problems - searched(problems)}};
}

std::vector<Index> in_turn(const TuneSplit& split) {
  std::vector<Index> numbers;
  for (Index i = 0; i < std::max(split.search.count, split.certified.count); ++i) {
    if (i < split.search.count) numbers.push_back(split.search.first + i);
    if (i < split.certified.count) numbers.push_back(split.certified.first + i);
  }
  return numbers;
}

void require_apart(const certify::Independence& of_both, const certify::Independence& of_certified,
                   const std::string& name) {
  const std::vector<std::string> found = of_both.findings();
  require(
      found.empty() || of_certified.allowed,
      "{}: problems that settings are chosen by and problems that are certified are not independent of each other: "
      "{}. Leave out what is there more than once, or draw new problems; --allow-dependence is of dependence among the certified ones",
      name, fmt::join(found, "; "));
}

void add_tuning(MemoryNeeds& needs, const SettingSpace& space, Index problems, Index columns,
                const TuneOptions& options, bool has_default) {
  const TuneSplit split = split_problems(problems, options, has_default);
  const auto searched = static_cast<double>(split.search.count);
  const auto certified = static_cast<double>(split.certified.count);
  const auto all = static_cast<double>(problems);
  const double kept =
      options.checkpoints ? 4 : 0;  // as pieces of the journal, and as its file is put together
  double settings = 1;
  for (const SettingAxis& axis : space.axes())
    settings *= static_cast<double>(
        axis.is_range() ? axis.coarse : std::min(axis.coarse, static_cast<Index>(axis.choices.size())));
  settings = std::max(settings, static_cast<double>(options.grid));
  constexpr double allocations = 10;
  needs.add("settings", 3 * settings * (static_cast<double>(space.axes().size()) + allocations));
  const double tested = options.learn_then_test ? settings * all : 0;
  const double runs = options.runs > 0   ? static_cast<double>(options.runs)
                      : options.grid > 0 ? (static_cast<double>(options.grid) + 1) * searched
                                         : static_cast<double>(usual_runs_by_problem) * searched;
  // As they are made, as they are kept, and sorted; and the order of the problems.
  needs.add("times of the search", (3 + kept) * std::max(runs, tested) + searched + (tested > 0 ? all : 0));
  // Of both settings, and their files.
  needs.add("traces", (2 + kept) * (has_default ? 2 : 1) * certified * static_cast<double>(columns));
  CountedSizes sizes;
  sizes.columns = static_cast<double>(columns);
  sizes.tolerances = sizes.quantiles = 1;
  sizes.variants = has_default ? 2 : 1;
  needs.add_counts(sizes, split.certified.count, 1, false);
}

double settling_step(const double* values, const std::vector<Index>& steps, double tolerance) {
  // A run with an infinity or NaN has failed from there on.
  if (!std::all_of(values, values + steps.size(), [](double value) { return std::isfinite(value); }))
    return infinity;
  std::size_t first = steps.size();
  while (first > 0 && values[first - 1] < tolerance) --first;
  return first == steps.size() ? infinity : static_cast<double>(steps[first]);
}

TuneResult tune(Tunable& subject, Index problems, const TuneOptions& options,
                certify::CountJournal& journal) {
  options.validate();
  TuneResult result;
  result.split = split_problems(problems, options, subject.has_default());
  const certify::ClaimText target = options.claim();
  const std::vector<Index> order = race_order(result.split, options.seed);
  RaceOptions race_options;
  race_options.problems = result.split.search.count;
  const Index certified_problems = result.split.certified.count;
  race_options.level =
      std::min(static_cast<double>(bounds::order_statistic_rank(
                   certified_problems, *target.share, options.budget_delta(subject.has_default()))) /
                   static_cast<double>(certified_problems),
               1 - 0.5 / static_cast<double>(certified_problems));
  race_options.never = 2 * static_cast<double>(subject.iterations());
  race_options.grid = options.grid;
  race_options.runs = options.runs;
  const std::vector<SettingValues> first = candidates_of_default(subject);
  if (options.runs == 0 && options.seconds == 0 && options.grid == 0) {
    race_options.runs = std::max(usual_runs_by_problem * race_options.problems,
                                 fewest_race_runs(subject.space(), first, race_options.problems));
  }
  SearchClock clock(options.seconds, journal);
  if (options.seconds > 0) race_options.late = [&clock] { return clock.is_late(); };
  {
    Progress progress("searching settings");
    Index runs = 0;
    Index grid_runs = 0;
    if (options.grid > 0) {
      const FineGrid grid = subject.space().fine_grid(options.grid);
      const auto points = static_cast<Index>(grid.points.size());
      if (grid.finest)
        host().say(fmt::format("--grid: in few digits these settings have {} points, not {}",
                               count_label(points), count_label(options.grid)));
      grid_runs = checked_product("--grid", points, race_options.problems);
    }
    KeptTimes times(subject, order, target.value, journal, [&](Index made) {
      runs += made;
      if (options.seconds > 0) {
        progress.update(std::min(clock.now(), options.seconds), options.seconds, "seconds");
      } else {
        progress.update(static_cast<double>(runs),
                        static_cast<double>(std::max(race_options.runs, grid_runs)), "runs");
      }
    });
    try {
      result.race = race(subject.space(), first, race_options, std::ref(times));
    } catch (const Interrupted&) {
      journal.flush();
      throw;
    }
  }
  const Racer& winner = result.race.racer(result.race.winner);
  result.winner = subject.space().texts(winner.candidate);
  result.default_wins = !first.empty() && winner.candidate == first.front();
  if (const double solved = solved_share(winner); solved < *target.share) {
    throw InputError(fmt::format(
        "--target: the best settings that were found, {}, do not reach {} below {} within {} iterations: they reach "
        "{} of {} problems",
        to_text(result.winner), percent_label(*target.share), exact_label(target.value), subject.iterations(),
        observed_percent(solved), count_label(static_cast<Index>(winner.times.size()))));
  }
  if (subject.has_default())
    result.default_traces = kept_traces(subject, std::nullopt, result.split.certified, journal);
  result.tuned_traces = kept_traces(subject, winner.candidate, result.split.certified, journal);
  result.certificate = certified(subject, options, result);
  for (const certify::BudgetClaim& claim : result.certificate.budget)
    (subject.has_default() && claim.variant == 0 ? result.before : result.after) = claim.steps;
  if (result.default_traces) result.paired = compared(options, result);
  if (options.learn_then_test) result.all_tested = learn_then_test(subject, problems, options, journal);
  return result;
}

LearnThenTest learn_then_test(Tunable& subject, Index problems, const TuneOptions& options,
                              certify::CountJournal& journal) {
  const certify::ClaimText target = options.claim();
  std::vector<SettingValues> candidates = subject.space().coarse_grid();
  for (SettingValues& own : candidates_of_default(subject)) {
    if (std::ranges::find(candidates, own) == candidates.end()) candidates.push_back(std::move(own));
  }
  LearnThenTest found;
  found.candidates = static_cast<Index>(candidates.size());
  found.delta_each = bounds::grid_share(options.budget_delta(subject.has_default()), candidates.size());
  found.samples = problems;
  found.rank = bounds::order_statistic_rank(problems, *target.share, found.delta_each);
  if (found.rank == 0) return found;
  std::vector<Index> order(static_cast<std::size_t>(problems));
  std::iota(order.begin(), order.end(), Index{0});
  Progress progress("testing all settings");
  Index runs = 0;
  KeptTimes times(subject, order, target.value, journal, [&](Index made) {
    runs += made;
    progress.update(static_cast<double>(runs), static_cast<double>(found.candidates * problems), "runs");
  });
  std::vector<RaceWork> works;
  for (const SettingValues& candidate : candidates) works.push_back({candidate, 0, problems});
  std::vector<std::vector<double>> all = times(works);
  double best = infinity;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::sort(all[i].begin(), all[i].end());
    const double steps = all[i][static_cast<std::size_t>(found.rank - 1)];
    if (!(steps < best)) continue;
    best = steps;
    found.best = subject.space().texts(candidates[i]);
    found.steps = static_cast<Index>(steps);
  }
  return found;
}

std::string to_text(const LearnThenTest& found) {
  return fmt::format(
      "By Learn-then-Test, on all {} problems and {} settings, all covered by the same confidence: {}. It may stand in "
      "the place of the tuned line only if that was decided before the run.",
      count_label(found.samples), count_label(found.candidates),
      found.steps ? fmt::format("{} iterations, {}", count_label(*found.steps), to_text(found.best))
                  : "not certified");
}

std::string search_record(const Tunable& subject, const TuneOptions& options, const TuneResult& result,
                          bool all) {
  const SettingSpace& space = subject.space();
  TuneJson json{
      {"target", options.target},
      {"searched", {{"first", result.split.search.first}, {"problems", result.split.search.count}}},
      {"certified", {{"first", result.split.certified.first}, {"problems", result.split.certified.count}}},
      {"seed", options.seed},
      {"search", options.grid > 0 ? "grid" : "race"},
      {"runs", result.race.runs},
      {"converged", result.race.converged},
      {"candidates", result.race.racers.size()},
      {"over", TuneJson::object()},
      {"rungs", TuneJson::array()},
      {"winner", json_of(result.winner)}};
  for (const SettingAxis& axis : space.axes()) {
    json["over"][axis.name] =
        axis.is_range() ? TuneJson(fmt::format("{}:{}:{}:{}", axis.low, axis.high,
                                               axis.kind == SettingAxis::Kind::logarithmic ? "log" : "linear",
                                               axis.coarse))
                        : TuneJson(axis.choices);
  }
  for (const Rung& rung : result.race.rungs) {
    json["rungs"].push_back({{"candidates", rung.candidates},
                             {"problems", rung.problems},
                             {"runs", rung.runs},
                             {"near", rung.near},
                             {"score", rung.score},
                             {"best", json_of(space.texts(rung.best))}});
  }
  if (result.all_tested) {
    const LearnThenTest& tested = *result.all_tested;
    json["learn_then_test"] = {{"candidates", tested.candidates},
                               {"delta_each", tested.delta_each},
                               {"samples", tested.samples},
                               {"rank", tested.rank},
                               {"best", json_of(tested.best)},
                               {"steps", tested.steps ? TuneJson(*tested.steps) : TuneJson("none")}};
  }
  if (all) {
    json["racers"] = TuneJson::array();
    for (const Racer& racer : result.race.racers) {
      json["racers"].push_back({{"settings", json_of(space.texts(racer.candidate))},
                                {"problems", racer.times.size()},
                                {"solved", solved_share(racer)},
                                {"score", racer.score}});
    }
  }
  return io::json_dump(json);
}

std::string tune_text(const TuneOptions& options, const TuneResult& result) {
  const certify::ClaimText target = options.claim();
  const auto iterations = [](const std::optional<Index>& steps) {
    return steps ? count_label(*steps) : std::string("not certified");
  };
  std::string text = fmt::format("Tuned: {}\n", to_text(result.winner));
  if (result.default_wins)
    text += "Nothing that was tried is better than the default on the problems of the search.\n";
  text += fmt::format(
      "Found on {} problems in {} runs of {} settings{}; certified on the {} others, which nothing was chosen by.\n\n",
      count_label(result.split.search.count), count_label(result.race.runs),
      count_label(static_cast<Index>(result.race.racers.size())),
      result.race.converged || options.grid > 0 ? "" : " (more runs may find better ones)",
      count_label(result.split.certified.count));
  text += fmt::format("Iterations until {} of problems are below {} and stay below it, certified:\n",
                      percent_label(*target.share), exact_label(target.value));
  if (result.default_traces) text += fmt::format("  default  {}\n", iterations(result.before));
  text += fmt::format("  tuned    {}", iterations(result.after));
  // What is nearly the same is not praised.
  if (result.before && result.after && *result.after > 0 && 10 * *result.before >= 11 * *result.after)
    text += fmt::format(
        "  (certified numbers in ratio {})",
        lower_bound_value(static_cast<double>(*result.before) / static_cast<double>(*result.after)));
  text += "\n";
  if (result.paired) {
    for (const std::string& sentence : certify::paired_sentences(*result.paired))
      text += fmt::format("Problem by problem: {}\n", sentence);
  }
  text += fmt::format("All of this holds together with confidence {}.\n", confidence_label(options.delta));
  if (result.all_tested) text += to_text(*result.all_tested) + "\n";
  return text;
}

}  // namespace surefoot::experiments
