#pragma once

#include "surefoot/core/types.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

/// The worst case of a method over a class of operators or functions (performance estimation: Y. Drori and
/// M. Teboulle 2014; A. Taylor, J. Hendrickx and F. Glineur 2017), with a proof that needs no solver to
/// check.
namespace surefoot::worst_case {

/// start * (z^0 - z*) + sum_i outputs[i] * (what oracle call i returned). A point is such a vector with start
/// = 1, measured from the solution z*. Its coefficients are doubles and mean exactly these numbers.
struct Vector {
  double start = 0;
  std::vector<double> outputs;

  Vector& operator+=(const Vector& other);
  Vector& operator-=(const Vector& other);
  Vector& operator*=(double factor);
  friend Vector operator+(Vector a, const Vector& b) { return a += b; }
  friend Vector operator-(Vector a, const Vector& b) { return a -= b; }
  friend Vector operator*(double factor, Vector a) { return a *= factor; }
  /// Equal as vectors: zeros at the end do not count.
  friend bool operator==(const Vector& a, const Vector& b);
};

/// What is known of an operator or a function, at any two points with differences dx of the points and dg of
/// what the oracle returns. `averaged` and `lipschitz` return T z - z, and z* is a fixed point; all others
/// return the value (a gradient, a subgradient, an element of the operator), which is 0 at z*.
struct Class {
  enum class Kind {
    averaged,    ///< a = alpha in (0, 1]: <dx, dg> + |dg|^2 / (2 alpha) <= 0; 1 is nonexpansive
    lipschitz,   ///< a = factor >= 0: |dx + dg| <= a |dx|; below 1 a contraction
    monotone,    ///< a = mu >= 0: <dx, dg> >= mu |dx|^2
    cocoercive,  ///< a = beta > 0: <dx, dg> >= beta |dg|^2
    function,    ///< convex: a = mu >= 0, b = L > mu, infinity if it is not smooth; it has values
  };
  Kind kind = Kind::averaged;
  double a = 0;
  double b = 0;

  static Class averaged(double alpha) { return {Kind::averaged, alpha, 0}; }
  static Class lipschitz(double factor) { return {Kind::lipschitz, factor, 0}; }
  static Class monotone(double mu = 0) { return {Kind::monotone, mu, 0}; }
  static Class cocoercive(double beta) { return {Kind::cocoercive, beta, 0}; }
  static Class smooth(double L, double mu = 0) { return {Kind::function, mu, L}; }
  static Class convex(double mu = 0) { return {Kind::function, mu, infinity}; }

  [[nodiscard]] bool has_values() const { return kind == Kind::function; }
  /// Whether it can return only one thing at a point: neither subgradients nor monotone operators.
  [[nodiscard]] bool is_single_valued() const {
    return kind != Kind::monotone && (kind != Kind::function || b < infinity);
  }
  /// InputError if a or b are out of range.
  void validate() const;
  friend bool operator==(const Class&, const Class&) = default;
};

/// "averaged", ...; parse_kind refuses others by name.
std::string_view name(Class::Kind kind);
Class::Kind parse_kind(std::string_view text);

/// What is assumed of the start: |z^0 - z*| <= dist0, or the sum of the functions there at most gap0 above
/// its minimum.
enum class Initial { distance, gap };
std::string_view name(Initial initial);
Initial parse_initial(std::string_view text);

/// A method on unknown operators and functions: its oracle calls, in any order, what is measured and what is
/// assumed. All functions and operators share the solution z*, where each of them returns 0: with several
/// that is no restriction for methods that use sums of their outputs (tilt one function by a linear one and
/// another by its opposite), and an assumption for others.
class Method {
 public:
  struct Call {
    std::size_t oracle = 0;
    Vector point;
    Vector output;
  };
  struct Step {
    Vector point;
    Vector output;
  };

  /// What a method consists of, to be stored: outputs of calls are implied. A point may hold the output of
  /// its own call (an implicit step) and those of earlier ones.
  struct Parts {
    std::vector<Class> classes;
    std::vector<std::pair<std::size_t, Vector>> calls;
    std::vector<Vector> measured;
    std::vector<std::size_t> measured_values;
    Initial initial = Initial::distance;
    std::vector<std::size_t> assumed_values;
  };
  Method() = default;
  /// InputError if they do not fit together.
  explicit Method(Parts parts);

  /// Declares an operator or a function; returns its number.
  std::size_t add(const Class& what);
  /// The point z^0.
  [[nodiscard]] static Vector start() { return {1.0, {}}; }
  /// Calls an oracle at a point; what it returns. One of a single value returns the same at the same point.
  Vector call(std::size_t oracle, const Vector& point);
  /// The implicit step x = v - step * s with s what the oracle returns at x: the resolvent, the proximal
  /// operator.
  Step implicit(std::size_t oracle, const Vector& v, double step);

  /// What is bounded: the norm of a vector, ...
  void measure_norm(const Vector& vector);
  /// ... or the sum of all functions at a point minus its minimum; calls those that were not called there.
  void measure_gap(const Vector& point);
  /// Assumes the gap at the start at most 1 instead of the distance; calls the functions there.
  void assume_gap();

  [[nodiscard]] const std::vector<Class>& classes() const { return classes_; }
  [[nodiscard]] const std::vector<Call>& calls() const { return calls_; }
  /// Vectors whose squared norms add up to the metric; empty for a gap.
  [[nodiscard]] const std::vector<Vector>& measured() const { return measured_; }
  /// Calls whose values add up to the metric; empty for a norm.
  [[nodiscard]] const std::vector<std::size_t>& measured_values() const { return measured_values_; }
  [[nodiscard]] Initial initial() const { return initial_; }
  /// Calls at the start whose values are assumed; empty for the distance.
  [[nodiscard]] const std::vector<std::size_t>& assumed_values() const { return assumed_values_; }
  /// Whether z^0 - z* is in the basis. Without strong convexity a gap says nothing of it, and no multiplier
  /// of a condition that needs it could be positive.
  [[nodiscard]] bool has_start() const;
  /// Vectors of the basis: z^0 - z* if it is there, and one for each call.
  [[nodiscard]] std::size_t dimension() const { return calls_.size() + (has_start() ? 1 : 0); }
  /// A vector in that basis.
  [[nodiscard]] std::vector<double> coordinates(const Vector& vector) const;

  /// InputError if nothing is measured, or a bound cannot exist.
  void validate() const;

 private:
  std::vector<std::size_t> values_at(const Vector& point);
  [[nodiscard]] Vector next_output(std::size_t oracle, const Vector& point) const;
  /// The first call of an oracle at a point; as many as there are calls if there is none.
  [[nodiscard]] std::size_t find(std::size_t oracle, const Vector& point) const;
  void check(const Vector& vector, double start, const char* what) const;

  std::vector<Class> classes_;
  std::vector<Call> calls_;
  std::vector<Vector> measured_;
  std::vector<std::size_t> measured_values_;
  Initial initial_ = Initial::distance;
  std::vector<std::size_t> assumed_values_;
};

/// The interpolation condition of calls i and j, or of one of them and the solution.
struct Pair {
  static constexpr Index solution = -1;
  Index i = 0;
  Index j = 0;
  friend auto operator<=>(const Pair&, const Pair&) = default;
};

/// All conditions that a proof may use: ordered pairs of calls of a function, unordered ones (i < j, or j the
/// solution) of an operator.
std::vector<Pair> all_pairs(const Method& method);
/// False: no condition of this method is named so.
bool is_pair(const Method& method, const Pair& pair);

}  // namespace surefoot::worst_case
