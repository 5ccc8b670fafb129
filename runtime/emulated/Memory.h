//===- Memory.h - Memory of emulated devices, and the host's ----*- C++ -*-===//
//
// Device memory is host memory: parts of one file without a name, which lives as
// long as the process. Another process of the same user opens it through /proc and
// maps the same part, so a handle says which process, file and part.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EMULATED_MEMORY_H
#define COIL_RUNTIME_EMULATED_MEMORY_H

#include "runtime/emulated/Errors.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>

namespace coil::emulated {

enum class AllocationKind { Device, Host, RegisteredHost, Imported };

struct Allocation {
  AllocationKind kind;
  int device; ///< of host memory: whose context was current
  std::uintptr_t base;
  std::size_t bytes;
  std::size_t mappedBytes = 0;
  std::uint64_t fileOffset = 0;
  // Of imported memory: the handle, and how often it is open.
  std::string handle;
  int opened = 0;

  bool isHost() const {
    return kind == AllocationKind::Host || kind == AllocationKind::RegisteredHost;
  }
};

class DeviceMemory {
public:
  /// Device memory is filled with 0xa5 at first, as no program may expect zeros.
  DriverResult allocate(int device, std::uint64_t limit, std::size_t bytes, std::uintptr_t &base);
  DriverResult free(std::uintptr_t base);
  DriverResult allocateHost(int device, std::size_t bytes, std::uintptr_t &base);
  DriverResult freeHost(std::uintptr_t base);
  DriverResult registerHost(int device, std::uintptr_t base, std::size_t bytes);
  DriverResult unregisterHost(std::uintptr_t base);

  DriverResult exportHandle(std::uintptr_t address, cuda::IpcMemHandle &handle);
  DriverResult import(int device, bool hasPeers, const cuda::IpcMemHandle &handle,
                      std::uintptr_t &base);
  DriverResult closeImport(std::uintptr_t base);

  /// The allocation that an address lies in.
  std::optional<Allocation> find(std::uintptr_t address) const;
  /// Whether [address, address + bytes) may be accessed: inside one allocation, or
  /// other memory of the process.
  bool isAccessible(std::uintptr_t address, std::size_t bytes) const;

  /// Frees what a device has.
  void freeAll(int device);

private:
  using Table = std::map<std::uintptr_t, Allocation>;

  DriverResult openFile();
  /// The entry at exactly `base` of the kind, or end().
  Table::iterator at(std::uintptr_t base, AllocationKind kind);
  void release(const Allocation &allocation);

  mutable std::mutex mutex;
  Table table;
  std::map<int, std::uint64_t> used; ///< bytes of each device
  int file = -1;
  std::uint64_t fileEnd = 0;
};

DeviceMemory &deviceMemory();

} // namespace coil::emulated

#endif // COIL_RUNTIME_EMULATED_MEMORY_H
