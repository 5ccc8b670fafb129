#!/usr/bin/env bash
# Installs what Coil needs, builds it, and runs examples/allreduce/ring.coil between four
# processes of this machine, every element of every result checked.
# usage: run-example.sh [more options for coil-run]
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"
source scripts/packages.sh

coil_install "${coil_build_packages[@]}"
cmake --preset release
cmake --build --preset release --target coilc coil-run
build/release/bin/coil-run examples/allreduce/ring.coil -n 4 --bytes 1K:64M:x16 \
  --type f32 --op sum --check "$@"
