#pragma once

#include "surefoot/experiments/guarantees.hpp"
#include "surefoot/experiments/looks.hpp"
#include "surefoot/experiments/rerun.hpp"
#include "surefoot/io/checkpoint_file.hpp"
#include "surefoot/io/result_folder.hpp"
#include "surefoot/report/text_table.hpp"

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

/// Guarantees of weights that users give, and the folder that shows them side by side: what `calibrate` does.
namespace surefoot::experiments {

/// Candidates need names of their own: those given (one each), or the folder or the file tells them apart.
void name_candidates(std::vector<Candidate>& candidates, const std::vector<std::string>& names);

std::vector<GuaranteeKind> kinds_named(const std::vector<std::string>& names);

/// Digests of the weights, as what a result depends on.
io::Configuration weights_read(const std::vector<Candidate>& candidates, const GuaranteePlan& plan);

/// The files that a repetition needs.
std::vector<RerunFile> rerun_files(const std::vector<Candidate>& candidates, const GuaranteePlan& plan);
/// Options of a command that makes the certificate of one kind again, where they are not as they were given.
RerunOptions rerun_options_of(GuaranteeKind kind, const std::vector<Candidate>& candidates,
                              const GuaranteePlan& plan);

/// Says in the certificates on fresh samples what is known of earlier looks at these, after writing this one
/// down.
void record_looks(LookBook& looks, std::vector<Guarantee>& guarantees);

/// All guarantees as one table with what is to be known of each column.
struct GuaranteeSummary {
  std::string title;
  report::TextTable table;
  std::string notes;

  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::string markdown() const;
};
GuaranteeSummary summary_of(const std::vector<Guarantee>& guarantees);

/// The output folder: guarantees.md and .tex, and a folder with certificate and report for each kind. Folders
/// of these kinds that are there are opened, and refused if they are not such, before the work.
class GuaranteeFolder {
 public:
  GuaranteeFolder(std::filesystem::path folder, const std::vector<GuaranteeKind>& kinds);
  /// Notices of figures are told to the host.
  void write(const std::vector<Guarantee>& guarantees, const GuaranteeSummary& summary);
  /// Folders of other kinds that an earlier call left: they stand on their own, and stay.
  [[nodiscard]] std::vector<std::filesystem::path> of_earlier_calls() const;
  [[nodiscard]] std::filesystem::path certificate_of(GuaranteeKind kind) const;

 private:
  io::ResultFolder& inner(GuaranteeKind kind);

  std::filesystem::path path_;
  std::vector<GuaranteeKind> kinds_;
  io::ResultFolder folder_;
  std::map<GuaranteeKind, std::unique_ptr<io::ResultFolder>> inner_;
};

}  // namespace surefoot::experiments
