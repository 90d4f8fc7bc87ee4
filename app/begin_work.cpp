#include "begin_work.hpp"

void begin_work() {}
