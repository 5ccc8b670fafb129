//===- Connection.cpp - Messages over a Unix socket -----------------------===//
//
// A frame is its header, one byte for each batch of descriptors, and its bytes.
// A batch's byte is sent by a call of its own, to which the descriptors are
// attached: all of them go, or none.
//
//===----------------------------------------------------------------------===//

#include "runtime/bootstrap/Connection.h"

#include "runtime/bootstrap/Socket.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

namespace coil {

static constexpr uint32_t frameMagic = 0x316c6f63; // "col1"
/// Well below the kernel's limit for one message.
static constexpr size_t batchFds = 64;
/// Room that a frame's bytes get before any have come: a header alone must not
/// make this end allocate what it promises.
static constexpr size_t firstRoom = 1 << 20;

static size_t batchesOf(uint64_t fds) { return (fds + batchFds - 1) / batchFds; }

void Connection::post(FrameKind kind, std::shared_ptr<const std::vector<uint8_t>> bytes,
                      std::vector<int> fds) {
  Header header{frameMagic, kind, bytes->size(), fds.size()};
  queue.push_back({header, std::move(bytes), std::move(fds)});
}

short Connection::events() const {
  return static_cast<short>(POLLIN | (hasOutput() && !congested ? POLLOUT : 0));
}

Status Connection::flush() {
  congested = false;
  while (!queue.empty()) {
    Outgoing &frame = queue.front();
    if (frame.sent == sizeof(Header) + batchesOf(frame.fds.size()) + frame.bytes->size()) {
      queue.pop_front();
      continue;
    }
    auto progress = sendSome(frame);
    if (!progress.isOk())
      return std::move(progress).status();
    if (*progress == Progress::Blocked)
      break;
  }
  return Status::ok();
}

Result<Connection::Progress> Connection::sendSome(Outgoing &frame) {
  size_t batches = batchesOf(frame.fds.size());
  iovec part;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(batchFds * sizeof(int))> control{};
  uint8_t batchByte = 0;

  if (frame.sent < sizeof(Header)) {
    part = {reinterpret_cast<char *>(&frame.header) + frame.sent, sizeof(Header) - frame.sent};
  } else if (size_t batch = frame.sent - sizeof(Header); batch < batches) {
    size_t first = batch * batchFds;
    size_t size = std::min(batchFds, frame.fds.size() - first) * sizeof(int);
    part = {&batchByte, 1};
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(size);
    cmsghdr *attached = CMSG_FIRSTHDR(&message);
    attached->cmsg_level = SOL_SOCKET;
    attached->cmsg_type = SCM_RIGHTS;
    attached->cmsg_len = CMSG_LEN(size);
    std::memcpy(CMSG_DATA(attached), frame.fds.data() + first, size);
  } else {
    size_t begin = batch - batches;
    part = {const_cast<uint8_t *>(frame.bytes->data()) + begin, frame.bytes->size() - begin};
  }

  ssize_t sent = ::sendmsg(socket.get(), &message, MSG_NOSIGNAL);
  if (sent >= 0) {
    frame.sent += static_cast<size_t>(sent);
    return Progress::Moved;
  }
  switch (errno) {
  case EINTR:
    return Progress::Moved;
  case EAGAIN:
    return Progress::Blocked;
  case ETOOMANYREFS:
    congested = true;
    return Progress::Blocked;
  case EPIPE:
  case ECONNRESET:
    queue.clear();
    return Progress::Blocked;
  default:
    return Status::system(errno, "cannot send to another rank");
  }
}

Result<std::optional<Frame>> Connection::receive() {
  while (!closed) {
    if (headerReceived == sizeof(Header) && incoming.fds.size() == header.fds &&
        bytesReceived == header.bytes) {
      headerReceived = bytesReceived = 0;
      return std::optional(std::exchange(incoming, {}));
    }
    auto progress = receiveSome();
    if (!progress.isOk())
      return std::move(progress).status();
    if (*progress == Progress::Blocked)
      break;
  }
  return std::optional<Frame>();
}

Result<Connection::Progress> Connection::receiveSome() {
  if (headerReceived < sizeof(Header)) {
    auto progress = receiveInto(reinterpret_cast<char *>(&header) + headerReceived,
                                sizeof(Header) - headerReceived, headerReceived);
    if (progress.isOk() && headerReceived == sizeof(Header)) {
      COIL_RETURN_IF_ERROR(checkHeader());
      incoming.kind = header.kind;
    }
    return progress;
  }
  if (incoming.fds.size() < header.fds)
    return receiveBatch(std::min<uint64_t>(batchFds, header.fds - incoming.fds.size()));
  std::vector<uint8_t> &bytes = incoming.bytes;
  if (bytesReceived == bytes.size())
    bytes.resize(std::min<uint64_t>(header.bytes, std::max(firstRoom, 2 * bytes.size())));
  return receiveInto(bytes.data() + bytesReceived, bytes.size() - bytesReceived, bytesReceived);
}

Status Connection::checkHeader() const {
  if (header.magic != frameMagic)
    return Status::error(StatusCode::InvalidArgument,
                         "expected a message that begins with {:#x}, found {:#x}", frameMagic,
                         header.magic);
  if (header.bytes > limits.bytes || header.fds > limits.fds)
    return Status::error(StatusCode::InvalidArgument,
                         "expected a message of at most {} bytes and {} descriptors, found {} "
                         "and {}",
                         limits.bytes, limits.fds, header.bytes, header.fds);
  return Status::ok();
}

/// Reads without room for descriptors: the kernel closes any that are attached.
Result<Connection::Progress> Connection::receiveInto(void *data, size_t size, size_t &received) {
  ssize_t got = ::recv(socket.get(), data, size, 0);
  if (got <= 0)
    return receivedNothing(got < 0 ? errno : 0);
  received += static_cast<size_t>(got);
  return Progress::Moved;
}

Result<Connection::Progress> Connection::receiveBatch(size_t expected) {
  uint8_t batchByte;
  iovec part{&batchByte, 1};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(batchFds * sizeof(int))> control;
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(expected * sizeof(int));
  ssize_t got = ::recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC);
  if (got <= 0)
    return receivedNothing(got < 0 ? errno : 0);
  // Owned at once, so that none is leaked by what follows.
  size_t found = 0;
  for (cmsghdr *attached = CMSG_FIRSTHDR(&message); attached;
       attached = CMSG_NXTHDR(&message, attached)) {
    if (attached->cmsg_level != SOL_SOCKET || attached->cmsg_type != SCM_RIGHTS)
      continue;
    size_t count = (attached->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd;
      std::memcpy(&fd, CMSG_DATA(attached) + i * sizeof(int), sizeof(int));
      incoming.fds.emplace_back(fd);
    }
    found += count;
  }
  if (found < expected && (message.msg_flags & MSG_CTRUNC))
    return Status::system(EMFILE, "cannot receive descriptors: {} came, {} could be opened{}",
                          expected, found, descriptorLimit());
  if (found != expected)
    return Status::error(StatusCode::InvalidArgument, "expected {} descriptors, found {}", expected,
                         found);
  return Progress::Moved;
}

/// After a call that read nothing: the end of the stream if `errorNumber` is 0.
Result<Connection::Progress> Connection::receivedNothing(int errorNumber) {
  switch (errorNumber) {
  case EINTR:
    return Progress::Moved;
  case EAGAIN:
    return Progress::Blocked;
  case 0:
  case ECONNRESET:
  case EPIPE:
    closed = true;
    return Progress::Blocked;
  default:
    return Status::system(errorNumber, "cannot receive from another rank");
  }
}

} // namespace coil
