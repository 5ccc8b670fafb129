//===- Connection.h - Messages over a Unix socket ---------------*- C++ -*-===//
//
// Frames of bytes and file descriptors over a stream socket that does not
// block: the owner polls, calls flush() and receive(), and serves any number of
// connections from one thread.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_BOOTSTRAP_CONNECTION_H
#define COIL_RUNTIME_BOOTSTRAP_CONNECTION_H

#include "runtime/base/Status.h"
#include "runtime/base/UniqueFd.h"

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <vector>

namespace coil {

enum class FrameKind : uint32_t {
  Hello,         ///< rank -> hub: who it is
  Greeting,      ///< hub -> rank: who the hub is
  Welcome,       ///< hub -> rank: who the others are
  Parcel,        ///< rank -> hub: its part of an exchange
  Entered,       ///< hub -> rank: the hub is in the exchange
  Contributions, ///< hub -> rank: the parts of all
  Mismatch,      ///< hub -> rank: ranks are in different exchanges
  Failure,       ///< either way: the sender gives up, and why
};

struct Frame {
  FrameKind kind;
  std::vector<uint8_t> bytes;
  std::vector<UniqueFd> fds;
};

/// The most that a frame may hold.
struct FrameLimits {
  uint64_t bytes = UINT64_MAX;
  uint64_t fds = UINT64_MAX;
};

class Connection {
public:
  /// Takes over a connected socket that does not block.
  explicit Connection(UniqueFd socket, FrameLimits limits = {})
      : socket(std::move(socket)), limits(limits) {}

  int fd() const { return socket.get(); }
  void setLimits(FrameLimits allowed) { limits = allowed; }

  /// Queues a frame. The descriptors must stay open until it has been sent.
  void post(FrameKind kind, std::shared_ptr<const std::vector<uint8_t>> bytes,
            std::vector<int> fds = {});
  void post(FrameKind kind, std::vector<uint8_t> bytes, std::vector<int> fds = {}) {
    post(kind, std::make_shared<const std::vector<uint8_t>>(std::move(bytes)), std::move(fds));
  }

  /// Sends what the socket takes now. If the other end is gone, what is queued
  /// is dropped, and receive() tells. Errors: SystemError.
  Status flush();
  bool hasOutput() const { return !queue.empty(); }
  /// Events to poll for.
  short events() const;
  /// True if the system holds too many descriptors that are under way: flush()
  /// must be tried again after a while, as no event will come.
  bool isCongested() const { return congested; }

  /// The next frame, if all of it has come. Errors: InvalidArgument for what is
  /// no frame or above the limits; SystemError, for descriptors above the
  /// process's limit too.
  Result<std::optional<Frame>> receive();
  /// True once everything that the other end sent has been received and it has
  /// closed the connection.
  bool isClosed() const { return closed; }

private:
  struct Header {
    uint32_t magic;
    FrameKind kind;
    uint64_t bytes;
    uint64_t fds;
  };
  struct Outgoing {
    Header header;
    std::shared_ptr<const std::vector<uint8_t>> bytes;
    std::vector<int> fds;
    size_t sent = 0; ///< of header, one byte for each batch of descriptors, bytes
  };
  enum class Progress { Moved, Blocked };

  Result<Progress> sendSome(Outgoing &frame);
  Result<Progress> receiveSome();
  Result<Progress> receiveInto(void *data, size_t size, size_t &received);
  Result<Progress> receiveBatch(size_t expected);
  Result<Progress> receivedNothing(int errorNumber);
  Status checkHeader() const;

  UniqueFd socket;
  FrameLimits limits;
  std::deque<Outgoing> queue;
  bool congested = false;

  Header header{};           ///< of the frame that is coming in
  size_t headerReceived = 0; ///< bytes
  size_t bytesReceived = 0;
  Frame incoming{};
  bool closed = false;
};

} // namespace coil

#endif // COIL_RUNTIME_BOOTSTRAP_CONNECTION_H
