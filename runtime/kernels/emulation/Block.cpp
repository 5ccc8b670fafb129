//===- Block.cpp - A thread block and its fibers --------------------------===//

#include "runtime/kernels/emulation/Block.h"

#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fmt/format.h>
#include <sched.h>

namespace coil::emulation {

thread_local EmulatedThread *currentThread = nullptr;

namespace {

const char *name(Meeting meeting) {
  switch (meeting) {
  case Meeting::None:
    return "nothing";
  case Meeting::SyncBlock:
    return "syncBlock";
  case Meeting::SyncBlockOr:
    return "syncBlockOr";
  case Meeting::SyncWarp:
    return "syncWarp";
  case Meeting::AnyInWarp:
    return "anyInWarp";
  case Meeting::LoadLine:
    return "loadLine";
  case Meeting::StoreLine:
    return "storeLine";
  }
  return "nothing";
}

/// Lets other threads run, the longer the longer this one has had nothing to do.
void idle(u32 rounds) {
  if (rounds < 64) {
    sched_yield();
    return;
  }
  timespec pause{0, std::min<long>(rounds - 63, 20) * 10000};
  nanosleep(&pause, nullptr);
}

} // namespace

Block::Block(const LaunchFacts &facts, u32 index)
    : facts(facts), blockIndex(index), warps(facts.launch->threads / warpThreads) {
  std::size_t bytes = facts.launch->sharedBytes;
  void *memory = nullptr;
  if (posix_memalign(&memory, lineBytes, bytes ? bytes : 1) == 0) {
    sharedMemory.reset(static_cast<u8 *>(memory));
    std::memset(memory, 0xa5, bytes);
  }
  for (u32 i = 0; i < facts.launch->threads; ++i) {
    auto thread = std::make_unique<EmulatedThread>();
    thread->block = this;
    thread->index = i;
    thread->history.problems = facts.problems;
    if (tracking) {
      thread->history.place = {facts.numbers.first + index, index, facts.launch->device, i};
      thread->history.known = facts.numbers.start;
    }
    histories.push_back(&thread->history);
    threads.push_back(std::move(thread));
  }
}

void Block::run() {
  if (!sharedMemory)
    return problems().reportAndStop(
        ProblemKind::NoMemory,
        fmt::format("no memory for {} bytes of shared memory", facts.launch->sharedBytes));
  for (auto &thread : threads) {
    if (!thread->fiber.hasStack())
      return problems().reportAndStop(
          ProblemKind::NoMemory, fmt::format("no memory for the stacks of block {}", blockIndex));
    thread->fiber.prepare(&Block::runThread, thread.get());
  }
  runFibers();
  currentThread = nullptr;
  if (tracking)
    endBlock(histories);
}

void Block::runFibers() {
  u32 idleRounds = 0;
  for (bool isForward = true; whole.ended < threadCount(); isForward = !isForward) {
    bool hasProgress = false;
    for (u32 i = 0; i < threadCount(); ++i) {
      EmulatedThread &thread = *threads[isForward ? i : threadCount() - 1 - i];
      if (thread.state != EmulatedThread::State::Ready &&
          thread.state != EmulatedThread::State::Paused)
        continue;
      thread.state = EmulatedThread::State::Ready;
      currentThread = &thread;
      thread.fiber.resume();
      if (problems().mustStop())
        return;
      hasProgress |= thread.state != EmulatedThread::State::Paused;
    }
    idleRounds = hasProgress ? 0 : idleRounds + 1;
    if (hasProgress)
      continue;
    if (idleRounds % 16 == 0 && std::chrono::steady_clock::now() > facts.deadline) {
      std::string where;
      for (auto &thread : threads)
        if (thread->state == EmulatedThread::State::Meeting && thread->index % warpThreads == 0)
          where += "; " + describe(*thread);
      return problems().reportAndStop(
          ProblemKind::TimeLimit,
          fmt::format("device {}, block {} is still waiting at the time limit{}",
                      facts.launch->device, blockIndex, where));
    }
    idle(idleRounds);
  }
}

void Block::runThread(void *argument) {
  auto &thread = *static_cast<EmulatedThread *>(argument);
  thread.block->facts.launch->body();
  thread.block->end(thread);
}

std::string Block::describe(const EmulatedThread &thread) const {
  const Group &group = warps[thread.index / warpThreads];
  bool atWarp = group.meeting != Meeting::None && thread.state == EmulatedThread::State::Meeting;
  return fmt::format("thread {} waits in {} at {}", thread.index,
                     name(atWarp ? group.meeting : whole.meeting), text(thread.site));
}

void Block::report(const EmulatedThread &thread, const std::string &what) {
  problems().reportAndStop(ProblemKind::Misuse,
                           fmt::format("device {}, block {}, thread {}: {}", facts.launch->device,
                                       blockIndex, thread.index, what));
}

void Block::leave(EmulatedThread &thread) {
  for (;;)
    thread.fiber.suspend(); // and never comes back: the run stops
}

void Block::end(EmulatedThread &thread) {
  if (thread.bulkCopies.isBegun) {
    report(thread, "ends with bulk copies that have not been ended");
    leave(thread);
  }
  for (Group *group : {&whole, &warp(thread)})
    if (group->arrived > 0) {
      report(thread, fmt::format("ends, but {}", describe(*threads[group->firstArrived])));
      leave(thread);
    }
  thread.state = EmulatedThread::State::Ended;
  ++whole.ended;
  ++warp(thread).ended;
}

void Block::pause(EmulatedThread &thread) {
  thread.state = EmulatedThread::State::Paused;
  thread.fiber.suspend();
}

bool Block::meetBlock(EmulatedThread &thread, Meeting meeting, bool mine, Site site) {
  if (Group &group = warp(thread); group.arrived > 0) {
    report(thread, fmt::format("calls {} at {}, but {}", name(meeting), text(site),
                               describe(*threads[group.firstArrived])));
    leave(thread);
  }
  return meet(thread, whole, 0, threadCount(), meeting, mine, site);
}

bool Block::meetWarp(EmulatedThread &thread, Meeting meeting, bool mine, Site site) {
  u32 begin = thread.index / warpThreads * warpThreads;
  if (whole.arrived > 0)
    for (u32 i = begin; i < begin + warpThreads; ++i)
      if (threads[i]->state == EmulatedThread::State::Meeting && warp(thread).arrived == 0) {
        report(thread, fmt::format("calls {} at {}, but {}", name(meeting), text(site),
                                   describe(*threads[i])));
        leave(thread);
      }
  return meet(thread, warp(thread), begin, begin + warpThreads, meeting, mine, site);
}

bool Block::meet(EmulatedThread &thread, Group &group, u32 begin, u32 end, Meeting meeting,
                 bool mine, Site site) {
  if (group.ended > 0) {
    report(thread, fmt::format("calls {} at {}, but {} of {} threads have ended", name(meeting),
                               text(site), group.ended, end - begin));
    leave(thread);
  }
  if (group.arrived > 0 && group.meeting != meeting) {
    report(thread, fmt::format("calls {} at {}, but {}", name(meeting), text(site),
                               describe(*threads[group.firstArrived])));
    leave(thread);
  }
  if (group.arrived == 0) {
    group.firstArrived = thread.index;
    group.anyone = false;
  }
  group.meeting = meeting;
  group.anyone |= mine;
  thread.site = site;
  if (++group.arrived == end - begin) {
    complete(group, begin, end);
  } else {
    thread.state = EmulatedThread::State::Meeting;
    thread.fiber.suspend();
  }
  // The next meeting needs this thread too, so the result still stands.
  return group.result;
}

void Block::complete(Group &group, u32 begin, u32 end) {
  Meeting meeting = group.meeting;
  if (meeting == Meeting::LoadLine || meeting == Meeting::StoreLine)
    accessLines(begin, meeting);
  if (tracking) {
    auto joined = std::span<ThreadHistory *const>(histories).subspan(begin, end - begin);
    if (meeting == Meeting::SyncBlock || meeting == Meeting::SyncBlockOr)
      joinBlock(joined);
    else if (meeting == Meeting::SyncWarp)
      joinWarp(joined);
  }
  group.result = group.anyone;
  group.arrived = 0;
  group.meeting = Meeting::None;
  for (u32 i = begin; i < end; ++i)
    threads[i]->state = EmulatedThread::State::Ready;
}

void Block::accessLines(u32 begin, Meeting meeting) {
  constexpr u32 lanes = 8;
  static std::array<std::mutex, 64> locks; // a line moves as a whole
  for (u32 first = begin; first < begin + warpThreads; first += lanes) {
    const u8 *line = threads[first]->line;
    if (reinterpret_cast<std::uintptr_t>(line) % lineBytes != 0) {
      report(*currentThread,
             fmt::format("{} of the address {} at {}, no multiple of {}", name(meeting),
                         static_cast<const void *>(line), text(threads[first]->site), lineBytes));
      leave(*currentThread);
    }
    for (u32 i = first; i < first + lanes; ++i)
      if (threads[i]->line != line) {
        report(*currentThread,
               fmt::format("{} at {}: threads {} to {} should have one line, but thread {} has "
                           "another address",
                           name(meeting), text(threads[first]->site), first, first + lanes - 1, i));
        leave(*currentThread);
      }
    if (line == nullptr) {
      for (u32 i = first; i < first + lanes; ++i)
        threads[i]->value = {0, 0};
      continue;
    }
    auto number = reinterpret_cast<std::uintptr_t>(line) / lineBytes;
    std::lock_guard lock(locks[number % locks.size()]);
    // With tracking, a line's history is looked at as a whole too.
    std::unique_lock<std::mutex> pageLock;
    if (tracking)
      pageLock = std::unique_lock(findPage(threads[first]->history, line).mutex);
    for (u32 i = first; i < first + lanes; ++i) {
      EmulatedThread &thread = *threads[i];
      auto *words = reinterpret_cast<u64 *>(const_cast<u8 *>(line)) + (i - first) * 2;
      u64 *values[] = {&thread.value.first, &thread.value.second};
      for (u32 half = 0; half < 2; ++half) {
        u64 *word = words + half;
        if (tracking)
          addPackedAccess(thread.history, findPage(thread.history, word).granule(word), word,
                          meeting == Meeting::StoreLine ? values[half] : nullptr, thread.site);
        if (meeting == Meeting::StoreLine)
          __atomic_store_n(word, *values[half], __ATOMIC_RELAXED);
        else
          *values[half] = __atomic_load_n(word, __ATOMIC_RELAXED);
      }
    }
  }
}

} // namespace coil::emulation
