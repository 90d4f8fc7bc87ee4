#pragma once

#include "surefoot/problems/cone_program.hpp"
#include "surefoot/problems/lasso.hpp"
#include "surefoot/problems/qp.hpp"
#include "surefoot/problems/quadratic.hpp"

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace surefoot::families {

/// The files of a user's family. A folder has them under documented names: P, A (.mtx, .mtx.gz, .npy) and
/// tables q, l, u or b, c (.csv, .csv.gz, .npy), one row per instance or one row for all; of quadratics P and
/// c, of lasso problems the matrix D, the table b and one number, weight. A file given by name stands before
/// the folder.
class FamilyFiles {
 public:
  /// `given`: name -> file, empty where not given. `folder` may be empty.
  FamilyFiles(std::filesystem::path folder, std::map<std::string, std::string> given);

  problems::Qp read_qp();
  problems::ConeProgram read_cone_program(problems::Cones cones);
  problems::Quadratic read_quadratic();
  problems::Lasso read_lasso();
  /// One row per instance; for example starts.
  problems::Table read_table(const std::string& name);
  /// One matrix.
  problems::SparseMatrix read_matrix(const std::string& name);
  /// Whether a file of that name was given or lies in the folder, as a matrix or as a table.
  [[nodiscard]] bool has(const std::string& name) const;

  /// The file of a table, without reading it; InputError if there is none.
  [[nodiscard]] std::string table_file(const std::string& name) const;
  /// Of a table that was read elsewhere.
  void note_read(const std::string& name, const std::string& file, const std::string& sha256) {
    files_.push_back({name, file, sha256});
  }
  /// InputError unless the numbers of a first row are no header, as pandas writes it.
  static void require_no_column_numbers(const std::string& path, bool can_be_header, const double* row,
                                        Index columns, Index rows);

  /// Runs `check`; an error in it that begins with the name of an argument gets the argument's file put
  /// before it; plant_A is the argument of the file plant-A.
  void with_file_names(const std::function<void()>& check) const;

  /// Name, file name and SHA-256 of each file read.
  struct Read {
    std::string name;
    std::string file;
    std::string sha256;
  };
  [[nodiscard]] const std::vector<Read>& files() const { return files_; }

 private:
  [[nodiscard]] std::string find(const std::string& name, const std::vector<std::string>& endings) const;
  /// Empty if there is none.
  [[nodiscard]] std::string look_for(const std::string& name, const std::vector<std::string>& endings) const;
  std::vector<problems::SparseMatrix> read_matrices(const std::string& name);
  void remember(const std::string& name, const std::string& path);

  std::filesystem::path folder_;
  std::map<std::string, std::string> given_;
  std::vector<Read> files_;
};

}  // namespace surefoot::families
