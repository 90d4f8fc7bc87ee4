#pragma once

#include "surefoot/certify/count_journal.hpp"
#include "surefoot/experiments/checkpoints.hpp"
#include "surefoot/experiments/looks.hpp"
#include "surefoot/io/checkpoint_file.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

/// Options that long verbs share: checkpoints, memory, the ledger of looks.

/// --checkpoint, --resume and --checkpoint-seconds; `usual` is the folder if --checkpoint is not given, in
/// words.
void add_checkpoint_options(CLI::App& verb, surefoot::experiments::CheckpointOptions& options,
                            const std::string& usual = "");
/// For the user who stops the work.
std::string how_to_go_on(const surefoot::experiments::CheckpointOptions& options);

/// Everything that the result of a verb depends on: the program's version, the options as they were given,
/// and `data`, which says what is in its files. Options that name files or do not change results are left
/// out.
surefoot::io::Configuration configuration_of(const CLI::App& verb, const surefoot::io::Configuration& data);

/// The journal of a verb that counts. Its work stops when StopSignals says so. Says if it goes on with
/// something.
std::unique_ptr<surefoot::certify::CountJournal> open_journal(
    const surefoot::experiments::CheckpointOptions& options, const CLI::App& verb,
    const surefoot::io::Configuration& data);

/// --memory-limit
void add_memory_option(CLI::App& verb, std::uint64_t& limit);

/// --ledger, and with it --look-again.
void add_ledger_option(CLI::App& verb, surefoot::experiments::LookOptions& options);
void add_look_options(CLI::App& verb, surefoot::experiments::LookOptions& options);
