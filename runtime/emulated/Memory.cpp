//===- Memory.cpp - Memory of emulated devices, and the host's ------------===//

#include "runtime/emulated/Memory.h"

#include <algorithm>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>

namespace coil::emulated {

namespace {

constexpr std::size_t pageBytes = 4096;
/// More than this is left as zeros, to be quick.
constexpr std::size_t mostFilled = 1 << 20;

/// What a handle holds.
struct HandleContent {
  char mark[8];
  std::uint64_t offset, bytes, mappedBytes;
  std::int32_t process, file, device;
};
static_assert(sizeof(HandleContent) <= sizeof(cuda::IpcMemHandle));
constexpr char handleMark[8] = {'c', 'o', 'i', 'l', ' ', 'i', 'p', 'c'};

std::size_t roundUp(std::size_t bytes) { return (bytes + pageBytes - 1) / pageBytes * pageBytes; }

/// Maps part of a file with an unmapped page after it, so that the allocation that
/// follows is out of reach of one that is overrun.
void *mapWithGap(int file, std::uint64_t offset, std::size_t bytes) {
  void *place = mmap(nullptr, bytes + pageBytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (place == MAP_FAILED)
    return nullptr;
  if (mmap(place, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
           static_cast<off_t>(offset)) == MAP_FAILED) {
    munmap(place, bytes + pageBytes);
    return nullptr;
  }
  return place;
}

bool isReadable(std::uintptr_t address) {
  char byte;
  iovec here{&byte, 1}, there{reinterpret_cast<void *>(address), 1};
  return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1;
}

} // namespace

DeviceMemory &deviceMemory() {
  static DeviceMemory *memory = new DeviceMemory; // outlives main(), as streams may
  return *memory;
}

DriverResult DeviceMemory::openFile() {
  if (file < 0)
    file = memfd_create("coil-emulated-device", MFD_CLOEXEC);
  return file < 0 ? DriverResult::OperatingSystem : DriverResult::Success;
}

DriverResult DeviceMemory::allocate(int device, std::uint64_t limit, std::size_t bytes,
                                    std::uintptr_t &base) {
  if (bytes == 0)
    return DriverResult::InvalidValue;
  std::lock_guard lock(mutex);
  std::uint64_t &taken = used[device];
  if (bytes > limit || roundUp(bytes) > limit - taken)
    return DriverResult::OutOfMemory;
  if (DriverResult result = openFile(); result != DriverResult::Success)
    return result;
  Allocation allocation{AllocationKind::Device, device, 0, bytes, roundUp(bytes), fileEnd, {}, 0};
  if (ftruncate(file, static_cast<off_t>(fileEnd + allocation.mappedBytes)) != 0)
    return DriverResult::OutOfMemory;
  void *memory = mapWithGap(file, fileEnd, allocation.mappedBytes);
  if (!memory)
    return DriverResult::OutOfMemory;
  std::memset(memory, 0xa5, std::min(bytes, mostFilled));
  allocation.base = base = reinterpret_cast<std::uintptr_t>(memory);
  fileEnd += allocation.mappedBytes;
  taken += allocation.mappedBytes;
  table.emplace(base, allocation);
  return DriverResult::Success;
}

DeviceMemory::Table::iterator DeviceMemory::at(std::uintptr_t base, AllocationKind kind) {
  auto found = table.find(base);
  return found != table.end() && found->second.kind == kind ? found : table.end();
}

void DeviceMemory::release(const Allocation &allocation) {
  auto *memory = reinterpret_cast<void *>(allocation.base);
  switch (allocation.kind) {
  case AllocationKind::Device:
    used[allocation.device] -= allocation.mappedBytes;
    munmap(memory, allocation.mappedBytes + pageBytes);
    // The part of the file is not used again: give its pages back.
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
              static_cast<off_t>(allocation.fileOffset),
              static_cast<off_t>(allocation.mappedBytes));
    return;
  case AllocationKind::Imported:
    munmap(memory, allocation.mappedBytes + pageBytes);
    return;
  case AllocationKind::Host:
    munmap(memory, allocation.mappedBytes);
    return;
  case AllocationKind::RegisteredHost:
    return;
  }
}

DriverResult DeviceMemory::free(std::uintptr_t base) {
  std::lock_guard lock(mutex);
  auto found = at(base, AllocationKind::Device);
  if (found == table.end())
    return DriverResult::InvalidValue;
  release(found->second);
  table.erase(found);
  return DriverResult::Success;
}

DriverResult DeviceMemory::allocateHost(int device, std::size_t bytes, std::uintptr_t &base) {
  if (bytes == 0)
    return DriverResult::InvalidValue;
  std::lock_guard lock(mutex);
  void *memory = bytes > SIZE_MAX / 2 ? MAP_FAILED
                                      : mmap(nullptr, roundUp(bytes), PROT_READ | PROT_WRITE,
                                             MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED)
    return DriverResult::OutOfMemory;
  base = reinterpret_cast<std::uintptr_t>(memory);
  table.emplace(base,
                Allocation{AllocationKind::Host, device, base, bytes, roundUp(bytes), 0, {}, 0});
  return DriverResult::Success;
}

DriverResult DeviceMemory::freeHost(std::uintptr_t base) {
  std::lock_guard lock(mutex);
  auto found = at(base, AllocationKind::Host);
  if (found == table.end())
    return DriverResult::InvalidValue;
  release(found->second);
  table.erase(found);
  return DriverResult::Success;
}

DriverResult DeviceMemory::registerHost(int device, std::uintptr_t base, std::size_t bytes) {
  if (bytes == 0 || !isAccessible(base, bytes))
    return DriverResult::InvalidValue;
  std::lock_guard lock(mutex);
  auto next = table.lower_bound(base + bytes);
  if (next != table.begin()) {
    const Allocation &before = std::prev(next)->second;
    if (before.base + before.bytes > base)
      return DriverResult::HostMemoryAlreadyRegistered;
  }
  table.emplace(base, Allocation{AllocationKind::RegisteredHost, device, base, bytes, 0, 0, {}, 0});
  return DriverResult::Success;
}

DriverResult DeviceMemory::unregisterHost(std::uintptr_t base) {
  std::lock_guard lock(mutex);
  auto found = at(base, AllocationKind::RegisteredHost);
  if (found == table.end())
    return DriverResult::HostMemoryNotRegistered;
  table.erase(found);
  return DriverResult::Success;
}

DriverResult DeviceMemory::exportHandle(std::uintptr_t address, cuda::IpcMemHandle &handle) {
  std::optional<Allocation> allocation = find(address);
  if (!allocation || allocation->kind != AllocationKind::Device)
    return DriverResult::InvalidValue;
  HandleContent content{};
  std::memcpy(content.mark, handleMark, sizeof handleMark);
  content.offset = allocation->fileOffset;
  content.bytes = allocation->bytes;
  content.mappedBytes = allocation->mappedBytes;
  content.process = getpid();
  content.file = file;
  content.device = allocation->device;
  std::memset(&handle, 0, sizeof handle);
  std::memcpy(&handle, &content, sizeof content);
  return DriverResult::Success;
}

DriverResult DeviceMemory::import(int device, bool hasPeers, const cuda::IpcMemHandle &handle,
                                  std::uintptr_t &base) {
  HandleContent content;
  std::memcpy(&content, &handle, sizeof content);
  if (std::memcmp(content.mark, handleMark, sizeof handleMark) != 0 || content.bytes == 0 ||
      content.bytes > content.mappedBytes || content.mappedBytes % pageBytes != 0 ||
      content.offset % pageBytes != 0)
    return DriverResult::InvalidValue;
  // The driver opens handles of other processes alone.
  if (content.process == getpid())
    return DriverResult::InvalidContext;
  if (content.device != device && !hasPeers)
    return DriverResult::PeerAccessUnsupported;
  std::string key(handle.reserved, sizeof handle.reserved);
  std::lock_guard lock(mutex);
  for (auto &[start, allocation] : table)
    if (allocation.kind == AllocationKind::Imported && allocation.device == device &&
        allocation.handle == key) {
      ++allocation.opened;
      base = start;
      return DriverResult::Success;
    }
  std::string path = fmt::format("/proc/{}/fd/{}", content.process, content.file);
  int opened = open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (opened < 0)
    return DriverResult::MapFailed;
  off_t end = lseek(opened, 0, SEEK_END);
  void *memory = end >= 0 && static_cast<std::uint64_t>(end) >= content.mappedBytes &&
                         content.offset <= static_cast<std::uint64_t>(end) - content.mappedBytes
                     ? mapWithGap(opened, content.offset, content.mappedBytes)
                     : nullptr;
  close(opened);
  if (!memory)
    return DriverResult::MapFailed;
  base = reinterpret_cast<std::uintptr_t>(memory);
  table.emplace(base, Allocation{AllocationKind::Imported, device, base, content.bytes,
                                 content.mappedBytes, 0, std::move(key), 1});
  return DriverResult::Success;
}

DriverResult DeviceMemory::closeImport(std::uintptr_t base) {
  std::lock_guard lock(mutex);
  auto found = at(base, AllocationKind::Imported);
  if (found == table.end())
    return DriverResult::InvalidValue;
  if (--found->second.opened == 0) {
    release(found->second);
    table.erase(found);
  }
  return DriverResult::Success;
}

std::optional<Allocation> DeviceMemory::find(std::uintptr_t address) const {
  std::lock_guard lock(mutex);
  auto next = table.upper_bound(address);
  if (next == table.begin())
    return std::nullopt;
  const Allocation &allocation = std::prev(next)->second;
  if (address - allocation.base >= allocation.bytes)
    return std::nullopt;
  return allocation;
}

bool DeviceMemory::isAccessible(std::uintptr_t address, std::size_t bytes) const {
  if (bytes == 0)
    return true;
  if (std::optional<Allocation> allocation = find(address))
    return bytes <= allocation->bytes - (address - allocation->base);
  std::uintptr_t last = address + bytes - 1;
  return address != 0 && last >= address && isReadable(address) && isReadable(last);
}

void DeviceMemory::freeAll(int device) {
  std::lock_guard lock(mutex);
  std::erase_if(table, [&](const auto &entry) {
    if (entry.second.device != device)
      return false;
    release(entry.second);
    return true;
  });
}

} // namespace coil::emulated
