//===- Sanitizers.h - What sanitizers must know about fibers ----*- C++ -*-===//
//
// Every function here does nothing in a build without the sanitizer.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_EMULATION_SANITIZERS_H
#define COIL_RUNTIME_KERNELS_EMULATION_SANITIZERS_H

#include <cstddef>

#if defined(__SANITIZE_ADDRESS__)
#define COIL_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define COIL_ADDRESS_SANITIZER 1
#endif
#endif
#if defined(__SANITIZE_THREAD__)
#define COIL_THREAD_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define COIL_THREAD_SANITIZER 1
#endif
#endif

#ifdef COIL_ADDRESS_SANITIZER
#include <sanitizer/asan_interface.h>
#include <sanitizer/common_interface_defs.h>
#endif
#ifdef COIL_THREAD_SANITIZER
#include <sanitizer/tsan_interface.h>
#endif

namespace coil::emulation::sanitizers {

/// Before a switch to the stack [bottom, bottom + bytes). A null `fakeStack`: the
/// stack that is left will not be returned to.
inline void startSwitch(void **fakeStack, const void *bottom, std::size_t bytes) {
#ifdef COIL_ADDRESS_SANITIZER
  __sanitizer_start_switch_fiber(fakeStack, bottom, bytes);
#endif
}

/// After a switch; gives the stack that was left.
inline void finishSwitch(void *fakeStack, const void **bottom, std::size_t *bytes) {
#ifdef COIL_ADDRESS_SANITIZER
  __sanitizer_finish_switch_fiber(fakeStack, bottom, bytes);
#endif
}

/// Forgets what was said about an abandoned stack.
inline void unpoison(const void *bottom, std::size_t bytes) {
#ifdef COIL_ADDRESS_SANITIZER
  __asan_unpoison_memory_region(bottom, bytes);
#endif
}

inline void *createFiber() {
#ifdef COIL_THREAD_SANITIZER
  return __tsan_create_fiber(0);
#else
  return nullptr;
#endif
}

inline void destroyFiber(void *fiber) {
#ifdef COIL_THREAD_SANITIZER
  __tsan_destroy_fiber(fiber);
#endif
}

inline void *currentFiber() {
#ifdef COIL_THREAD_SANITIZER
  return __tsan_get_current_fiber();
#else
  return nullptr;
#endif
}

inline void switchToFiber(void *fiber) {
#ifdef COIL_THREAD_SANITIZER
  __tsan_switch_to_fiber(fiber, 0);
#endif
}

} // namespace coil::emulation::sanitizers

#endif // COIL_RUNTIME_KERNELS_EMULATION_SANITIZERS_H
