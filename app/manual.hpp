#pragma once

#include "described_verbs.hpp"

#include <string>

/// "surefoot-run-qp", as its manual page is called.
std::string manual_name(const DescribedVerb& verb);
/// A manual page (man(7)) with what --help says.
std::string manual_page(const DescribedVerb& verb, const std::string& of_version);
