//===- Board.cpp - Memory that the tool's processes share -----------------===//

#include "tools/coil-run/Board.h"

#include <cerrno>
#include <chrono>
#include <new>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace coil::run {

static_assert(std::atomic<uint64_t>::is_always_lock_free && std::atomic<bool>::is_always_lock_free,
              "the board's atomics work between processes");

/// The mapping begins as zeros, which is each member's initial state.
struct alignas(64) Board::Header {
  std::atomic<bool> failed;
  std::atomic<uint32_t> reports;
  uint64_t agreedNumber;
  coilUniqueId id;
};

/// A rank's own cache line: how often it has come to a meeting.
struct alignas(64) Board::Arrival {
  std::atomic<uint64_t> meetings;
};

Board::Header &Board::header() const { return *reinterpret_cast<Header *>(base); }
Board::Arrival &Board::arrival(int rank) const {
  return reinterpret_cast<Arrival *>(base + sizeof(Header))[rank];
}
std::atomic<uint32_t> &Board::finishedRanks(size_t row) const {
  return reinterpret_cast<std::atomic<uint32_t> *>(base + finishedOffset)[row];
}
Outcome &Board::outcome(size_t row, size_t placement, int rank) {
  size_t index = (row * 2 + placement) * static_cast<size_t>(ranks) + static_cast<size_t>(rank);
  return reinterpret_cast<Outcome *>(base + outcomeOffset)[index];
}
coilUniqueId &Board::id() { return header().id; }
uint64_t &Board::agreedNumber() { return header().agreedNumber; }

Result<std::unique_ptr<Board>> Board::create(int ranks, size_t rows) {
  auto roundUp = [](size_t bytes) { return (bytes + 63) / 64 * 64; };
  std::unique_ptr<Board> board(new Board);
  board->ranks = ranks;
  board->finishedOffset = sizeof(Header) + static_cast<size_t>(ranks) * sizeof(Arrival);
  board->outcomeOffset = board->finishedOffset + roundUp(rows * sizeof(std::atomic<uint32_t>));
  size_t bytes = board->outcomeOffset + rows * 2 * static_cast<size_t>(ranks) * sizeof(Outcome);
  void *mapping = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapping == MAP_FAILED)
    return Status::system(errno, "cannot map {} bytes for the ranks' results", bytes);
  board->base = static_cast<std::byte *>(mapping);
  board->bytes = bytes;
  board->event = UniqueFd(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!board->event)
    return Status::system(errno, "cannot make an event descriptor");
  return board;
}

Board::~Board() {
  if (base)
    munmap(base, bytes);
}

void Board::fail() { header().failed.store(true, std::memory_order_release); }
bool Board::hasFailed() const { return header().failed.load(std::memory_order_acquire); }

bool Board::mayReport(uint32_t limit) {
  return header().reports.fetch_add(1, std::memory_order_relaxed) < limit;
}

Status Board::meet(int rank, uint64_t timeoutMs) {
  using Clock = std::chrono::steady_clock;
  constexpr int pauses = 2000;
  constexpr auto eager = std::chrono::milliseconds(2);

  uint64_t ordinal = arrival(rank).meetings.load(std::memory_order_relaxed) + 1;
  arrival(rank).meetings.store(ordinal, std::memory_order_release);
  Clock::time_point start = Clock::now();
  for (int peer = 0; peer < ranks; ++peer)
    for (int tries = 0; arrival(peer).meetings.load(std::memory_order_acquire) < ordinal; ++tries) {
      if (hasFailed())
        return Status::error(StatusCode::Aborted, "another rank failed");
      if (tries < pauses) {
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
        continue;
      }
      auto waited = Clock::now() - start;
      if (timeoutMs > 0 && waited > std::chrono::milliseconds(timeoutMs))
        return Status::error(StatusCode::Timeout,
                             "waited {:.1f} s for rank {} to come to the start of a call",
                             std::chrono::duration<double>(waited).count(), peer);
      // Ranks that still prepare their data need the cores more than ranks that wait.
      if (waited > eager)
        std::this_thread::sleep_for(std::chrono::microseconds(100));
      else
        sched_yield();
    }
  return Status::ok();
}

void Board::finishRow(size_t row) {
  uint32_t before = finishedRanks(row).fetch_add(1, std::memory_order_acq_rel);
  if (before + 1 != static_cast<uint32_t>(ranks))
    return;
  uint64_t one = 1;
  // It fails only if 2^64 - 2 rows were finished and not yet seen.
  [[maybe_unused]] ssize_t written = write(event.get(), &one, sizeof(one));
}

bool Board::isFinished(size_t row) const {
  return finishedRanks(row).load(std::memory_order_acquire) == static_cast<uint32_t>(ranks);
}

void Board::clearRowEvent() {
  uint64_t rows;
  [[maybe_unused]] ssize_t got = read(event.get(), &rows, sizeof(rows));
}

} // namespace coil::run
