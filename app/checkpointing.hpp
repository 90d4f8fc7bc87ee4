#pragma once

#include "surefoot/certify/count_journal.hpp"
#include "surefoot/core/bytes.hpp"
#include "surefoot/io/checkpoint_file.hpp"
#include "surefoot/problems/matrix.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

/// Where a verb keeps what it has come to, the same for every long one.
struct CheckpointOptions {
  std::filesystem::path folder;  ///< empty: nothing is kept
  bool resume = false;
  double seconds = 10;

  /// Creates the folder; InputError if files cannot be written there, or nothing could be gone on with.
  void prepare() const;
  /// The one file of a verb, or the one of this process where each of several has its own.
  [[nodiscard]] std::filesystem::path file(const std::string& verb) const;
  [[nodiscard]] std::filesystem::path own_file(const std::string& verb) const;
  /// For the user who stops the work.
  [[nodiscard]] std::string how_to_go_on() const;
};

/// --checkpoint, --resume and --checkpoint-seconds; `usual` is the folder if --checkpoint is not given, in
/// words.
void add_checkpoint_options(CLI::App& verb, CheckpointOptions& options, const std::string& usual = "");

/// Everything that the result of a verb depends on: the program's version, the options as they were given,
/// and `data`, which says what is in its files. Options that name files or do not change results are left
/// out.
surefoot::io::Configuration configuration_of(const CLI::App& verb, const surefoot::io::Configuration& data);

/// The journal of a verb that counts. Its work stops when StopSignals says so. Says if it goes on with
/// something.
std::unique_ptr<surefoot::certify::CountJournal> open_journal(const CheckpointOptions& options,
                                                              const CLI::App& verb,
                                                              const surefoot::io::Configuration& data);

/// A table that takes long to make: a piece of the journal, so that one of an earlier process is not made
/// again.
surefoot::problems::Table kept_table(surefoot::certify::CountJournal& journal,
                                     const std::function<surefoot::problems::Table()>& make);

/// Tables in what journals keep.
void write_table(const surefoot::problems::Table& table, surefoot::ByteWriter& to);
surefoot::problems::Table read_table(surefoot::ByteReader& from);

/// Journals of work that has many parts, always the same ones in the same order: a file for each, so that
/// what is finished takes no memory and is not written again and again. Goes on with the files that are in
/// the folder, and says so; one that is damaged, of another build or of other weights is begun anew.
class PartJournals {
 public:
  /// InputError if another number of processes left something.
  PartJournals(std::filesystem::path folder, surefoot::io::Configuration configuration, double seconds);
  /// Writes what the last part has come to.
  ~PartJournals();
  PartJournals(const PartJournals&) = delete;
  PartJournals& operator=(const PartJournals&) = delete;

  /// Of the next part, which depends on these weights (a digest of them). The one before is written and gone.
  surefoot::certify::CountJournal& next(const std::string& weights = "");
  /// All parts are done and their result is safe: nothing more is written.
  void close() { current_.reset(); }

 private:
  CheckpointOptions place_;
  surefoot::io::Configuration configuration_;
  std::unique_ptr<surefoot::certify::CountJournal> current_;
  int parts_ = 0;
  bool said_ = false;
};

/// Tells the user that work goes on from a checkpoint.
void say_gone_on_from(const std::filesystem::path& checkpoint);
