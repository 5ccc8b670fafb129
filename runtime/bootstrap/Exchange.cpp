//===- Exchange.cpp - All ranks learn what each one gives -----------------===//
//
// Every rank sends its part to the hub, which sends all parts to every rank. The
// hub says "entered" first: from then on it alone judges who is lost or late,
// as a rank that got everything may leave while others still receive.
//
//===----------------------------------------------------------------------===//

#include "runtime/bootstrap/Exchange.h"

#include "runtime/bootstrap/Wire.h"

#include <algorithm>

namespace coil {
namespace {

/// How long a wait lasts before signs of trouble are looked for.
constexpr uint64_t tickMs = 20;

/// One rank's part on its way to the hub.
struct Entry {
  uint64_t sequence;
  uint64_t timeoutMs, remainingMs;
  std::string what;
  Parcel contribution;
};

std::vector<uint8_t> encodeEntry(const ExchangeCall &call, const std::vector<uint8_t> &bytes) {
  WireWriter writer;
  writer.put(call.sequence);
  writer.put(call.deadline.timeoutMs());
  writer.put(call.deadline.remainingMs());
  writer.putText(call.what);
  writer.append(bytes.data(), bytes.size());
  return std::move(writer.bytes);
}

std::optional<Entry> decodeEntry(Frame frame) {
  WireReader reader(frame.bytes);
  Entry entry;
  entry.sequence = reader.get<uint64_t>();
  entry.timeoutMs = reader.get<uint64_t>();
  entry.remainingMs = reader.get<uint64_t>();
  entry.what = reader.getText();
  if (!reader.ok())
    return std::nullopt;
  frame.bytes.erase(frame.bytes.begin(), frame.bytes.end() - reader.remaining());
  entry.contribution = {std::move(frame.bytes), std::move(frame.fds)};
  return entry;
}

std::vector<int> numbersOf(const std::vector<UniqueFd> &fds) {
  std::vector<int> numbers;
  for (const UniqueFd &fd : fds)
    numbers.push_back(fd.get());
  return numbers;
}

Status isGone(const Members &members, int rank, const std::string &what) {
  return Status::error(StatusCode::RemoteError,
                       "{} is gone: its process died or left before \"{}\" was complete",
                       members.describe(rank), what);
}

Status isLate(std::span<const int> late, int ranks, const std::string &what, uint64_t timeoutMs) {
  return Status::error(StatusCode::Timeout, "{} did not come to \"{}\" within {}",
                       listRanks(late, ranks), what, inSeconds(timeoutMs));
}

/// The hub's side of one exchange.
class HubExchange {
public:
  HubExchange(Members &members, const ExchangeCall &call, Parcel mine)
      : members(members), call(call), deadline(call.deadline), entries(members.ranks()) {
    entries[members.rank] = Entry{call.sequence, 0, 0, call.what, std::move(mine)};
  }

  ExchangeResult run() {
    Status status = gather();
    if (status.isOk()) {
      status = compare();
      if (!status.isOk()) {
        Status sent = send(FrameKind::Mismatch, encodeStatus(status), false);
        if (sent.isOk())
          return {std::move(status), true, {}};
        status = std::move(sent);
      } else {
        status = send(FrameKind::Contributions, combine(), true);
      }
    }
    if (!status.isOk()) {
      sendFailure(members.connections, statusForOthers(status, members.describe(members.rank)));
      return {std::move(status), false, {}};
    }
    std::vector<Parcel> all;
    for (int rank = 0; rank < members.ranks(); ++rank) {
      all.push_back(std::move(entries[rank]->contribution));
      if (rank != members.rank && members.inOneProcess(rank, members.rank))
        all.back().fds.clear();
    }
    return {Status::ok(), true, std::move(all)};
  }

private:
  Status gather();
  Status hear(int rank);
  Status compare() const;
  std::vector<uint8_t> combine() const;
  Status send(FrameKind kind, std::vector<uint8_t> bytes, bool withFds);
  Status checkInterrupted() const;

  Members &members;
  const ExchangeCall &call;
  Deadline deadline; ///< the earliest of the ranks that came
  std::vector<std::optional<Entry>> entries;
};

Status HubExchange::checkInterrupted() const {
  return call.interrupted ? call.interrupted() : Status::ok();
}

Status HubExchange::gather() {
  for (auto &connection : members.connections)
    if (connection)
      connection->post(FrameKind::Entered, std::vector<uint8_t>());
  uint64_t waitMs = 0;
  while (true) {
    COIL_RETURN_IF_ERROR(serve(members.connections, waitMs));
    std::vector<int> missing;
    for (int rank = 0; rank < members.ranks(); ++rank) {
      if (members.connections[rank])
        COIL_RETURN_IF_ERROR(hear(rank));
      if (!entries[rank])
        missing.push_back(rank);
    }
    if (missing.empty())
      return Status::ok();
    if (deadline.passed())
      return isLate(missing, members.ranks(), call.what, deadline.timeoutMs());
    COIL_RETURN_IF_ERROR(checkInterrupted());
    waitMs = std::min(tickMs, deadline.remainingMs());
  }
}

/// Takes all that came of a rank, so that one which contributed and then gave up
/// or died is noticed.
Status HubExchange::hear(int rank) {
  Connection &connection = *members.connections[rank];
  while (true) {
    COIL_ASSIGN_OR_RETURN(auto frame, connection.receive());
    if (!frame)
      return connection.isClosed() ? isGone(members, rank, call.what) : Status::ok();
    if (frame->kind == FrameKind::Failure)
      return Status::error(StatusCode::RemoteError, "{} gave up: {}", members.describe(rank),
                           decodeStatus(frame->bytes).message());
    auto entry =
        frame->kind == FrameKind::Parcel ? decodeEntry(*std::move(frame)) : std::optional<Entry>();
    if (!entry || entries[rank])
      return Status::error(StatusCode::InternalError, "found an unexpected message of {} in \"{}\"",
                           members.describe(rank), call.what);
    deadline = std::min(deadline, Deadline(entry->timeoutMs, entry->remainingMs));
    entries[rank] = std::move(entry);
  }
}

Status HubExchange::compare() const {
  for (int rank = 0; rank < members.ranks(); ++rank) {
    const Entry &entry = *entries[rank];
    if (entry.what != call.what || entry.sequence != call.sequence)
      return Status::error(StatusCode::InvalidUsage,
                           "ranks are in different calls: {} in \"{}\" (exchange {}), {} in "
                           "\"{}\" (exchange {})",
                           members.describe(members.rank), call.what, call.sequence,
                           members.describe(rank), entry.what, entry.sequence);
  }
  return Status::ok();
}

/// For each rank the numbers of bytes and descriptors, then the bytes of all.
std::vector<uint8_t> HubExchange::combine() const {
  WireWriter writer;
  for (const auto &entry : entries) {
    writer.put<uint64_t>(entry->contribution.bytes.size());
    writer.put<uint64_t>(entry->contribution.fds.size());
  }
  for (const auto &entry : entries)
    writer.append(entry->contribution.bytes.data(), entry->contribution.bytes.size());
  return std::move(writer.bytes);
}

/// Sends the same bytes to every rank; one that died meanwhile is left out, and
/// is missed in the next exchange.
Status HubExchange::send(FrameKind kind, std::vector<uint8_t> bytes, bool withFds) {
  auto shared = std::make_shared<const std::vector<uint8_t>>(std::move(bytes));
  for (int to = 0; to < members.ranks(); ++to) {
    if (!members.connections[to])
      continue;
    std::vector<int> fds;
    for (int from = 0; withFds && from < members.ranks(); ++from)
      if (!members.inOneProcess(from, to))
        for (const UniqueFd &fd : entries[from]->contribution.fds)
          fds.push_back(fd.get());
    members.connections[to]->post(kind, shared, std::move(fds));
  }
  uint64_t waitMs = 0;
  while (true) {
    COIL_RETURN_IF_ERROR(serve(members.connections, waitMs));
    std::vector<int> waiting;
    for (int rank = 0; rank < members.ranks(); ++rank)
      if (members.connections[rank] && members.connections[rank]->hasOutput())
        waiting.push_back(rank);
    if (waiting.empty())
      return Status::ok();
    if (deadline.passed())
      return isLate(waiting, members.ranks(), call.what, deadline.timeoutMs());
    COIL_RETURN_IF_ERROR(checkInterrupted());
    waitMs = std::min(tickMs, deadline.remainingMs());
  }
}

/// Any other rank's side of one exchange.
class MemberExchange {
public:
  MemberExchange(Members &members, const ExchangeCall &call, Parcel mine)
      : members(members), call(call), mine(std::move(mine)),
        hub(*members.connections[members.hub]) {}

  ExchangeResult run() {
    hub.post(FrameKind::Parcel, encodeEntry(call, mine.bytes), numbersOf(mine.fds));
    ExchangeResult result;
    result.status = converse(result);
    if (!result.mayGoOn)
      sendFailure(members.connections, result.status);
    return result;
  }

private:
  Status converse(ExchangeResult &result);
  Status hear(Frame frame, ExchangeResult &result);
  Status split(Frame frame, std::vector<Parcel> &all);
  Status checkHub();

  Members &members;
  const ExchangeCall &call;
  Parcel mine;
  Connection &hub;
  bool entered = false; ///< the hub is in the exchange
  bool answered = false;
};

Status MemberExchange::converse(ExchangeResult &result) {
  uint64_t waitMs = 0;
  while (true) {
    COIL_RETURN_IF_ERROR(serve(members.connections, waitMs));
    // Looked up before what the hub sent is read: if that rank left because it
    // got everything, the hub had said "entered" to this one before.
    std::optional<int> lost = members.watch.findLost();
    while (true) {
      COIL_ASSIGN_OR_RETURN(auto frame, hub.receive());
      if (!frame)
        break;
      Status status = hear(*std::move(frame), result);
      if (answered || !status.isOk())
        return status;
    }
    if (hub.isClosed())
      return isGone(members, members.hub, call.what);
    if (lost && !entered)
      return isGone(members, *lost, call.what);
    COIL_RETURN_IF_ERROR(checkHub());
    if (call.interrupted)
      COIL_RETURN_IF_ERROR(call.interrupted());
    waitMs = tickMs;
  }
}

/// The hub knows who is late, so it is given the time to say so.
Status MemberExchange::checkHub() {
  Deadline patience = entered ? call.deadline.plusMs(hubGraceMs) : call.deadline;
  if (!patience.passed())
    return Status::ok();
  if (!entered)
    return isLate(std::span(&members.hub, 1), members.ranks(), call.what,
                  call.deadline.timeoutMs());
  return Status::error(StatusCode::Timeout, "{} did not answer in \"{}\" within {}",
                       members.describe(members.hub), call.what,
                       inSeconds(call.deadline.timeoutMs()));
}

Status MemberExchange::hear(Frame frame, ExchangeResult &result) {
  switch (frame.kind) {
  case FrameKind::Entered:
    entered = true;
    return Status::ok();
  case FrameKind::Contributions:
    COIL_RETURN_IF_ERROR(split(std::move(frame), result.contributions));
    result.mayGoOn = answered = true;
    return Status::ok();
  case FrameKind::Mismatch:
    result.mayGoOn = answered = true;
    return decodeStatus(frame.bytes);
  case FrameKind::Failure:
    return decodeStatus(frame.bytes);
  default:
    return Status::error(StatusCode::InternalError, "found an unexpected message of {} in \"{}\"",
                         members.describe(members.hub), call.what);
  }
}

Status MemberExchange::split(Frame frame, std::vector<Parcel> &all) {
  WireReader reader(frame.bytes);
  std::vector<uint64_t> sizes, fdCounts;
  for (int rank = 0; rank < members.ranks(); ++rank) {
    sizes.push_back(reader.get<uint64_t>());
    fdCounts.push_back(reader.get<uint64_t>());
  }
  size_t fdsTaken = 0;
  bool enoughFds = true;
  for (int rank = 0; rank < members.ranks(); ++rank) {
    auto bytes = reader.take(sizes[rank]);
    Parcel part;
    part.bytes.assign(bytes.begin(), bytes.end());
    if (!members.inOneProcess(rank, members.rank)) {
      enoughFds &= fdCounts[rank] <= frame.fds.size() - fdsTaken;
      for (uint64_t i = 0; enoughFds && i < fdCounts[rank]; ++i)
        part.fds.push_back(std::move(frame.fds[fdsTaken++]));
    }
    all.push_back(std::move(part));
  }
  if (!reader.finished() || !enoughFds || fdsTaken != frame.fds.size())
    return Status::error(StatusCode::InternalError, "the contributions to \"{}\" do not add up",
                         call.what);
  all[members.rank] = std::move(mine);
  return Status::ok();
}

} // namespace

ExchangeResult exchangeAmong(Members &members, const ExchangeCall &call, Parcel mine) {
  if (members.rank == members.hub)
    return HubExchange(members, call, std::move(mine)).run();
  return MemberExchange(members, call, std::move(mine)).run();
}

} // namespace coil
