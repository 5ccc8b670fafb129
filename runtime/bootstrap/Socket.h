//===- Socket.h - The socket at which ranks meet ----------------*- C++ -*-===//

#ifndef COIL_RUNTIME_BOOTSTRAP_SOCKET_H
#define COIL_RUNTIME_BOOTSTRAP_SOCKET_H

#include "runtime/base/Status.h"
#include "runtime/base/UniqueFd.h"
#include "runtime/bootstrap/UniqueId.h"

#include <cstdint>
#include <optional>
#include <poll.h>
#include <span>
#include <string>

namespace coil {

/// Listens at the id's place; none if another process or thread does already.
/// The socket does not block. Errors: SystemError.
Result<std::optional<UniqueFd>> listenAt(const UniqueId &id);

/// Connects to who listens at the id's place, without waiting; none if nobody
/// does or many try at this moment. The socket does not block. Errors: SystemError.
Result<std::optional<UniqueFd>> connectTo(const UniqueId &id);

/// Accepts one connection, without waiting; none if there is none. The socket
/// does not block. Errors: SystemError.
Result<std::optional<UniqueFd>> acceptFrom(int listener);

/// Whether the process at the other end belongs to the user of this one.
bool isSameUser(int socket);

/// Ends the listening for processes that hold copies of the socket as well.
void stopListening(UniqueFd &listener);

/// poll(2) for at most `timeoutMs` milliseconds. A signal ends it early.
/// Errors: SystemError.
Status pollSockets(std::span<pollfd> sockets, uint64_t timeoutMs);

/// ", the limit of this process is N (ulimit -n)", to explain EMFILE.
std::string descriptorLimit();

} // namespace coil

#endif // COIL_RUNTIME_BOOTSTRAP_SOCKET_H
