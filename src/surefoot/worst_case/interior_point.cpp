#include "surefoot/worst_case/interior_point.hpp"

#include "surefoot/core/parallel.hpp"

#include <Eigen/Cholesky>

#include <algorithm>
#include <cmath>

namespace surefoot::worst_case {

namespace {

using Matrix = Eigen::MatrixXd;
using Column = Eigen::VectorXd;

// One inequality <A, X> + b'f <= rhs; A is between at most three vectors.
struct Condition {
  std::array<Difference, 3> vectors;
  Core<double> weights;
  std::vector<std::pair<Index, double>> values;  // b
  double rhs = 0;
};

class Program {
 public:
  Program(const Method& method, const std::vector<Pair>& pairs) : method_(method) {
    method.validate();
    const std::size_t calls = method.calls().size();
    const std::size_t n = method.dimension();
    const std::vector<double> units = basis_units();
    const auto scaled = [&](const Vector& vector) {
      std::vector<double> all = method.coordinates(vector);
      for (std::size_t k = 0; k < n; ++k) all[k] *= units[k];
      return all;
    };
    // Points, outputs, the start, and a row of zeros that stands for index -1.
    rows_ = Matrix::Zero(to_index(2 * calls + 2), to_index(n));
    const auto set_row = [&](std::size_t row, const Vector& vector) {
      const std::vector<double> all = scaled(vector);
      rows_.row(to_index(row)) = Eigen::Map<const Eigen::RowVectorXd>(all.data(), to_index(n));
    };
    for (std::size_t e = 0; e < calls; ++e) {
      set_row(2 * e, method.calls()[e].point);
      set_row(2 * e + 1, method.calls()[e].output);
    }
    set_row(2 * calls, Method::start());
    objective_ = Matrix::Zero(to_index(n), to_index(n));
    for (const Vector& vector : method.measured()) {
      const std::vector<double> all = scaled(vector);
      const Eigen::Map<const Column> v(all.data(), to_index(n));
      objective_ += v * v.transpose();
    }
    for (std::size_t e = 0; e < calls; ++e) {
      value_of_.push_back(method.classes()[method.calls()[e].oracle].has_values() ? values_++ : -1);
    }
    value_objective_ = Column::Zero(values_);
    for (const std::size_t call : method.measured_values()) value_objective_(value_of_[call]) += 1.0;
    conditions_.push_back(initial_condition());
    for (const Pair& pair : pairs) conditions_.push_back(condition(pair));
    normalise();
  }

  [[nodiscard]] Condition condition(const Pair& pair) const {
    const Class& what = class_of(method_, pair);
    Condition result{pair_vectors(what, pair), core<double>(what), {}, 0.0};
    if (what.has_values()) {
      const auto value = [&](Index call) { return value_of_[static_cast<std::size_t>(call)]; };
      if (pair.j != Pair::solution) result.values.emplace_back(value(pair.j), 1.0);
      if (pair.i != Pair::solution) result.values.emplace_back(value(pair.i), -1.0);
    }
    return result;
  }

  [[nodiscard]] const std::vector<Condition>& conditions() const { return conditions_; }
  [[nodiscard]] const Matrix& objective() const { return objective_; }
  [[nodiscard]] const Column& value_objective() const { return value_objective_; }
  [[nodiscard]] Index values() const { return values_; }
  [[nodiscard]] Index dimension() const { return rows_.cols(); }

  /// P W P'.
  [[nodiscard]] Matrix gram(const Matrix& symmetric) const {
    const Matrix half = rows_ * symmetric;
    Matrix result(rows_.rows(), rows_.rows());
    result.triangularView<Eigen::Lower>() = half * rows_.transpose();
    result.triangularView<Eigen::StrictlyUpper>() = result.transpose();
    return result;
  }
  /// <A, W> from P W P'.
  [[nodiscard]] double inner(const Condition& condition, const Matrix& gram) const {
    double sum = 0;
    for (std::size_t a = 0; a < condition.weights.size; ++a) {
      for (std::size_t b = 0; b < condition.weights.size; ++b)
        sum += condition.weights.entry[a][b] * between(gram, condition.vectors[a], condition.vectors[b]);
    }
    return sum;
  }
  [[nodiscard]] Column inner(const Matrix& gram) const {
    Column result(to_index(conditions_.size()));
    for (std::size_t p = 0; p < conditions_.size(); ++p) result(to_index(p)) = inner(conditions_[p], gram);
    return result;
  }
  /// b'f of each condition.
  [[nodiscard]] Column value_terms(const Column& f) const {
    Column result = Column::Zero(to_index(conditions_.size()));
    for (std::size_t p = 0; p < conditions_.size(); ++p) {
      for (const auto& [index, weight] : conditions_[p].values) result(to_index(p)) += weight * f(index);
    }
    return result;
  }
  /// sum_p y_p b_p.
  [[nodiscard]] Column balance(const Column& y) const {
    Column result = Column::Zero(values_);
    for (std::size_t p = 0; p < conditions_.size(); ++p) {
      for (const auto& [index, weight] : conditions_[p].values) result(index) += weight * y(to_index(p));
    }
    return result;
  }
  /// sum_p y_p A_p.
  [[nodiscard]] Matrix combination(const Column& y) const {
    Matrix form = Matrix::Zero(rows_.rows(), rows_.rows());
    for (std::size_t p = 0; p < conditions_.size(); ++p) {
      const Condition& condition = conditions_[p];
      for (std::size_t a = 0; a < condition.weights.size; ++a) {
        for (std::size_t b = 0; b < condition.weights.size; ++b) {
          const double weight = y(to_index(p)) * condition.weights.entry[a][b];
          const Place u = place(condition.vectors[a]);
          const Place v = place(condition.vectors[b]);
          form(u.plus, v.plus) += weight;
          form(u.minus, v.minus) += weight;
          form(u.plus, v.minus) -= weight;
          form(u.minus, v.plus) -= weight;
        }
      }
    }
    const Matrix half = form * rows_;
    Matrix result = rows_.transpose() * half;
    return 0.5 * (result + result.transpose());
  }
  /// tr(A_p X A_q S^{-1}), lower triangle.
  [[nodiscard]] Matrix schur_complement(const Matrix& gram_x, const Matrix& gram_s) const {
    const Index m = to_index(conditions_.size());
    Matrix result(m, m);
    constexpr Index block_size = 16;
    parallel_blocks((m + block_size - 1) / block_size, [&](Index block) {
      std::array<Column, 3> of_x;
      std::array<Column, 3> of_s;
      for (Index q = block * block_size; q < std::min(m, (block + 1) * block_size); ++q) {
        const Condition& second = conditions_[static_cast<std::size_t>(q)];
        const std::size_t size = second.weights.size;
        for (std::size_t b = 0; b < size; ++b) {
          const Place at = place(second.vectors[b]);
          of_x[b] = gram_x.col(at.plus) - gram_x.col(at.minus);
          of_s[b] = gram_s.col(at.plus) - gram_s.col(at.minus);
        }
        for (Index p = q; p < m; ++p)
          result(p, q) = entry(conditions_[static_cast<std::size_t>(p)], second, of_x, of_s);
      }
    });
    return result;
  }

  /// Multipliers of the conditions as they were before normalise().
  [[nodiscard]] DualPoint unscaled(const Column& y) const {
    DualPoint result{y(0) * condition_units_[0] / objective_unit_, {}};
    for (std::size_t p = 1; p < conditions_.size(); ++p)
      result.pairs.push_back(y(to_index(p)) * condition_units_[p] / objective_unit_);
    return result;
  }
  /// By how much a condition that is not part of the program is violated, relative to its size.
  [[nodiscard]] double violation(const Pair& pair, const Matrix& gram, const Column& f) const {
    const Condition other = condition(pair);
    double sum = inner(other, gram);
    for (const auto& [index, weight] : other.values) sum += weight * f(index) * value_unit_;
    return sum / std::max(norm(other), 1e-300);
  }

 private:
  struct Place {
    Index plus;
    Index minus;
  };
  static Index to_index(std::size_t value) { return static_cast<Index>(value); }
  [[nodiscard]] Place place(const Difference& vector) const {
    const Index zero = rows_.rows() - 1;
    return {vector.plus < 0 ? zero : vector.plus, vector.minus < 0 ? zero : vector.minus};
  }
  [[nodiscard]] double between(const Matrix& gram, const Difference& u, const Difference& v) const {
    const Place a = place(u);
    const Place b = place(v);
    return gram(a.plus, b.plus) - gram(a.plus, b.minus) - gram(a.minus, b.plus) + gram(a.minus, b.minus);
  }
  // tr(C_p G C_q H') with G, H the products of the vectors of p and q by X and S^{-1}.
  [[nodiscard]] double entry(const Condition& first, const Condition& second,
                             const std::array<Column, 3>& of_x, const std::array<Column, 3>& of_s) const {
    const std::size_t rows = first.weights.size;
    const std::size_t columns = second.weights.size;
    double g[3][3];
    double h[3][3];
    for (std::size_t a = 0; a < rows; ++a) {
      const Place at = place(first.vectors[a]);
      for (std::size_t b = 0; b < columns; ++b) {
        g[a][b] = of_x[b](at.plus) - of_x[b](at.minus);
        h[a][b] = of_s[b](at.plus) - of_s[b](at.minus);
      }
    }
    double sum = 0;
    for (std::size_t a = 0; a < rows; ++a) {
      for (std::size_t b = 0; b < columns; ++b) {
        double left = 0;   // (C_p G)_ab
        double right = 0;  // (H C_q)_ab
        for (std::size_t k = 0; k < rows; ++k) left += first.weights.entry[a][k] * g[k][b];
        for (std::size_t k = 0; k < columns; ++k) right += h[a][k] * second.weights.entry[k][b];
        sum += left * right;
      }
    }
    return sum;
  }

  // Outputs in units in which the points are of the size of the start.
  [[nodiscard]] std::vector<double> basis_units() const {
    const std::vector<Method::Call>& calls = method_.calls();
    std::vector<double> largest(method_.classes().size(), 0.0);
    for (const Method::Call& call : calls) {
      for (std::size_t i = 0; i < call.point.outputs.size(); ++i)
        largest[calls[i].oracle] = std::max(largest[calls[i].oracle], std::abs(call.point.outputs[i]));
    }
    std::vector<double> units;
    if (method_.has_start()) units.push_back(1.0);
    for (const Method::Call& call : calls) {
      const Class& what = method_.classes()[call.oracle];
      const bool smooth = what.has_values() && what.b < infinity;
      const double unit = smooth ? what.b : largest[call.oracle] > 0.0 ? 1.0 / largest[call.oracle] : 1.0;
      units.push_back(unit);
    }
    return units;
  }

  [[nodiscard]] Condition initial_condition() const {
    Condition result{{}, {}, {}, 1.0};
    if (method_.initial() == Initial::distance) {
      result.vectors[0] = {to_index(2 * method_.calls().size()), -1};
      result.weights.size = 1;
      result.weights.entry[0][0] = 1.0;
    }
    for (const std::size_t call : method_.assumed_values()) result.values.emplace_back(value_of_[call], 1.0);
    return result;
  }

  // Frobenius norm of A: sqrt(tr(C G C G)), G the Gram matrix of the vectors.
  [[nodiscard]] double norm(const Condition& condition) const {
    const std::size_t size = condition.weights.size;
    Eigen::Matrix3d weights = Eigen::Matrix3d::Zero();
    Eigen::Matrix3d gram = Eigen::Matrix3d::Zero();
    for (std::size_t a = 0; a < size; ++a) {
      for (std::size_t b = 0; b < size; ++b) {
        const Place u = place(condition.vectors[a]);
        const Place v = place(condition.vectors[b]);
        weights(to_index(a), to_index(b)) = condition.weights.entry[a][b];
        gram(to_index(a), to_index(b)) =
            (rows_.row(u.plus) - rows_.row(u.minus)).dot(rows_.row(v.plus) - rows_.row(v.minus));
      }
    }
    const Eigen::Matrix3d product = weights * gram;
    return std::sqrt(std::max(0.0, (product * product).trace()));
  }

  // Conditions, values and objective of size 1.
  void normalise() {
    for (const Condition& condition : conditions_) {
      const double size = norm(condition);
      condition_units_.push_back(size > 0.0 ? 1.0 / size : 0.0);
    }
    double values = 0;
    for (std::size_t p = 1; p < conditions_.size(); ++p) {
      if (!conditions_[p].values.empty()) values = std::max(values, condition_units_[p]);
    }
    value_unit_ = values > 0.0 ? 1.0 / values : 1.0;
    for (std::size_t p = 0; p < conditions_.size(); ++p) {
      if (condition_units_[p] == 0.0) condition_units_[p] = 1.0 / value_unit_;
      for (auto& row : conditions_[p].weights.entry) {
        for (double& weight : row) weight *= condition_units_[p];
      }
      for (auto& value : conditions_[p].values) value.second *= condition_units_[p] * value_unit_;
      conditions_[p].rhs *= condition_units_[p];
    }
    const double size = std::max(objective_.norm(), value_objective_.norm() * value_unit_);
    objective_unit_ = size > 0.0 ? 1.0 / size : 1.0;
    objective_ *= objective_unit_;
    value_objective_ *= objective_unit_ * value_unit_;
  }

  const Method& method_;
  Matrix rows_;
  Matrix objective_;        // C
  Column value_objective_;  // c
  std::vector<Index> value_of_;
  Index values_ = 0;
  std::vector<Condition> conditions_;
  std::vector<double> condition_units_;
  double value_unit_ = 1;
  double objective_unit_ = 1;
};

bool is_positive_definite(const Matrix& matrix) {
  return matrix.allFinite() && Eigen::LLT<Matrix>(matrix).info() == Eigen::Success;
}

// The largest step in (0, 1], up to a few percent, that keeps matrix + step * direction positive definite.
double matrix_step(const Matrix& matrix, const Matrix& direction) {
  if (is_positive_definite(matrix + direction)) return 1.0;
  double low = 0;
  double high = 1;
  for (int i = 0; i < 40 && high - low > 0.03 * high; ++i) {
    const double middle = low > 0.0 ? 0.5 * (low + high) : 0.4 * high;
    (is_positive_definite(matrix + middle * direction) ? low : high) = middle;
  }
  return low;
}

double vector_step(const Column& vector, const Column& direction) {
  double step = 1;
  for (Index i = 0; i < vector.size(); ++i) {
    if (direction(i) < 0.0) step = std::min(step, -vector(i) / direction(i));
  }
  return step;
}

Matrix symmetric_part(const Matrix& matrix) {
  return 0.5 * (matrix + matrix.transpose());
}

class Iteration {
 public:
  explicit Iteration(const Program& program) : program_(program) {
    const Index n = program.dimension();
    const auto m = static_cast<Index>(program.conditions().size());
    x_ = Matrix::Identity(n, n);
    s_ = Matrix::Identity(n, n);
    y_ = Column::Ones(m);
    slack_ = Column::Ones(m);
    f_ = Column::Zero(program.values());
    rhs_.resize(m);
    for (Index p = 0; p < m; ++p) rhs_(p) = program.conditions()[static_cast<std::size_t>(p)].rhs;
    values_of_conditions_ = Matrix::Zero(program.values(), m);
    for (Index p = 0; p < m; ++p) {
      for (const auto& [index, weight] : program.conditions()[static_cast<std::size_t>(p)].values)
        values_of_conditions_(index, p) += weight;
    }
    size_ = static_cast<double>(n + m);
  }

  /// One step; false when no more is possible.
  bool advance() {
    gram_x_ = program_.gram(x_);
    const Column inner_x = program_.inner(gram_x_);
    primal_residual_ = rhs_ - inner_x - program_.value_terms(f_) - slack_;
    const Matrix dual_residual = s_ - (program_.combination(y_) - program_.objective());
    const Column balance_residual = program_.value_objective() - program_.balance(y_);
    primal_error_ = primal_residual_.norm() / (1.0 + rhs_.norm());
    dual_error_ = (dual_residual.norm() + balance_residual.norm()) / (1.0 + program_.objective().norm());
    mu_ = ((x_.cwiseProduct(s_)).sum() + y_.dot(slack_)) / size_;
    if (!std::isfinite(mu_) || !std::isfinite(primal_error_) || !std::isfinite(dual_error_)) return false;
    if (dual_error_ < feasible && gap() < 1e-9) return false;
    // Rounding errors of the primal keep the gap from closing when the dual has long come to rest.
    const double value = dual_value();
    resting_ = gap() < 1e-5 && std::abs(value - last_value_) < 1e-11 * std::abs(value) ? resting_ + 1 : 0;
    last_value_ = value;
    if (resting_ == 2) return false;
    if (primal_error_ < std::max(1e-7, best_error_)) {
      x_best_ = x_;
      f_best_ = f_;
      best_error_ = primal_error_;
    }

    const Eigen::LLT<Matrix> factor_s(s_);
    if (factor_s.info() != Eigen::Success) return false;
    const Matrix inverse = symmetric_part(factor_s.solve(Matrix::Identity(s_.rows(), s_.cols())));
    const Matrix gram_s = program_.gram(inverse);
    Matrix schur = program_.schur_complement(gram_x_, gram_s);
    schur.diagonal() += slack_.cwiseQuotient(y_);
    if (!factor(schur)) return false;
    const Column inner_s = program_.inner(gram_s);
    // Near the end the dual residual is rounding noise.
    const bool dual_feasible = dual_error_ < 1e-13;
    const Column inner_r = dual_feasible
                               ? Column(Column::Zero(y_.size()))
                               : program_.inner(program_.gram(symmetric_part(x_ * dual_residual * inverse)));

    const auto direction = [&](double target, const Matrix* second_matrix, const Column* second_vector) {
      Direction d;
      Column right =
          target * inner_s - inner_x + inner_r - primal_residual_ - slack_ + target * y_.cwiseInverse();
      if (second_matrix != nullptr)
        right -= program_.inner(program_.gram(*second_matrix)) + second_vector->cwiseQuotient(y_);
      solve_for(right, balance_residual, d);
      d.s = program_.combination(d.y) - dual_residual;
      d.x = target * inverse - x_ - symmetric_part(x_ * d.s * inverse);
      d.slack = (target * y_.cwiseInverse() - slack_) - slack_.cwiseProduct(d.y).cwiseQuotient(y_);
      if (second_matrix != nullptr) {
        d.x -= *second_matrix;
        d.slack -= second_vector->cwiseQuotient(y_);
      }
      return d;
    };
    const Direction predictor = direction(0.0, nullptr, nullptr);
    const double primal_guess = std::min(vector_step(slack_, predictor.slack), matrix_step(x_, predictor.x));
    const double dual_guess = std::min(vector_step(y_, predictor.y), matrix_step(s_, predictor.s));
    const double after =
        ((x_ + primal_guess * predictor.x).cwiseProduct(s_ + dual_guess * predictor.s).sum() +
         (slack_ + primal_guess * predictor.slack).dot(y_ + dual_guess * predictor.y)) /
        size_;
    const double ratio = std::clamp(after / mu_, 0.0, 1.0);
    const double smallest = std::min(primal_guess, dual_guess);
    // Until a full step has made the dual feasible, stay near enough to the centre that one can be taken.
    const double least = dual_error_ > feasible && gap() < 1.0 ? 0.3 : 1e-3;
    const double sigma = std::clamp(smallest > 0.5 ? ratio * ratio * ratio : ratio * ratio, least, 0.9);
    const Matrix second_matrix = symmetric_part(predictor.x * predictor.s * inverse);
    const Column second_vector = predictor.y.cwiseProduct(predictor.slack);
    const Direction d = direction(sigma * mu_, &second_matrix, &second_vector);
    // A full step, if it stays inside with room to spare, makes the point feasible once for all.
    constexpr double further = 1.0 / 0.95;
    const double primal = std::min(matrix_step(x_, further * d.x), vector_step(slack_, further * d.slack));
    const double dual = std::min(matrix_step(s_, further * d.s), vector_step(y_, further * d.y));
    if (!(primal > 1e-6) && !(dual > 1e-6)) return false;
    x_ += primal * d.x;
    f_ += primal * d.f;
    slack_ += primal * d.slack;
    y_ += dual * d.y;
    s_ += dual * d.s;
    return true;
  }

  [[nodiscard]] double dual_value() const { return rhs_.dot(y_); }
  [[nodiscard]] double gap() const { return mu_ * size_ / std::max(std::abs(dual_value()), 1e-12); }
  [[nodiscard]] const Column& y() const { return y_; }
  /// The last primal point that was feasible: later ones may be rounding noise.
  [[nodiscard]] const Column& f() const { return f_best_; }
  [[nodiscard]] const Matrix& x() const { return x_best_; }
  [[nodiscard]] double best_error() const { return best_error_; }

 private:
  static constexpr double feasible = 1e-10;  ///< a dual error that a full step has made, up to rounding

  struct Direction {
    Matrix x;
    Matrix s;
    Column y;
    Column slack;
    Column f;
  };

  bool factor(Matrix& schur) {
    // A little more on the diagonal where rounding has taken positive definiteness away.
    const Column diagonal = schur.diagonal();
    for (const double more : {0.0, 1e-15, 1e-13, 1e-11}) {
      schur.diagonal() = diagonal * (1.0 + more);
      schur_.compute(schur.selfadjointView<Eigen::Lower>());
      if (schur_.info() == Eigen::Success) break;
    }
    if (schur_.info() != Eigen::Success) return false;
    if (program_.values() == 0) return true;
    half_ = schur_.matrixL().solve(values_of_conditions_.transpose());
    Matrix of_values(half_.cols(), half_.cols());
    of_values.setZero();
    of_values.selfadjointView<Eigen::Lower>().rankUpdate(half_.transpose());
    value_factor_.compute(of_values.selfadjointView<Eigen::Lower>());
    return value_factor_.info() == Eigen::Success;
  }
  // schur dy - B' df = right, B dy = balance.
  void solve_for(const Column& right, const Column& balance, Direction& d) const {
    d.f = Column::Zero(program_.values());
    if (program_.values() > 0) {
      const Column first = schur_.matrixL().solve(right);
      d.f = value_factor_.solve(balance - half_.transpose() * first);
    }
    d.y = schur_.solve(right + values_of_conditions_.transpose() * d.f);
  }

  const Program& program_;
  Matrix x_;
  Matrix s_;
  Column y_;
  Column slack_;
  Column f_;
  Column rhs_;
  Matrix values_of_conditions_;  // B
  Eigen::LLT<Matrix> schur_;
  Matrix half_;  // L^{-1} B'
  Eigen::LLT<Matrix> value_factor_;
  Matrix gram_x_;
  Matrix x_best_;
  Column f_best_;
  double best_error_ = infinity;
  double last_value_ = infinity;
  int resting_ = 0;
  Column primal_residual_;
  double size_ = 1;
  double mu_ = 1;
  double primal_error_ = 1;
  double dual_error_ = 1;
};

}  // namespace

InteriorPoint solve(const Method& method, const std::vector<Pair>& pairs, const std::vector<Pair>& others,
                    const Interrupt& interrupt) {
  const Program program(method, pairs);
  Iteration iteration(program);
  InteriorPoint result;
  constexpr int most_iterations = 100;
  while (result.iterations < most_iterations && iteration.advance()) {
    if (interrupt) interrupt();
    ++result.iterations;
    result.iterates.push_back(program.unscaled(iteration.y()));
  }
  const Matrix gram = program.gram(iteration.x());
  for (const Pair& pair : others)
    result.violations.push_back(program.violation(pair, gram, iteration.f()) - 10.0 * iteration.best_error());
  return result;
}

}  // namespace surefoot::worst_case
