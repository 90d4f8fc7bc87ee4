#include "surefoot/algorithms/cones.hpp"

#include "surefoot/algorithms/detail/triple_cones.hpp"
#include "surefoot/core/error.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>

namespace surefoot::algorithms {

using problems::Cones;

SemidefiniteRoom::SemidefiniteRoom(const Cones& cones, Index width) {
  Index largest = 0;
  for (const Index order : cones.semidefinite) largest = std::max(largest, order);
  matrix = make_buffer(largest * largest, width);
  vectors = make_buffer(largest * largest, width);
}

namespace {

template <int W>
Lanes<W> absolute(const Lanes<W>& a) {
  return max(a, Lanes<W>(0.0) - a);
}

/// Eigenvalues on the diagonal of M, eigenvectors in the columns of V. Rotations stop in a lane as soon as
/// its entries off the diagonal are below the rounding of its norm; later sweeps leave it as it is. Returns
/// 0, or NaN in lanes whose squares overflow or hold one: there the diagonal says nothing.
template <int W>
Lanes<W> jacobi(Index order, double* M, double* V) {
  using L = Lanes<W>;
  const auto at = [&](double* matrix, Index i, Index j) { return matrix + (i * order + j) * W; };
  L norm(0.0);
  for (Index i = 0; i < order; ++i) {
    for (Index j = 0; j < order; ++j) {
      L(i == j ? 1.0 : 0.0).store(at(V, i, j));
      const L entry = L::load(at(M, i, j));
      norm.add_product(entry, entry);
    }
  }
  const L threshold = sqrt(norm) * L(0x1p-54 / static_cast<double>(order));
  const L zero(0.0);
  const L one(1.0);
  for (int sweep = 0; sweep < 40; ++sweep) {
    L largest(0.0);
    for (Index p = 0; p + 1 < order; ++p) {
      for (Index q = p + 1; q < order; ++q) {
        const L pq = L::load(at(M, p, q));
        const L size = absolute(pq);
        const L excess = max(size - threshold, zero);
        largest = max(largest, excess);
        if (!any_positive(excess)) continue;
        const L pp = L::load(at(M, p, p));
        const L qq = L::load(at(M, q, q));
        // t = tan of the angle: sign(theta) / (|theta| + sqrt(theta^2 + 1)), theta = (qq - pp) / (2 pq).
        const L theta = (qq - pp) / (pq + pq);
        const L root = one / (absolute(theta) + sqrt(theta * theta + one));
        L t = where_greater(zero, theta, zero - root, root);
        t = where_greater(excess, zero, t, zero);
        const L c = one / sqrt(t * t + one);
        const L s = t * c;
        for (Index i = 0; i < order; ++i) {
          if (i != p && i != q) {
            const L ip = L::load(at(M, i, p));
            const L iq = L::load(at(M, i, q));
            const L new_ip = c * ip - s * iq;
            const L new_iq = s * ip + c * iq;
            new_ip.store(at(M, i, p));
            new_ip.store(at(M, p, i));
            new_iq.store(at(M, i, q));
            new_iq.store(at(M, q, i));
          }
          const L vp = L::load(at(V, i, p));
          const L vq = L::load(at(V, i, q));
          (c * vp - s * vq).store(at(V, i, p));
          (s * vp + c * vq).store(at(V, i, q));
        }
        (pp - t * pq).store(at(M, p, p));
        (qq + t * pq).store(at(M, q, q));
        const L left = where_greater(excess, zero, zero, pq);
        left.store(at(M, p, q));
        left.store(at(M, q, p));
      }
    }
    if (!any_positive(largest)) break;
  }
  return zero * norm;
}

/// A symmetric matrix of each lane from its entries in the layout of problems::Cones, and back.
template <int W>
void unpack_symmetric(Index order, const double* entry, double* matrix) {
  using L = Lanes<W>;
  const L shrink(1 / std::numbers::sqrt2);
  for (Index j = 0; j < order; ++j) {
    for (Index i = j; i < order; ++i, entry += W) {
      const L value = i == j ? L::load(entry) : shrink * L::load(entry);
      value.store(matrix + (i * order + j) * W);
      value.store(matrix + (j * order + i) * W);
    }
  }
}
template <int W, class Entry>
void pack_symmetric(Index order, const Entry& entry_of, double* target) {
  using L = Lanes<W>;
  const L stretch(std::numbers::sqrt2);
  for (Index j = 0; j < order; ++j) {
    for (Index i = j; i < order; ++i, target += W) {
      const L value = entry_of(i, j);
      (i == j ? value : stretch * value).store(target);
    }
  }
}

/// Square matrices in lane layout: entry (i, k) is W lanes at data + (i * row + k * column) * W.
struct LaneMatrix {
  const double* data;
  Index row;
  Index column;
  [[nodiscard]] LaneMatrix transposed() const { return {data, column, row}; }
};

template <int W>
Lanes<W> product_entry(Index order, const LaneMatrix& left, const LaneMatrix& right, Index i, Index j) {
  Lanes<W> sum(0.0);
  for (Index k = 0; k < order; ++k) {
    sum.add_product(Lanes<W>::load(left.data + (i * left.row + k * left.column) * W),
                    Lanes<W>::load(right.data + (k * right.row + j * right.column) * W));
  }
  return sum;
}

template <class Call>
void with_width(Index width, const Call& call) {
  require(width == 8 || width == 16, "width: is {}, must be 8 or 16", width);
  if (width == 8) {
    call(std::integral_constant<int, 8>());
  } else {
    call(std::integral_constant<int, 16>());
  }
}

template <int W>
Lanes<W> tail_norm(Index dimension, const double* v) {
  Lanes<W> squares(0.0);
  for (Index i = 1; i < dimension; ++i) {
    squares.add_product(Lanes<W>::load(v + i * W), Lanes<W>::load(v + i * W));
  }
  return sqrt(squares);
}

/// The points of the cones of three rows at v, lane by lane, replaced by what `map` gives for them.
template <int W, class Map>
void each_triple(const Cones& cones, double* v, const Map& map) {
  for (Index number = 0; number < cones.triples(); ++number, v += 3 * W) {
    for (int lane = 0; lane < W; ++lane) {
      const Triple result = map(number, lane, Triple{v[lane], v[W + lane], v[2 * W + lane]});
      for (int i = 0; i < 3; ++i) v[i * W + lane] = result[i];
    }
  }
}

template <int W>
void project(const Cones& cones, bool dual, double* v, SemidefiniteRoom& room) {
  using L = Lanes<W>;
  if (!dual) std::fill_n(v, cones.zero * W, 0.0);
  v += cones.zero * W;
  for (Index i = 0; i < cones.nonnegative; ++i, v += W) max(L::load(v), L(0.0)).store(v);
  for (const Index dimension : cones.second_order) {
    L top;
    L factor;
    second_order_projection(L::load(v), tail_norm<W>(dimension, v), top, factor);
    top.store(v);
    for (Index i = 1; i < dimension; ++i) (factor * L::load(v + i * W)).store(v + i * W);
    v += dimension * W;
  }
  for (const Index order : cones.semidefinite) {
    project_semidefinite<W>(order, v, room);
    v += order * (order + 1) / 2 * W;
  }
  each_triple<W>(cones, v, [&](Index number, int /*lane*/, const Triple& point) {
    return dual ? project_dual_triple(cones, number, point) : project_triple(cones, number, point);
  });
}

template <int W>
void second_order_vjp(Index dimension, const double* v, double* d) {
  using L = Lanes<W>;
  const L zero(0.0);
  const L t = L::load(v);
  const L norm = tail_norm<W>(dimension, v);
  const L d_t = L::load(d);
  L along(0.0);  // w'd with w = v / norm
  for (Index i = 1; i < dimension; ++i) along.add_product(L::load(v + i * W), L::load(d + i * W));
  along = along / norm;
  // Between the cone and its polar: 1/2 [1 w'; w (1 + t/norm) I - (t/norm) w w'].
  const L half(0.5);
  const L ratio = t / norm;
  const auto choose = [&](const L& inside, const L& between) {
    return where_greater(norm, t, where_greater(t + norm, zero, between, zero), inside);
  };
  choose(d_t, half * (d_t + along)).store(d);
  for (Index i = 1; i < dimension; ++i) {
    const L d_i = L::load(d + i * W);
    const L w = L::load(v + i * W) / norm;
    choose(d_i, half * (d_i + ratio * d_i + w * (d_t - ratio * along))).store(d + i * W);
  }
}

/// See project_dual_cone_vjp.
template <int W>
void semidefinite_vjp(Index order, const double* v, double* d, SemidefiniteRoom& room) {
  using L = Lanes<W>;
  const L zero(0.0);
  if (order == 1) {
    where_greater(L::load(v), zero, L::load(d), zero).store(d);
    return;
  }
  if (room.direction.empty()) room.direction = room.product = room.matrix;
  double* M = room.matrix.data();
  const auto matrix = [&](const Buffer& buffer) { return LaneMatrix{buffer.data(), order, 1}; };
  const auto each = [&](Buffer& target, const auto& entry_of) {
    for (Index i = 0; i < order; ++i) {
      for (Index j = 0; j < order; ++j) entry_of(i, j).store(target.data() + (i * order + j) * W);
    }
  };
  unpack_symmetric<W>(order, v, M);
  jacobi<W>(order, M, room.vectors.data());
  unpack_symmetric<W>(order, d, room.direction.data());
  const LaneMatrix V = matrix(room.vectors);
  const LaneMatrix D = matrix(room.direction);
  const LaneMatrix product = matrix(room.product);
  each(room.product, [&](Index i, Index j) { return product_entry<W>(order, V.transposed(), D, i, j); });
  each(room.direction, [&](Index i, Index j) {
    const L first = L::load(M + (i * order + i) * W);
    const L second = L::load(M + (j * order + j) * W);
    // B without cancellation, and 1 or 0 for equal eigenvalues: (l_i^+ + l_j^+) / (|l_i| + |l_j|).
    const L size = absolute(first) + absolute(second);
    const L share = (max(first, zero) + max(second, zero)) / size;
    return where_greater(size, zero, share, zero) * product_entry<W>(order, product, V, i, j);
  });
  each(room.product, [&](Index i, Index j) { return product_entry<W>(order, V, D, i, j); });
  pack_symmetric<W>(
      order, [&](Index i, Index j) { return product_entry<W>(order, product, V.transposed(), i, j); }, d);
}

}  // namespace

template <int W>
void project_semidefinite(Index order, double* v, SemidefiniteRoom& room, double* smallest) {
  using L = Lanes<W>;
  if (order == 1) {
    if (smallest != nullptr) L::load(v).store(smallest);
    max(L::load(v), L(0.0)).store(v);
    return;
  }
  double* M = room.matrix.data();
  double* V = room.vectors.data();
  unpack_symmetric<W>(order, v, M);
  const L poison = jacobi<W>(order, M, V);
  if (smallest != nullptr) {
    L least = L::load(M);
    for (Index i = 1; i < order; ++i) least = min(least, L::load(M + (i * order + i) * W));
    (least + poison).store(smallest);
  }
  pack_symmetric<W>(
      order,
      [&](Index i, Index j) {
        L sum = poison;
        for (Index k = 0; k < order; ++k) {
          const L value = max(L::load(M + (k * order + k) * W), L(0.0));
          sum.add_product(value * L::load(V + (i * order + k) * W), L::load(V + (j * order + k) * W));
        }
        return sum;
      },
      v);
}

template void project_semidefinite<8>(Index, double*, SemidefiniteRoom&, double*);
template void project_semidefinite<16>(Index, double*, SemidefiniteRoom&, double*);

void project_cone(const Cones& cones, double* v, Index width, SemidefiniteRoom& room) {
  with_width(width, [&](auto W) { project<decltype(W)::value>(cones, false, v, room); });
}

void project_dual_cone(const Cones& cones, double* v, Index width, SemidefiniteRoom& room) {
  with_width(width, [&](auto W) { project<decltype(W)::value>(cones, true, v, room); });
}

void project_dual_triples(const Cones& cones, double* v, Index width) {
  with_width(width, [&](auto W) {
    each_triple<decltype(W)::value>(cones, v, [&](Index number, int /*lane*/, const Triple& point) {
      return project_dual_triple(cones, number, point);
    });
  });
}

void project_dual_triples(const Cones& cones, double* w, const double* R, Index width) {
  with_width(width, [&](auto W) {
    each_triple<decltype(W)::value>(cones, w, [&](Index number, int lane, const Triple& point) {
      const double weight = R[3 * number * width + lane];
      const Triple other =
          project_triple(cones, number, {-weight * point[0], -weight * point[1], -weight * point[2]});
      return Triple{point[0] + other[0] / weight, point[1] + other[1] / weight, point[2] + other[2] / weight};
    });
  });
}

void project_dual_cone_vjp(const Cones& cones, const double* v, double* d, Index width,
                           SemidefiniteRoom& room) {
  with_width(width, [&](auto width_constant) {
    constexpr int W = decltype(width_constant)::value;
    using L = Lanes<W>;
    Index row = cones.zero;  // its dual is everything
    for (; row < cones.zero + cones.nonnegative; ++row) {
      where_greater(L::load(v + row * W), L(0.0), L::load(d + row * W), L(0.0)).store(d + row * W);
    }
    for (const Index dimension : cones.second_order) {
      second_order_vjp<W>(dimension, v + row * W, d + row * W);
      row += dimension;
    }
    for (const Index order : cones.semidefinite) {
      semidefinite_vjp<W>(order, v + row * W, d + row * W, room);
      row += order * (order + 1) / 2;
    }
  });
}

void cone_violation(const Cones& cones, double* v, Index width, SemidefiniteRoom& room, double* violation) {
  with_width(width, [&](auto width_constant) {
    constexpr int W = decltype(width_constant)::value;
    using L = Lanes<W>;
    L largest(0.0);
    L poison(0.0);  // a running maximum passes over NaN
    const auto see = [&](const L& excess) {
      largest = max(excess, largest);
      poison += L(0.0) * excess;
    };
    for (Index i = 0; i < cones.zero; ++i, v += W) see(absolute(L::load(v)));
    for (Index i = 0; i < cones.nonnegative; ++i, v += W) see(L(0.0) - L::load(v));
    for (const Index dimension : cones.second_order) {
      see(tail_norm<W>(dimension, v) - L::load(v));
      v += dimension * W;
    }
    for (const Index order : cones.semidefinite) {
      double smallest[W];
      project_semidefinite<W>(order, v, room, smallest);
      see(L(0.0) - L::load(smallest));
      v += order * (order + 1) / 2 * W;
    }
    double distances[W] = {};
    each_triple<W>(cones, v, [&](Index number, int lane, const Triple& point) {
      const Triple nearest = project_triple(cones, number, point);
      const double distance = std::hypot(point[0] - nearest[0], point[1] - nearest[1], point[2] - nearest[2]);
      if (!(distance <= distances[lane]) && !std::isnan(distances[lane])) distances[lane] = distance;
      return point;
    });
    if (cones.triples() > 0) see(L::load(distances));
    (largest + poison).store(violation);
  });
}

}  // namespace surefoot::algorithms
