# Files, digests and checkpoints are defined for 64-bit little-endian machines, and sizes are 64 bits everywhere.
if(NOT CMAKE_SIZEOF_VOID_P EQUAL 8)
  message(FATAL_ERROR "Surefoot needs a 64-bit system: sizes of tables and counts are 64 bits")
endif()
if(NOT CMAKE_CXX_BYTE_ORDER STREQUAL "LITTLE_ENDIAN")
  message(FATAL_ERROR "Surefoot needs a little-endian system: its files are read as they lie in memory")
endif()
