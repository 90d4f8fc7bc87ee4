#pragma once

#include "surefoot/certify/certificate.hpp"
#include "surefoot/certify/classical.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/report/html.hpp"
#include "surefoot/report/picture.hpp"
#include "surefoot/report/plot.hpp"
#include "surefoot/report/report.hpp"
#include "surefoot/report/text_table.hpp"
#include "surefoot/runs/metric.hpp"
#include "surefoot/runs/run.hpp"
#include "surefoot/runs/tally.hpp"

#include "checkpointing.hpp"
#include "paper_tables.hpp"
#include "record.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

/// What the paper's experiments share: nested samples counted while they run, tables with the paper's numbers
/// beside ours, figures, files.
namespace reproduce {

using surefoot::Index;

struct Settings {
  std::uint64_t seed = 0;
  Index samples = 0;  ///< 0: the experiment's own number
  Index steps = 0;    ///< 0: the experiment's own horizon
  std::filesystem::path folder;
  CheckpointOptions checkpoint;       ///< as asked for; always gone on from
  std::uint64_t memory_limit = 0;     ///< 0: what is there
  int threads = 0;                    ///< 0: all cores
  std::string letters;                ///< folder of EMNIST files; empty: drawn letters
  std::string blur = "box";           ///< or gaussian
  std::string scale = "paper";        ///< or quick: a short horizon, fewer samples
  std::string models;                 ///< sparse coding: list of models; empty: all
  Index epochs = 0;                   ///< sparse coding: at most so many per stage; 0: as the recipes say
  std::filesystem::path checkpoints;  ///< folder of this very experiment with these settings
  PartJournals* journals = nullptr;   ///< of what it counts, part by part, in that folder
};

class Output;

/// Each experiment runs, prints its tables and writes its files into the prepared folder.
void robust_kalman(const Settings& settings, Output& output);
void deblurring(const Settings& settings, Output& output);
void sparse_coding(const Settings& settings, Output& output);
void l2ws(const Settings& settings, Output& output);
void maml(const Settings& settings, Output& output);
void mpc_warm_start(const Settings& settings, Output& output);

/// The file of EMNIST's letters in a folder, if there is one; or InputError.
std::optional<std::string> find_letters(const std::string& folder);
std::string letters_file(const std::string& folder);

inline constexpr std::array<double, 3> table_quantiles{0.3, 0.9, 0.99};
inline constexpr double claim_delta = 1e-4;                 ///< of a risk claim, and of ours on a budget
inline constexpr double quantile_delta = 81 * claim_delta;  ///< of a quantile: the paper's grid of 81

/// A metric with what is claimed of it.
struct Subject {
  std::string slug;  ///< of its files, "residual"
  surefoot::runs::Metric metric;
  std::vector<double> tolerances;  ///< increasing
  std::vector<Index> extra_steps;  ///< that claims speak of besides the default ones
};

/// Counts of one subject over the first sizes[i] of the samples.
struct Measured {
  Subject subject;
  surefoot::certify::Options claims;  ///< resolved
  std::vector<Index> sizes;           ///< 10, 100, 1000, ending in the number of samples
  std::vector<surefoot::runs::Tally> tallies;
};

/// 10, 100, 1000 as far as they are below `samples`, and `samples`.
std::vector<Index> nested_sizes(Index samples);

/// Runs the operator once and counts all subjects as it goes; traces are never stored.
std::vector<Measured> measure(const surefoot::algorithms::Operator& op, const std::vector<Subject>& subjects,
                              const surefoot::runs::RunOptions& options,
                              surefoot::certify::CountJournal& journal);

/// The worst case of a 1/2-averaged operator from an estimate of ||z^0 - z*||: never a guarantee.
struct WorstCaseEstimate {
  double dist0 = 0;
  std::string why;  ///< it is an estimate: what of it is no theorem or no fact
};

/// The paper's table and the same of ours.
struct ComparisonPlan {
  std::string title;
  paper::Table table;
  /// One unit of the paper's tolerances in units of the metric (10 ln is 10 log10(e) times 10 log10).
  double tolerance_factor = 1;
  Index paper_observed_samples = 1000;  ///< behind the paper's observed column
  std::optional<WorstCaseEstimate> worst_case = {};
  bool same_metric = true;       ///< false: the paper's cells are of another metric, and left out
  std::string explanation = {};  ///< of differences beyond sampling error
};

struct Cell {
  std::optional<Index> paper;
  std::optional<Index> kl;     ///< ours by the paper's method
  std::optional<Index> exact;  ///< ours: the paper's claim made sound, at every step from there on
  std::optional<Index> stays;  ///< ours: problems that settle, a stronger claim
};

struct ComparisonRow {
  double quantile = 0;
  double paper_tolerance = 0;
  double tolerance = 0;
  std::optional<double> paper_worst_case;
  std::optional<double> worst_case;
  std::optional<Index> paper_observed;
  std::optional<Index> observed;
  std::vector<Cell> cells;  ///< by size
};

struct Comparison {
  std::string slug;
  std::string title;
  bool has_paper = true;  ///< false: the paper has no numbers of this metric
  std::vector<Index> sizes;
  std::vector<ComparisonRow> rows;
  std::string worst_case_note;           ///< of what the worst case is an estimate; empty: there is none
  std::vector<std::string> differences;  ///< a line for each beyond sampling error, or looser than the paper
  Index cells_compared = 0;              ///< where the paper or we have a bound
  Index cells_at_least_as_tight = 0;
};

Comparison compare(const Measured& measured, const std::string& slug, const ComparisonPlan& plan);
surefoot::report::TextTable to_table(const Comparison& comparison);

/// Success rates and quantiles over the steps from N = 10, 100, ... with the bounds of both methods.
surefoot::report::Figure success_figure(const Measured& measured);
surefoot::report::Figure quantile_figure(const Measured& measured);

/// The certificate of all samples: total delta 0.01, of which each iteration budget has claim_delta.
surefoot::certify::Certificate certificate_of(const Measured& measured, const std::string& title,
                                              const std::string& source, const std::string& run_json);

/// Columns headed "group: header".
std::string to_csv(const surefoot::report::TextTable& table);

/// Collects what goes into the output folder.
class Output {
 public:
  /// The command that makes certificates again, from the folder of one inside the output.
  using Rerun = std::function<std::string(const std::string& subfolder)>;
  /// Ids in its figures begin with `name`, so that those of several can stand in one page.
  Output(const std::filesystem::path& folder, std::string name, Rerun rerun)
      : result_(folder), name_(std::move(name)), rerun_(std::move(rerun)) {
    result_.begin();
  }
  void write(const std::string& name, const std::string& content);
  /// A result in a folder inside, which has its own manifest.
  void add_result(const std::string& subfolder);
  /// Writes the last file and the manifest.
  void finish(const std::string& name, const std::string& content);
  /// Prints the table and its differences, and writes it as Markdown, CSV and LaTeX.
  void add(const Comparison& comparison);
  /// table_SLUG.csv and table_SLUG.tex.
  void add_table(const surefoot::report::ResultTable& table);
  /// SVG and PDF.
  void add(const surefoot::report::Figure& figure);
  /// The same for a picture; returns it as it stands in a page.
  template <class Picture>
  surefoot::report::PageFigure add_picture(const Picture& picture) {
    using surefoot::report::ImageFormat;
    const surefoot::report::Image pdf = render(picture, ImageFormat::pdf);
    add_image(pdf, picture.name + ".pdf");
    add_image(surefoot::report::outlined(pdf, picture.name), picture.name + ".svg");
    surefoot::report::PageFigure shown =
        page_figure(render(picture, ImageFormat::svg), id_of(picture.name), picture.caption);
    record_.figures.push_back(shown);
    return shown;
  }
  /// certificate.json and its report in a folder inside ("": the folder itself). A main certificate is shown
  /// with its figures where several experiments stand in one page.
  void add(surefoot::certify::Certificate certificate, const std::string& subfolder,
           const std::vector<surefoot::report::PageFigure>& pictures, bool main = false);
  /// Once per text, on standard error.
  void notice(const std::string& text);
  [[nodiscard]] const std::filesystem::path& folder() const { return result_.path(); }
  /// What was added.
  [[nodiscard]] const Record& record() const { return record_; }

 private:
  [[nodiscard]] std::string id_of(const std::string& figure) const { return name_ + '-' + figure; }
  void add_image(const surefoot::report::Image& image, const std::string& name);
  void add(const surefoot::report::Report& report, const std::string& subfolder);

  surefoot::io::ResultFolder result_;
  std::string name_;
  Rerun rerun_;
  std::vector<std::string> notices_;
  Record record_;
};

}  // namespace reproduce
