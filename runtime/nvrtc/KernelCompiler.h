//===- KernelCompiler.h - Kernels compiled by NVRTC -------------*- C++ -*-===//
//
// Compiles generated kernels for GPUs, where NVIDIA's NVRTC library is installed;
// no GPU is needed. The device library's headers are part of this library, as
// text, so nothing is read from the disk.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_NVRTC_KERNELCOMPILER_H
#define COIL_RUNTIME_NVRTC_KERNELCOMPILER_H

#include "runtime/base/Status.h"
#include "runtime/nvrtc/CubinCache.h"
#include "runtime/nvrtc/NvrtcLibrary.h"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace coil::nvrtc {

enum class CompileTarget {
  Ptx,   ///< text of NVIDIA's portable assembly; drivers compile it when they load it
  Cubin, ///< machine code of one architecture
};

/// What one kernel asks of a multiprocessor, as the assembler reports it.
struct KernelResources {
  std::string loweredName;
  uint32_t registers = 0;    ///< of a thread
  uint32_t stackBytes = 0;   ///< of a thread, with what it calls
  uint32_t spillStores = 0;  ///< bytes
  uint32_t spillLoads = 0;   ///< bytes
  uint32_t sharedBytes = 0;  ///< of a block, without what a launch adds
  uint32_t barriers = 0;     ///< of a block
  double compileSeconds = 0; ///< of this process's processor time, for the whole request
};

struct CompileRequest {
  /// Text of one translation unit.
  std::string_view text;
  /// How messages call it, such as "ring.cu".
  std::string name;
  /// Instances to make, as C++ names them.
  std::vector<std::string> nameExpressions;
  /// "sm_90", or "compute_90" for PTX.
  std::string arch;
  CompileTarget target = CompileTarget::Cubin;
};

struct CompiledKernels {
  std::vector<uint8_t> bytes; ///< PTX without its terminating NUL
  /// The symbol of each name expression, in the order of the request.
  std::vector<std::string> loweredNames;
  /// What NVRTC said; empty if it came from the cache.
  std::string log;
  bool fromCache = false;
  double seconds = 0; ///< that the compilation took; 0 from the cache
};

class KernelCompiler {
public:
  /// `library` is a path to libnvrtc, or empty for the usual places
  /// (NvrtcLibrary.h). Errors: Unsupported if none can be loaded; the message says
  /// what was tried and how to get one.
  static Result<KernelCompiler> load(const std::string &library = {},
                                     CubinCache cache = CubinCache::usual());

  /// Compiles, or takes what was compiled before from the cache. Any thread.
  /// Errors: InvalidArgument for an architecture that NVRTC does not know;
  /// InternalError for a text that does not compile, with the lines around each of
  /// NVRTC's errors; SystemError if NVRTC itself fails.
  Result<CompiledKernels> compile(const CompileRequest &request) const;

  /// Compiles a cubin afresh and reports each of its kernels.
  Result<std::vector<KernelResources>> measure(const CompileRequest &request) const;

  /// What to compile for a device: "sm_90" for compute capability 90 if NVRTC
  /// knows it; else the newest "compute_XX" below, whose PTX the driver can
  /// compile; empty if there is none.
  std::string archFor(int computeCapability) const;

  /// 75, 80, ... in ascending order.
  const std::vector<int> &supportedArchs() const { return archs; }
  /// Such as "NVRTC 13.0 (/usr/lib/libnvrtc.so.13)".
  std::string describe() const;

private:
  KernelCompiler(std::shared_ptr<const NvrtcLibrary> library, CubinCache cache);
  Result<CompiledKernels> compileAfresh(const CompileRequest &request, bool reports) const;
  Status checkArch(const CompileRequest &request) const;

  std::shared_ptr<const NvrtcLibrary> library;
  CubinCache cache;
  std::vector<int> archs;
};

/// contentHash() of a kernel's text, the device library and how they are compiled:
/// machine code from another source differs in this.
std::string kernelSource(std::string_view text);

} // namespace coil::nvrtc

#endif // COIL_RUNTIME_NVRTC_KERNELCOMPILER_H
