#!/bin/sh
# Is a new version of a solver package worse than the old one? Each is installed in an environment of its own and solves the
# same problems; surefoot says whether the new one is proven not to be worse than allowed.
#   examples/ci/compare_versions.sh "osqp>=0.6,<0.7" "osqp>=1,<2" examples/mpc versions
# SUREFOOT: the program [surefoot]. PYTHON: that makes the environments [python3]. Writes old.csv, new.csv, junit.xml,
# summary.md and record.json into the folder. Exit code 0: proven not worse than allowed; 1: proven worse; 3: undecided; 77:
# a version cannot be installed.
set -eu

old=$1
new=$2
family=$3
folder=$4
here=$(dirname "$0")
mkdir -p "$folder"

solve() { # version, name
  environment=$folder/environment-$2
  if [ "$(cat "$environment/holds" 2> /dev/null)" != "$1" ]; then
    "${PYTHON:-python3}" -m venv --clear "$environment" || return 77
    "$environment/bin/pip" install --quiet --disable-pip-version-check --timeout 20 --retries 1 --only-binary :all: "$1" ||
      return 77
    echo "$1" > "$environment/holds"
  fi
  "$environment/bin/python" "$here/solve_family.py" "$family" "$folder/$2.csv"
}
for side in old new; do
  eval "version=\$$side"
  solve "$version" "$side" || {
    [ $? -eq 77 ] || exit 2
    echo "compare_versions: '$version' cannot be installed; nothing was compared" >&2
    exit 77
  }
done

# What must not get worse, declared here, before anybody has looked: the share of problems that take at most 50 and at most
# 100 iterations may fall by two points.
"${SUREFOOT:-surefoot}" compare "$folder/old.csv" "$folder/new.csv" --paired --scalar --names old,new \
  --claim "at most 50" --claim "at most 100" --allow 0.02 \
  --junit "$folder/junit.xml" --markdown "$folder/summary.md" --record "$folder/record.json"
