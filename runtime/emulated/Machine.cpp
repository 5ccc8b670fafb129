//===- Machine.cpp - The emulated devices and their contexts --------------===//

#include "runtime/emulated/Machine.h"
#include "runtime/emulated/Faults.h"
#include "runtime/emulated/Memory.h"
#include "runtime/emulated/Stream.h"
#include "runtime/kernels/emulation/Emulation.h"

#include <algorithm>
#include <cstdio>
#include <dlfcn.h>

namespace coil::emulated {

namespace {

std::atomic<Machine *> theMachine = nullptr;

Settings &settings() {
  static Settings settings;
  return settings;
}

/// Makes the emulation's functions known to the kernels that will be loaded, also
/// if the program has loaded this library for itself alone.
void exportEmulation() {
  Dl_info self{};
  if (dladdr(reinterpret_cast<void *>(&exportEmulation), &self) && self.dli_fname)
    dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
}

} // namespace

const std::string &configurationError() {
  static const std::string error = [] {
    std::string text = readSettings(settings());
    return text.empty() ? readFaults(environment("COIL_EMULATED_FAULTS")) : text;
  }();
  return error;
}

DriverResult initialise() {
  if (const std::string &error = configurationError(); !error.empty()) {
    std::fprintf(stderr, "emulated CUDA: %s\n", error.c_str());
    return DriverResult::InvalidValue;
  }
  static std::once_flag once;
  std::call_once(once, [] {
    auto *made = new Machine{settings(), {}};
    for (int device = 0; device < made->settings.devices; ++device)
      made->contexts.push_back(std::make_unique<Context>(device, made->settings));
    exportEmulation();
    emulation::setTracking(made->settings.isTracked);
    theMachine.store(made); // never freed: streams' threads may outlive main()
  });
  return DriverResult::Success;
}

Machine *machine() { return theMachine.load(); }

std::vector<Context *> &contextStack() {
  static thread_local std::vector<Context *> stack;
  return stack;
}

bool isContext(const Context *context) {
  Machine *all = machine();
  return all && std::any_of(all->contexts.begin(), all->contexts.end(),
                            [&](const auto &known) { return known.get() == context; });
}

DriverResult injectedFault(const char *function) {
  if (!configurationError().empty())
    return DriverResult::Success; // cuInit says so
  auto fault = static_cast<DriverResult>(countCall(function));
  if (isSticky(fault) && machine() && !contextStack().empty())
    contextStack().back()->fail(fault);
  return fault;
}

//===----------------------------------------------------------------------===//
// Contexts
//===----------------------------------------------------------------------===//

void Context::fail(DriverResult result) {
  DriverResult none = DriverResult::Success;
  failure.compare_exchange_strong(none, result);
}

void Context::retain() { ++retained; }

DriverResult Context::release() {
  int count = retained.load();
  do {
    if (count == 0)
      return DriverResult::InvalidContext;
  } while (!retained.compare_exchange_weak(count, count - 1));
  if (count > 1)
    return DriverResult::Success;
  synchronize();
  deviceMemory().freeAll(device);
  std::lock_guard lock(mutex);
  peers.clear();
  usual = nullptr;
  failure = DriverResult::Success;
  return DriverResult::Success;
}

DriverResult Context::enableAccess(int peer) {
  if (!settings.hasPeers)
    return DriverResult::PeerAccessUnsupported;
  if (peer == device)
    return DriverResult::InvalidDevice;
  std::lock_guard lock(mutex);
  return peers.insert(peer).second ? DriverResult::Success : DriverResult::PeerAccessAlreadyEnabled;
}

std::shared_ptr<Stream> Context::defaultStream() {
  std::shared_ptr<Stream> stream;
  {
    std::lock_guard lock(mutex);
    if (usual)
      return usual;
    stream = usual = std::make_shared<Stream>(*this);
  }
  add(stream);
  return stream;
}

void Context::add(const std::shared_ptr<Stream> &stream) {
  std::lock_guard lock(mutex);
  std::erase_if(streams, [](const auto &known) { return known.expired(); });
  streams.push_back(stream);
}

std::vector<std::shared_ptr<Stream>> Context::liveStreams() {
  std::vector<std::shared_ptr<Stream>> live;
  std::lock_guard lock(mutex);
  for (const std::weak_ptr<Stream> &stream : streams)
    if (std::shared_ptr<Stream> found = stream.lock())
      live.push_back(std::move(found));
  return live;
}

void Context::synchronize() {
  for (const std::shared_ptr<Stream> &stream : liveStreams())
    stream->synchronize();
}

} // namespace coil::emulated
