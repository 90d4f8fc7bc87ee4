// Compiled with fast mathematics, so that loops over exp, log, sin and cos become calls of vector functions.
// No number here is infinite or NaN unless an argument is.

#include "surefoot/core/vector_math.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace surefoot {

namespace {

constexpr Index group = 8;

[[gnu::noinline]] void group_of_exponentials(double* x) {
  for (Index i = 0; i < group; ++i) x[i] = std::exp(x[i]);
}

}  // namespace

// In groups of eight, the last one filled up: the same vector function for every number, wherever it stands.
void exponentials(double* x, Index count) {
  Index done = 0;
  for (; done + group <= count; done += group) group_of_exponentials(x + done);
  if (done == count) return;
  double last[group] = {};
  std::copy(x + done, x + count, last);
  group_of_exponentials(last);
  std::copy_n(last, count - done, x + done);
}

namespace {

constexpr Index chunk = 64;

struct Philox {
  r123::Philox4x64::key_type key;
  r123::Philox4x64::ctr_type counter;

  explicit Philox(const NormalStream& stream)
      : key{{stream.seed, stream.purpose}}, counter{{0, stream.index, stream.part, 1}} {}
  r123::Philox4x64::ctr_type next() {
    const auto block = r123::Philox4x64()(counter, key);
    ++counter[0];
    return block;
  }
};

// Pairs (u_i, v_i) of uniforms become pairs of normals. Loops of their own for cosine and sine: together they
// would not become vector functions.
template <class T>
void box_muller(T* u, T* v, Index pairs) {
  T radius[chunk];
  for (Index i = 0; i < pairs; ++i) radius[i] = std::sqrt(T(-2) * std::log(u[i]));
  for (Index i = 0; i < pairs; ++i) v[i] *= T(2 * std::numbers::pi);
  for (Index i = 0; i < pairs; ++i) u[i] = radius[i] * std::cos(v[i]);
  for (Index i = 0; i < pairs; ++i) v[i] = radius[i] * std::sin(v[i]);
}

// Pairs that are drawn for what is left: whole Philox blocks.
Index pairs_for(Index left) {
  return std::min(chunk, (left + 7) / 8 * 4);
}

template <class T>
void copy_out(const T* u, const T* v, Index pairs, T*& out, Index& left) {
  for (const T* source : {u, v}) {
    const Index take = std::min(left, pairs);
    out = std::copy_n(source, take, out);
    left -= take;
  }
}

}  // namespace

void fill_normals(const NormalStream& stream, double* out, Index count) {
  Philox philox(stream);
  double u[chunk];
  double v[chunk];
  while (count > 0) {
    const Index pairs = pairs_for(count);
    for (Index i = 0; i < pairs; i += 2) {
      const auto bits = philox.next();
      u[i] = (static_cast<double>(bits[0] >> 11) + 0.5) * 0x1p-53;
      v[i] = (static_cast<double>(bits[1] >> 11) + 0.5) * 0x1p-53;
      u[i + 1] = (static_cast<double>(bits[2] >> 11) + 0.5) * 0x1p-53;
      v[i + 1] = (static_cast<double>(bits[3] >> 11) + 0.5) * 0x1p-53;
    }
    box_muller(u, v, pairs);
    copy_out(u, v, pairs, out, count);
  }
}

void fill_normals(const NormalStream& stream, float* out, Index count) {
  Philox philox(stream);
  float u[chunk];
  float v[chunk];
  const auto uniform = [](std::uint64_t bits) {
    return (static_cast<float>(static_cast<std::uint32_t>(bits) >> 8) + 0.5F) * 0x1p-24F;
  };
  while (count > 0) {
    const Index pairs = pairs_for(count);
    for (Index i = 0; i < pairs; i += 4) {
      const auto bits = philox.next();
      for (Index t = 0; t < 4; ++t) {
        u[i + t] = uniform(bits[t]);
        v[i + t] = uniform(bits[t] >> 32);
      }
    }
    box_muller(u, v, pairs);
    copy_out(u, v, pairs, out, count);
  }
}

}  // namespace surefoot
