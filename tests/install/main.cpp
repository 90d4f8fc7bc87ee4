#include <surefoot/surefoot.hpp>

#include <cstdio>

int main() {
  using namespace surefoot;
  std::printf("%s %.6f\n", version, bounds::risk_upper_bound(3, 1000, 1e-4, bounds::RiskMethod::exact));
}
