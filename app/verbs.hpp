#pragma once

#include <CLI/CLI.hpp>

/// Each verb adds its subcommand; parsing runs it through a callback, which sets the exit code.
void add_ask_verb(CLI::App& app, int& exit_code);
void add_bound_verb(CLI::App& app);
void add_calibrate_verb(CLI::App& app);
void add_certify_verb(CLI::App& app);
void add_compare_verb(CLI::App& app, int& exit_code);
void add_completion_verb(CLI::App& app);
void add_manual_verb(CLI::App& app);
void add_export_verb(CLI::App& app);
void add_monitor_verb(CLI::App& app, int& exit_code);
void add_run_verb(CLI::App& app, int& exit_code);
/// Of `run`.
void add_run_command(CLI::App& run, int& exit_code);
void add_run_drawn(CLI::App& run);
void add_run_loop(CLI::App& run);
void add_plan_verb(CLI::App& app);
void add_reproduce_verb(CLI::App& app);
void add_train_verb(CLI::App& app);
void add_tune_verb(CLI::App& app, int& exit_code);
/// Of `tune`.
void add_tune_command(CLI::App& tune, int& exit_code);
void add_verify_verb(CLI::App& app, int& exit_code);
void add_worst_case_verb(CLI::App& app, int& exit_code);
