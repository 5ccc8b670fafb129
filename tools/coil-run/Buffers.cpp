//===- Buffers.cpp - A rank's send and receive memory ---------------------===//

#include "tools/coil-run/Buffers.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>

namespace coil::run {

namespace {
constexpr size_t pageBytes = 4096;
constexpr std::byte guardByte{0xa5};
} // namespace

Status apiStatus(coilResult_t result, const char *call, coilComm_t comm) {
  if (result == coilSuccess)
    return Status::ok();
  const char *sentence = coilGetLastError(comm);
  return Status::error(static_cast<StatusCode>(result), "{}: {}", call,
                       sentence && *sentence ? sentence : coilGetErrorString(result));
}

Status Region::allocate(MemoryKind kind, size_t bytes, size_t offset, coilComm_t comm,
                        const Gpu *gpu) {
  this->kind = kind;
  this->gpu = gpu;
  // A page in front holds the guard and keeps the data's alignment.
  mapped = pageBytes + offset + bytes + guardBytes;
  isShared = kind == MemoryKind::Registered && !gpu;
  if (isShared)
    COIL_RETURN_IF_ERROR(apiStatus(coilMemAlloc(&base, mapped), "coilMemAlloc", nullptr));
  else
    COIL_RETURN_IF_ERROR(allocatePlain());
  if (gpu) {
    COIL_ASSIGN_OR_RETURN(onDevice, gpu->allocate(mapped));
  }
  start = hostBase() + pageBytes + offset;
  if (kind == MemoryKind::Registered)
    return apiStatus(coilCommRegister(comm, callAddress(hostBase()), mapped, &window),
                     "coilCommRegister", comm);
  return Status::ok();
}

Status Region::allocatePlain() {
  void *mapping = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapping == MAP_FAILED)
    return Status::system(errno, "cannot allocate {} bytes", mapped);
  base = mapping;
  return Status::ok();
}

Status Region::toDevice(size_t bytes) const {
  if (!gpu)
    return Status::ok();
  std::byte *from = start - guardBytes;
  return gpu->upload(callAddress(from), from, bytes + 2 * guardBytes);
}

Status Region::toHost(size_t bytes) const {
  if (!gpu)
    return Status::ok();
  std::byte *to = start - guardBytes;
  return gpu->download(to, callAddress(to), bytes + 2 * guardBytes);
}

Status Region::guardsToHost(size_t bytes) const {
  if (!gpu)
    return Status::ok();
  for (std::byte *guard : {start - guardBytes, start + bytes})
    COIL_RETURN_IF_ERROR(gpu->download(guard, callAddress(guard), guardBytes));
  return Status::ok();
}

Status Region::release(coilComm_t comm) {
  Status status;
  if (window)
    status = apiStatus(coilCommDeregister(comm, window), "coilCommDeregister", comm);
  window = nullptr;
  return status;
}

Region::~Region() {
  if (!base)
    return;
  if (!isShared)
    munmap(base, mapped);
  else if (!window) // memory that is still registered may be in a peer's hands
    coilMemFree(base);
}

void Region::setGuards(size_t bytes) const {
  std::memset(start - guardBytes, static_cast<int>(guardByte), guardBytes);
  std::memset(start + bytes, static_cast<int>(guardByte), guardBytes);
}

uint64_t Region::changedGuardBytes(size_t bytes) const {
  auto changed = [](const std::byte *guard) {
    return guardBytes - static_cast<uint64_t>(std::count(guard, guard + guardBytes, guardByte));
  };
  return changed(start - guardBytes) + changed(start + bytes);
}

} // namespace coil::run
