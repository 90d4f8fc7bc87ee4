#include "surefoot/algorithms/detail/splitting_system.hpp"

#include "surefoot/core/enum_names.hpp"
#include "surefoot/core/error.hpp"

#include <Eigen/Cholesky>

#include <algorithm>

namespace surefoot::algorithms {

using problems::Matrix;
using problems::SparseMatrix;

namespace {

constexpr EnumNames<SystemKind, 4> system_names{{{SystemKind::sparse, "sparse"},
                                                 {SystemKind::dense, "dense"},
                                                 {SystemKind::kronecker, "kronecker"},
                                                 {SystemKind::kkt, "kkt"}}};

Matrix dense_of(const RowPattern& pattern, const double* values) {
  Matrix matrix = Matrix::Zero(pattern.rows, pattern.columns);
  for (Index row = 0; row < pattern.rows; ++row) {
    for (int k = pattern.start[row]; k < pattern.start[row + 1]; ++k)
      matrix(row, pattern.index[k]) = values[k];
  }
  return matrix;
}

/// Whether eliminating K = P + I + A'A densely is clearly the better way, told before any ordering.
bool surely_dense(const RowPattern& P, const RowPattern& A) {
  if (P.rows < 16) return false;
  const auto n = static_cast<double>(P.rows);
  if (static_cast<double>(P.entries()) > 0.5 * n * n) return true;
  for (Index row = 0; row < A.rows; ++row) {
    if (static_cast<double>(A.start[row + 1] - A.start[row]) > 0.7 * n) return true;
  }
  return false;
}

}  // namespace

std::string_view to_string(SystemKind kind) {
  return name_in(system_names, kind);
}

Setting::Value setting_of(const std::optional<SystemKind>& kind) {
  if (!kind) return nullptr;
  return std::string(to_string(*kind));
}

SplittingSystem::SplittingSystem(const std::vector<SparseMatrix>& P, const std::vector<SparseMatrix>& A,
                                 bool own, std::optional<SystemKind> kind, bool delicate)
    : own_(own), P_(union_pattern(P)), A_(union_pattern(A)) {
  A_transposed_ = transposed(A_, transposed_source_);
  require(!own || !kind || *kind == SystemKind::sparse || *kind == SystemKind::kkt,
          "system: instances with matrices of their own need the kind sparse or kkt");
  if (kind) {
    kind_ = *kind;
  } else if (delicate) {
    kind_ = SystemKind::kkt;
  } else if (!own && surely_dense(P_, A_)) {
    kind_ = SystemKind::dense;
  }
  if (kind_ == SystemKind::kkt) {
    const int n = static_cast<int>(P_.rows);
    kkt_.rows = kkt_.columns = P_.rows + A_.rows;
    kkt_.start.push_back(0);
    for (Index i = 0; i < P_.rows; ++i) {
      for (int k = P_.start[i]; k < P_.start[i + 1]; ++k) kkt_.index.push_back(P_.index[k]);
      for (int k = A_transposed_.start[i]; k < A_transposed_.start[i + 1]; ++k) {
        kkt_.index.push_back(n + A_transposed_.index[k]);
      }
      kkt_.start.push_back(static_cast<int>(kkt_.index.size()));
    }
    for (Index i = 0; i < A_.rows; ++i) {
      for (int k = A_.start[i]; k < A_.start[i + 1]; ++k) kkt_.index.push_back(A_.index[k]);
      kkt_.start.push_back(static_cast<int>(kkt_.index.size()));
    }
    RowPattern none;
    none.columns = kkt_.rows;
    none.start.push_back(0);
    normal_.emplace(kkt_, none);
  }
  if (kind_ == SystemKind::sparse) {
    normal_.emplace(P_, A_);
    // Two triangular solves cost 4 * entries operations at a lower rate than a product's 2 n^2.
    const auto n = static_cast<double>(P_.rows);
    if (!kind && !own && P_.rows >= 16 && static_cast<double>(normal_->factor_entries()) > 0.25 * n * n) {
      kind_ = SystemKind::dense;
      normal_.reset();
    }
  }
}

SplittingSystem::Numbers SplittingSystem::make_numbers(Index lanes) const {
  Numbers numbers;
  numbers.lanes = lanes;
  numbers.P = make_buffer(P_.entries(), lanes);
  numbers.A = make_buffer(A_.entries(), lanes);
  numbers.A_transposed = make_buffer(A_.entries(), lanes);
  numbers.sigma = make_buffer(variables(), lanes);
  numbers.rho = make_buffer(constraints(), lanes);
  numbers.rho_inverse = make_buffer(constraints(), lanes);
  if (kind_ == SystemKind::kkt) {
    numbers.kkt = make_buffer(kkt_.entries(), lanes);
    numbers.kkt_diagonal = make_buffer(kkt_.rows, lanes);
  }
  if (normal_) numbers.ldl = normal_->make_numbers(lanes);
  return numbers;
}

void SplittingSystem::derive(Numbers& numbers) const {
  const Index lanes = numbers.lanes;
  for (std::size_t k = 0; k < transposed_source_.size(); ++k) {
    std::copy_n(numbers.A.data() + transposed_source_[k] * lanes, lanes,
                numbers.A_transposed.data() + static_cast<Index>(k) * lanes);
  }
  for (std::size_t k = 0; k < numbers.rho.size(); ++k) numbers.rho_inverse[k] = 1 / numbers.rho[k];
}

void SplittingSystem::factor(Numbers& numbers) const {
  if (kind_ == SystemKind::dense) {
    derive(numbers);
    const Matrix A = dense_of(A_, numbers.A.data());
    const Eigen::Map<const problems::Vector> rho(numbers.rho.data(), constraints());
    const Eigen::Map<const problems::Vector> sigma(numbers.sigma.data(), variables());
    Matrix K = dense_of(P_, numbers.P.data());
    K += A.transpose() * rho.asDiagonal() * A;
    K += sigma.asDiagonal();
    const Eigen::LLT<Matrix> cholesky(K);
    require(cholesky.info() == Eigen::Success, "P: P + sigma I + A' rho A is not positive definite");
    const problems::Table lower =
        cholesky.matrixL().solve(Matrix(Matrix::Identity(variables(), variables())));
    const problems::Table upper = lower.transpose();
    numbers.inverse_lower.assign(lower.data(), lower.data() + lower.size());
    numbers.inverse_upper.assign(upper.data(), upper.data() + upper.size());
    return;
  }
  arrange(numbers);
  factor_again(numbers);
}

void SplittingSystem::arrange(Numbers& numbers) const {
  derive(numbers);
  if (kind_ == SystemKind::kkt) {
    const Index lanes = numbers.lanes;
    double* to = numbers.kkt.data();
    const auto append = [&](const Buffer& values, int first, int last) {
      to = std::copy(values.data() + first * lanes, values.data() + last * lanes, to);
    };
    for (Index i = 0; i < variables(); ++i) {
      append(numbers.P, P_.start[i], P_.start[i + 1]);
      append(numbers.A_transposed, A_transposed_.start[i], A_transposed_.start[i + 1]);
    }
    for (Index i = 0; i < constraints(); ++i) append(numbers.A, A_.start[i], A_.start[i + 1]);
    std::copy(numbers.sigma.begin(), numbers.sigma.end(), numbers.kkt_diagonal.data());
  }
}

void SplittingSystem::factor_again(Numbers& numbers) const {
  for (std::size_t k = 0; k < numbers.rho.size(); ++k) numbers.rho_inverse[k] = 1 / numbers.rho[k];
  const auto eliminate = [&](const double* P, const double* A, const double* diagonal, const double* rho) {
    if (numbers.lanes == 1) {
      normal_->factor<double>(P, A, diagonal, rho, numbers.ldl);
    } else {
      normal_->factor<Lanes<8>>(P, A, diagonal, rho, numbers.ldl);
    }
  };
  if (kind_ == SystemKind::kkt) {
    double* to = numbers.kkt_diagonal.data() + numbers.sigma.size();
    for (const double value : numbers.rho_inverse) *to++ = -value;
    eliminate(numbers.kkt.data(), nullptr, numbers.kkt_diagonal.data(), nullptr);
  } else if (kind_ == SystemKind::sparse) {
    eliminate(numbers.P.data(), numbers.A.data(), numbers.sigma.data(), numbers.rho.data());
  }
}

SplittingSystem::Numbers SplittingSystem::in_lanes(const Numbers& shared) const {
  const Index W = width();
  Numbers numbers = make_numbers(W);
  const auto spread = [&](const Buffer& from, Buffer& to) {
    for (std::size_t k = 0; k < from.size(); ++k) {
      std::fill_n(to.begin() + static_cast<Index>(k) * W, W, from[k]);
    }
  };
  spread(shared.P, numbers.P);
  spread(shared.A, numbers.A);
  spread(shared.sigma, numbers.sigma);
  spread(shared.rho, numbers.rho);
  factor(numbers);
  return numbers;
}

void SplittingSystem::take_factors(const Numbers& lanes, Numbers& shared) const {
  const auto take = [&](const Buffer& from, Buffer& to) {
    for (std::size_t k = 0; k < to.size(); ++k) to[k] = from[k * static_cast<std::size_t>(lanes.lanes)];
  };
  take(lanes.ldl.by_rows, shared.ldl.by_rows);
  take(lanes.ldl.by_columns, shared.ldl.by_columns);
  take(lanes.ldl.inverse_pivots, shared.ldl.inverse_pivots);
}

void SplittingSystem::factor_kronecker(const Matrix& G, Numbers& numbers) const {
  require(kind_ == SystemKind::kronecker && !own_, "kind: must be kronecker with shared matrices");
  derive(numbers);
  numbers.kronecker.emplace(G, 1.0, numbers.sigma[0] + numbers.rho[0]);
}

Index SplittingSystem::scratch_size() const {
  switch (kind_) {
    case SystemKind::sparse:
    case SystemKind::kkt:
      return 0;
    case SystemKind::dense:
      return 2 * variables() * width();
    case SystemKind::kronecker:
      return 4 * variables() * width();
  }
  return 0;
}

}  // namespace surefoot::algorithms
