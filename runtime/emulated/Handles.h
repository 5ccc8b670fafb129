//===- Handles.h - Objects that callers know by opaque pointers -*- C++ -*-===//

#ifndef COIL_RUNTIME_EMULATED_HANDLES_H
#define COIL_RUNTIME_EMULATED_HANDLES_H

#include <memory>
#include <mutex>
#include <unordered_map>

namespace coil::emulated {

/// The live objects of a kind. A handle is an object's address, but is followed
/// only if it is here.
template <typename Object, typename Opaque> class HandleTable {
public:
  Opaque *add(std::shared_ptr<Object> object) {
    std::lock_guard lock(mutex);
    auto *handle = reinterpret_cast<Opaque *>(object.get());
    objects.emplace(handle, std::move(object));
    return handle;
  }

  /// Null if there is no such object.
  std::shared_ptr<Object> find(const Opaque *handle) const {
    std::lock_guard lock(mutex);
    auto found = objects.find(handle);
    return found == objects.end() ? nullptr : found->second;
  }

  /// Takes the object out; null if there was none.
  std::shared_ptr<Object> remove(const Opaque *handle) {
    std::lock_guard lock(mutex);
    auto found = objects.extract(handle);
    return found ? std::move(found.mapped()) : nullptr;
  }

private:
  mutable std::mutex mutex;
  std::unordered_map<const Opaque *, std::shared_ptr<Object>> objects;
};

} // namespace coil::emulated

#endif // COIL_RUNTIME_EMULATED_HANDLES_H
