#pragma once

#include "surefoot/core/types.hpp"
#include "surefoot/io/byte_source.hpp"

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace surefoot::io {

/// A named array of doubles, row-major.
struct Tensor {
  std::string name;
  std::vector<Index> shape;
  std::vector<double> values;
};

/// What a file in the safetensors format holds: 8 bytes with the length of the header (little-endian), the
/// header (JSON: name -> dtype, shape, data_offsets; __metadata__: texts), then the numbers. Python reads it
/// with the package `safetensors`. Every tensor here is F64.
struct Safetensors {
  std::vector<Tensor> tensors;  ///< in the order of their data
  std::map<std::string, std::string> metadata;

  /// Null: there is no such tensor.
  [[nodiscard]] const Tensor* find(std::string_view name) const;
};

/// The bytes of the file. InputError if a name is given twice, is __metadata__, or a shape does not fit.
std::string to_safetensors(const Safetensors& content);

/// Limits on what a file may ask for; its own claims cost no memory beyond its size.
struct SafetensorsLimits {
  std::size_t header_bytes = std::size_t{1} << 20;
  std::size_t data_bytes = std::size_t{4} << 30;
};

/// Reads and checks: a header of the right kind without names given twice, F64 tensors whose data follow one
/// another without gap or overlap from the first byte to the last. InputError names the source and the place.
Safetensors read_safetensors(ByteSource& source, const SafetensorsLimits& limits = {});
Safetensors read_safetensors(const std::filesystem::path& path, const SafetensorsLimits& limits = {});

}  // namespace surefoot::io
