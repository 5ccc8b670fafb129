//===- Random.cpp - Random bytes from the system --------------------------===//

#include "runtime/bootstrap/Random.h"

#include <cerrno>
#include <sys/random.h>

namespace coil {

Status fillRandom(void *data, size_t size) {
  auto *bytes = static_cast<unsigned char *>(data);
  while (size > 0) {
    ssize_t filled = ::getrandom(bytes, size, 0);
    if (filled < 0 && errno == EINTR)
      continue;
    if (filled < 0)
      return Status::system(errno, "getrandom of {} bytes", size);
    bytes += filled;
    size -= static_cast<size_t>(filled);
  }
  return Status::ok();
}

} // namespace coil
