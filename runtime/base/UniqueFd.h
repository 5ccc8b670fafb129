//===- UniqueFd.h - A file descriptor that closes itself --------*- C++ -*-===//

#ifndef COIL_RUNTIME_BASE_UNIQUEFD_H
#define COIL_RUNTIME_BASE_UNIQUEFD_H

#include <unistd.h>
#include <utility>

namespace coil {

/// Owns one file descriptor, or none.
class UniqueFd {
public:
  UniqueFd() = default;
  /// Takes over `fd`; a negative one stands for none.
  explicit UniqueFd(int fd) : fd(fd < 0 ? -1 : fd) {}
  UniqueFd(UniqueFd &&other) noexcept : fd(other.release()) {}
  UniqueFd &operator=(UniqueFd &&other) noexcept {
    reset(other.release());
    return *this;
  }
  ~UniqueFd() { reset(); }

  /// -1 if there is none.
  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }

  /// Gives the descriptor away.
  [[nodiscard]] int release() { return std::exchange(fd, -1); }

  /// Closes the descriptor held and takes over `replacement`. close() is not
  /// repeated after EINTR: Linux has closed the descriptor by then.
  void reset(int replacement = -1) {
    if (int old = std::exchange(fd, replacement); old >= 0)
      ::close(old);
  }

private:
  int fd = -1;
};

} // namespace coil

#endif // COIL_RUNTIME_BASE_UNIQUEFD_H
