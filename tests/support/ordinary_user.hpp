#pragma once

#include <unistd.h>

#include <cstdlib>

namespace surefoot::test_support {

/// While it lives, the superuser acts as nobody, so that permissions bind; others stay who they are.
class OrdinaryUser {
 public:
  OrdinaryUser() : original_(::geteuid()) {
    constexpr uid_t nobody = 65534;
    if (original_ == 0 && ::seteuid(nobody) != 0) std::abort();
  }
  ~OrdinaryUser() {
    if (original_ == 0 && ::seteuid(0) != 0) std::abort();
  }
  OrdinaryUser(const OrdinaryUser&) = delete;
  OrdinaryUser& operator=(const OrdinaryUser&) = delete;

 private:
  uid_t original_;
};

}  // namespace surefoot::test_support
