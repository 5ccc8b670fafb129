//===- Windows.cpp - Registered memory of a communicator ------------------===//

#include "runtime/api/Windows.h"

#include <algorithm>
#include <mutex>
#include <unordered_map>

namespace coil {

namespace {
/// How many windows of this process lie in each allocation.
class Registrations {
public:
  static void change(uint64_t allocation, int by) {
    std::lock_guard lock(mutex);
    if ((counts[allocation] += by) == 0)
      counts.erase(allocation);
  }
  static bool has(uint64_t allocation) {
    std::lock_guard lock(mutex);
    return counts.contains(allocation);
  }

private:
  static inline std::mutex mutex;
  static inline std::unordered_map<uint64_t, int> counts;
};
} // namespace

bool isRegistered(uint64_t allocation) { return Registrations::has(allocation); }

WindowTable::~WindowTable() {
  for (const auto &window : windows)
    if (window && window->own)
      Registrations::change(window->allocation, -1);
}

Window *WindowTable::add(std::unique_ptr<Window> window) {
  auto free = std::find(windows.begin(), windows.end(), nullptr);
  if (free == windows.end())
    free = windows.insert(windows.end(), nullptr);
  if (window->own)
    Registrations::change(window->allocation, +1);
  window->number = static_cast<uint32_t>(free - windows.begin()) + 1;
  *free = std::move(window);
  return free->get();
}

const Window *WindowTable::find(const void *handle) const {
  auto found = std::find_if(windows.begin(), windows.end(),
                            [&](const auto &window) { return window && window.get() == handle; });
  return found == windows.end() ? nullptr : found->get();
}

void WindowTable::remove(const Window *window) {
  if (window->own)
    Registrations::change(window->allocation, -1);
  windows[window->number - 1].reset();
}

WindowPlace WindowTable::locate(const void *pointer, size_t bytes, size_t &hint) const {
  auto begin = reinterpret_cast<uintptr_t>(pointer);
  auto offsetIn = [&](const std::unique_ptr<Window> &window) -> std::optional<uint64_t> {
    if (!window || !window->own)
      return std::nullopt;
    auto start = reinterpret_cast<uintptr_t>(window->own);
    if (begin < start || begin - start > window->ownBytes ||
        bytes > window->ownBytes - (begin - start))
      return std::nullopt;
    return begin - start;
  };
  if (hint < windows.size())
    if (auto offset = offsetIn(windows[hint]))
      return {windows[hint]->number, *offset};
  for (size_t i = 0; i < windows.size(); ++i)
    if (auto offset = offsetIn(windows[i])) {
      hint = i;
      return {windows[i]->number, *offset};
    }
  return {};
}

std::byte *WindowTable::resolve(int rank, WindowPlace place, size_t bytes) const {
  if (place.window == 0 || place.window > windows.size() || !windows[place.window - 1])
    return nullptr;
  const Window::Part &part = windows[place.window - 1]->parts[static_cast<size_t>(rank)];
  if (!part.data || place.offset > part.bytes || bytes > part.bytes - place.offset)
    return nullptr;
  return part.data + place.offset;
}

std::shared_ptr<SharedSegment> WindowTable::mappingOf(int rank, uint64_t segmentId) const {
  for (const auto &window : windows) {
    if (!window)
      continue;
    const PeerSegment &segment = window->parts[static_cast<size_t>(rank)].segment;
    if (segment.holder && segment.id == segmentId)
      return segment.holder;
  }
  return nullptr;
}

} // namespace coil
