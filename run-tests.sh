#!/usr/bin/env bash
# Installs what Coil needs, builds it and runs all tests; the last line is `N passed, N failed`,
# and the exit code is 0 only if something passed and nothing failed.
# usage: run-tests.sh [PRESET ...]     presets of CMakePresets.json, one after the other; default: dev
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source scripts/packages.sh

[ $# -gt 0 ] || set -- dev
coil_install "${coil_build_packages[@]}" "${coil_test_packages[@]}"

results=()
for preset in "$@"; do
  directory=$PWD/build/$preset/results
  results+=("$preset=$directory")
  rm -rf "$directory" && mkdir -p "$directory"
  echo "== $preset: configure and build"
  if cmake --preset "$preset" && cmake --build --preset "$preset"; then
    echo "== $preset: test"
    # Each GoogleTest program and lit leave a report, so that single cases are counted.
    GTEST_OUTPUT="xml:$directory/" ctest --preset "$preset" \
      --output-junit "$directory/ctest.xml" </dev/null || true
  fi
done
exec python3 scripts/tally.py "${results[@]}"
