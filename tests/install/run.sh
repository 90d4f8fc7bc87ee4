#!/usr/bin/env bash
# Installs a build into a folder and uses it from a project of its own: run.sh BUILD_DIR SOURCE_DIR VERSION
set -euo pipefail
build=$1 source=$2 version=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
"$work/prefix/bin/surefoot" --version | grep -qx "$version"
test -s "$work/prefix/share/surefoot/schema/certificate.schema.json"
test -s "$work/prefix/share/surefoot/certify.html"
configure() { cmake -S "$source/tests/install" -B "$work/$1" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DWANTED_VERSION="$2"; }
configure user "$version" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/user" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/user/user" | grep -q "^$version 0\.0"
"$work/user/own_operator_test" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
grep -q "PASSED.* 3 tests" "$work/log"
# No public header needs a library that only our sources use.
if grep -rlE "nlohmann/|fast_float/|boost/" "$work/prefix/include/surefoot"; then echo "installed headers include private libraries"; exit 1; fi
# The header for controllers needs nothing but a C compiler.
printf '#include <surefoot/monitor.h>\nint main(void) { return SUREFOOT_MONITOR_FORMAT - 1; }\n' |
  cc -std=c99 -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I"$work/prefix/include" -x c - || { echo "surefoot/monitor.h does not compile as C"; exit 1; }
# Without the component nothing is needed that only our sources or tests use.
cmake -S "$source/tests/install" -B "$work/few" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DWANTED_VERSION="$version" -DWITHOUT_TESTING=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON -DCMAKE_DISABLE_FIND_PACKAGE_Boost=ON -DCMAKE_DISABLE_FIND_PACKAGE_nlohmann_json=ON \
  -DCMAKE_DISABLE_FIND_PACKAGE_FastFloat=ON >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/few" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
# A version that is not there must not be found.
if configure wrong 99.0 >"$work/log" 2>&1; then echo "version 99.0 was found"; exit 1; fi
echo "installed, found, linked and run"
