//===- Stream.h - Queues of work, events and captures -----------*- C++ -*-===//
//
// A stream's work is done in order by a thread of its own. While a stream is being
// captured, what is put into it goes into a graph instead: a list in the order of
// the stream, since only one stream takes part in a capture here.
//
//===----------------------------------------------------------------------===//

#ifndef COIL_RUNTIME_EMULATED_STREAM_H
#define COIL_RUNTIME_EMULATED_STREAM_H

#include "runtime/emulated/Machine.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

namespace coil::emulated {

/// Something that a stream does; skipped once the context has failed.
using Work = std::function<void(Context &)>;

/// What a captured stream would have done.
struct Graph {
  std::vector<Work> nodes;
};

struct Capture {
  cuda::StreamCaptureMode mode;
  std::thread::id thread; ///< that began it
  bool isInvalid = false;
  Graph graph;
};

class Stream {
public:
  explicit Stream(Context &context) : context(context), queue(std::make_shared<Queue>()) {}
  /// Lets what is queued come to its end.
  ~Stream();

  Context &context;

  /// Puts work into the stream, or into the graph if it is being captured.
  DriverResult submit(Work work);
  /// Puts work into the queue that is done even if the context has failed.
  void enqueueAlways(std::function<void()> work);
  void synchronize();
  bool isIdle();

  DriverResult beginCapture(cuda::StreamCaptureMode mode);
  /// Null and an error if the capture is no good; it is over in any case but for
  /// StreamCaptureWrongThread.
  DriverResult endCapture(std::shared_ptr<Graph> &graph);
  cuda::StreamCaptureStatus captureStatus();
  /// The running capture, or null.
  std::shared_ptr<Capture> currentCapture();
  /// For calls that no captured stream allows: ends the capture's validity.
  DriverResult refuseIfCaptured();

private:
  struct Queue {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<std::function<void()>> work;
    bool hasThread = false, isBusy = false, isClosed = false;
  };
  static void runQueue(const std::shared_ptr<Queue> &queue);

  std::shared_ptr<Queue> queue;
  std::shared_ptr<Capture> capture; ///< under the lock of all captures
};

/// The stream that a handle names in a context; null if there is none. Null and the
/// driver's special handles mean the context's default stream.
std::shared_ptr<Stream> findStream(Context &context, cuda::DriverStream *handle);

/// An event: the last place in a stream at which it was recorded.
class Event {
public:
  DriverResult record(Stream &stream);
  DriverResult query();
  DriverResult synchronize();
  /// Makes the stream wait for the last record, if there is one.
  DriverResult makeWait(Stream &stream);

private:
  struct Record {
    std::mutex mutex;
    std::condition_variable changed;
    bool isDone = false;

    void finish();
    void wait();
  };

  std::mutex mutex;
  std::shared_ptr<Record> last;
  std::shared_ptr<Capture> capturedIn; ///< if recorded last in a captured stream
};

/// Calls that could disturb a capture fail while the mode of a capture and that of
/// the calling thread forbid them, and make the capture invalid.
DriverResult refuseInCapture();
/// The calling thread's mode; returns the one before.
cuda::StreamCaptureMode exchangeCaptureMode(cuda::StreamCaptureMode mode);

} // namespace coil::emulated

#endif // COIL_RUNTIME_EMULATED_STREAM_H
