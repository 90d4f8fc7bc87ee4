#include "surefoot/core/kernels.hpp"

// A kernel source: it is compiled as the kernels are, and says how.
#if SUREFOOT_NATIVE
#define SUREFOOT_KERNEL_PREFIX "native-"
#else
#define SUREFOOT_KERNEL_PREFIX ""
#endif

namespace surefoot {

std::string_view kernel_level() {
#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512CD__) && defined(__AVX512DQ__) && \
    defined(__AVX512VL__)
  return SUREFOOT_KERNEL_PREFIX "x86-64-v4";
#elif defined(__AVX2__) && defined(__FMA__) && defined(__BMI2__) && defined(__F16C__)
  return SUREFOOT_KERNEL_PREFIX "x86-64-v3";
#elif defined(__SSE4_2__) && defined(__SSSE3__) && defined(__POPCNT__)
  return SUREFOOT_KERNEL_PREFIX "x86-64-v2";
#elif defined(__x86_64__)
  return SUREFOOT_KERNEL_PREFIX "x86-64";
#else
  return SUREFOOT_KERNEL_PREFIX "other";
#endif
}

std::string full_kernel_name(std::string_view name) {
  const bool is_short = name.size() == 2 && name[0] == 'v' && name[1] >= '1' && name[1] <= '4';
  return std::string(is_short ? "x86-64-" : "") + std::string(name);
}

bool machine_has(std::string_view level) {
#ifdef __x86_64__
  // Names of single instructions: clang 14 does not know those of levels.
  const bool v2 = __builtin_cpu_supports("sse4.2") != 0 && __builtin_cpu_supports("ssse3") != 0 &&
                  __builtin_cpu_supports("popcnt") != 0;
  const bool v3 = v2 && __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0 &&
                  __builtin_cpu_supports("bmi") != 0 && __builtin_cpu_supports("bmi2") != 0;
  const bool v4 = v3 && __builtin_cpu_supports("avx512f") != 0 && __builtin_cpu_supports("avx512bw") != 0 &&
                  __builtin_cpu_supports("avx512cd") != 0 && __builtin_cpu_supports("avx512dq") != 0 &&
                  __builtin_cpu_supports("avx512vl") != 0;
  if (level == "x86-64-v2") return v2;
  if (level == "x86-64-v3") return v3;
  if (level == "x86-64-v4") return v4;
#endif
  return level == "x86-64" || level == kernel_level();
}

}  // namespace surefoot
