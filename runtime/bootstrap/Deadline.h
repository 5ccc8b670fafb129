//===- Deadline.h - Until when a rank waits ---------------------*- C++ -*-===//

#ifndef COIL_RUNTIME_BOOTSTRAP_DEADLINE_H
#define COIL_RUNTIME_BOOTSTRAP_DEADLINE_H

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace coil {

/// A point in time, and how long the rank that set it waits in all.
class Deadline {
public:
  /// In `timeoutMs` milliseconds; 0, and more than a hundred years, is never.
  explicit Deadline(uint64_t timeoutMs) : Deadline(timeoutMs, timeoutMs) {}
  /// In `remainingMs` milliseconds, of `timeoutMs` in all.
  Deadline(uint64_t timeoutMs, uint64_t remainingMs) : total(timeoutMs) {
    constexpr uint64_t hundredYears = uint64_t(100) * 365 * 24 * 3600 * 1000;
    if (timeoutMs != 0 && timeoutMs <= hundredYears)
      end = Clock::now() + std::chrono::milliseconds(std::min(remainingMs, timeoutMs));
  }

  bool passed() const { return remainingMs() == 0; }
  /// Rounded up, so that it is 0 only when the time has passed.
  uint64_t remainingMs() const {
    if (end == Clock::time_point::max())
      return UINT64_MAX;
    auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now());
    return static_cast<uint64_t>(std::max<int64_t>(left.count(), 0));
  }
  uint64_t timeoutMs() const { return total; }

  /// This one put off; still how long the rank waits in all.
  Deadline plusMs(uint64_t ms) const {
    Deadline later = *this;
    if (end != Clock::time_point::max())
      later.end += std::chrono::milliseconds(ms);
    return later;
  }

  bool operator<(const Deadline &other) const { return end < other.end; }

private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point end = Clock::time_point::max();
  uint64_t total;
};

} // namespace coil

#endif // COIL_RUNTIME_BOOTSTRAP_DEADLINE_H
