#pragma once

#include "surefoot/problems/sparse_codes.hpp"

namespace surefoot::test {

/// All codes, one row per instance.
inline problems::Table dense_codes(const problems::SparseCodes& codes) {
  problems::Table dense = problems::Table::Zero(codes.instances(), codes.variables());
  for (Index i = 0; i < codes.instances(); ++i) {
    for (Index t = codes.begin[i]; t < codes.begin[i + 1]; ++t) dense(i, codes.entry[t]) = codes.value[t];
  }
  return dense;
}

}  // namespace surefoot::test
