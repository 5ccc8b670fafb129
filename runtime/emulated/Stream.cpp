//===- Stream.cpp - Queues of work, events and captures -------------------===//

#include "runtime/emulated/Stream.h"

#include <algorithm>
#include <utility>

namespace coil::emulated {

using cuda::StreamCaptureMode;
using cuda::StreamCaptureStatus;

namespace {

/// All running captures. The lock is of every stream's capture too.
struct Captures {
  std::mutex mutex;
  std::vector<std::shared_ptr<Capture>> running;
};

Captures &captures() {
  static Captures *captures = new Captures;
  return *captures;
}

thread_local StreamCaptureMode threadMode = StreamCaptureMode::Global;

} // namespace

//===----------------------------------------------------------------------===//
// Queues
//===----------------------------------------------------------------------===//

void Stream::runQueue(const std::shared_ptr<Queue> &queue) {
  std::unique_lock lock(queue->mutex);
  for (;;) {
    queue->changed.wait(lock, [&] { return !queue->work.empty() || queue->isClosed; });
    if (queue->work.empty())
      return;
    std::function<void()> work = std::move(queue->work.front());
    queue->work.pop_front();
    queue->isBusy = true;
    lock.unlock();
    work();
    work = nullptr;
    lock.lock();
    queue->isBusy = false;
    queue->changed.notify_all();
  }
}

Stream::~Stream() {
  std::lock_guard lock(queue->mutex);
  queue->isClosed = true;
  queue->changed.notify_all();
}

void Stream::enqueueAlways(std::function<void()> work) {
  std::lock_guard lock(queue->mutex);
  if (!queue->hasThread) {
    // Nobody waits for a destroyed stream, so nobody could join its thread.
    std::thread([queue = queue] { runQueue(queue); }).detach();
    queue->hasThread = true;
  }
  queue->work.push_back(std::move(work));
  queue->changed.notify_all();
}

DriverResult Stream::submit(Work work) {
  {
    std::lock_guard lock(captures().mutex);
    if (capture) {
      if (capture->isInvalid)
        return DriverResult::StreamCaptureInvalidated;
      capture->graph.nodes.push_back(std::move(work));
      return DriverResult::Success;
    }
  }
  enqueueAlways([&context = context, work = std::move(work)] {
    if (context.error() == DriverResult::Success)
      work(context);
  });
  return DriverResult::Success;
}

void Stream::synchronize() {
  std::unique_lock lock(queue->mutex);
  queue->changed.wait(lock, [&] { return queue->work.empty() && !queue->isBusy; });
}

bool Stream::isIdle() {
  std::lock_guard lock(queue->mutex);
  return queue->work.empty() && !queue->isBusy;
}

//===----------------------------------------------------------------------===//
// Captures
//===----------------------------------------------------------------------===//

DriverResult Stream::beginCapture(StreamCaptureMode mode) {
  std::lock_guard lock(captures().mutex);
  if (capture)
    return DriverResult::IllegalState;
  capture = std::make_shared<Capture>(Capture{mode, std::this_thread::get_id(), false, {}});
  captures().running.push_back(capture);
  return DriverResult::Success;
}

DriverResult Stream::endCapture(std::shared_ptr<Graph> &graph) {
  std::lock_guard lock(captures().mutex);
  if (!capture)
    return DriverResult::IllegalState;
  if (capture->mode != StreamCaptureMode::Relaxed && capture->thread != std::this_thread::get_id())
    return DriverResult::StreamCaptureWrongThread;
  std::shared_ptr<Capture> ended = std::move(capture);
  capture = nullptr;
  std::erase(captures().running, ended);
  if (ended->isInvalid)
    return DriverResult::StreamCaptureInvalidated;
  graph = std::make_shared<Graph>(std::move(ended->graph));
  return DriverResult::Success;
}

StreamCaptureStatus Stream::captureStatus() {
  std::lock_guard lock(captures().mutex);
  if (!capture)
    return StreamCaptureStatus::None;
  return capture->isInvalid ? StreamCaptureStatus::Invalidated : StreamCaptureStatus::Active;
}

std::shared_ptr<Capture> Stream::currentCapture() {
  std::lock_guard lock(captures().mutex);
  return capture;
}

DriverResult Stream::refuseIfCaptured() {
  std::lock_guard lock(captures().mutex);
  if (!capture)
    return DriverResult::Success;
  capture->isInvalid = true;
  return DriverResult::StreamCaptureUnsupported;
}

DriverResult refuseInCapture() {
  if (threadMode == StreamCaptureMode::Relaxed)
    return DriverResult::Success;
  std::lock_guard lock(captures().mutex);
  DriverResult result = DriverResult::Success;
  for (const std::shared_ptr<Capture> &capture : captures().running) {
    bool isOwn = capture->thread == std::this_thread::get_id();
    bool forbids = (capture->mode == StreamCaptureMode::Global &&
                    (isOwn || threadMode == StreamCaptureMode::Global)) ||
                   (capture->mode == StreamCaptureMode::ThreadLocal && isOwn);
    if (!forbids)
      continue;
    capture->isInvalid = true;
    result = DriverResult::StreamCaptureUnsupported;
  }
  return result;
}

StreamCaptureMode exchangeCaptureMode(StreamCaptureMode mode) {
  return std::exchange(threadMode, mode);
}

//===----------------------------------------------------------------------===//
// Events
//===----------------------------------------------------------------------===//

void Event::Record::finish() {
  std::lock_guard lock(mutex);
  isDone = true;
  changed.notify_all();
}

void Event::Record::wait() {
  std::unique_lock lock(mutex);
  changed.wait(lock, [&] { return isDone; });
}

DriverResult Event::record(Stream &stream) {
  std::lock_guard lock(mutex);
  if (std::shared_ptr<Capture> capture = stream.currentCapture()) {
    // All later work of the same stream comes after it anyway.
    capturedIn = std::move(capture);
    last = nullptr;
    return stream.submit([](Context &) {});
  }
  auto made = std::make_shared<Record>();
  stream.enqueueAlways([made] { made->finish(); });
  last = std::move(made);
  capturedIn = nullptr;
  return DriverResult::Success;
}

DriverResult Event::query() {
  std::lock_guard lock(mutex);
  if (capturedIn)
    return DriverResult::CapturedEvent;
  if (!last)
    return DriverResult::Success;
  std::lock_guard recordLock(last->mutex);
  return last->isDone ? DriverResult::Success : DriverResult::NotReady;
}

DriverResult Event::synchronize() {
  std::shared_ptr<Record> record;
  {
    std::lock_guard lock(mutex);
    if (capturedIn)
      return DriverResult::CapturedEvent;
    record = last;
  }
  if (record)
    record->wait();
  return DriverResult::Success;
}

DriverResult Event::makeWait(Stream &stream) {
  std::lock_guard lock(mutex);
  std::shared_ptr<Capture> capture = stream.currentCapture();
  if (capturedIn || capture) {
    if (capturedIn == capture)
      return DriverResult::Success;
    std::lock_guard captureLock(captures().mutex);
    if (capture)
      capture->isInvalid = true;
    // The driver would let the stream join the capture; that is not emulated.
    if (capturedIn)
      capturedIn->isInvalid = true;
    return capturedIn && !capture ? DriverResult::StreamCaptureUnsupported
                                  : DriverResult::StreamCaptureIsolation;
  }
  if (last)
    stream.enqueueAlways([record = last] { record->wait(); });
  return DriverResult::Success;
}

} // namespace coil::emulated
