# The Debian packages that Coil needs, for the scripts that source this file.
# LLVM and MLIR 22 come from Debian 12's own security archive.

coil_build_packages=(
  cmake ninja-build mold g++
  clang-22 libclang-rt-22-dev
  llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools
  libfmt-dev libcli11-dev libflatbuffers-dev flatbuffers-compiler
  libgtest-dev libgmock-dev libpugixml-dev libyaml-cpp-dev
  python3
)
coil_test_packages=(clang-format-22 python3-psutil)
coil_bench_packages=(openmpi-bin libopenmpi-dev)

# coil_install PACKAGE ...
# Installs with apt-get the packages that are missing; does nothing, and needs
# no rights and no network, when all are there.
coil_install() {
  local package missing=() as_root=()
  for package in "$@"; do
    case "$(dpkg-query -W -f='${db:Status-Status}' "$package" 2>/dev/null)" in
      installed) ;;
      *) missing+=("$package") ;;
    esac
  done
  [ ${#missing[@]} -gt 0 ] || return 0
  if [ "$(id -u)" -ne 0 ]; then
    if ! command -v sudo >/dev/null; then
      echo "error: these packages are missing and only root can install them: ${missing[*]}" >&2
      return 1
    fi
    as_root=(sudo)
  fi
  echo "Installing ${missing[*]}"
  "${as_root[@]}" apt-get update -qq &&
    "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive \
      apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null
}
