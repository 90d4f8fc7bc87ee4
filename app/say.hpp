#pragma once

#include <string>
#include <string_view>

/// A line of the program on standard error, free of control characters. One that cannot be written is lost:
/// work never fails for a message.
void say(std::string message);

/// Text as it is, for what is drawn over itself on a terminal.
void say_as_is(std::string_view text);
