//===- CudaRanks.cpp - Runs ranks on emulated GPUs ------------------------===//

#include "test/unit/cuda/CudaRanks.h"

#include "runtime/codegen/KernelGenerator.h"
#include "runtime/executor/cuda/Device.h"
#include "runtime/nvrtc/KernelCompiler.h"
#include "runtime/plan/PlanFile.h"
#include "test/unit/api/HandPlans.h"

#include <cstdlib>
#include <cstring>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace coil::test {

using namespace cuda;

CudaConfig CudaSetting::usualConfig() {
  CudaConfig config;
  config.instances = 2;
  config.threadsPerBlock = 32;
  config.tileBytes = 4096;
  config.llBytes = 512;
  config.directBytes = 1;
  config.timeoutMs = 60000;
  config.driverLibrary = config.nvrtcLibrary = COIL_EMULATED_CUDA;
  config.kernelCache = COIL_TEST_KERNEL_CACHE;
  return config;
}

Plan readBack(const Plan &plan) {
  Result<Plan> read = readPlan(planFile(plan));
  EXPECT_TRUE(read.isOk()) << read.status().message();
  return *std::move(read);
}

CudaCall allReduce(DeviceArray &send, DeviceArray &receive, uint64_t count) {
  CudaCall call;
  call.arguments.kind = callKind(Collective::AllReduce);
  call.arguments.type = DataType::F32;
  call.arguments.op = ReduceOp::Sum;
  call.arguments.count = count;
  call.send = send.data();
  call.receive = receive.data();
  return call;
}

Status CudaMember::run(const CudaCall &call) {
  COIL_RETURN_IF_ERROR(gpu->enqueue(*plan, call, stream));
  return gpu->waitIdle();
}

namespace {

void runRank(const CudaSetting &setting, const UniqueId &id, int rank, const CudaBody &body) {
  auto bootstrap = Bootstrap::connect(id, rank, setting.ranks, setting.timeoutMs);
  ASSERT_TRUE(bootstrap.isOk()) << bootstrap.status().message();
  Group group;
  group.rank = rank;
  group.ranks = setting.ranks;
  group.timeoutMs = setting.timeoutMs;
  for (int other = 0; other < setting.ranks; ++other)
    group.processIds.push_back((*bootstrap)->peer(other).pid);
  group.isLost = [&](int other) { return (*bootstrap)->findLostPeer(other) == other; };
  SetupExchange exchange(**bootstrap, group);
  Result<SharedSegment> control = SharedSegment::create("test-control", sizeof(ControlBlock));
  ASSERT_TRUE(control.isOk()) << control.status().message();
  auto blocks = exchange.share("test", std::make_shared<SharedSegment>(*std::move(control)));
  ASSERT_TRUE(blocks.isOk()) << blocks.status().message();
  for (const PeerSegment &each : *blocks)
    group.control.push_back(reinterpret_cast<ControlBlock *>(each.data));

  auto driver = Driver::load(setting.config.driverLibrary);
  ASSERT_TRUE(driver.isOk()) << driver.status().message();
  int ordinal = rank / setting.ranksPerDevice;
  auto gpu = CudaRank::create(*driver, ordinal, group, exchange, setting.config);
  std::unique_ptr<LoadedCudaPlan> plan;
  CudaMember member{rank, group, exchange, nullptr, nullptr, {}, **driver, nullptr};
  if (!gpu.isOk()) {
    member.status = Status(gpu.status().code(), gpu.status().message());
    body(member);
  } else {
    auto device = DeviceContext::open(*driver, ordinal);
    ASSERT_TRUE(device.isOk()) << device.status().message();
    ContextGuard guard(**device);
    ASSERT_TRUE(COIL_CUDA(**driver, cuStreamCreate, &member.stream, streamNonBlocking).isOk());
    member.gpu = gpu->get();
    if (setting.plan) {
      auto loaded = (*gpu)->loadPlan(*setting.plan, setting.trusted);
      if (loaded.isOk())
        plan = *std::move(loaded);
      else
        member.status = std::move(loaded).status();
      member.plan = plan.get();
    }
    body(member);
    plan.reset();
    EXPECT_TRUE(COIL_CUDA(**driver, cuStreamDestroy_v2, member.stream).isOk());
  }
  if (gpu.isOk())
    gpu->reset();
  group.mine().departed.store(1, std::memory_order_release);
}

} // namespace

void runCudaThreads(const CudaSetting &setting, const CudaBody &body) {
  Result<UniqueId> id = UniqueId::make();
  ASSERT_TRUE(id.isOk());
  std::vector<std::thread> threads;
  for (int rank = 0; rank < setting.ranks; ++rank)
    threads.emplace_back([&, rank] { runRank(setting, *id, rank, body); });
  for (std::thread &thread : threads)
    thread.join();
}

void runCudaProcesses(const CudaSetting &setting, const CudaBody &body, int mayDie) {
  Result<UniqueId> id = UniqueId::make();
  ASSERT_TRUE(id.isOk());
  std::vector<pid_t> children;
  for (int rank = 0; rank < setting.ranks; ++rank) {
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      if (rank == setting.ranks - 1 && !setting.faults.empty())
        setenv("COIL_EMULATED_FAULTS", setting.faults.c_str(), 1);
      runRank(setting, *id, rank, body);
      std::fflush(nullptr);
      _exit(testing::Test::HasFailure() ? 1 : 0);
    }
    children.push_back(child);
  }
  for (int rank = 0; rank < setting.ranks; ++rank) {
    pid_t child = children[static_cast<size_t>(rank)];
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    if (rank != mayDie) {
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0)
          << "rank " << rank << " ended with status " << status;
    }
  }
}

DeviceArray::DeviceArray(CudaMember &member, size_t bytes) : member(member), bytes(bytes) {
  Result<void *> pointer = member.gpu->memAlloc(std::max<size_t>(bytes, 1));
  EXPECT_TRUE(pointer.isOk()) << pointer.status().message();
  if (pointer.isOk())
    memory = static_cast<std::byte *>(*pointer);
}

DeviceArray::~DeviceArray() {
  if (memory) {
    EXPECT_TRUE(member.gpu->memFree(memory).isOk());
  }
}

void DeviceArray::write(const std::vector<std::byte> &values) {
  EXPECT_TRUE(COIL_CUDA(member.driver, cuMemcpyHtoD_v2, reinterpret_cast<DevicePointer>(memory),
                        values.data(), values.size())
                  .isOk());
}

std::vector<std::byte> DeviceArray::read() {
  std::vector<std::byte> values(bytes);
  EXPECT_TRUE(COIL_CUDA(member.driver, cuMemcpyDtoH_v2, values.data(),
                        reinterpret_cast<DevicePointer>(memory), bytes)
                  .isOk());
  return values;
}

std::vector<std::byte> valuesOf(int rank, uint64_t count, int salt) {
  std::vector<float> values(count);
  for (uint64_t i = 0; i < count; ++i)
    values[i] = static_cast<float>((i * 7 + static_cast<uint64_t>(rank * 3 + salt)) % 31);
  std::vector<std::byte> bytes(count * sizeof(float));
  if (count != 0)
    std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::vector<std::byte> sumsOf(int ranks, uint64_t count, int salt) {
  std::vector<float> sums(count);
  for (int rank = 0; rank < ranks; ++rank) {
    std::vector<std::byte> bytes = valuesOf(rank, count, salt);
    for (uint64_t i = 0; i < count; ++i) {
      float value;
      std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
      sums[i] += value;
    }
  }
  std::vector<std::byte> bytes(count * sizeof(float));
  if (count != 0)
    std::memcpy(bytes.data(), sums.data(), bytes.size());
  return bytes;
}

void checkSums(CudaMember &member, Buffers buffers) {
  ASSERT_TRUE(member.status.isOk()) << member.status.message();
  constexpr uint64_t most = 5003;
  DeviceArray send(member, most * 4), receive(member, most * 4);
  std::vector<uint32_t> windows;
  if (buffers == Buffers::Registered)
    for (DeviceArray *array : {&send, &receive}) {
      Result<uint32_t> window = member.gpu->registerMemory(array->data(), most * 4);
      ASSERT_TRUE(window.isOk()) << window.status().message();
      windows.push_back(*window);
    }
  for (uint64_t count : {uint64_t{1}, uint64_t{0}, uint64_t{100}, most, uint64_t{101}}) {
    SCOPED_TRACE(count);
    send.write(valuesOf(member.rank, count));
    Status status = member.run(allReduce(send, receive, count));
    ASSERT_TRUE(status.isOk()) << status.message();
    std::vector<std::byte> found = receive.read();
    found.resize(count * 4);
    EXPECT_EQ(found, sumsOf(member.group.ranks, count));

    receive.write(valuesOf(member.rank, count, 5));
    CudaCall call = allReduce(receive, receive, count);
    call.arguments.inPlace = true;
    status = member.run(call);
    ASSERT_TRUE(status.isOk()) << status.message();
    found = receive.read();
    found.resize(count * 4);
    EXPECT_EQ(found, sumsOf(member.group.ranks, count, 5));
  }
  for (uint32_t window : windows)
    EXPECT_TRUE(member.gpu->deregister(window).isOk());
}

nvrtc::CubinBundle bundleOf(const Plan &plan, DataType type, Protocol protocol) {
  nvrtc::CubinBundle bundle;
  bundle.planDigest = plan.digest;
  Result<nvrtc::KernelCompiler> compiler =
      nvrtc::KernelCompiler::load(COIL_EMULATED_CUDA, nvrtc::CubinCache(COIL_TEST_KERNEL_CACHE));
  EXPECT_TRUE(compiler.isOk()) << compiler.status().message();
  if (!compiler.isOk())
    return bundle;
  KernelInstance instance = kernelInstance(plan.collective, type, ReduceOp::Sum);
  for (uint32_t variant = 0; variant < plan.variants.size(); ++variant) {
    bool hasMessages = plan.variants[variant].transport == Transport::Staged;
    Result<GeneratedKernel> kernel =
        generateKernel(plan, variant, {hasMessages ? protocol : Protocol::Simple, {}});
    EXPECT_TRUE(kernel.isOk()) << kernel.status().message();
    if (!kernel.isOk())
      return bundle;
    nvrtc::CompileRequest request;
    request.text = kernel->text;
    request.name = kernel->name + ".cu";
    request.nameExpressions = {kernelExpression(kernel->name, instance.type, instance.op)};
    request.arch = fmt::format("sm_{}", emulatedCapability);
    Result<nvrtc::CompiledKernels> compiled = compiler->compile(request);
    EXPECT_TRUE(compiled.isOk()) << compiled.status().message();
    if (!compiled.isOk())
      return bundle;
    bundle.cubins.push_back({variant, instance.type, instance.op, kernel->protocol,
                             emulatedCapability, nvrtc::kernelSource(kernel->text),
                             compiled->loweredNames.front(), compiled->bytes});
  }
  return bundle;
}

CudaSetting settingFor(int ranks, const Plan &plan) {
  CudaSetting setting;
  setting.ranks = ranks;
  setting.plan = readBack(plan);
  return setting;
}

} // namespace coil::test
