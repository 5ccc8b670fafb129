#!/usr/bin/env bash
# Everything that one GPU and ten minutes can tell: builds Coil if that is still to do, runs all
# examples on the GPU with 2, 4 and 8 ranks (checked), measures the copy and reduce primitives
# against the device's own copies, the latency of a small call and, where nccl-tests are found,
# NCCL; and runs compute-sanitizer on a small case. Prints one short table.
# usage: bench/gpu/one-gpu.sh [BUILD]      BUILD: a build folder; default: build/release
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
build=${1:-build/release}
if [ ! -x "$build/bin/coil-run" ]; then
  [ "$build" = build/release ] || { echo "error: $build/bin/coil-run not found" >&2; exit 1; }
  cmake --preset release >/dev/null
  cmake --build --preset release --target coil-run coilc gpu_primitives
fi
exec python3 bench/gpu/one_gpu.py --build "$build"
