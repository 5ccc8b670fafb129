//===- Block.h - A thread block and its fibers ------------------*- C++ -*-===//
//
// One thread of the operating system runs a block: it resumes the block's fibers
// in turn, first to last and then last to first, so that a missing barrier cannot
// hide behind one order. When all of them only wait, it lets other blocks run.
//
// At most one thread of a block runs at a time, so nothing here needs a lock.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_KERNELS_EMULATION_BLOCK_H
#define COIL_RUNTIME_KERNELS_EMULATION_BLOCK_H

#include "runtime/kernels/emulation/BulkCopies.h"
#include "runtime/kernels/emulation/Fiber.h"
#include "runtime/kernels/emulation/History.h"

#include <chrono>
#include <functional>
#include <memory>
#include <vector>

namespace coil::emulation {

inline constexpr u32 warpThreads = 32;
inline constexpr u32 lineBytes = 128;

/// What all blocks of a launch share.
struct LaunchFacts {
  const KernelLaunch *launch;
  Problems *problems;
  BlockNumbers numbers;                           ///< with tracking alone
  std::chrono::steady_clock::time_point deadline; ///< max(): none
};

/// What threads can meet at.
enum class Meeting : u8 { None, SyncBlock, SyncBlockOr, SyncWarp, AnyInWarp, LoadLine, StoreLine };

class Block;

struct EmulatedThread {
  enum class State : u8 { Ready, Paused, Meeting, Ended };

  Block *block = nullptr;
  u32 index = 0;
  State state = State::Ready;
  Site site = {}; ///< where it meets
  // A lane's part of a line access.
  const u8 *line = nullptr;
  Pair value = {};
  BulkCopies bulkCopies;
  Fiber fiber;
  ThreadHistory history;
};

/// The thread that runs; null outside of kernels.
extern thread_local EmulatedThread *currentThread;

class Block {
public:
  Block(const LaunchFacts &facts, u32 index);
  /// Runs the block to its end, or until the run must stop.
  void run();

  u32 index() const { return blockIndex; }
  u32 threadCount() const { return static_cast<u32>(threads.size()); }
  u8 *shared() const { return sharedMemory.get(); }
  const KernelLaunch &launch() const { return *facts.launch; }
  Problems &problems() const { return *facts.problems; }

  /// Waits for all threads; returns whether one of them said `mine`.
  bool meetBlock(EmulatedThread &thread, Meeting meeting, bool mine, Site site);
  /// Waits for the thread's warp. Of line accesses, the threads' `line` and `value`
  /// are set before, and their values read after.
  bool meetWarp(EmulatedThread &thread, Meeting meeting, bool mine, Site site);
  void pause(EmulatedThread &thread);
  /// Reports a misuse by the thread, which ends the run.
  void report(const EmulatedThread &thread, const std::string &what);
  /// Abandons the thread. Nothing is unwound, so nothing that owns memory may live.
  [[noreturn]] void leave(EmulatedThread &thread);

private:
  /// Threads that wait for the others of the same group.
  struct Group {
    Meeting meeting = Meeting::None;
    u32 arrived = 0;
    u32 ended = 0;
    bool anyone = false;
    bool result = false;
    u32 firstArrived = 0;
  };

  void runFibers();
  static void runThread(void *thread);
  void end(EmulatedThread &thread);
  bool meet(EmulatedThread &thread, Group &group, u32 begin, u32 end, Meeting meeting, bool mine,
            Site site);
  void complete(Group &group, u32 begin, u32 end);
  void accessLines(u32 begin, Meeting meeting);
  Group &warp(const EmulatedThread &thread) { return warps[thread.index / warpThreads]; }
  std::string describe(const EmulatedThread &thread) const;

  struct Free {
    void operator()(u8 *memory) const { std::free(memory); }
  };

  const LaunchFacts &facts;
  u32 blockIndex;
  std::vector<std::unique_ptr<EmulatedThread>> threads;
  std::unique_ptr<u8, Free> sharedMemory;
  Group whole;
  std::vector<Group> warps;
  std::vector<ThreadHistory *> histories; ///< of all threads
};

} // namespace coil::emulation

#endif // COIL_RUNTIME_KERNELS_EMULATION_BLOCK_H
