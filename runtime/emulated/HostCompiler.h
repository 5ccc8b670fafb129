//===- HostCompiler.h - Kernels compiled for the host -----------*- C++ -*-===//
//
// A program is written to a folder for temporary files with all its headers and the
// emulation's, and compiled to a shared object by the compiler of the host.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EMULATED_HOSTCOMPILER_H
#define COIL_RUNTIME_EMULATED_HOSTCOMPILER_H

#include <span>
#include <string>
#include <vector>

namespace coil::emulated {

struct SourceFile {
  std::string name; ///< as it is included
  std::string text;
};

struct HostProgram {
  std::string name; ///< as messages call it
  std::string text;
  std::vector<SourceFile> headers;
  std::vector<std::string> kernels;      ///< expressions that name kernels
  std::vector<std::string> loweredNames; ///< of each kernel
  std::vector<std::string> options;      ///< -D and -I
};

struct HostObject {
  std::string bytes; ///< of the shared object; empty: it does not compile
  std::string log;   ///< what the compiler said, as NVRTC writes messages
};

/// Compiles. What keeps the compiler from running is an error in the log too.
HostObject compileForHost(const HostProgram &program);

/// Headers that are part of this library.
std::span<const SourceFile> emulationHeaders();

} // namespace coil::emulated

#endif // COIL_RUNTIME_EMULATED_HOSTCOMPILER_H
