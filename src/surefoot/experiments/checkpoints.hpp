#pragma once

#include "surefoot/certify/count_journal.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/io/checkpoint_file.hpp"
#include "surefoot/problems/matrix.hpp"

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

namespace surefoot::experiments {

/// Where a verb keeps what it has come to, the same for every long one.
struct CheckpointOptions {
  std::filesystem::path folder;  ///< empty: nothing is kept
  bool resume = false;
  double seconds = 10;

  /// Creates the folder; InputError if files cannot be written there, or there is nothing to resume from.
  void prepare() const;
  /// The one file of a verb, or the one of this process where each of several has its own.
  [[nodiscard]] std::filesystem::path file(const std::string& verb) const;
  [[nodiscard]] std::filesystem::path own_file(const std::string& verb) const;
};

/// What a table has; 0: whatever there is.
struct TableShape {
  Index rows = 0;
  Index columns = 0;
};

/// A table that takes long to make: a piece of the journal, so that one of an earlier process is not made
/// again. InputError if that one is of another shape.
problems::Table kept_table(certify::CountJournal& journal, const std::function<problems::Table()>& make,
                           TableShape shape = {});

/// How files of a work begin: "run-qp" for "run qp".
std::string checkpoint_stem(std::string work);

/// InputError if another number of processes left files in the folder that begin with `beginning`: each
/// counted another part of the runs, so that they cannot be resumed.
void require_as_many_processes(const CheckpointOptions& options, const std::string& beginning);

/// Tables in what journals keep.
void write_table(const problems::Table& table, ByteWriter& to);
problems::Table read_table(ByteReader& from);

/// Journals of work that has many parts, always the same ones in the same order: a file for each, so that
/// what is finished takes no memory and is not written again and again. Goes on with the files that are in
/// the folder, and says so; one that is damaged, of another build or of other weights is begun anew.
class PartJournals {
 public:
  /// How files of a work begin: "run-qp" for "run qp".
  std::string checkpoint_stem(std::string work);

  /// InputError if another number of processes left something.
  PartJournals(std::filesystem::path folder, io::Configuration configuration, double seconds);
  /// Writes what the last part has come to.
  ~PartJournals();
  PartJournals(const PartJournals&) = delete;
  PartJournals& operator=(const PartJournals&) = delete;

  /// Of the next part, which depends on these weights (a digest of them). The one before is written and gone.
  certify::CountJournal& next(const std::string& weights = "");
  /// All parts are done and their result is safe: nothing more is written.
  void close() { current_.reset(); }

 private:
  CheckpointOptions place_;
  io::Configuration configuration_;
  std::unique_ptr<certify::CountJournal> current_;
  int parts_ = 0;
  bool said_ = false;
};

/// Tells the user that work resumes from a checkpoint.
void say_gone_on_from(const std::filesystem::path& checkpoint);

}  // namespace surefoot::experiments
