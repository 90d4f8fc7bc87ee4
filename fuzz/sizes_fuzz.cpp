// Preset asan: needs the whole library.
//
// Any whole numbers as sizes at the interface of the library: cones, families of problems, ranges of samples,
// steps and counts of a run, rows of parts, closed loops,
// splits and grids of a search. They are refused in one line, or they are what they say and everything inside
// them can be indexed.
#include "surefoot/algorithms/scs.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/certify/part_tally.hpp"
#include "surefoot/certify/provenance.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/core/checked.hpp"
#include "surefoot/core/index_ranges.hpp"
#include "surefoot/experiments/run_drawn.hpp"
#include "surefoot/experiments/run_loop.hpp"
#include "surefoot/experiments/tuning.hpp"
#include "surefoot/families/sparse_coding.hpp"
#include "surefoot/learning/train.hpp"
#include "surefoot/problems/cone_program.hpp"
#include "surefoot/runs/run.hpp"

#include "fuzz_support.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace {

using namespace surefoot;

constexpr Index largest = std::numeric_limits<Index>::max();

// Numbers from bytes: small ones, those near the ends of the range and of int, and any.
class Numbers {
 public:
  Numbers(const std::uint8_t* data, std::size_t size) : data_(data), left_(size) {}
  Index next() {
    const int kind = byte();
    const Index near = static_cast<Index>(byte()) - 128;
    switch (kind % 6) {
      case 0:
        return near + 120;
      case 1:
        return largest - (near + 128);
      case 2:
        return std::numeric_limits<Index>::min() + (near + 128);
      case 3:
        return std::numeric_limits<int>::max() + near;
      case 4:
        return (Index{1} << (kind / 6 % 62)) + near;
      default:
        return any();
    }
  }
  std::vector<Index> list() {
    std::vector<Index> numbers(static_cast<std::size_t>(byte() % 5));
    for (Index& number : numbers) number = next();
    return numbers;
  }

 private:
  int byte() {
    if (left_ == 0) return 0;
    --left_;
    return *data_++;
  }
  Index any() {
    Index number = 0;
    const std::size_t size = std::min(left_, sizeof number);
    std::memcpy(&number, data_, size);
    data_ += size;
    left_ -= size;
    return number;
  }

  const std::uint8_t* data_;
  std::size_t left_;
};

void check(bool good) {
  if (!good) std::abort();
}

problems::Cones cones_of(Numbers& numbers) {
  problems::Cones cones;
  cones.zero = numbers.next();
  cones.nonnegative = numbers.next();
  cones.second_order = numbers.list();
  cones.semidefinite = numbers.list();
  return cones;
}

void use_cones(Numbers& numbers) {
  const problems::Cones cones = cones_of(numbers);
  cones.validate();
  const Index rows = cones.rows();
  check(rows >= cones.zero && rows >= cones.nonnegative && cones.zero >= 0 && cones.nonnegative >= 0);
  for (const Index dimension : cones.second_order) check(dimension >= 1 && dimension <= rows);
  for (const Index order : cones.semidefinite) check(order >= 1 && order <= rows);
}

// A small family with these cones; what is accepted is run.
void run_cone_program(Numbers& numbers) {
  const auto small = [&](Index most) {
    const Index number = numbers.next();
    return number < 0 || number > most ? most : number;
  };
  const Index n = small(4);
  const Index m = small(9);
  problems::ConeProgram program;
  program.P.emplace_back(n, n);
  program.A.emplace_back(m, small(4));
  for (Index i = 0; i < std::min(m, program.A[0].cols()); ++i) program.A[0].insert(i, i) = 1;
  program.A[0].makeCompressed();
  program.b = problems::Table::Constant(small(3), small(9), 1.0);
  program.c = problems::Table::Constant(small(3), n, 0.5);
  program.cones = cones_of(numbers);
  program.validate();
  check(program.cones.rows() == m && program.A[0].cols() == n);
  const algorithms::Scs op(program, {});
  runs::RunOptions options;
  options.steps = numbers.next();
  options.first = numbers.next();
  options.count = numbers.next();
  options.iterate_steps = numbers.list();
  if (options.steps > 20) options.steps = numbers.next() % 20;
  Index seen = 0;
  runs::run(op, {}, {}, options, nullptr, [&](std::size_t position, Index instance, const double* iterate) {
    check(position < options.iterate_steps.size() && instance >= options.first && instance < op.instances());
    const volatile double last = iterate[op.iterate_size() - 1];  // is there
    (void)last;
#pragma omp atomic
    ++seen;
  });
  check(options.iterate_steps.empty() || seen > 0);
}

void use_ranges(Numbers& numbers) {
  const certify::SampleRange a{"f", 0, "s", numbers.next(), numbers.next()};
  const certify::SampleRange b{"f", 0, "s", numbers.next(), numbers.next()};
  a.validate();
  check(a.first >= 0 && a.count >= 1 && a.last() >= a.first);
  b.validate();
  check(a.overlaps(b) == b.overlaps(a));
  check(a.overlaps(a));
  check(a.overlaps(b) == (a.first <= b.last() && b.first <= a.last()));
}

void use_training(Numbers& numbers) {
  families::SparseCodingOptions family;
  family.measurements = numbers.next();
  family.variables = numbers.next();
  fuzz::message_of([&] { family.validate(); });
  learning::TrainOptions options;
  options.steps = numbers.next();
  options.slots = numbers.next();
  options.stages.resize(1);
  options.stages[0].epochs = numbers.next();
  options.stages[0].batch = numbers.next();
  options.samples = numbers.next();
  const Index instances = numbers.next();
  options.validate({}, instances);
  check(options.samples >= 0 && options.samples <= instances);
  check(options.steps >= 0 && options.steps <= most_steps && options.slots >= 1);
}

void use_sums(Numbers& numbers) {
  const Index a = numbers.next();
  const Index b = numbers.next();
  const Index all = numbers.next();
  const auto wide = [](Index number) { return static_cast<__int128>(number); };
  const bool fits = wide(a) + wide(b) <= largest && wide(a) + wide(b) >= std::numeric_limits<Index>::min();
  check(fuzz::message_of([&] { check(wide(checked_sum("x", a, b)) == wide(a) + wide(b)); }).empty() == fits);
  fuzz::message_of([&] { check(wide(checked_product("x", a, b)) == wide(a) * wide(b)); });
  if (is_within(a, b, all)) check(a >= 0 && b >= 0 && wide(a) + wide(b) <= wide(all));
}

// Rows of a part under any number of the first one, and ranges of a tally as bytes.
void use_rows(Numbers& numbers) {
  const Index first = numbers.next();
  const std::vector<Index> steps{1, 2};
  const std::array<double, 6> values{3, 2, 1, 0.5, 2, 1};
  certify::TableView view;
  view.data = reinterpret_cast<const std::byte*>(values.data());
  view.rows = 3;
  view.columns = 2;
  view.column_bytes = sizeof(double);
  view.row_bytes = 2 * view.column_bytes;
  certify::Options claims;
  claims.tolerances = {1};
  claims = certify::resolved(claims, {steps});
  certify::DependenceCheck looked(steps);
  const bool refused = !fuzz::message_of([&] {
                          runs::Tally tally = certify::count_view_from(
                              first, view, certify::tally_spec(claims, steps), nullptr, &looked);
                          certify::PartTally part(claims);
                          part.add("a", std::move(tally), std::move(looked), first, {"source", "", {}, true});
                          const std::string bytes = part.bytes();
                          check(certify::PartTally::from_bytes(bytes, "t").bytes() == bytes);
                        }).empty();
  check(refused == (first < 0 || first > most_counted - view.rows));
  ByteWriter to;
  to.list(numbers.list());
  const std::string bounds = to.take();
  ByteReader from(bounds, "ranges");
  check(IndexRanges::read_state(from).size() <= most_counted);
}

void use_drawn(Numbers& numbers) {
  experiments::DrawnRunOptions options;
  options.samples = numbers.next();
  options.first = numbers.next();
  options.iterations = numbers.next();
  options.seed = numbers.next();
  options.validate();
  check(options.samples >= 1 && options.samples <= most_counted && options.first <= most_counted);
  check(options.iterations >= 1 && options.iterations <= most_steps);
}

void use_loop(Numbers& numbers) {
  experiments::LoopRunOptions options;
  options.rollouts = numbers.next();
  options.ticks = numbers.next();
  options.limits = numbers.list();
  options.exact_limit = numbers.next();
  options.tube_limit = numbers.next();
  options.validate();
  check(options.rollouts >= 1 && options.rollouts <= most_counted && options.ticks >= 1);
  check(options.limit_of_tube() >= 1 && options.limit_of_tube() <= most_steps);
}

// Splits and grids of a search: they end, whatever is asked for.
void use_tuning(Numbers& numbers) {
  experiments::TuneOptions options;
  options.target = "90% below 1";
  const Index nines = numbers.next();
  if (nines > 0)
    options.target = "99." + std::string(static_cast<std::size_t>(nines % 16), '9') + "% below 1";
  options.search_share = static_cast<double>(numbers.next() % 1000) / 1000;
  options.runs = numbers.next();
  options.grid = numbers.next() % 5000;
  const Index problems = numbers.next();
  experiments::SettingAxis axis{"a",
                                experiments::SettingAxis::Kind::linear,
                                static_cast<double>(numbers.next() % 1000),
                                static_cast<double>(numbers.next() % 1000),
                                {},
                                numbers.next(),
                                {}};
  experiments::SettingAxis other = axis;
  other.name = "b";
  other.kind = experiments::SettingAxis::Kind::logarithmic;
  fuzz::message_of([&] {
    const experiments::SettingSpace space({axis, other});
    const Index points = options.grid;
    if (points >= 1) check(static_cast<Index>(space.fine_grid(points).points.size()) <= points);
  });
  options.validate();
  const experiments::TuneSplit split = experiments::split_problems(problems, options, true);
  check(split.search.count >= experiments::fewest_search_problems && split.certified.end() == problems);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const auto use : {use_sums, use_cones, use_ranges, use_training, use_rows, use_drawn, use_loop,
                         use_tuning, run_cone_program}) {
    Numbers numbers(data, size);
    fuzz::message_of([&] { use(numbers); });
  }
  return 0;
}
