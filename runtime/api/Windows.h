//===- Windows.h - Registered memory of a communicator ----------*- C++ -*-===//
//
// A window is memory that each rank has registered in one collective call; a
// rank's part may lie anywhere and have any size. Windows have the same number
// on all ranks, counted from 1.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_API_WINDOWS_H
#define COIL_RUNTIME_API_WINDOWS_H

#include "runtime/channel/CallRecord.h"
#include "runtime/channel/SetupExchange.h"

#include <cstdint>
#include <memory>
#include <vector>

namespace coil {

struct Window {
  /// One rank's part, as this process sees it.
  struct Part {
    std::byte *data = nullptr;
    size_t bytes = 0;
    PeerSegment segment;
  };

  uint32_t number = 0;
  uint32_t onGpu = 0; ///< number of the window that the GPU's rank has for it, or 0
  std::vector<Part> parts;
  std::byte *own = nullptr; ///< this rank's part, as the user gave it
  size_t ownBytes = 0;
  uint64_t allocation = 0; ///< id of this rank's allocation; 0 without memory
};

class WindowTable {
public:
  WindowTable() = default;
  ~WindowTable();
  WindowTable(const WindowTable &) = delete;
  WindowTable &operator=(const WindowTable &) = delete;

  /// Takes a window up under the lowest free number.
  Window *add(std::unique_ptr<Window> window);
  /// The window with this address, or null; the address need not be a window's.
  const Window *find(const void *handle) const;
  void remove(const Window *window);

  /// This rank's window that holds all of `bytes` > 0 bytes at `pointer`. Looks
  /// first where `hint`, which it updates, has found something before.
  WindowPlace locate(const void *pointer, size_t bytes, size_t &hint) const;
  /// Where `bytes` bytes at `place` of `rank` lie here; null if they lie nowhere.
  std::byte *resolve(int rank, WindowPlace place, size_t bytes) const;
  /// The mapping of a rank's allocation in some window, or null.
  std::shared_ptr<SharedSegment> mappingOf(int rank, uint64_t segmentId) const;

private:
  std::vector<std::unique_ptr<Window>> windows; ///< by number - 1
};

/// True while some communicator of this process has memory of the allocation
/// registered.
bool isRegistered(uint64_t allocation);

} // namespace coil

#endif // COIL_RUNTIME_API_WINDOWS_H
