#include "surefoot/families/sparse_coding_files.hpp"

#include "surefoot/core/checked.hpp"
#include "surefoot/core/error.hpp"
#include "surefoot/families/family_key.hpp"

#include <cmath>
#include <filesystem>
#include <map>
#include <tuple>
#include <utility>

namespace surefoot::families {

namespace {

FamilyFiles files_of(const SparseCodingFiles& files) {
  std::map<std::string, std::string> given;
  for (const OwnFile* file : files.all()) given[file->name] = file->path;
  return {"", given};
}

problems::Matrix read_dictionary(FamilyFiles& reader, const OwnFile& file) {
  const problems::Matrix D(reader.read_matrix(file.name));
  for (Index j = 0; j < D.cols(); ++j) {
    require(D.col(j).allFinite(), "{}: column {} has a number that is not finite", file.path, j);
    const double norm = D.col(j).norm();
    require(norm > 0 && std::isfinite(norm), "{}: column {} has norm {}, must be positive", file.path, j,
            norm);
  }
  return D;
}

problems::Table read_rows_of(FamilyFiles& reader, const OwnFile& file, Index columns) {
  problems::Table table = reader.read_table(file.name);
  require(table.cols() == columns, "{}: has {} columns, must have {}", file.path, table.cols(), columns);
  for (Index i = 0; i < table.rows(); ++i)
    require(table.row(i).allFinite(), "{}: row {} has a number that is not finite", file.path, i);
  return table;
}

// The dictionary of the files, or the drawn one; constants that follow from it are filled in.
SparseCoding law_of(std::uint64_t seed, SparseCodingOptions& options, const SparseCodingFiles& files,
                    FamilyFiles& reader) {
  if (!files.dictionary.given()) return SparseCoding(seed, options);
  problems::Matrix D = read_dictionary(reader, files.dictionary);
  const std::string& path = files.dictionary.path;
  require(D.rows() <= D.cols(), "{}: is {} x {}, must not have more rows than columns", path, D.rows(),
          D.cols());
  const SparseCodingOptions usual;
  for (const auto& [name, said, is, otherwise] :
       {std::tuple("measurements", options.measurements, D.rows(), usual.measurements),
        std::tuple("variables", options.variables, D.cols(), usual.variables)}) {
    require(said == otherwise || said == is, "{}: {}, and {} is {} x {}", name, said, path, D.rows(),
            D.cols());
  }
  options.measurements = D.rows();
  options.variables = D.cols();
  return {seed, options, std::move(D)};
}

}  // namespace

void SparseCodingFiles::validate(const SparseCodingOptions& options, std::uint64_t seed) const {
  const SparseCodingOptions usual;
  require(codes.given() || !measurement_file.given(),
          "measurement_file: needs codes too, to compare with what layers find");
  require(!codes.given() || options.density == usual.density,
          "density: {}, and codes are given, so that none is drawn", options.density);
  require(!measurement_file.given() || options.noise == usual.noise,
          "noise: {}, and measurements are given, so that none is drawn", options.noise);
  require(!measurement_file.given() || !dictionary.given() || seed == 0,
          "seed: {}, and dictionary, codes and measurements are given, so that nothing is drawn", seed);
  std::map<std::filesystem::path, std::string> names;
  for (const OwnFile* file : all()) {
    if (!file->given()) continue;
    const auto [other, is_new] = names.emplace(std::filesystem::path(file->path).filename(), file->name);
    require(is_new, "{}: its file is called {}, as that of {}: guarantees find files by their names",
            file->name, other->first.string(), other->second);
  }
}

FamilyKey key_of(const SparseCodingOptions& options, const SparseCodingFiles& files) {
  FamilyKey key = key_of(options);
  for (const OwnFile* file : files.all())
    if (!file->sha256.empty()) key.constants[file->name] = file->sha256;
  return key;
}

OwnSparseCoding::OwnSparseCoding(std::uint64_t seed, SparseCodingOptions& options, SparseCodingFiles& files,
                                 std::vector<FamilyFiles::Read>* read)
    : drawn_([&] {
        FamilyFiles reader = files_of(files);
        SparseCoding law = law_of(seed, options, files, reader);
        if (files.codes.given()) codes_ = read_rows_of(reader, files.codes, options.variables);
        for (Index i = 0; i < codes_.rows(); ++i)
          require((codes_.row(i).array() != 0).any(), "{}: row {} is 0; a code has an entry that is not",
                  files.codes.path, i);
        if (files.measurement_file.given()) {
          measurements_ = read_rows_of(reader, files.measurement_file, options.measurements);
          require(measurements_.rows() == codes_.rows(), "{}: has {} rows, and {} has {}",
                  files.measurement_file.path, measurements_.rows(), files.codes.path, codes_.rows());
        }
        for (OwnFile* file : files.all()) {
          for (const FamilyFiles::Read& each : reader.files()) {
            if (each.name != file->name) continue;
            require(file->sha256.empty() || file->sha256 == each.sha256,
                    "{}: is not the file that the weights were trained on: its SHA-256 is {}, not {}",
                    each.file, each.sha256, file->sha256);
            file->sha256 = each.sha256;
          }
        }
        if (read != nullptr) *read = reader.files();
        return law;
      }()) {
  files_ = files;
}

problems::SparseCodes OwnSparseCoding::draw(SampleSet set, Index count, Index first) const {
  if (codes_.rows() == 0) return drawn_.draw(set, count, first);
  const Index there = codes_.rows();
  require(count >= 1 && first >= 0 && is_within(first, count, there),
          "{}: has rows 0 .. {}; samples {} .. {} are not all there", files_.codes.path, there - 1, first,
          first + count - 1);
  problems::SparseCodes samples = drawn_.measure(codes_.middleRows(first, count), first);
  if (measurements_.rows() > 0) samples.b = measurements_.middleRows(first, count);
  return samples;
}

}  // namespace surefoot::families
