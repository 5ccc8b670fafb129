//===- Meeting.cpp - How ranks come together ------------------------------===//
//
// Whoever binds the place of meeting first is the hub. Another rank connects,
// says Hello, is greeted, and waits for Welcome, which tells it about all ranks,
// or for Failure. A connection that ends before the greeting was to a hub that
// had finished or failed: the rank starts anew.
//
//===----------------------------------------------------------------------===//

#include "runtime/bootstrap/Meeting.h"

#include "runtime/bootstrap/Socket.h"
#include "runtime/bootstrap/Wire.h"

#include <algorithm>
#include <thread>

namespace coil {
namespace {

/// What a rank says of itself; the descriptor to watch it by comes with it.
struct Hello {
  std::array<uint8_t, 16> secret;
  int rank, ranks;
  int64_t pid;
  uint64_t processCookie;
  uint64_t presenceToken;
  uint64_t timeoutMs, remainingMs;
};
static constexpr FrameLimits helloLimits = {sizeof(Hello), 1};

/// A rank that has come.
struct Arrival {
  Hello hello;
  UniqueFd watched;
};

struct Greeting {
  int64_t rank, pid;
};

/// One rank in a Welcome, which lists them in order. The descriptors of the
/// ranks of other processes than the receiver's come with it.
struct WelcomeEntry {
  int64_t pid;
  uint64_t processCookie;
  uint64_t presenceToken;
};

template <typename T> std::vector<uint8_t> encode(const T &value) {
  WireWriter writer;
  writer.put(value);
  return std::move(writer.bytes);
}

template <typename T> std::optional<T> decode(const Frame &frame) {
  WireReader reader(frame.bytes);
  T value = reader.get<T>();
  return reader.finished() ? std::optional(value) : std::nullopt;
}

Status missingRanks(const std::vector<int> &missing, int ranks, uint64_t timeoutMs) {
  return Status::error(StatusCode::Timeout, "{} did not come within {}", listRanks(missing, ranks),
                       inSeconds(timeoutMs));
}

/// The meeting as the hub sees it.
class HubMeeting {
public:
  HubMeeting(UniqueFd listener, const UniqueId &id, const Hello &self, int watchFd,
             Deadline deadline)
      : listener(std::move(listener)), id(id), self(self), watchFd(watchFd), deadline(deadline),
        hellos(self.ranks), watchFds(self.ranks), connections(self.ranks) {
    hellos[self.rank] = self;
  }

  Result<Members> run() {
    Status status = gather();
    if (status.isOk()) {
      stopListening(listener);
      newcomers.clear();
      status = welcome();
    }
    if (status.isOk())
      return members();
    Status forOthers = statusForOthers(status, describeRank(self.rank, self.pid));
    sendFailure(connections, forOthers);
    if (listener && status.code() != StatusCode::Timeout)
      turnAway(forOthers);
    return status;
  }

private:
  Status gather();
  Status acceptAll();
  Result<std::optional<Arrival>> hear(std::unique_ptr<Connection> &newcomer);
  Status hearNewcomers();
  Status join(std::unique_ptr<Connection> newcomer, const Hello &hello, UniqueFd watched);
  Status hearJoined();
  void turnAway(const Status &failure);
  Status welcome();
  Members members();

  std::string describe(int rank) const { return describeRank(rank, hellos[rank]->pid); }

  UniqueFd listener;
  const UniqueId &id;
  const Hello self;
  const int watchFd;
  Deadline deadline; ///< the earliest of all ranks that came
  std::vector<std::optional<Hello>> hellos;
  std::vector<UniqueFd> watchFds;
  std::vector<std::unique_ptr<Connection>> connections; ///< of the ranks that came
  int arrivals = 1; ///< ranks that came, with the hub and those refused
  std::vector<std::unique_ptr<Connection>> newcomers; ///< that have not said who they are
};

Status HubMeeting::gather() {
  while (true) {
    std::vector<int> missing;
    for (int rank = 0; rank < self.ranks; ++rank)
      if (!hellos[rank])
        missing.push_back(rank);
    if (missing.empty())
      return Status::ok();
    if (deadline.passed())
      return missingRanks(missing, self.ranks, deadline.timeoutMs());

    std::vector<pollfd> entries{{listener.get(), POLLIN, 0}};
    for (const auto *group : {&newcomers, &connections})
      for (const auto &connection : *group)
        if (connection)
          entries.push_back({connection->fd(), connection->events(), 0});
    COIL_RETURN_IF_ERROR(pollSockets(entries, deadline.remainingMs()));
    COIL_RETURN_IF_ERROR(acceptAll());
    COIL_RETURN_IF_ERROR(hearNewcomers());
    COIL_RETURN_IF_ERROR(hearJoined());
  }
}

Status HubMeeting::acceptAll() {
  while (true) {
    auto accepted = acceptFrom(listener.get());
    if (!accepted.isOk()) {
      // Strangers may hold the descriptors that a rank needs; a rank that is
      // turned away for them comes again.
      if (newcomers.empty())
        return std::move(accepted).status();
      newcomers.erase(newcomers.begin());
      continue;
    }
    if (!*accepted)
      return Status::ok();
    if (!isSameUser((*accepted)->get()))
      continue;
    newcomers.push_back(std::make_unique<Connection>(*std::move(*accepted), helloLimits));
    constexpr size_t mostNewcomers = 256;
    if (newcomers.size() > mostNewcomers)
      newcomers.erase(newcomers.begin());
  }
}

/// What a newcomer says of itself, if it is a rank that has said it. Resets the
/// connection of one that will never be a rank.
Result<std::optional<Arrival>> HubMeeting::hear(std::unique_ptr<Connection> &newcomer) {
  auto received = newcomer->receive();
  // That is this process's lack of descriptors, not the newcomer's fault.
  if (received.status().code() == StatusCode::SystemError)
    return std::move(received).status();
  if (received.isOk() && *received) {
    Frame &frame = **received;
    auto hello = decode<Hello>(frame);
    if (frame.kind == FrameKind::Hello && hello && hello->secret == id.secret &&
        frame.fds.size() == 1)
      return std::optional(Arrival{*hello, std::move(frame.fds.front())});
  } else if (received.isOk() && !newcomer->isClosed()) {
    return std::optional<Arrival>(); // it may still speak
  }
  newcomer.reset();
  return std::optional<Arrival>();
}

Status HubMeeting::hearNewcomers() {
  for (auto &newcomer : newcomers) {
    COIL_ASSIGN_OR_RETURN(auto arrival, hear(newcomer));
    if (arrival)
      COIL_RETURN_IF_ERROR(join(std::move(newcomer), arrival->hello, std::move(arrival->watched)));
  }
  std::erase(newcomers, nullptr);
  return Status::ok();
}

Status HubMeeting::join(std::unique_ptr<Connection> newcomer, const Hello &hello,
                        UniqueFd watched) {
  ++arrivals;
  Status status;
  if (hello.ranks != self.ranks)
    status = Status::error(StatusCode::InvalidUsage,
                           "ranks disagree on how many they are: {} expects {}, {} expects {}",
                           describeRank(self.rank, self.pid), self.ranks,
                           describeRank(hello.rank, hello.pid), hello.ranks);
  else if (hello.rank < 0 || hello.rank >= self.ranks)
    status =
        Status::error(StatusCode::InvalidUsage, "expected a rank of 0 to {}, found {} (pid {})",
                      self.ranks - 1, hello.rank, hello.pid);
  else if (hellos[hello.rank])
    status = Status::error(StatusCode::InvalidUsage,
                           "rank {} was given twice, in process {} and in process {}", hello.rank,
                           hellos[hello.rank]->pid, hello.pid);
  if (!status.isOk()) {
    connections.push_back(std::move(newcomer)); // to be told with the others
    return status;
  }
  hellos[hello.rank] = hello;
  watchFds[hello.rank] = std::move(watched);
  deadline = std::min(deadline, Deadline(hello.timeoutMs, hello.remainingMs));
  newcomer->setLimits({});
  newcomer->post(FrameKind::Greeting, encode(Greeting{self.rank, self.pid}));
  connections[hello.rank] = std::move(newcomer);
  return connections[hello.rank]->flush();
}

/// Tells ranks that come shortly after the failure about it, so that they do not
/// wait for ranks that have given up.
void HubMeeting::turnAway(const Status &failure) {
  Deadline grace(hubGraceMs);
  while (arrivals < self.ranks && !grace.passed()) {
    std::erase(newcomers, nullptr);
    std::vector<pollfd> entries{{listener.get(), POLLIN, 0}};
    for (const auto &newcomer : newcomers)
      entries.push_back({newcomer->fd(), POLLIN, 0});
    if (!pollSockets(entries, grace.remainingMs()).isOk() || !acceptAll().isOk())
      return;
    std::vector<std::unique_ptr<Connection>> late;
    for (auto &newcomer : newcomers) {
      auto arrival = hear(newcomer);
      if (!arrival.isOk())
        return;
      if (!*arrival)
        continue;
      ++arrivals;
      late.push_back(std::move(newcomer));
    }
    sendFailure(late, failure);
  }
}

Status HubMeeting::hearJoined() {
  for (int rank = 0; rank < self.ranks; ++rank) {
    auto &connection = connections[rank];
    if (!connection)
      continue;
    COIL_ASSIGN_OR_RETURN(auto frame, connection->receive());
    if (frame)
      return Status::error(StatusCode::InternalError,
                           "expected no message of {} before its welcome", describe(rank));
    if (connection->isClosed())
      return Status::error(StatusCode::RemoteError,
                           "{} is gone: its process died or left while the ranks met",
                           describe(rank));
    COIL_RETURN_IF_ERROR(connection->flush());
  }
  return Status::ok();
}

Status HubMeeting::welcome() {
  WireWriter writer;
  for (const auto &hello : hellos)
    writer.put(WelcomeEntry{hello->pid, hello->processCookie, hello->presenceToken});
  auto table = std::make_shared<const std::vector<uint8_t>>(std::move(writer.bytes));
  for (int to = 0; to < self.ranks; ++to) {
    if (!connections[to])
      continue;
    std::vector<int> fds;
    for (int of = 0; of < self.ranks; ++of)
      if (hellos[of]->processCookie != hellos[to]->processCookie)
        fds.push_back(of == self.rank ? watchFd : watchFds[of].get());
    connections[to]->post(FrameKind::Welcome, table, std::move(fds));
  }
  // A rank that dies now is welcomed to the others all the same, who find it
  // lost; one that does not listen is late.
  Deadline patience = deadline.plusMs(hubGraceMs);
  uint64_t waitMs = 0;
  while (true) {
    COIL_RETURN_IF_ERROR(serve(connections, waitMs));
    std::vector<int> waiting;
    for (int rank = 0; rank < self.ranks; ++rank)
      if (connections[rank] && connections[rank]->hasOutput())
        waiting.push_back(rank);
    if (waiting.empty())
      return Status::ok();
    if (patience.passed())
      return missingRanks(waiting, self.ranks, deadline.timeoutMs());
    waitMs = patience.remainingMs();
  }
}

Members HubMeeting::members() {
  Members result{self.rank, self.rank, {}, std::move(connections), {}};
  for (int rank = 0; rank < self.ranks; ++rank) {
    const Hello &hello = *hellos[rank];
    result.peers.push_back({static_cast<int>(hello.pid), hello.processCookie});
    if (rank == self.rank)
      continue;
    if (hello.processCookie == self.processCookie)
      result.watch.addLocal(rank, hello.presenceToken);
    else
      result.watch.addRemote(rank, std::move(watchFds[rank]));
  }
  return result;
}

/// What a rank that is not the hub makes of its Welcome.
Result<Members> readWelcome(Frame frame, const Hello &self, int hub,
                            std::unique_ptr<Connection> connection) {
  Members result{self.rank, hub, {}, {}, {}};
  WireReader reader(frame.bytes);
  size_t fdsTaken = 0;
  for (int rank = 0; rank < self.ranks; ++rank) {
    auto entry = reader.get<WelcomeEntry>();
    result.peers.push_back({static_cast<int>(entry.pid), entry.processCookie});
    if (rank == self.rank)
      continue;
    if (entry.processCookie == self.processCookie)
      result.watch.addLocal(rank, entry.presenceToken);
    else if (fdsTaken < frame.fds.size())
      result.watch.addRemote(rank, std::move(frame.fds[fdsTaken++]));
    else
      return Status::error(StatusCode::InternalError, "a welcome lacks what to watch rank {} by",
                           rank);
  }
  if (!reader.finished())
    return Status::error(StatusCode::InternalError,
                         "expected a welcome of {} ranks, found {} bytes", self.ranks,
                         frame.bytes.size());
  result.connections.resize(self.ranks);
  result.connections[hub] = std::move(connection);
  return result;
}

/// Joins the hub at the other end of `socket`. None if the hub went away before
/// it answered.
Result<std::optional<Members>> join(UniqueFd socket, const Hello &self, int watchFd,
                                    const Deadline &deadline) {
  auto connection = std::make_unique<Connection>(std::move(socket));
  connection->post(FrameKind::Hello, encode(self), {watchFd});
  std::optional<Greeting> hub;
  Deadline patience = deadline.plusMs(hubGraceMs);
  while (true) {
    COIL_RETURN_IF_ERROR(connection->flush());
    COIL_ASSIGN_OR_RETURN(auto frame, connection->receive());
    if (frame && frame->kind == FrameKind::Failure)
      return decodeStatus(frame->bytes);
    if (frame && frame->kind == FrameKind::Greeting && !hub) {
      hub = decode<Greeting>(*frame);
      if (!hub || hub->rank < 0 || hub->rank >= self.ranks || hub->rank == self.rank)
        return Status::error(StatusCode::InternalError, "found a greeting by no other rank");
    } else if (frame && frame->kind == FrameKind::Welcome && hub) {
      COIL_ASSIGN_OR_RETURN(Members members,
                            readWelcome(*std::move(frame), self, hub->rank, std::move(connection)));
      return std::optional(std::move(members));
    } else if (frame) {
      return Status::error(StatusCode::InternalError, "found a message of kind {} at the meeting",
                           static_cast<uint32_t>(frame->kind));
    } else if (connection->isClosed()) {
      if (!hub)
        return std::optional<Members>();
      return Status::error(StatusCode::RemoteError,
                           "{} is gone: its process died or left while the ranks met",
                           describeRank(hub->rank, hub->pid));
    } else if (patience.passed()) {
      return Status::error(StatusCode::Timeout, "{} did not answer within {}",
                           hub ? describeRank(hub->rank, hub->pid) : "the rank that came first",
                           inSeconds(deadline.timeoutMs()));
    } else {
      pollfd entry{connection->fd(), connection->events(), 0};
      uint64_t waitMs = connection->isCongested() ? 1 : patience.remainingMs();
      COIL_RETURN_IF_ERROR(pollSockets({&entry, 1}, waitMs));
    }
  }
}

} // namespace

Result<Members> meet(const UniqueId &id, int rank, int ranks, Presence &self, uint64_t timeoutMs) {
  Deadline deadline(timeoutMs);
  COIL_ASSIGN_OR_RETURN(uint64_t cookie, processCookie());
  Hello hello{id.secret, rank, ranks, ::getpid(), cookie, self.token(), timeoutMs, 0};
  if (ranks == 1) {
    Members alone{rank, rank, {{::getpid(), cookie}}, {}, {}};
    alone.connections.resize(1);
    return alone;
  }

  bool strangerListens = false;
  std::chrono::milliseconds pause(1);
  while (!deadline.passed()) {
    COIL_ASSIGN_OR_RETURN(auto listener, listenAt(id));
    if (listener)
      return HubMeeting(*std::move(listener), id, hello, self.watchFd(), deadline).run();
    COIL_ASSIGN_OR_RETURN(auto socket, connectTo(id));
    strangerListens = socket && !isSameUser(socket->get());
    if (socket && !strangerListens) {
      hello.remainingMs = deadline.remainingMs();
      COIL_ASSIGN_OR_RETURN(auto members,
                            join(*std::move(socket), hello, self.watchFd(), deadline));
      if (members)
        return *std::move(members);
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(2 * pause, std::chrono::milliseconds(10));
  }
  if (strangerListens)
    return Status::error(StatusCode::Timeout,
                         "no other rank of {} was found within {}: a process of another user "
                         "listens where they meet",
                         ranks, inSeconds(timeoutMs));
  std::vector<int> others;
  for (int other = 0; other < ranks; ++other)
    if (other != rank)
      others.push_back(other);
  return missingRanks(others, ranks, timeoutMs);
}

} // namespace coil
