"""How lit runs Coil's tests: their suffixes, tools and features.

Tests of a folder mirror the folder of the code that they test. A folder called
Inputs holds files that tests read and that are no tests themselves.
"""

import os
import subprocess
import tempfile

import lit.formats

# lit's globals: config and lit_config; the coil_* values come from lit.site.cfg.py.
config.name = "Coil"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".coil", ".test"]
config.excludes = ["Inputs", "unit", "fuzz", "e2e", "layering"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.coil_binary_directory, "test")

tools_directory = os.path.join(config.coil_binary_directory, "bin")
config.environment["PATH"] = os.pathsep.join(
    [tools_directory, config.llvm_tools_directory, os.environ["PATH"]]
)

for tool in ("coilc", "coil-opt", "coil-plan", "coil-run"):
    config.substitutions.append((f"%{tool}", os.path.join(tools_directory, tool)))
config.substitutions.append(("%examples", os.path.join(config.coil_source_directory, "examples")))
config.substitutions.append(("%python", config.python_executable))

if config.coil_has_cuda:
    config.available_features.add("cuda")


def find_nvrtc():
    """Whether coilc finds NVRTC, or in other words what it misses."""
    with tempfile.TemporaryDirectory() as folder:
        program = os.path.join(config.coil_source_directory, "examples", "allreduce", "ring.coil")
        command = [os.path.join(tools_directory, "coilc"), program, "-n", "2", "--variant", "0"]
        command += ["--emit=ptx", "--arch=none", "-o", os.path.join(folder, "none.ptx")]
        result = subprocess.run(command, capture_output=True, text=True, errors="replace")
    if "expected an architecture" in result.stderr:
        return None
    return result.stderr.strip() or "coilc does not say"


# Tests that compile for GPUs need NVRTC, which needs no GPU.
nvrtc_problem = find_nvrtc()
if nvrtc_problem is None:
    config.available_features.add("nvrtc")
else:
    lit_config.note(f"tests with NVRTC are skipped: {nvrtc_problem}")
if config.coil_sanitize:
    config.available_features.add("asan")
if config.coil_sanitize_thread:
    config.available_features.add("tsan")

# The sanitizers' own settings and where NVRTC lies reach the tools; nothing else of the caller's
# environment does. What is compiled stays in the build folder.
config.environment["COIL_CACHE_DIR"] = os.path.join(config.test_exec_root, "kernels")
for variable in ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS",
                 "COIL_NVRTC_LIBRARY", "CUDA_HOME", "CUDA_PATH", "VIRTUAL_ENV", "CONDA_PREFIX"):
    if variable in os.environ:
        config.environment[variable] = os.environ[variable]

# A test that hangs is ended, where lit can do that: it needs Python's psutil.
try:
    import psutil  # noqa: F401

    lit_config.maxIndividualTestTime = 300 if config.coil_sanitize else 120
except ImportError:
    lit_config.note("psutil not found (apt-get install python3-psutil): a hanging test is not ended")
