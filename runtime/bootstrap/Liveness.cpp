//===- Liveness.cpp - Which ranks are still there -------------------------===//

#include "runtime/bootstrap/Liveness.h"

#include "runtime/bootstrap/Random.h"
#include "runtime/bootstrap/Socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <map>
#include <mutex>
#include <sys/socket.h>

namespace coil {
namespace {

/// The presences of this process by their tokens.
struct Presences {
  std::mutex mutex;
  std::map<uint64_t, std::shared_ptr<std::atomic<bool>>> flags;
};

} // namespace

/// Never destroyed: ranks may leave in destructors that run at exit.
static Presences &presences() {
  static Presences &instance = *new Presences;
  return instance;
}

Result<uint64_t> processCookie() {
  struct Seed {
    uint64_t value = 0;
    Status status = fillRandom(&value, sizeof(value));
  };
  static const Seed seed;
  if (!seed.status.isOk())
    return Status(seed.status.code(), seed.status.message());
  // A forked child inherits the seed. Mixing in its pid needs no lock, which
  // could be held by another thread at the time of the fork.
  uint64_t mixed = seed.value ^ (static_cast<uint64_t>(::getpid()) * 0x9e3779b97f4a7c15);
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111eb;
  return mixed ^ (mixed >> 31);
}

Result<Presence> Presence::make() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
    return Status::system(errno, "cannot open a pair of sockets{}",
                          errno == EMFILE ? descriptorLimit() : "");
  UniqueFd held(ends[0]), watchEnd(ends[1]);
  uint64_t token;
  COIL_RETURN_IF_ERROR(fillRandom(&token, sizeof(token)));
  auto hasLeft = std::make_shared<std::atomic<bool>>(false);
  {
    std::lock_guard lock(presences().mutex);
    presences().flags[token] = hasLeft;
  }
  return Presence(std::move(held), std::move(watchEnd), token, std::move(hasLeft));
}

Presence::~Presence() {
  if (!hasLeft)
    return;
  hasLeft->store(true, std::memory_order_release);
  {
    std::lock_guard lock(presences().mutex);
    presences().flags.erase(key);
  }
  // Hangs up even while a forked child holds a copy.
  ::shutdown(held.get(), SHUT_RDWR);
}

void PeerWatch::addRemote(int rank, UniqueFd watchFd) {
  remoteRanks.push_back(rank);
  remoteFds.push_back(std::move(watchFd));
}

void PeerWatch::addLocal(int rank, uint64_t token) {
  std::lock_guard lock(presences().mutex);
  auto found = presences().flags.find(token);
  locals.push_back({rank, found == presences().flags.end() ? nullptr : found->second});
}

std::optional<int> PeerWatch::findLost(int from) const {
  std::optional<int> lowest;
  auto lost = [&](int rank) {
    if (rank >= from)
      lowest = std::min(rank, lowest.value_or(rank));
  };

  for (const Local &local : locals)
    if (!local.hasLeft || local.hasLeft->load(std::memory_order_acquire))
      lost(local.rank);

  std::array<pollfd, 128> entries;
  for (size_t begin = 0; begin < remoteFds.size(); begin += entries.size()) {
    size_t size = std::min(entries.size(), remoteFds.size() - begin);
    // No events asked for: a hang-up is always reported.
    for (size_t i = 0; i < size; ++i)
      entries[i] = {remoteFds[begin + i].get(), 0, 0};
    if (::poll(entries.data(), size, 0) <= 0)
      continue;
    for (size_t i = 0; i < size; ++i)
      if (entries[i].revents & (POLLHUP | POLLERR))
        lost(remoteRanks[begin + i]);
  }
  return lowest;
}

} // namespace coil
