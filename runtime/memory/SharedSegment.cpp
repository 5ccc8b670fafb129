//===- SharedSegment.cpp - Memory that several processes map --------------===//

#include "runtime/memory/SharedSegment.h"

#include "runtime/memory/MemoryLimit.h"

#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

namespace coil {

SharedSegment &SharedSegment::operator=(SharedSegment &&other) noexcept {
  if (this != &other) {
    unmap();
    handle = std::move(other.handle);
    base = std::exchange(other.base, nullptr);
    bytes = std::exchange(other.bytes, 0);
  }
  return *this;
}

void SharedSegment::unmap() {
  if (base)
    ::munmap(base, bytes);
  base = nullptr;
}

Result<SharedSegment> SharedSegment::create(const char *name, size_t bytes) {
  if (bytes == 0)
    return Status::error(StatusCode::InvalidArgument,
                         "expected a shared segment of 1 byte or more, found 0");
  // The kernel would hand out pages until it has to kill a process.
  if (uint64_t limit = memoryLimit(); bytes > limit)
    return Status::system(ENOMEM, "cannot allocate {} bytes of shared memory, {} are available",
                          bytes, limit);
  // Going beyond this one raises a signal.
  if (rlimit limit; ::getrlimit(RLIMIT_FSIZE, &limit) == 0 && bytes > limit.rlim_cur)
    return Status::system(EFBIG, "cannot allocate {} bytes of shared memory, files may have {}",
                          bytes, limit.rlim_cur);
  UniqueFd fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!fd)
    return Status::system(errno, "memfd_create of {} bytes of shared memory", bytes);
  int failed;
  do
    failed = ::ftruncate(fd.get(), static_cast<off_t>(bytes));
  while (failed && errno == EINTR);
  if (failed)
    return Status::system(errno, "cannot size shared memory to {} bytes", bytes);
  do
    failed = ::fallocate(fd.get(), 0, 0, static_cast<off_t>(bytes));
  while (failed && errno == EINTR);
  if (failed)
    return Status::system(errno, "cannot allocate {} bytes of shared memory", bytes);
  // Nobody may shrink it under a process that has it mapped.
  if (::fcntl(fd.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL))
    return Status::system(errno, "cannot seal the size of shared memory");
  return mapPages(std::move(fd), bytes);
}

Result<SharedSegment> SharedSegment::map(UniqueFd fd, size_t bytes) {
  if (bytes == 0)
    return Status::error(StatusCode::InvalidArgument,
                         "expected to map 1 byte or more of a shared segment, found 0");
  int seals = ::fcntl(fd.get(), F_GET_SEALS);
  if (seals < 0 || !(seals & F_SEAL_SHRINK))
    return Status::error(StatusCode::InvalidArgument, "descriptor {} is no shared segment of Coil",
                         fd.get());
  struct stat info;
  if (::fstat(fd.get(), &info))
    return Status::system(errno, "cannot read the size of a shared segment");
  if (static_cast<uint64_t>(info.st_size) < bytes)
    return Status::error(StatusCode::InvalidArgument,
                         "expected a shared segment of {} bytes or more, found {}", bytes,
                         info.st_size);
  return mapPages(std::move(fd), bytes);
}

Result<SharedSegment> SharedSegment::mapPages(UniqueFd fd, size_t bytes) {
  void *base =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, fd.get(), 0);
  if (base == MAP_FAILED)
    return Status::system(errno, "cannot map {} bytes of shared memory", bytes);
  return SharedSegment(std::move(fd), static_cast<std::byte *>(base), bytes);
}

} // namespace coil
