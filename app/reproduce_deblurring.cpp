#include "surefoot/core/error.hpp"

#include "reproduce.hpp"
namespace reproduce {
void deblurring(const Settings& /*settings*/) {}
}  // namespace reproduce
