//===- Members.cpp - The ranks that met -----------------------------------===//

#include "runtime/bootstrap/Members.h"

#include "runtime/bootstrap/Socket.h"
#include "runtime/bootstrap/Wire.h"

#include <algorithm>

namespace coil {

std::string Members::describe(int rank) const { return describeRank(rank, peers[rank].pid); }

std::string describeRank(int64_t rank, int64_t pid) {
  return fmt::format("rank {} (pid {})", rank, pid);
}

std::string listRanks(std::span<const int> some, int ranks) {
  constexpr size_t most = 16;
  size_t shown = some.size() > most ? most - 1 : some.size();
  std::string text = some.size() == 1 ? "rank" : "ranks";
  for (size_t i = 0; i < shown; ++i) {
    bool last = i + 1 == some.size();
    text += fmt::format("{}{}", i == 0 ? " " : last ? " and " : ", ", some[i]);
  }
  if (shown < some.size())
    text += fmt::format(" and {} more", some.size() - shown);
  return text + fmt::format(" of {}", ranks);
}

std::string inSeconds(uint64_t milliseconds) {
  return fmt::format("{:.1f} s", static_cast<double>(milliseconds) / 1000);
}

std::vector<uint8_t> encodeStatus(const Status &status) {
  WireWriter writer;
  writer.put(status.code());
  writer.putText(status.message());
  return std::move(writer.bytes);
}

Status decodeStatus(std::span<const uint8_t> bytes) {
  WireReader reader(bytes);
  auto code = reader.get<StatusCode>();
  std::string text(reader.getText());
  if (!reader.finished() || code <= StatusCode::Ok || code > StatusCode::Unsupported)
    return Status::error(StatusCode::InternalError, "another rank failed without saying how");
  return {code, std::move(text)};
}

Status copyOf(const Status &status) {
  return status.isOk() ? Status::ok() : Status(status.code(), status.message());
}

Status statusForOthers(const Status &status, const std::string &rank) {
  switch (status.code()) {
  case StatusCode::Timeout:
  case StatusCode::InvalidUsage:
  case StatusCode::RemoteError:
    return copyOf(status);
  default:
    return Status::error(StatusCode::RemoteError, "{} failed: {}", rank, status.message());
  }
}

Status serve(std::span<const std::unique_ptr<Connection>> connections, uint64_t timeoutMs) {
  constexpr uint64_t congestionPauseMs = 1;
  std::vector<pollfd> entries;
  for (const auto &connection : connections) {
    if (!connection)
      continue;
    if (connection->isCongested())
      timeoutMs = std::min(timeoutMs, congestionPauseMs);
    // A closed one would only wake the poll again and again.
    if (!connection->isClosed())
      entries.push_back({connection->fd(), connection->events(), 0});
  }
  COIL_RETURN_IF_ERROR(pollSockets(entries, timeoutMs));
  for (const auto &connection : connections)
    if (connection)
      COIL_RETURN_IF_ERROR(connection->flush());
  return Status::ok();
}

void sendFailure(std::vector<std::unique_ptr<Connection>> &connections, const Status &status) {
  auto text = std::make_shared<const std::vector<uint8_t>>(encodeStatus(status));
  for (auto &connection : connections)
    if (connection)
      connection->post(FrameKind::Failure, text);
  Deadline grace(500);
  while (!grace.passed()) {
    std::vector<pollfd> entries;
    for (auto &connection : connections) {
      if (!connection)
        continue;
      if (!connection->flush().isOk() || !connection->hasOutput())
        connection.reset();
      else
        entries.push_back({connection->fd(), POLLOUT, 0});
    }
    if (entries.empty() || !pollSockets(entries, grace.remainingMs()).isOk())
      break;
  }
  for (auto &connection : connections)
    connection.reset();
}

} // namespace coil
