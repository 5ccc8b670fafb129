//===- Clock.cpp - Which events a thread knows to have happened -----------===//

#include "runtime/kernels/emulation/Clock.h"

#include <algorithm>

namespace coil::emulation {

const Clock::Entry *Clock::find(std::uint64_t block) const {
  auto found = std::lower_bound(entries.begin(), entries.end(), block,
                                [](const Entry &e, std::uint64_t b) { return e.block < b; });
  return found != entries.end() && found->block == block ? &*found : nullptr;
}

bool Clock::covers(const Moment &moment) const {
  if (moment.block < lowest)
    return true;
  const Entry *found = find(moment.block);
  if (!found)
    return false;
  if (barrierOf(moment.epoch) <= found->barrier)
    return true;
  auto thread = std::lower_bound(found->ahead.begin(), found->ahead.end(), moment.thread,
                                 [](const Ahead &a, std::uint32_t t) { return a.thread < t; });
  return thread != found->ahead.end() && thread->thread == moment.thread &&
         thread->epoch >= moment.epoch;
}

bool Clock::knowsMoreOf(std::uint64_t block, const Clock &other) const {
  if (block < other.lowest)
    return false;
  if (block < lowest)
    return true;
  const Entry *mine = find(block), *theirs = other.find(block);
  if (!mine)
    return false;
  if (mine->barrier > (theirs ? theirs->barrier : 0))
    return true;
  return std::any_of(mine->ahead.begin(), mine->ahead.end(), [&](const Ahead &ahead) {
    return !other.covers({block, ahead.thread, ahead.epoch});
  });
}

Clock::Entry &Clock::entry(std::uint64_t block) {
  auto found = std::lower_bound(entries.begin(), entries.end(), block,
                                [](const Entry &e, std::uint64_t b) { return e.block < b; });
  if (found == entries.end() || found->block != block)
    found = entries.insert(found, Entry{block, 0, {}});
  return *found;
}

void Clock::raise(Entry &entry, std::uint32_t barrier) {
  if (barrier <= entry.barrier)
    return;
  entry.barrier = barrier;
  std::erase_if(entry.ahead, [&](const Ahead &a) { return barrierOf(a.epoch) <= barrier; });
}

void Clock::raise(Entry &entry, const Ahead &ahead) {
  if (barrierOf(ahead.epoch) <= entry.barrier)
    return;
  auto found = std::lower_bound(entry.ahead.begin(), entry.ahead.end(), ahead.thread,
                                [](const Ahead &a, std::uint32_t t) { return a.thread < t; });
  if (found == entry.ahead.end() || found->thread != ahead.thread)
    entry.ahead.insert(found, ahead);
  else
    found->epoch = std::max(found->epoch, ahead.epoch);
}

void Clock::join(const Clock &other) {
  addBlocksBelow(other.lowest);
  for (const Entry &theirs : other.entries) {
    if (theirs.block < lowest)
      continue;
    Entry &mine = entry(theirs.block);
    raise(mine, theirs.barrier);
    for (const Ahead &ahead : theirs.ahead)
      raise(mine, ahead);
  }
}

void Clock::add(const Moment &moment) {
  if (moment.block >= lowest)
    raise(entry(moment.block), Ahead{moment.thread, moment.epoch});
}

void Clock::addBarrier(std::uint64_t block, std::uint32_t barrier) {
  if (block >= lowest)
    raise(entry(block), barrier);
}

void Clock::addBlocksBelow(std::uint64_t block) {
  if (block <= lowest)
    return;
  lowest = block;
  std::erase_if(entries, [&](const Entry &e) { return e.block < block; });
}

SharedClock join(const SharedClock &a, const SharedClock &b) {
  if (a == b)
    return a;
  auto joined = std::make_shared<Clock>(*a);
  joined->join(*b);
  return joined;
}

} // namespace coil::emulation
