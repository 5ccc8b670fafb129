//===- Fifo.h - A staged channel in shared memory ---------------*- C++ -*-===//
//
// A ring of slots in the receiver's memory. The sender fills a slot and then
// raises its flag; the receiver empties it and then raises the counter of freed
// slots in the sender's memory. Each side spins on its own memory only. Flags
// and counters are ordinals that only ever grow.
//
// A slot is a header line and the payload. A payload of up to
// `SlotHeader::inlineBytes` bytes travels in the header: one line a message.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_CHANNEL_FIFO_H
#define COIL_RUNTIME_CHANNEL_FIFO_H

#include "runtime/channel/ControlBlock.h"

#include <cstddef>

namespace coil {

struct alignas(64) SlotHeader {
  static constexpr size_t inlineBytes = 48;

  std::atomic<uint64_t> flag; ///< ordinal of the message, from 1; 0 before the first
  uint64_t fingerprint;       ///< of the sender's call
  std::array<std::byte, inlineBytes> inlinePayload;

  std::byte *payload(size_t bytes) {
    return bytes <= inlineBytes ? inlinePayload.data() : reinterpret_cast<std::byte *>(this + 1);
  }
};
static_assert(sizeof(SlotHeader) == 64);

/// Asks for the ownership of a line.
inline void prefetchForWriting(const void *address) {
#if defined(__x86_64__)
  // What compilers make of __builtin_prefetch only reads unless told the processor.
  asm volatile("prefetchw %0" : : "m"(*static_cast<const char *>(address)));
#else
  __builtin_prefetch(address, 1);
#endif
}

/// A counter alone on its line.
struct alignas(lineBytes) SharedCounter {
  std::atomic<uint64_t> value;
};

/// Up to here the cost of a message is the latency of its lines.
inline constexpr size_t smallMessage = 4096;

/// Distance of slots whose payload has up to `slotBytes` bytes.
constexpr size_t slotStride(size_t slotBytes) {
  return (sizeof(SlotHeader) + slotBytes + lineBytes - 1) / lineBytes * lineBytes;
}

/// What the two ends of a FIFO have in common.
struct FifoPlace {
  std::byte *slots = nullptr;     ///< in the receiver's memory
  SharedCounter *freed = nullptr; ///< in the sender's memory
  uint32_t slotCount = 0;
  size_t stride = 0;
};

class FifoSender {
public:
  explicit FifoSender(FifoPlace place) : place(place) {}

  bool hasRoom() {
    if (sent - knownFreed < place.slotCount)
      return true;
    knownFreed = place.freed->value.load(std::memory_order_acquire);
    return sent - knownFreed < place.slotCount;
  }
  /// Where the next message goes; only if there is room.
  std::byte *payload(size_t bytes) {
    lastBytes = bytes;
    return slot()->payload(bytes);
  }
  /// Asks for the lines of a next message like the last one and, if that will
  /// matter, of the receiver's counter, so that they are here by then. To be
  /// called when there is nothing else to do.
  void prefetch() const {
    if (lastBytes > smallMessage)
      return;
    const std::byte *line = place.slots + next * place.stride;
    const std::byte *end = slot()->payload(lastBytes) + lastBytes;
    for (; line < end; line += 64)
      prefetchForWriting(line);
    if (sent - knownFreed + 1 >= place.slotCount)
      __builtin_prefetch(place.freed);
  }
  void send(uint64_t fingerprint) {
    SlotHeader *header = slot();
    header->fingerprint = fingerprint;
    header->flag.store(++sent, std::memory_order_release);
    next = next + 1 == place.slotCount ? 0 : next + 1;
  }

private:
  SlotHeader *slot() const {
    return reinterpret_cast<SlotHeader *>(place.slots + next * place.stride);
  }

  FifoPlace place;
  uint32_t next = 0;
  size_t lastBytes = 0;
  uint64_t sent = 0, knownFreed = 0;
};

class FifoReceiver {
public:
  explicit FifoReceiver(FifoPlace place) : place(place) {}

  bool hasMessage() const { return slot()->flag.load(std::memory_order_acquire) == received + 1; }
  /// Of the oldest message; only if there is one.
  uint64_t fingerprint() const { return slot()->fingerprint; }
  const std::byte *payload(size_t bytes) const { return slot()->payload(bytes); }
  /// Frees the oldest message's slot, of `bytes` bytes. The sender may hear of it
  /// as late as with the next announce(), but always while another slot is free:
  /// its counter's line is slow to get, and the next call's first stores would
  /// queue behind it.
  void release(size_t bytes) {
    ++received;
    next = next + 1 == place.slotCount ? 0 : next + 1;
    if (bytes > smallMessage || received - announced + 1 >= place.slotCount)
      announce();
  }
  /// To be called before a wait.
  void announce() {
    if (announced == received)
      return;
    announced = received;
    place.freed->value.store(received, std::memory_order_release);
  }

private:
  SlotHeader *slot() const {
    return reinterpret_cast<SlotHeader *>(place.slots + next * place.stride);
  }

  FifoPlace place;
  uint32_t next = 0;
  uint64_t received = 0, announced = 0;
};

/// The ends of a p2p channel: a counter in the receiver's memory.
class SignalSender {
public:
  explicit SignalSender(SharedCounter *counter) : counter(counter) {}
  void signal() { counter->value.store(++signalled, std::memory_order_release); }

private:
  SharedCounter *counter;
  uint64_t signalled = 0;
};

class SignalReceiver {
public:
  explicit SignalReceiver(SharedCounter *counter) : counter(counter) {}
  /// Consumes one signal if it is there.
  bool tryWait() {
    if (counter->value.load(std::memory_order_acquire) <= consumed)
      return false;
    ++consumed;
    return true;
  }

private:
  SharedCounter *counter;
  uint64_t consumed = 0;
};

} // namespace coil

#endif // COIL_RUNTIME_CHANNEL_FIFO_H
