//===- Socket.cpp - The socket at which ranks meet ------------------------===//

#include "runtime/bootstrap/Socket.h"

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <cstring>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>

namespace coil {
namespace {

/// An abstract address: the leading zero keeps it out of the file system.
struct Place {
  sockaddr_un address{};
  socklen_t size;

  explicit Place(const UniqueId &id) {
    std::string name = "coil-";
    for (uint8_t byte : id.place)
      name += fmt::format("{:02x}", byte);
    address.sun_family = AF_UNIX;
    static_assert(sizeof(address.sun_path) > 1 + 5 + 2 * sizeof(id.place));
    std::memcpy(address.sun_path + 1, name.data(), name.size());
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  }
  const sockaddr *get() const { return reinterpret_cast<const sockaddr *>(&address); }
};

} // namespace

static Result<UniqueFd> makeSocket() {
  UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!socket)
    return Status::system(errno, "cannot open a Unix socket{}",
                          errno == EMFILE ? descriptorLimit() : "");
  return socket;
}

Result<std::optional<UniqueFd>> listenAt(const UniqueId &id) {
  COIL_ASSIGN_OR_RETURN(UniqueFd socket, makeSocket());
  Place place(id);
  if (::bind(socket.get(), place.get(), place.size)) {
    if (errno == EADDRINUSE)
      return std::optional<UniqueFd>();
    return Status::system(errno, "cannot bind a Unix socket");
  }
  if (::listen(socket.get(), SOMAXCONN))
    return Status::system(errno, "cannot listen at a Unix socket");
  return std::optional(std::move(socket));
}

Result<std::optional<UniqueFd>> connectTo(const UniqueId &id) {
  COIL_ASSIGN_OR_RETURN(UniqueFd socket, makeSocket());
  Place place(id);
  if (::connect(socket.get(), place.get(), place.size)) {
    if (errno == ECONNREFUSED || errno == EAGAIN || errno == EINTR)
      return std::optional<UniqueFd>();
    return Status::system(errno, "cannot connect to a Unix socket");
  }
  return std::optional(std::move(socket));
}

Result<std::optional<UniqueFd>> acceptFrom(int listener) {
  UniqueFd socket(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (socket)
    return std::optional(std::move(socket));
  if (errno == EAGAIN || errno == EINTR || errno == ECONNABORTED)
    return std::optional<UniqueFd>();
  return Status::system(errno, "cannot accept a connection{}",
                        errno == EMFILE ? descriptorLimit() : "");
}

bool isSameUser(int socket) {
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 &&
         credentials.uid == ::geteuid();
}

void stopListening(UniqueFd &listener) {
  ::shutdown(listener.get(), SHUT_RDWR);
  listener.reset();
}

Status pollSockets(std::span<pollfd> sockets, uint64_t timeoutMs) {
  int wait = static_cast<int>(std::min<uint64_t>(timeoutMs, INT_MAX));
  if (::poll(sockets.data(), sockets.size(), wait) >= 0)
    return Status::ok();
  // Nobody looks at what a poll that failed left in the entries.
  for (pollfd &entry : sockets)
    entry.revents = 0;
  if (errno == EINTR)
    return Status::ok();
  return Status::system(errno, "cannot poll {} sockets", sockets.size());
}

std::string descriptorLimit() {
  rlimit limit;
  if (::getrlimit(RLIMIT_NOFILE, &limit))
    return "";
  return fmt::format(", the limit of this process is {} descriptors (ulimit -n)", limit.rlim_cur);
}

} // namespace coil
