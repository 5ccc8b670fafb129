//===- DriverStreams.cpp - Streams, events and graphs ---------------------===//

#include "runtime/emulated/DriverApi.h"
#include "runtime/emulated/Handles.h"
#include "runtime/emulated/Stream.h"

using namespace coil::cuda;
using namespace coil::emulated;

namespace {

using StreamTable = HandleTable<Stream, DriverStream>;
using EventTable = HandleTable<Event, DriverEvent>;
using GraphTable = HandleTable<Graph, DriverGraph>;
using GraphExecTable = HandleTable<Graph, DriverGraphExec>;

// Never destroyed: threads may outlive static objects.
StreamTable &streams() {
  static auto *table = new StreamTable;
  return *table;
}
EventTable &events() {
  static auto *table = new EventTable;
  return *table;
}
GraphTable &graphs() {
  static auto *table = new GraphTable;
  return *table;
}
GraphExecTable &executables() {
  static auto *table = new GraphExecTable;
  return *table;
}

/// Runs body(stream) for a stream's handle.
template <typename Body>
DriverResult enterStream(const char *function, DriverStream *handle, Body body) {
  return enterContext(function, [&](Context &context) {
    std::shared_ptr<Stream> stream = findStream(context, handle);
    return stream ? body(*stream) : DriverResult::InvalidHandle;
  });
}

/// Runs body(event) for an event's handle.
template <typename Body>
DriverResult enterEvent(const char *function, DriverEvent *handle, Body body) {
  return enterContext(function, [&](Context &) {
    std::shared_ptr<Event> event = events().find(handle);
    return event ? body(*event) : DriverResult::InvalidHandle;
  });
}

bool isDefault(const DriverStream *handle) {
  // Null, CU_STREAM_LEGACY and CU_STREAM_PER_THREAD.
  return reinterpret_cast<std::uintptr_t>(handle) <= 2;
}

} // namespace

std::shared_ptr<Stream> coil::emulated::findStream(Context &context, DriverStream *handle) {
  return isDefault(handle) ? context.defaultStream() : streams().find(handle);
}

DriverResult cuStreamCreate(DriverStream **stream, unsigned flags) {
  return enterContext("cuStreamCreate", [&](Context &context) {
    if (!stream || (flags & ~streamNonBlocking) != 0)
      return DriverResult::InvalidValue;
    auto made = std::make_shared<Stream>(context);
    context.add(made);
    *stream = streams().add(std::move(made));
    return DriverResult::Success;
  });
}

DriverResult cuStreamDestroy_v2(DriverStream *stream) {
  return enter("cuStreamDestroy_v2", [&] {
    return streams().remove(stream) ? DriverResult::Success : DriverResult::InvalidHandle;
  });
}

DriverResult cuStreamSynchronize(DriverStream *handle) {
  return enterStream("cuStreamSynchronize", handle, [&](Stream &stream) {
    for (DriverResult refused : {stream.refuseIfCaptured(), refuseInCapture()})
      if (refused != DriverResult::Success)
        return refused;
    stream.synchronize();
    return stream.context.error();
  });
}

DriverResult cuStreamQuery(DriverStream *handle) {
  return enterStream("cuStreamQuery", handle, [&](Stream &stream) {
    for (DriverResult refused : {stream.refuseIfCaptured(), refuseInCapture()})
      if (refused != DriverResult::Success)
        return refused;
    if (!stream.isIdle())
      return DriverResult::NotReady;
    return stream.context.error();
  });
}

DriverResult cuStreamWaitEvent(DriverStream *handle, DriverEvent *event, unsigned flags) {
  return enterStream("cuStreamWaitEvent", handle, [&](Stream &stream) {
    if (flags > 1)
      return DriverResult::InvalidValue;
    std::shared_ptr<Event> found = events().find(event);
    return found ? found->makeWait(stream) : DriverResult::InvalidHandle;
  });
}

DriverResult cuStreamBeginCapture_v2(DriverStream *handle, StreamCaptureMode mode) {
  return enterStream("cuStreamBeginCapture_v2", handle, [&](Stream &stream) {
    if (mode < StreamCaptureMode::Global || mode > StreamCaptureMode::Relaxed)
      return DriverResult::InvalidValue;
    if (isDefault(handle))
      return DriverResult::StreamCaptureUnsupported;
    return stream.beginCapture(mode);
  });
}

DriverResult cuStreamEndCapture(DriverStream *handle, DriverGraph **graph) {
  return enterStream("cuStreamEndCapture", handle, [&](Stream &stream) {
    if (!graph)
      return DriverResult::InvalidValue;
    std::shared_ptr<Graph> captured;
    DriverResult result = stream.endCapture(captured);
    *graph = captured ? graphs().add(std::move(captured)) : nullptr;
    return result;
  });
}

DriverResult cuStreamIsCapturing(DriverStream *handle, StreamCaptureStatus *status) {
  return enterStream("cuStreamIsCapturing", handle, [&](Stream &stream) {
    if (!status)
      return DriverResult::InvalidValue;
    *status = stream.captureStatus();
    return DriverResult::Success;
  });
}

DriverResult cuThreadExchangeStreamCaptureMode(StreamCaptureMode *mode) {
  return enter("cuThreadExchangeStreamCaptureMode", [&] {
    if (!mode || *mode < StreamCaptureMode::Global || *mode > StreamCaptureMode::Relaxed)
      return DriverResult::InvalidValue;
    *mode = exchangeCaptureMode(*mode);
    return DriverResult::Success;
  });
}

DriverResult cuGraphInstantiateWithFlags(DriverGraphExec **exec, DriverGraph *graph,
                                         unsigned long long flags) {
  return enterContext("cuGraphInstantiateWithFlags", [&](Context &) {
    if (!exec || flags != 0)
      return DriverResult::InvalidValue;
    std::shared_ptr<Graph> found = graphs().find(graph);
    if (!found)
      return DriverResult::InvalidHandle;
    *exec = executables().add(std::make_shared<Graph>(*found));
    return DriverResult::Success;
  });
}

DriverResult cuGraphLaunch(DriverGraphExec *exec, DriverStream *handle) {
  return enterStream("cuGraphLaunch", handle, [&](Stream &stream) {
    std::shared_ptr<Graph> graph = executables().find(exec);
    if (!graph)
      return DriverResult::InvalidHandle;
    return stream.submit([graph](Context &context) {
      for (const Work &work : graph->nodes)
        if (context.error() == DriverResult::Success)
          work(context);
    });
  });
}

DriverResult cuGraphExecDestroy(DriverGraphExec *exec) {
  return enter("cuGraphExecDestroy", [&] {
    return executables().remove(exec) ? DriverResult::Success : DriverResult::InvalidHandle;
  });
}

DriverResult cuGraphDestroy(DriverGraph *graph) {
  return enter("cuGraphDestroy", [&] {
    return graphs().remove(graph) ? DriverResult::Success : DriverResult::InvalidHandle;
  });
}

DriverResult cuEventCreate(DriverEvent **event, unsigned flags) {
  return enterContext("cuEventCreate", [&](Context &) {
    if (!event || (flags & ~7u) != 0)
      return DriverResult::InvalidValue;
    *event = events().add(std::make_shared<Event>());
    return DriverResult::Success;
  });
}

DriverResult cuEventRecord(DriverEvent *event, DriverStream *handle) {
  return enterStream("cuEventRecord", handle, [&](Stream &stream) {
    std::shared_ptr<Event> found = events().find(event);
    return found ? found->record(stream) : DriverResult::InvalidHandle;
  });
}

DriverResult cuEventQuery(DriverEvent *event) {
  return enterEvent("cuEventQuery", event, [&](Event &found) {
    DriverResult refused = refuseInCapture();
    return refused == DriverResult::Success ? found.query() : refused;
  });
}

DriverResult cuEventSynchronize(DriverEvent *event) {
  return enterContext("cuEventSynchronize", [&](Context &context) {
    std::shared_ptr<Event> found = events().find(event);
    if (!found)
      return DriverResult::InvalidHandle;
    if (DriverResult refused = refuseInCapture(); refused != DriverResult::Success)
      return refused;
    DriverResult result = found->synchronize();
    return result == DriverResult::Success ? context.error() : result;
  });
}

DriverResult cuEventDestroy_v2(DriverEvent *event) {
  return enter("cuEventDestroy_v2", [&] {
    return events().remove(event) ? DriverResult::Success : DriverResult::InvalidHandle;
  });
}
