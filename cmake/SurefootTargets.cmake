# Compile settings of our own code. Dependencies are system includes and stay quiet.
set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release)
endif()

# A digest of the program in the program: checkpoints say which build they are of.
add_link_options(LINKER:--build-id=sha1)

find_program(SUREFOOT_CCACHE ccache)
if(SUREFOOT_CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${SUREFOOT_CCACHE})
endif()

add_library(surefoot_compile_settings INTERFACE)
target_compile_options(surefoot_compile_settings INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -Wnon-virtual-dtor -Woverloaded-virtual
  # Contracted multiply-adds would make bounds and traces depend on the compiler's mood; kernels on vector lanes (targets
  # with the property SUREFOOT_KERNEL) may have them.
  -ffp-contract=$<IF:$<BOOL:$<TARGET_PROPERTY:SUREFOOT_KERNEL>>,fast,off>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # GCC 12 warns of overlaps in plain string concatenation (GCC PR 105651; clang-tidy does not know the option) and of what its
  # AVX-512 intrinsics leave open on purpose (GCC PR 105593).
  target_compile_options(surefoot_compile_settings INTERFACE -Wno-restrict -Wno-maybe-uninitialized)
endif()
if(SUREFOOT_WERROR)
  target_compile_options(surefoot_compile_settings INTERFACE -Werror)
endif()
if(SUREFOOT_KERNEL_LEVELS)
  if(SUREFOOT_NATIVE)
    message(FATAL_ERROR "SUREFOOT_KERNEL_LEVELS is for other machines than this one: switch SUREFOOT_NATIVE off")
  endif()
  # Everything is for machines of the first level but targets with the property SUREFOOT_LEVEL.
  list(GET SUREFOOT_KERNEL_LEVELS 0 baseline_level)
  set(own_level $<TARGET_PROPERTY:SUREFOOT_LEVEL>)
  target_compile_options(surefoot_compile_settings INTERFACE -march=$<IF:$<BOOL:${own_level}>,${own_level},${baseline_level}>)
endif()
if(SUREFOOT_NATIVE)
  # Lanes of 256 bits under the sanitizers, also where the machine has 512: so both widths are tested.
  target_compile_options(surefoot_compile_settings INTERFACE -march=native $<$<BOOL:${SUREFOOT_SANITIZE}>:-mno-avx512f>)
endif()
if(SUREFOOT_SANITIZE)
  # Checks of each pointer take 40 % of the compile time; the address sanitizer finds what they would.
  add_compile_options(-fsanitize=address,undefined -fno-sanitize=null,alignment,object-size,pointer-overflow
                      -fno-sanitize-recover=all -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
if(SUREFOOT_THREAD_SANITIZE)
  add_compile_options(-fsanitize=thread -fno-omit-frame-pointer)
  add_link_options(-fsanitize=thread)
endif()
if(SUREFOOT_INTEGER_SANITIZE)
  set(integer_checks -fsanitize=signed-integer-overflow,unsigned-integer-overflow,implicit-conversion,shift,integer-divide-by-zero)
  add_compile_options(${integer_checks} -fsanitize-ignorelist=${PROJECT_SOURCE_DIR}/cmake/integers.txt)
  add_link_options(${integer_checks})
endif()
if(SUREFOOT_COVERAGE)
  add_compile_options(-fprofile-instr-generate -fcoverage-mapping)
  add_link_options(-fprofile-instr-generate)
endif()
# surefoot_own(target...): applies the settings of our own code.
function(surefoot_own)
  foreach(target IN LISTS ARGN)
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:surefoot_compile_settings>)
  endforeach()
endfunction()
