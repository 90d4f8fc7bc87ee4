#pragma once

#include "surefoot/core/parallel.hpp"

#include <Eigen/Core>
#include <benchmark/benchmark.h>

namespace surefoot {

/// Does independent multiply-adds in registers on every core, what the arithmetic allows; returns how many
/// operations.
template <class T>
double multiply_adds() {
  using Packet = typename Eigen::internal::packet_traits<T>::type;
  constexpr Index lanes = Eigen::internal::packet_traits<T>::size;
  constexpr Index repeats = 4'000'000;
  constexpr int chains = 12;
  const Index cores = threads();
  parallel_blocks(cores, [&](Index) {
    Packet sum[chains];
    for (int i = 0; i < chains; ++i) sum[i] = Eigen::internal::pset1<Packet>(T(1e-3) * static_cast<T>(i));
    const Packet factor = Eigen::internal::pset1<Packet>(T(0.999));
    const Packet shift = Eigen::internal::pset1<Packet>(T(1e-3));
    for (Index r = 0; r < repeats; ++r) {
      for (int i = 0; i < chains; ++i) sum[i] = Eigen::internal::pmadd(sum[i], factor, shift);
    }
    for (int i = 0; i < chains; ++i) benchmark::DoNotOptimize(sum[i]);
  });
  return static_cast<double>(cores * repeats * chains * lanes * 2);
}

}  // namespace surefoot
