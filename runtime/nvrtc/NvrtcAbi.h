//===- NvrtcAbi.h - The C interface of NVIDIA's NVRTC library ---*- C++ -*-===//
//
// What Coil calls in libnvrtc, declared here so that building Coil needs no CUDA
// toolkit; the library itself is found and loaded at run time. Values and
// signatures are NVRTC's binary interface, which is stable from CUDA 11.2 on.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_NVRTC_NVRTCABI_H
#define COIL_RUNTIME_NVRTC_NVRTCABI_H

#include <cstddef>

namespace coil::nvrtc {

/// nvrtcResult. Values that are not listed exist in newer libraries.
enum class NvrtcResult : int {
  Success = 0,
  OutOfMemory = 1,
  ProgramCreationFailure = 2,
  InvalidInput = 3,
  InvalidProgram = 4,
  InvalidOption = 5,
  Compilation = 6,
  BuiltinOperationFailure = 7,
  NoNameExpressionsAfterCompilation = 8,
  NoLoweredNamesBeforeCompilation = 9,
  NameExpressionNotValid = 10,
  InternalError = 11,
};

/// nvrtcProgram is a pointer to this.
struct NvrtcProgram;

/// The library's functions, each under its symbol's name. Sizes count the
/// terminating NUL of texts (PTX, log); a cubin's size is 0 if the program was
/// compiled for a virtual architecture.
#define COIL_NVRTC_FUNCTIONS(FUNCTION)                                                             \
  FUNCTION(nvrtcGetErrorString, const char *, (NvrtcResult result))                                \
  FUNCTION(nvrtcVersion, NvrtcResult, (int *major, int *minor))                                    \
  FUNCTION(nvrtcGetNumSupportedArchs, NvrtcResult, (int *count))                                   \
  FUNCTION(nvrtcGetSupportedArchs, NvrtcResult, (int *archs))                                      \
  FUNCTION(nvrtcCreateProgram, NvrtcResult,                                                        \
           (NvrtcProgram * *program, const char *source, const char *name, int headerCount,        \
            const char *const *headers, const char *const *includeNames))                          \
  FUNCTION(nvrtcDestroyProgram, NvrtcResult, (NvrtcProgram * *program))                            \
  FUNCTION(nvrtcAddNameExpression, NvrtcResult,                                                    \
           (NvrtcProgram * program, const char *nameExpression))                                   \
  FUNCTION(nvrtcCompileProgram, NvrtcResult,                                                       \
           (NvrtcProgram * program, int optionCount, const char *const *options))                  \
  FUNCTION(nvrtcGetLoweredName, NvrtcResult,                                                       \
           (NvrtcProgram * program, const char *nameExpression, const char **loweredName))         \
  FUNCTION(nvrtcGetPTXSize, NvrtcResult, (NvrtcProgram * program, std::size_t *size))              \
  FUNCTION(nvrtcGetPTX, NvrtcResult, (NvrtcProgram * program, char *ptx))                          \
  FUNCTION(nvrtcGetCUBINSize, NvrtcResult, (NvrtcProgram * program, std::size_t *size))            \
  FUNCTION(nvrtcGetCUBIN, NvrtcResult, (NvrtcProgram * program, char *cubin))                      \
  FUNCTION(nvrtcGetProgramLogSize, NvrtcResult, (NvrtcProgram * program, std::size_t *size))       \
  FUNCTION(nvrtcGetProgramLog, NvrtcResult, (NvrtcProgram * program, char *log))

/// A pointer to each function.
struct NvrtcFunctions {
#define COIL_NVRTC_POINTER(name, result, parameters) result(*name) parameters = nullptr;
  COIL_NVRTC_FUNCTIONS(COIL_NVRTC_POINTER)
#undef COIL_NVRTC_POINTER
};

} // namespace coil::nvrtc

#endif // COIL_RUNTIME_NVRTC_NVRTCABI_H
