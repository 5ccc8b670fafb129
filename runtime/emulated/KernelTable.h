//===- KernelTable.h - How a compiled kernel is found and called -*- C++ -*-===//
//
// The stand-in for NVRTC appends a table of the kernels that were asked for to the
// program; the stand-in for the driver finds it in the shared object. The emulation
// has no other way to learn a kernel's parameters.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EMULATED_KERNELTABLE_H
#define COIL_RUNTIME_EMULATED_KERNELTABLE_H

#include <cstddef>
#include <utility>

namespace coil::emulated {

struct KernelEntry {
  const char *name;
  /// Calls the kernel; argument i points to the value of parameter i.
  void (*call)(void *const *arguments);
  const unsigned long *parameterBytes; ///< size of each parameter
  unsigned parameterCount;
};

struct KernelTable {
  unsigned version;
  unsigned count;
  const KernelEntry *entries;
};

inline constexpr unsigned kernelTableVersion = 1;
/// The table's symbol, of C linkage.
inline constexpr const char *kernelTableSymbol = "coilEmulatedKernels";

template <auto kernel> struct KernelCall;

template <typename... Parameters, void (*kernel)(Parameters...)> struct KernelCall<kernel> {
  // One more, so that it is an array without parameters too.
  static constexpr unsigned long bytes[] = {sizeof(Parameters)..., 0};

  static void call(void *const *arguments) {
    callWith(arguments, std::index_sequence_for<Parameters...>());
  }

  static constexpr KernelEntry entry(const char *name) {
    return {name, call, bytes, sizeof...(Parameters)};
  }

private:
  template <std::size_t... numbers>
  static void callWith([[maybe_unused]] void *const *arguments, std::index_sequence<numbers...>) {
    kernel(*static_cast<const Parameters *>(arguments[numbers])...);
  }
};

} // namespace coil::emulated

#endif // COIL_RUNTIME_EMULATED_KERNELTABLE_H
