//===- FakeDriver.cpp - Driver functions that do next to nothing ----------===//

#include "test/unit/cuda/FakeDriver.h"

#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <gtest/gtest.h>

namespace coil::test {

using namespace cuda;

FakeState &fakeState() {
  static FakeState state;
  return state;
}

namespace {

constexpr auto ok = DriverResult::Success;

uintptr_t number(const void *handle) { return reinterpret_cast<uintptr_t>(handle); }

void record(const device::Launch &launch, unsigned blocks, unsigned threads, unsigned sharedBytes,
            DriverStream *stream, bool isCooperative) {
  fakeState().launches.push_back({launch, blocks, threads, sharedBytes, isCooperative, stream});
  fakeState().calls.push_back(fmt::format("launch in {}", number(stream)));
}

DriverFunctions makeFunctions() {
  DriverFunctions table;
  table.cuGetErrorName = [](DriverResult error, const char **text) {
    *text = error == DriverResult::OutOfMemory ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR_OTHER";
    return ok;
  };
  table.cuGetErrorString = [](DriverResult error, const char **text) {
    *text = error == DriverResult::OutOfMemory ? "out of memory" : "something else";
    return ok;
  };
  table.cuDeviceGetCount = [](int *count) {
    *count = 2;
    return ok;
  };
  table.cuDeviceGet = [](Device *device, int ordinal) {
    *device = ordinal;
    return ok;
  };
  table.cuDeviceGetName = [](char *name, int length, Device) {
    std::strncpy(name, "Fake", static_cast<size_t>(length));
    return ok;
  };
  table.cuDeviceGetUuid_v2 = [](DeviceUuid *uuid, Device device) {
    *uuid = {};
    uuid->bytes[0] = static_cast<char>(device + 1);
    return ok;
  };
  table.cuDeviceGetAttribute = [](int *value, DeviceAttribute, Device) {
    *value = 8;
    return ok;
  };
  table.cuDevicePrimaryCtxRetain = [](DriverContext **context, Device device) {
    *context = reinterpret_cast<DriverContext *>(static_cast<uintptr_t>(device) + 1);
    return ok;
  };
  table.cuDevicePrimaryCtxRelease_v2 = [](Device) { return ok; };
  table.cuCtxPushCurrent_v2 = [](DriverContext *) {
    ++fakeState().contextDepth;
    return ok;
  };
  table.cuCtxPopCurrent_v2 = [](DriverContext **) {
    --fakeState().contextDepth;
    return ok;
  };
  table.cuThreadExchangeStreamCaptureMode = [](StreamCaptureMode *) { return ok; };
  table.cuMemAlloc_v2 = [](DevicePointer *pointer, size_t bytes) {
    if (fakeState().allocateResult == ok)
      *pointer = reinterpret_cast<DevicePointer>(std::malloc(bytes));
    return fakeState().allocateResult;
  };
  table.cuMemFree_v2 = [](DevicePointer pointer) {
    std::free(reinterpret_cast<void *>(pointer));
    return ok;
  };
  table.cuMemsetD8Async = [](DevicePointer pointer, unsigned char value, size_t bytes,
                             DriverStream *) {
    std::memset(reinterpret_cast<void *>(pointer), value, bytes);
    return ok;
  };
  table.cuMemcpyAsync = [](DevicePointer to, DevicePointer from, size_t bytes, DriverStream *) {
    std::memcpy(reinterpret_cast<void *>(to), reinterpret_cast<const void *>(from), bytes);
    return ok;
  };
  table.cuStreamCreate = [](DriverStream **stream, unsigned) {
    *stream = reinterpret_cast<DriverStream *>(uintptr_t{99});
    return ok;
  };
  table.cuStreamDestroy_v2 = [](DriverStream *) { return ok; };
  table.cuStreamSynchronize = [](DriverStream *) { return ok; };
  table.cuStreamWaitEvent = [](DriverStream *stream, DriverEvent *event, unsigned) {
    fakeState().calls.push_back(
        fmt::format("{} waits for event {}", number(stream), number(event)));
    return ok;
  };
  table.cuEventCreate = [](DriverEvent **event, unsigned) {
    static uintptr_t last = 0;
    *event = reinterpret_cast<DriverEvent *>(++last);
    return ok;
  };
  table.cuEventDestroy_v2 = [](DriverEvent *) { return ok; };
  table.cuEventRecord = [](DriverEvent *event, DriverStream *stream) {
    fakeState().calls.push_back(fmt::format("event {} in {}", number(event), number(stream)));
    return ok;
  };
  table.cuLaunchKernel = [](DriverFunction *, unsigned blocks, unsigned, unsigned, unsigned threads,
                            unsigned, unsigned, unsigned sharedBytes, DriverStream *stream,
                            void **parameters, void **) {
    record(*static_cast<device::Launch *>(*parameters), blocks, threads, sharedBytes, stream,
           false);
    return fakeState().launchResult;
  };
  table.cuLaunchCooperativeKernel = [](DriverFunction *, unsigned blocks, unsigned, unsigned,
                                       unsigned threads, unsigned, unsigned, unsigned sharedBytes,
                                       DriverStream *stream, void **parameters) {
    record(*static_cast<device::Launch *>(*parameters), blocks, threads, sharedBytes, stream, true);
    return fakeState().launchResult;
  };
  return table;
}

} // namespace

std::shared_ptr<const Driver> makeFakeDriver() {
  fakeState() = {};
  return std::make_shared<const Driver>(makeFunctions());
}

std::shared_ptr<DeviceContext> openFakeDevice(int ordinal) {
  Result<std::shared_ptr<DeviceContext>> device = DeviceContext::open(makeFakeDriver(), ordinal);
  EXPECT_TRUE(device.isOk()) << device.status().message();
  return *device;
}

} // namespace coil::test
