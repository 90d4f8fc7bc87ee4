#pragma once

#include "surefoot/problems/cone_program.hpp"

#include <filesystem>

namespace surefoot::experiments {

/// The cones that settings.toml of a folder of cone programs says, as `run cone` reads them. InputError if
/// there is no such file, or it names none.
problems::Cones cones_in(const std::filesystem::path& folder);

}  // namespace surefoot::experiments
