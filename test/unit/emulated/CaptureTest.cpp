//===- CaptureTest.cpp - Streams captured into graphs ---------------------===//

#include "test/unit/emulated/Kernels.h"
#include "test/unit/emulated/Library.h"

#include <thread>

namespace coil::emulated {
namespace {

using namespace cuda;

/// A context, two streams and an event.
class CaptureTest : public testing::Test {
protected:
  void SetUp() override {
    ASSERT_EQ(driver().cuStreamCreate(&stream, streamNonBlocking), DriverResult::Success);
    ASSERT_EQ(driver().cuStreamCreate(&other, streamNonBlocking), DriverResult::Success);
    ASSERT_EQ(driver().cuEventCreate(&event, eventDisableTiming), DriverResult::Success);
  }
  void TearDown() override {
    EXPECT_EQ(driver().cuEventDestroy_v2(event), DriverResult::Success);
    EXPECT_EQ(driver().cuStreamDestroy_v2(other), DriverResult::Success);
    EXPECT_EQ(driver().cuStreamDestroy_v2(stream), DriverResult::Success);
  }
  void begin(StreamCaptureMode mode = StreamCaptureMode::Global) {
    ASSERT_EQ(driver().cuStreamBeginCapture_v2(stream, mode), DriverResult::Success);
  }
  /// Ends the capture; gives what that returned.
  DriverResult end() {
    DriverResult result = driver().cuStreamEndCapture(stream, &graph);
    if (graph) {
      EXPECT_EQ(driver().cuGraphDestroy(graph), DriverResult::Success);
    }
    return result;
  }

  CurrentContext context;
  DriverStream *stream = nullptr, *other = nullptr;
  DriverEvent *event = nullptr;
  DriverGraph *graph = nullptr;
};

TEST_F(CaptureTest, GraphsAreReplayed) {
  LoadedKernel add(addText, "test::add<int>");
  DevicePointer memory = 0;
  int values[64] = {}, addend = 3;
  ASSERT_EQ(driver().cuMemAlloc_v2(&memory, sizeof values), DriverResult::Success);
  ASSERT_EQ(driver().cuMemsetD8_v2(memory, 0, sizeof values), DriverResult::Success);
  begin();
  void *parameters[] = {&memory, &addend};
  EXPECT_EQ(
      driver().cuLaunchKernel(add.function, 2, 1, 1, 32, 1, 1, 0, stream, parameters, nullptr),
      DriverResult::Success);
  addend = 100; // the parameters were copied
  EXPECT_EQ(driver().cuEventRecord(event, stream), DriverResult::Success);
  EXPECT_EQ(driver().cuStreamWaitEvent(stream, event, 0), DriverResult::Success);
  EXPECT_EQ(driver().cuMemcpyAsync(reinterpret_cast<DevicePointer>(values), memory, sizeof values,
                                   stream),
            DriverResult::Success);
  StreamCaptureStatus status{};
  EXPECT_EQ(driver().cuStreamIsCapturing(stream, &status), DriverResult::Success);
  EXPECT_EQ(status, StreamCaptureStatus::Active);
  ASSERT_EQ(driver().cuStreamEndCapture(stream, &graph), DriverResult::Success);
  EXPECT_EQ(values[63], 0) << "nothing has run yet";
  DriverGraphExec *exec = nullptr;
  ASSERT_EQ(driver().cuGraphInstantiateWithFlags(&exec, graph, 0), DriverResult::Success);
  EXPECT_EQ(driver().cuGraphDestroy(graph), DriverResult::Success);
  for (int i = 0; i < 3; ++i)
    EXPECT_EQ(driver().cuGraphLaunch(exec, stream), DriverResult::Success);
  EXPECT_EQ(driver().cuStreamSynchronize(stream), DriverResult::Success);
  EXPECT_EQ(values[63], 9);
  EXPECT_EQ(driver().cuGraphExecDestroy(exec), DriverResult::Success);
  EXPECT_EQ(driver().cuMemFree_v2(memory), DriverResult::Success);
}

TEST_F(CaptureTest, WaitingForACapturedStreamIsRefused) {
  begin(StreamCaptureMode::Relaxed);
  EXPECT_EQ(driver().cuStreamSynchronize(stream), DriverResult::StreamCaptureUnsupported);
  EXPECT_EQ(driver().cuMemsetD8Async(1, 0, 0, stream), DriverResult::StreamCaptureInvalidated);
  EXPECT_EQ(end(), DriverResult::StreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  EXPECT_EQ(driver().cuStreamSynchronize(stream), DriverResult::Success);
  EXPECT_EQ(end(), DriverResult::IllegalState);
}

TEST_F(CaptureTest, ModesForbidCallsThatCouldDisturb) {
  DevicePointer pointer = 0;
  begin(StreamCaptureMode::Global);
  EXPECT_EQ(driver().cuMemAlloc_v2(&pointer, 8), DriverResult::StreamCaptureUnsupported);
  EXPECT_EQ(end(), DriverResult::StreamCaptureInvalidated);

  begin(StreamCaptureMode::Global);
  StreamCaptureMode mode = StreamCaptureMode::Relaxed;
  EXPECT_EQ(driver().cuThreadExchangeStreamCaptureMode(&mode), DriverResult::Success);
  EXPECT_EQ(mode, StreamCaptureMode::Global);
  EXPECT_EQ(driver().cuMemAlloc_v2(&pointer, 8), DriverResult::Success);
  EXPECT_EQ(driver().cuThreadExchangeStreamCaptureMode(&mode), DriverResult::Success);
  EXPECT_EQ(end(), DriverResult::Success);

  begin(StreamCaptureMode::ThreadLocal);
  std::thread([&] {
    CurrentContext own;
    DevicePointer more = 0;
    EXPECT_EQ(driver().cuMemAlloc_v2(&more, 8), DriverResult::Success);
    EXPECT_EQ(driver().cuMemFree_v2(more), DriverResult::Success);
    EXPECT_EQ(end(), DriverResult::StreamCaptureWrongThread);
  }).join();
  EXPECT_EQ(end(), DriverResult::Success);
  EXPECT_EQ(driver().cuMemFree_v2(pointer), DriverResult::Success);
}

TEST_F(CaptureTest, OtherStreamsTakeNoPart) {
  begin(StreamCaptureMode::Relaxed);
  EXPECT_EQ(driver().cuEventRecord(event, stream), DriverResult::Success);
  EXPECT_EQ(driver().cuEventQuery(event), DriverResult::CapturedEvent);
  EXPECT_EQ(driver().cuStreamWaitEvent(other, event, 0), DriverResult::StreamCaptureUnsupported);
  EXPECT_EQ(end(), DriverResult::StreamCaptureInvalidated);

  EXPECT_EQ(driver().cuEventRecord(event, other), DriverResult::Success);
  begin(StreamCaptureMode::Relaxed);
  EXPECT_EQ(driver().cuStreamWaitEvent(stream, event, 0), DriverResult::StreamCaptureIsolation);
  EXPECT_EQ(end(), DriverResult::StreamCaptureInvalidated);
}

TEST_F(CaptureTest, DefaultStreamIsNotCaptured) {
  EXPECT_EQ(driver().cuStreamBeginCapture_v2(nullptr, StreamCaptureMode::Relaxed),
            DriverResult::StreamCaptureUnsupported);
  EXPECT_EQ(driver().cuStreamBeginCapture_v2(stream, static_cast<StreamCaptureMode>(9)),
            DriverResult::InvalidValue);
  begin();
  EXPECT_EQ(driver().cuStreamBeginCapture_v2(stream, StreamCaptureMode::Relaxed),
            DriverResult::IllegalState);
  EXPECT_EQ(end(), DriverResult::Success);
}

} // namespace
} // namespace coil::emulated
