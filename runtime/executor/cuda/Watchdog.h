//===- Watchdog.h - A thread that looks at calls in flight ------*- C++ -*-===//

#ifndef COIL_RUNTIME_EXECUTOR_CUDA_WATCHDOG_H
#define COIL_RUNTIME_EXECUTOR_CUDA_WATCHDOG_H

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>

namespace coil::cuda {

class Watchdog {
public:
  /// `look` is called every `period` as long as it returns true, and sleeps after
  /// that until it is woken.
  Watchdog(std::chrono::milliseconds period, std::function<bool()> look)
      : period(period), look(std::move(look)), thread([this] { run(); }) {}
  ~Watchdog() {
    {
      std::lock_guard lock(mutex);
      stopping = true;
    }
    changed.notify_all();
    thread.join();
  }
  Watchdog(const Watchdog &) = delete;
  Watchdog &operator=(const Watchdog &) = delete;

  /// There is something to look at. Costs next to nothing while it is awake.
  void wake() {
    if (awake.exchange(true, std::memory_order_acq_rel))
      return;
    {
      std::lock_guard lock(mutex);
    }
    changed.notify_all();
  }

private:
  void run() {
    std::unique_lock lock(mutex);
    while (!stopping) {
      if (!awake.load(std::memory_order_acquire)) {
        changed.wait(lock);
        continue;
      }
      changed.wait_for(lock, period, [this] { return stopping; });
      if (stopping)
        return;
      // Before looking, so that what is enqueued meanwhile wakes it again.
      awake.store(false, std::memory_order_release);
      lock.unlock();
      bool more = look();
      lock.lock();
      if (more)
        awake.store(true, std::memory_order_release);
    }
  }

  std::chrono::milliseconds period;
  std::function<bool()> look;
  std::mutex mutex;
  std::condition_variable changed;
  std::atomic<bool> awake = false;
  bool stopping = false;
  std::thread thread; ///< last: it uses all of the above
};

} // namespace coil::cuda

#endif // COIL_RUNTIME_EXECUTOR_CUDA_WATCHDOG_H
