// Compiled with fast mathematics, so that loops over exp, log, sin and cos become calls of vector functions.
// No number here is infinite or NaN unless an argument is.

#include "surefoot/core/detail/vector_math.hpp"

#include <Random123/philox.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#ifdef __AVX512F__
#include <immintrin.h>
#endif

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

/// Philox4x64-10 with the stream's key, blocks with counters 0, 1, ... one after the other.
class Philox {
 public:
  static constexpr Index words = 4;     // of a block
  static constexpr Index at_once = 16;  // blocks

  explicit Philox(const NormalStream& stream) : stream_(stream) {}

#ifdef __AVX512F__
  /// A block in every lane; the bits of the scalar one. Two registers for each word, as one alone waits for
  /// its products.
  void next(std::uint64_t* bits) {
    __m512i x[2][words];
    for (int part = 0; part < 2; ++part) {
      x[part][0] = _mm512_add_epi64(all(counter_), _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0));
      x[part][1] = all(stream_.index);
      x[part][2] = all(stream_.part);
      x[part][3] = all(1);
      counter_ += 8;
    }
    std::uint64_t key0 = stream_.seed;
    std::uint64_t key1 = stream_.purpose;
    constexpr int exclusive_or = 0x96;
    for (int round = 0; round < 10; ++round) {
      for (auto& own : x) {
        const Product first = product(own[0], PHILOX_M4x64_0);
        const Product second = product(own[2], PHILOX_M4x64_1);
        own[0] = _mm512_ternarylogic_epi64(second.high, own[1], all(key0), exclusive_or);
        own[1] = second.low;
        own[2] = _mm512_ternarylogic_epi64(first.high, own[3], all(key1), exclusive_or);
        own[3] = first.low;
      }
      key0 += PHILOX_W64_0;
      key1 += PHILOX_W64_1;
    }
    put(x[0], bits);
    put(x[1], bits + at_once / 2 * words);
  }

 private:
  /// Eight blocks, one after the other.
  static void put(const __m512i* x, std::uint64_t* bits) {
    const __m512i low = _mm512_set_epi64(11, 10, 3, 2, 9, 8, 1, 0);
    const __m512i high = _mm512_set_epi64(15, 14, 7, 6, 13, 12, 5, 4);
    const __m512i even01 = _mm512_unpacklo_epi64(x[0], x[1]);
    const __m512i even23 = _mm512_unpacklo_epi64(x[2], x[3]);
    const __m512i odd01 = _mm512_unpackhi_epi64(x[0], x[1]);
    const __m512i odd23 = _mm512_unpackhi_epi64(x[2], x[3]);
    const __m512i blocks02 = _mm512_permutex2var_epi64(even01, low, even23);
    const __m512i blocks46 = _mm512_permutex2var_epi64(even01, high, even23);
    const __m512i blocks13 = _mm512_permutex2var_epi64(odd01, low, odd23);
    const __m512i blocks57 = _mm512_permutex2var_epi64(odd01, high, odd23);
    _mm512_storeu_si512(bits, _mm512_shuffle_i64x2(blocks02, blocks13, 0x44));
    _mm512_storeu_si512(bits + 8, _mm512_shuffle_i64x2(blocks02, blocks13, 0xEE));
    _mm512_storeu_si512(bits + 16, _mm512_shuffle_i64x2(blocks46, blocks57, 0x44));
    _mm512_storeu_si512(bits + 24, _mm512_shuffle_i64x2(blocks46, blocks57, 0xEE));
  }
  struct Product {
    __m512i low;
    __m512i high;
  };
  static __m512i all(std::uint64_t word) {
    return _mm512_set1_epi64(static_cast<long long>(word));
  }
  /// All 128 bits, from products of halves.
  static Product product(__m512i a, std::uint64_t b) {
    const __m512i half = all(0xFFFFFFFFU);
    const __m512i a_high = _mm512_srli_epi64(a, 32);
    const __m512i low_low = _mm512_mul_epu32(a, all(b));
    const __m512i low_high = _mm512_mul_epu32(a, all(b >> 32U));
    const __m512i high_low = _mm512_mul_epu32(a_high, all(b));
    const __m512i high_high = _mm512_mul_epu32(a_high, all(b >> 32U));
    const __m512i one = _mm512_add_epi64(high_low, _mm512_srli_epi64(low_low, 32));
    const __m512i other = _mm512_add_epi64(low_high, _mm512_and_si512(one, half));
    return {_mm512_mask_blend_epi32(0xAAAA, low_low, _mm512_slli_epi64(other, 32)),
            _mm512_add_epi64(_mm512_add_epi64(high_high, _mm512_srli_epi64(one, 32)),
                             _mm512_srli_epi64(other, 32))};
  }
#else
  void next(std::uint64_t* bits) {
    const r123::Philox4x64::key_type key{{stream_.seed, stream_.purpose}};
    for (Index block = 0; block < at_once; ++block) {
      const auto own = r123::Philox4x64()({{counter_++, stream_.index, stream_.part, 1}}, key);
      std::copy_n(own.begin(), words, bits + words * block);
    }
  }

 private:
#endif
  NormalStream stream_;
  std::uint64_t counter_ = 0;
};

// As many words as a chunk of pairs can need.
struct Bits {
  alignas(64) std::uint64_t words[2 * chunk];
  void draw(Philox& philox, Index count) {
    for (Index i = 0; i < count; i += Philox::at_once * Philox::words) philox.next(words + i);
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
  Bits bits;
  double u[chunk];
  double v[chunk];
  const auto uniform = [](std::uint64_t word) { return (static_cast<double>(word >> 11) + 0.5) * 0x1p-53; };
  while (count > 0) {
    const Index pairs = pairs_for(count);
    bits.draw(philox, 2 * pairs);
    for (Index i = 0; i < pairs; ++i) u[i] = uniform(bits.words[2 * i]);
    for (Index i = 0; i < pairs; ++i) v[i] = uniform(bits.words[2 * i + 1]);
    box_muller(u, v, pairs);
    copy_out(u, v, pairs, out, count);
  }
}

void fill_normals(const NormalStream& stream, float* out, Index count) {
  Philox philox(stream);
  Bits bits;
  float u[chunk];
  float v[chunk];
  const auto uniform = [](std::uint64_t word) {
    return (static_cast<float>(static_cast<std::int32_t>(static_cast<std::uint32_t>(word) >> 8)) + 0.5F) *
           0x1p-24F;
  };
  while (count > 0) {
    const Index pairs = pairs_for(count);
    bits.draw(philox, pairs);
    for (Index i = 0; i < pairs; ++i) u[i] = uniform(bits.words[i]);
    for (Index i = 0; i < pairs; ++i) v[i] = uniform(bits.words[i] >> 32);
    box_muller(u, v, pairs);
    copy_out(u, v, pairs, out, count);
  }
}

}  // namespace surefoot
