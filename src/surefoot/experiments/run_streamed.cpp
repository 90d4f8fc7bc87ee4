#include "surefoot/experiments/run_streamed.hpp"

#include "surefoot/certify/learned.hpp"
#include "surefoot/certify/settings_json.hpp"
#include "surefoot/certify/table_view.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/core/parallel.hpp"
#include "surefoot/core/ranks.hpp"
#include "surefoot/experiments/block_runs.hpp"
#include "surefoot/experiments/host.hpp"
#include "surefoot/experiments/memory_needs.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

namespace surefoot::experiments {

StreamedRun::StreamedRun(const std::string& family, const families::FamilyFiles& files,
                         families::FamilyStream& stream, SolverOf solver, FamilyRunOptions options,
                         certify::Options claims)
    : files_(files),
      stream_(stream),
      solver_(std::move(solver)),
      options_(std::move(options)),
      claims_(std::move(claims)) {
  options_.validate();
  require(!options_.until, "--until: cannot stand beside --stream; problems that are waited for are held");
  require(options_.start.empty(), "--start: cannot stand beside --stream");
  require(!options_.save_traces, "--save-traces: cannot stand beside --stream, whose traces are not held");
  require(options_.worst_case.empty(), "--worst-case: cannot stand beside --stream");
  SolverRun one;
  files_.with_file_names([&] { one = solver_(stream_.first()); });
  solver_name_ = one.op->name();
  record_ = certify::settings_json(one.op->settings());
  const runs::Metric metric = metric_of_block(options_.metric, one);
  claims_.metric = metric.name;
  claims_.unit = metric.unit;
  steps_ = certify::recorded_steps(metric, options_.iterations);
  claims_ = certify::resolved(claims_, {steps_});
  require_memory(*one.op);
  independence_ = certify::independence_of_rows(
      stream_.columns(), [&](const std::function<void(const double*)>& look) { stream_.each_row(look); });
  independence_.require_none(family.empty() ? "problems" : family, options_.allow_dependence);
}

SolverRun StreamedRun::block(Index first, Index count) const {
  families::FamilyStream::Vectors vectors = stream_.next(first, count);
  try {
    SolverRun run;
    files_.with_file_names([&] { run = solver_(std::move(vectors)); });
    return run;
  } catch (const InputError& error) {
    throw InputError(first == 0
                         ? error.what()
                         : fmt::format("{} (instances are counted from row {} on)", error.what(), first));
  }
}

FamilyResult StreamedRun::count(certify::CountJournal& journal) {
  certify::RunCounter counter(certify::tally_spec(claims_, steps_), &journal);
  counter.expect(stream_.instances());
  count_blocks({stream_.instances(), options_.iterations, options_.metric, solver_name_,
                [&](Index first, Index count) { return block(first, count); }},
               counter, journal);
  certify::Variant variant;
  variant.name = solver_name_;
  variant.source = "surefoot run";
  variant.independence = independence_;
  FamilyResult result;
  result.certificate = certify::certify(claims_, {{variant, counter.finish()}});
  stream_.require_unchanged();
  result.certificate.run = record_of_files(record_, files_, options_, result);
  return result;
}

void StreamedRun::require_memory(const algorithms::Operator& op) const {
  MemoryNeeds needs(options_.memory_limit);
  needs.add_blocks(op, options_.iterations, threads());
  needs.add_counts(CountedSizes::of(claims_, options_.iterations + 1), stream_.instances(),
                   certify::RunCounter::tallies, options_.checkpoints);
  needs.add("problems", numbers_of_block(op, options_.metric, stream_.instances()));
  needs.require_fit();
}

StreamedRun::SolverOf streamed_osqp(families::FamilyFiles& files, const algorithms::OsqpOptions& options) {
  const auto shared = std::make_shared<problems::Qp>();
  shared->P = {files.read_matrix("P")};
  shared->A = {files.read_matrix("A")};
  return [shared, options](families::FamilyStream::Vectors vectors) {
    problems::Qp problem = *shared;
    problem.q = std::move(vectors.at("q"));
    problem.l = std::move(vectors.at("l"));
    problem.u = std::move(vectors.at("u"));
    return osqp_run(std::move(problem), options);
  };
}

StreamedRun::SolverOf streamed_scs(families::FamilyFiles& files, const algorithms::ScsOptions& options,
                                   const problems::Cones& cones) {
  const auto shared = std::make_shared<problems::ConeProgram>();
  shared->P = {files.read_matrix("P")};
  shared->A = {files.read_matrix("A")};
  shared->cones = cones;
  return [shared, options](families::FamilyStream::Vectors vectors) {
    problems::ConeProgram problem = *shared;
    problem.b = std::move(vectors.at("b"));
    problem.c = std::move(vectors.at("c"));
    return scs_run(std::move(problem), options);
  };
}

}  // namespace surefoot::experiments
