//===- Fiber.h - A stack of its own, and switching to it --------*- C++ -*-===//
//
// A fiber runs on the thread of the operating system that resumes it, until it
// suspends itself or ends. Stacks and what sanitizers keep for them are pooled.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_EMULATION_FIBER_H
#define COIL_RUNTIME_KERNELS_EMULATION_FIBER_H

#include <cstddef>

namespace coil::emulation {

/// Memory for one fiber, with a page below it that faults.
struct FiberStack {
  std::byte *bottom = nullptr; ///< lowest usable address
  void *threadSanitizerFiber = nullptr;
};

class Fiber {
public:
  /// Takes a stack from the pool; hasStack() tells whether there was memory.
  Fiber();
  /// Gives the stack back. A fiber that has not ended is abandoned: nothing of it
  /// is unwound.
  ~Fiber();
  Fiber(const Fiber &) = delete;
  Fiber &operator=(const Fiber &) = delete;

  bool hasStack() const { return stack.bottom != nullptr; }

  /// Makes the next resume() call `entry(argument)` on the fiber's stack.
  void prepare(void (*entry)(void *), void *argument);
  /// Runs the fiber until it suspends or ends. Not from within a fiber.
  void resume();
  /// Returns to resume(). Only from within this fiber.
  void suspend();

private:
  static void main();

  FiberStack stack;
  void (*entry)(void *) = nullptr;
  void *argument = nullptr;
  bool hasEnded = true;
  void *ownStackPointer = nullptr;
  void *resumerStackPointer = nullptr;
  // For AddressSanitizer and ThreadSanitizer.
  void *ownFakeStack = nullptr;
  void *resumerFakeStack = nullptr;
  const void *resumerStackBottom = nullptr;
  std::size_t resumerStackBytes = 0;
  void *resumerFiber = nullptr;
};

} // namespace coil::emulation

#endif // COIL_RUNTIME_KERNELS_EMULATION_FIBER_H
