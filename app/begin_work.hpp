#pragma once

/// Every verb calls it once its options are read and checked, before it opens or writes a file. It does
/// nothing; fuzz/command_line_fuzz.cpp has one that ends the verb here.
void begin_work();
