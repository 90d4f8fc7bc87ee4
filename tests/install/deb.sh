#!/usr/bin/env bash
# Installs the Debian package of a build into a system of its own and uses it: deb.sh BUILD_DIR SOURCE_DIR VERSION [PACKAGE]
# Without PACKAGE, that of the build is made first. Exit code 77: the tools of Debian are not here.
set -euo pipefail
build=$(realpath "$1") source=$(realpath "$2") version=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for tool in dpkg dpkg-deb dpkg-shlibdeps file; do
  command -v "$tool" >/dev/null && continue
  echo "SKIPPED: no $tool (scripts/packages package); the Debian package was NOT tried" >&2
  [ -z "${CI:-}" ] || exit 1
  exit 77
done
if [ $# -gt 3 ]; then
  package=$(realpath "$4")
else
  # Not compressed: it is unpacked at once.
  (cd "$build" && cpack -G DEB -B "$work/packages" -D CPACK_DEBIAN_COMPRESSION_TYPE=none) >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
  package=$(echo "$work"/packages/surefoot_*.deb)
fi
[ "$(dpkg-deb -f "$package" Version)" = "$version" ]

# What it depends on are packages of this system, in versions that are here.
mkdir -p "$work/root/var/lib/dpkg/"{info,updates}
cp /var/lib/dpkg/status "$work/root/var/lib/dpkg/"
for file in available diversions statoverride; do : >"$work/root/var/lib/dpkg/$file"; done
dpkg --root="$work/root" --force-not-root --force-script-chrootless --log=/dev/null -i "$package" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
dpkg-query --admindir="$work/root/var/lib/dpkg" -W -f='${Status} ${Version}\n' surefoot | grep -qx "install ok installed $version"

usr=$work/root/usr
"$usr/bin/surefoot" --version | grep -qx "$version"
(cd "$work" && "$usr/bin/surefoot" certify "$source/examples/traces/osqp_mpc_cold.csv.gz" >/dev/null && "$usr/bin/surefoot" verify surefoot-report | grep -q VERIFIED)
for file in share/man/man1/surefoot.1 share/man/man1/surefoot-certify.1 share/bash-completion/completions/surefoot share/zsh/vendor-completions/_surefoot \
    share/fish/vendor_completions.d/surefoot.fish share/surefoot/schema/certificate.schema.json share/surefoot/certify.html share/doc/surefoot/copyright; do
  [ -s "$usr/$file" ] || { echo "the package lacks $file"; exit 1; }
done
# A licence for each row of the table but those of Python.
while IFS=, read -r name licence debian _; do
  [ "$name" != name ] && [ "$debian" != pybind11 ] || continue
  [ -s "$usr/share/doc/surefoot/licences/${name// /_}.txt" ] || { echo "the package lacks the licence of $name"; exit 1; }
  grep -qF "$licence" "$usr/share/doc/surefoot/licences/THIRD_PARTY.txt" || { echo "THIRD_PARTY.txt does not say $licence"; exit 1; }
done <"$source/cmake/third_party.csv"
# The library, by a project of its own.
cmake -S "$source/tests/install" -B "$work/user" -G Ninja -DCMAKE_PREFIX_PATH="$usr" -DWANTED_VERSION="$version" -DWITHOUT_TESTING=ON >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cmake --build "$work/user" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
"$work/user/user" | grep -q "^$version 0\.0"
echo "installed, run, linked"
