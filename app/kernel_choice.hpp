#pragma once

#include <string>
#include <vector>

/// `--kernels LEVEL`, which every verb takes: the kernels are those of the library that is loaded when a
/// program starts, so that other ones mean starting anew.
namespace kernel_choice {

/// The level that the words ask for, "" if they ask for none, which are then without it; what follows "--"
/// belongs to another program. InputError if the level is missing.
std::string taken_out_of(std::vector<std::string>& words);

/// Makes sure that this process has kernels of the level: starts the program anew, with the same arguments,
/// if it has others. InputError if it cannot be.
void insist_on(const std::string& level, char** argv);

/// What insist_on() has put into the environment is gone after this; programs that are started from here see
/// nothing of it. Called first.
void clean_environment();

/// What the process was asked for, for `verify --rerun`; empty: nothing.
std::string& asked();

}  // namespace kernel_choice
