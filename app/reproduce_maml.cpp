#include "surefoot/core/error.hpp"

#include "reproduce.hpp"

namespace reproduce {
void maml(const Settings& /*settings*/) {
  throw surefoot::InputError("maml: not built yet");
}
}  // namespace reproduce
