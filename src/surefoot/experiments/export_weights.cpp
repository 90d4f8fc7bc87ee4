#include "surefoot/experiments/export_weights.hpp"

#include "surefoot/algorithms/buffer.hpp"
#include "surefoot/algorithms/osqp.hpp"
#include "surefoot/certify/verify.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/experiments/learned_bench.hpp"
#include "surefoot/experiments/learned_weights.hpp"
#include "surefoot/families/folder_parameters.hpp"
#include "surefoot/io/atomic_file.hpp"
#include "surefoot/io/c_source.hpp"
#include "surefoot/io/sha256.hpp"
#include "surefoot/io/text.hpp"
#include "surefoot/learning/posterior_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <variant>
#include <vector>

namespace surefoot::experiments {

namespace {

/// static const double NAME_what[n] = {...};
std::string array(const std::string& name, const char* what, std::span<const double> values) {
  constexpr std::size_t in_a_line = 6;
  std::string text = fmt::format("static const double {}_{}[{}] = {{", name, what, values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    text += fmt::format("{}{:a},", i % in_a_line == 0 ? "\n    " : " ", values[i]);
  return text + "\n};\n";
}

std::vector<double> means_of(const learning::Posterior& posterior) {
  const Eigen::VectorXd& mean = posterior.gaussians.mean;
  return {mean.begin(), mean.end()};
}

/// What the steps of every problem share, as the program has it.
struct SharedUnits {
  std::vector<double> x;
  std::vector<double> y;
  std::vector<double> w;
  std::vector<double> rho;
};

SharedUnits units_of(const algorithms::Osqp& op) {
  require(!op.system().own(),
          "export: each problem is equilibrated on its own, which a controller cannot repeat; train with "
          "scale_each = false, or scaling = 0");
  const Index n = op.problem().variables();
  const Index m = op.problem().constraints();
  const Index W = op.width();
  const auto workspace = op.make_workspace();
  op.load(0, 1, *workspace);
  algorithms::Buffer ones = algorithms::make_buffer(op.state_size(), W);
  algorithms::Buffer units = algorithms::make_buffer(op.iterate_size(), W);
  std::fill(ones.begin(), ones.end(), 1.0);
  op.read({ones.data(), op.state_size(), W}, *workspace, 0, op.iterate_size(), units.data());
  SharedUnits shared;
  for (Index i = 0; i < n + 2 * m; ++i)
    (i < n ? shared.x : i < n + m ? shared.y : shared.w).push_back(units[i * W]);
  const double* l = problems::table_row(op.problem().l, 0);
  const double* u = problems::table_row(op.problem().u, 0);
  for (Index i = 0; i < m; ++i)
    shared.rho.push_back(algorithms::row_rho(l[i] / shared.w[static_cast<std::size_t>(i)],
                                             u[i] / shared.w[static_cast<std::size_t>(i)], op.options()));
  return shared;
}

// The order of sums is that of the program's kernels: one product after the other from 0, then the bias.
constexpr const char* start_code = R"C(
#if defined({name}_USE_FMA)
#include <math.h>
#define {name}_add(sum, a, b) fma((a), (b), (sum))
#else
#define {name}_add(sum, a, b) ((sum) + (a) * (b))
#endif
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("fp-contract=off")
#else
#pragma STDC FP_CONTRACT OFF
#endif

void {name}(const double *parameters, const double *l, const double *u, double *x, double *y, double *z)
{{
  double values[2][{largest}];
  const double *weights = {name}_weights;
  double *in = values[0];
  double *out = values[1];
  int layer, i, j;
  for (i = 0; i < {inputs}; ++i) in[i] = (parameters[i] - {name}_center[i]) / {name}_scale[i];
  for (layer = 0; layer < {layers}; ++layer) {{
    const int n = {name}_sizes[layer];
    const int m = {name}_sizes[layer + 1];
    double *swap = in;
    for (i = 0; i < m; ++i) {{
      double sum = 0.0;
      for (j = 0; j < n; ++j) sum = {name}_add(sum, weights[i * n + j], in[j]);
      sum = sum + weights[m * n + i];
      out[i] = layer + 1 < {layers} && sum <= 0.0 ? 0.0 : sum;
    }}
    weights += m * n + m;
    in = out;
    out = swap;
  }}
  for (i = 0; i < {variables}; ++i) x[i] = {output_scale:a} * in[i] * {name}_unit_x[i];
  for (i = 0; i < {constraints}; ++i) {{
    const double v = {output_scale:a} * in[{variables} + i];
    const double low = l[i] / {name}_unit_w[i];
    const double high = u[i] / {name}_unit_w[i];
    double w = v > low ? v : low;
    w = w < high ? w : high;
    y[i] = {name}_rho[i] * (v - w) * {name}_unit_y[i];
    z[i] = w * {name}_unit_w[i];
  }}
}}
)C";

std::string start_source(const FolderStart& model, const ExportWeightsOptions& options,
                         const learning::Posterior& posterior, std::vector<std::string>& about) {
  require(model.family.kind == to_string(families::FolderKind::qp),
          "export: starts of OSQP can be exported, not those of SCS");
  families::FolderOptions folder = model.family;
  families::FolderProblems all = families::read_folder(folder);
  const Index there = std::get<problems::Qp>(all).instances();
  const auto given = families::read_beside(families::parameters_table, folder, there);
  const FolderStartBench bench = make_start(model, std::move(all), given ? &*given : nullptr, {});
  learning::require_layout(posterior, bench.warm->weights());
  const auto& op = dynamic_cast<const algorithms::Osqp&>(*bench.solver);
  const SharedUnits units = units_of(op);
  const families::ParameterMap map = families::ParameterMap::parse(model.inputs);
  const std::vector<Index>& sizes = bench.warm->network().sizes();
  about.push_back(
      fmt::format("void {}(parameters[{}], l[{}], u[{}], x[{}], y[{}], z[{}]): where OSQP begins on the "
                  "problem with these bounds.",
                  options.name, map.size(), units.y.size(), units.y.size(), units.x.size(), units.y.size(),
                  units.y.size()));
  about.push_back("Parameters, in this order: " + map.entries + ".");
  about.emplace_back(
      "Certificates are of runs from x, y and z. The package's osqp_warm_start(x, y) sets z = A x, which is");
  about.emplace_back(
      "another start: certify that one by surefoot run qp --start with a table of its x, y, z.");
  about.push_back(
      fmt::format("The numbers are those of the program to the last bit: with {}_USE_FMA defined where the "
                  "program's kernels",
                  options.name));
  about.emplace_back(
      "have fused multiply-adds (x86-64-v3 and above), without it elsewhere. Compile with -ffp-contract=off.");
  std::string text =
      fmt::format("#define {}_PARAMETERS {}\n#define {}_VARIABLES {}\n#define {}_CONSTRAINTS {}\n\n",
                  options.name, map.size(), options.name, units.x.size(), options.name, units.y.size());
  text += fmt::format("static const int {}_sizes[{}] = {{", options.name, sizes.size());
  for (const Index size : sizes) text += fmt::format("{}, ", size);
  text += "};\n";
  text += array(options.name, "center", map.center) + array(options.name, "scale", map.scale) +
          array(options.name, "unit_x", units.x) + array(options.name, "unit_y", units.y) +
          array(options.name, "unit_w", units.w) + array(options.name, "rho", units.rho) +
          array(options.name, "weights", means_of(posterior));
  return text + fmt::format(fmt::runtime(start_code), fmt::arg("name", options.name),
                            fmt::arg("largest", *std::max_element(sizes.begin(), sizes.end())),
                            fmt::arg("inputs", sizes.front()), fmt::arg("layers", sizes.size() - 1),
                            fmt::arg("variables", units.x.size()), fmt::arg("constraints", units.y.size()),
                            fmt::arg("output_scale", bench.warm->options().output_scale));
}

std::string schedule_source(const LearnedSetting& setting, const ExportWeightsOptions& options,
                            const learning::Posterior& posterior, std::vector<std::string>& about) {
  ScheduledSolver model = std::get<ScheduledSolver>(setting.options);
  const families::FolderProblems all = families::read_folder(model.family);
  const algorithms::StepSchedule schedule(
      make_solver(model, families::rows_of_folder(model.family, all, 0, 1)), setting.steps);
  learning::require_layout(posterior, schedule.weights());
  const problems::Table values = schedule.settings_at(means_of(posterior));
  about.push_back(
      fmt::format("Settings of {} steps of {}, one after the other; later steps have those of the constant.",
                  setting.steps, model.method()));
  std::string text = fmt::format("#define {}_STEPS {}\n\n", options.name, setting.steps);
  for (Index s = 0; s < values.cols(); ++s) {
    const std::vector<double> column(values.col(s).begin(), values.col(s).end());
    text += array(options.name, posterior.layout.blocks[static_cast<std::size_t>(s)].name.c_str(), column);
  }
  return text;
}

}  // namespace

void ExportWeightsOptions::validate() const {
  require(!c_file.empty(), "--c: say which file is to be written");
  io::require_name_in_c(name);
}

std::string export_weights(const ExportWeightsOptions& options) {
  options.validate();
  const learning::Posterior posterior = learning::load_posterior(options.weights);
  require_digest(posterior, options.weights.string());
  LearnedSetting setting = setting_of(posterior, options.weights.string());
  if (setting.folder() != nullptr) setting.find_files(options.folder, options.weights);
  const std::string digest = learning::posterior_sha256(posterior);
  std::vector<std::string> about{
      fmt::format("Weights {}, SHA-256 {}.", options.weights.filename().string(), digest)};
  if (options.certificate.empty()) {
    about.emplace_back("No certificate was named (--certificate).");
  } else {
    const certify::ParsedCertificate parsed = certify::read_held_certificate(options.certificate.string());
    const auto& variants = parsed.certificate.variants;
    require(std::any_of(variants.begin(), variants.end(),
                        [&](const certify::Variant& variant) {
                          return variant.weights && variant.weights->sha256 == digest;
                        }),
            "{}: is not of the weights {}", options.certificate.string(), options.weights.string());
    about.push_back(fmt::format("Certificate {}, SHA-256 {}.", options.certificate.filename().string(),
                                io::sha256_of_file(options.certificate.string())));
  }
  std::string body;
  std::string what = "learned start";
  if (const auto* start = std::get_if<FolderStart>(&setting.options)) {
    body = start_source(*start, options, posterior, about);
  } else if (std::holds_alternative<ScheduledSolver>(setting.options)) {
    body = schedule_source(setting, options, posterior, about);
    what = "schedule";
  } else {
    throw InputError(fmt::format("{}: learned starts (warm-start) and schedules can be exported, not {}",
                                 options.weights.string(), setting.model));
  }
  std::string text = "/* Written by `surefoot export`: C99 that needs nothing else.\n";
  for (const std::string& line : about) text += fmt::format(" * {}\n", io::c_comment_line(line));
  io::write_file_atomically(options.c_file, text + " */\n\n" + body);
  return fmt::format("Written to {}: the {} {}\n", io::printable(options.c_file.string()), what,
                     options.name);
}

}  // namespace surefoot::experiments
