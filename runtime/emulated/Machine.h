//===- Machine.h - The emulated devices and their contexts ------*- C++ -*-===//

#ifndef COIL_RUNTIME_EMULATED_MACHINE_H
#define COIL_RUNTIME_EMULATED_MACHINE_H

#include "runtime/emulated/Errors.h"
#include "runtime/emulated/Settings.h"

#include <atomic>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <vector>

namespace coil::emulated {

class Stream;

/// A device, and the one context that it has in this process.
class Context {
public:
  Context(int device, const Settings &settings) : device(device), settings(settings) {}

  const int device;
  const Settings &settings;

  /// The sticky error, or Success.
  DriverResult error() const { return failure.load(); }
  /// Keeps the first sticky error.
  void fail(DriverResult result);

  void retain();
  /// The last release ends the context: it drains its streams and frees its memory.
  DriverResult release();
  bool isRetained() const { return retained.load() > 0; }

  DriverResult enableAccess(int peer);

  /// The stream that a null handle means.
  std::shared_ptr<Stream> defaultStream();
  void add(const std::shared_ptr<Stream> &stream);
  /// Waits for all work of all streams.
  void synchronize();

private:
  std::vector<std::shared_ptr<Stream>> liveStreams();

  std::atomic<DriverResult> failure = DriverResult::Success;
  std::atomic<int> retained = 0;
  std::mutex mutex;
  std::set<int> peers;
  std::shared_ptr<Stream> usual;
  std::vector<std::weak_ptr<Stream>> streams;
};

struct Machine {
  Settings settings;
  std::vector<std::unique_ptr<Context>> contexts; ///< of each device
};

/// Reads the environment, once. Returns an error message, empty if all is well.
const std::string &configurationError();

/// Sets up the devices. InvalidValue, and a message on stderr, if the environment
/// asks for what there is not.
DriverResult initialise();

/// Null before initialise().
Machine *machine();

/// The contexts that a thread has pushed; the last is the current one.
std::vector<Context *> &contextStack();

/// Whether a context is one of this machine's.
bool isContext(const Context *context);

/// Counts the call of `function`, fails it if a fault was asked for, and keeps
/// exceptions inside.
template <typename Body> DriverResult enterAnytime(const char *function, Body body);

/// The same for what needs an initialised driver: body().
template <typename Body> DriverResult enter(const char *function, Body body) {
  return enterAnytime(function, [&] { return machine() ? body() : DriverResult::NotInitialized; });
}

/// The same for what needs a context without a sticky error: body(context).
template <typename Body> DriverResult enterContext(const char *function, Body body) {
  return enter(function, [&] {
    if (contextStack().empty() || !contextStack().back()->isRetained())
      return DriverResult::InvalidContext;
    Context &context = *contextStack().back();
    return context.error() == DriverResult::Success ? body(context) : context.error();
  });
}

/// What a fault makes the function return, or Success.
DriverResult injectedFault(const char *function);

template <typename Body> DriverResult enterAnytime(const char *function, Body body) {
  if (DriverResult fault = injectedFault(function); fault != DriverResult::Success)
    return fault;
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return DriverResult::OutOfMemory;
  } catch (...) {
    return DriverResult::OperatingSystem;
  }
}

} // namespace coil::emulated

#endif // COIL_RUNTIME_EMULATED_MACHINE_H
