#pragma once

#include "surefoot/algorithms/detail/dense_lanes.hpp"
#include "surefoot/algorithms/detail/kronecker.hpp"
#include "surefoot/algorithms/detail/normal_system.hpp"
#include "surefoot/algorithms/settings.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace surefoot::algorithms {

/// How the systems of a splitting method are solved.
enum class SystemKind {
  sparse,     ///< L D L', triangular solves in eight lanes
  dense,      ///< L L', products with the inverse triangles, 16 lanes
  kronecker,  ///< diagonal in a small eigenbasis, eight lanes
  /// L D L' of [P + diag(sigma), A'; A, -diag(1/rho)], eight lanes: A' rho A is never formed, which keeps
  /// the digits that a tiny sigma beside a large rho would lose.
  kkt,
};
std::string_view to_string(SystemKind kind);
/// Its name for the record; null: told by the patterns.
Setting::Value setting_of(const std::optional<SystemKind>& kind);

/// The linear algebra that OSQP and SCS share: products with P, A, A' and solves with
/// K = P + diag(sigma) + A' diag(rho) A, for all lanes of a block together. Numbers are shared by all
/// instances (factored once per family), or are each instance's own in its lane (factored once per block).
class SplittingSystem {
 public:
  /// Patterns are the unions over the given matrices. `own`: numbers differ between instances. `delicate`:
  /// sigma is tiny beside rho, choose the kkt kind where none is given.
  SplittingSystem(const std::vector<problems::SparseMatrix>& P, const std::vector<problems::SparseMatrix>& A,
                  bool own, std::optional<SystemKind> kind = std::nullopt, bool delicate = false);

  /// Numbers of matrices and factors; arrays in lane layout if they are the instances' own.
  struct Numbers {
    Index lanes = 1;      ///< numbers of each entry: 1 or width()
    Buffer P;             ///< on P()
    Buffer A;             ///< on A()
    Buffer A_transposed;  ///< on A_transposed(); filled by factor()
    Buffer sigma;         ///< n
    Buffer rho;           ///< m
    Buffer rho_inverse;   ///< m; filled by factor()
    Buffer kkt;           ///< kkt only: entries and diagonal, see factor()
    Buffer kkt_diagonal;
    NormalSystem::Numbers ldl;
    Buffer inverse_lower;  ///< dense only: L^{-1} with K = L L', n x n
    Buffer inverse_upper;  ///< its transpose
    std::optional<KroneckerSystem> kronecker;
  };

  [[nodiscard]] bool own() const { return own_; }
  [[nodiscard]] SystemKind kind() const { return kind_; }
  [[nodiscard]] Index width() const { return kind_ == SystemKind::dense ? 16 : 8; }
  [[nodiscard]] Index variables() const { return P_.rows; }
  [[nodiscard]] Index constraints() const { return A_.rows; }
  [[nodiscard]] const RowPattern& P() const { return P_; }
  [[nodiscard]] const RowPattern& A() const { return A_; }
  [[nodiscard]] const RowPattern& A_transposed() const { return A_transposed_; }
  [[nodiscard]] Index factor_entries() const { return normal_ ? normal_->factor_entries() : 0; }
  [[nodiscard]] Index factor_products() const { return normal_ ? normal_->factor_products() : 0; }

  [[nodiscard]] Numbers make_numbers() const { return make_numbers(own_ ? width() : 1); }
  [[nodiscard]] Numbers make_numbers(Index lanes) const;
  /// Factors for P, A, sigma, rho as they stand in `numbers`.
  void factor(Numbers& numbers) const;
  /// All of it but the elimination, which factor_again() does: what products need. Sparse and kkt only;
  /// allocates nothing.
  void arrange(Numbers& numbers) const;
  /// The same after a change of rho alone, sparse and kkt only; allocates nothing.
  void factor_again(Numbers& numbers) const;
  /// Matrices, sigma and rho that all instances share, in each of the lanes; factored there. Sparse and kkt.
  [[nodiscard]] Numbers in_lanes(const Numbers& shared) const;
  /// The factors of the first lane: the same bits as there.
  void take_factors(const Numbers& lanes, Numbers& shared) const;
  /// Takes the structure P = kron(G, G), A = identity, sigma and rho constant.
  void factor_kronecker(const problems::Matrix& G, Numbers& numbers) const;
  [[nodiscard]] Index scratch_size() const;

  /// x (n x W) with K x = rhs; rhs(i): lane values of entry i, called once for each i. Not for kkt.
  template <int W, bool Own, class Rhs>
  [[gnu::always_inline]] void solve(const Numbers& numbers, const Rhs& rhs, double* x,
                                    double* scratch) const {
    if (kind_ == SystemKind::sparse) {
      normal_->solve<W, Own>(numbers.ldl, rhs, x);
      return;
    }
    const Index n = variables();
    for (Index i = 0; i < n; ++i) rhs(static_cast<int>(i)).store(scratch + i * W);
    if (kind_ == SystemKind::dense) {
      multiply_lower(numbers.inverse_lower.data(), n, scratch, scratch + n * W, W);
      multiply_upper(numbers.inverse_upper.data(), n, scratch + n * W, x, W);
    } else {
      numbers.kronecker->solve(scratch, x, scratch + n * W);
    }
  }

  /// kkt only: (x, nu) ((n + m) x W) with (P + diag(sigma)) x + A' nu = rhs_x, A x - diag(1/rho) nu = rhs_nu;
  /// rhs(i) for i = 0 .. n + m - 1.
  template <int W, bool Own, class Rhs>
  [[gnu::always_inline]] void solve_kkt(const Numbers& numbers, const Rhs& rhs, double* x) const {
    normal_->solve<W, Own>(numbers.ldl, rhs, x);
  }

  /// y = P x, lanes of any width that is a multiple of 4 in the block.
  template <int W, bool Own>
  void multiply_P(const Numbers& numbers, const double* x, double* y, double* scratch) const {
    if (kind_ == SystemKind::kronecker) {
      numbers.kronecker->multiply(x, y, scratch);
      return;
    }
    for (Index i = 0; i < P_.rows; ++i) {
      Lanes<W> sum(0.0);
      add_row_product<W, Own>(P_, numbers.P.data(), i, x, sum);
      sum.store(y + i * W);
    }
  }

 private:
  void derive(Numbers& numbers) const;

  bool own_ = false;
  SystemKind kind_ = SystemKind::sparse;
  RowPattern P_;
  RowPattern A_;
  RowPattern A_transposed_;
  std::vector<int> transposed_source_;
  RowPattern kkt_;
  std::optional<NormalSystem> normal_;
};

}  // namespace surefoot::algorithms
