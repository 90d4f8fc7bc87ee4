#pragma once

#include "described_verbs.hpp"

#include <string>
#include <vector>

/// A script that completes verbs, options and files. InputError unless the shell is bash, zsh or fish.
std::string completion_script(const std::string& shell, const std::vector<DescribedVerb>& verbs);
