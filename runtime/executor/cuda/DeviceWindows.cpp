//===- DeviceWindows.cpp - Registered memory, for kernels -----------------===//

#include "runtime/executor/cuda/DeviceWindows.h"

#include <algorithm>

namespace coil::cuda {

namespace {
constexpr uint32_t firstRows = 64;
} // namespace

Result<DeviceWindows> DeviceWindows::create(std::shared_ptr<DeviceContext> device,
                                            const Stream &stream, uint32_t ranks) {
  DeviceWindows table;
  table.device = std::move(device);
  table.ranks = ranks;
  COIL_RETURN_IF_ERROR(table.grow(stream, firstRows));
  return table;
}

Status DeviceWindows::grow(const Stream &stream, uint32_t wanted) {
  size_t bytes = size_t{wanted} * ranks * sizeof(device::Window);
  COIL_ASSIGN_OR_RETURN(DeviceBuffer table, DeviceBuffer::create(device, bytes, stream));
  tables.push_back(std::move(table));
  rows = wanted;
  for (uint32_t i = 0; i < windows.size(); ++i)
    COIL_RETURN_IF_ERROR(writeRow(stream, i));
  return Status::ok();
}

Status DeviceWindows::writeRow(const Stream &stream, uint32_t index) {
  std::vector<device::Window> row(ranks);
  if (windows[index].isUsed)
    for (uint32_t rank = 0; rank < ranks; ++rank)
      row[rank] = {windows[index].parts[rank].data, windows[index].parts[rank].bytes};
  size_t rowBytes = ranks * sizeof(device::Window);
  return copyToDevice(*device, stream, tables.back().get() + index * rowBytes, row.data(),
                      rowBytes);
}

Result<uint32_t> DeviceWindows::add(const Stream &stream, const void *own, uint64_t ownBytes,
                                    std::vector<PeerMemory> parts, bool &moved) {
  moved = false;
  auto free = std::find_if(windows.begin(), windows.end(),
                           [](const Window &window) { return !window.isUsed; });
  auto index = static_cast<uint32_t>(free - windows.begin());
  if (index == rows) {
    COIL_RETURN_IF_ERROR(grow(stream, rows * 2));
    moved = true;
  }
  if (free == windows.end())
    free = windows.insert(windows.end(), Window());
  *free = {true, static_cast<const std::byte *>(own), ownBytes, std::move(parts)};
  COIL_RETURN_IF_ERROR(writeRow(stream, index));
  return index + 1;
}

Status DeviceWindows::remove(const Stream &stream, uint32_t window) {
  if (window == 0 || window > windows.size() || !windows[window - 1].isUsed)
    return Status::error(StatusCode::InvalidArgument, "there is no window {}", window);
  windows[window - 1] = {};
  return writeRow(stream, window - 1);
}

std::optional<device::WindowPlace> DeviceWindows::locate(const void *pointer, uint64_t bytes,
                                                         size_t &hint) const {
  if (bytes == 0)
    return device::WindowPlace{};
  auto begin = reinterpret_cast<uintptr_t>(pointer);
  auto offsetIn = [&](const Window &window) -> std::optional<uint64_t> {
    auto start = reinterpret_cast<uintptr_t>(window.own);
    if (!window.own || begin < start || begin - start > window.ownBytes ||
        bytes > window.ownBytes - (begin - start))
      return std::nullopt;
    return begin - start;
  };
  auto place = [](size_t index, uint64_t offset) {
    return device::WindowPlace{static_cast<uint32_t>(index) + 1, 0, offset};
  };
  if (hint < windows.size())
    if (auto offset = offsetIn(windows[hint]))
      return place(hint, *offset);
  for (size_t i = 0; i < windows.size(); ++i)
    if (auto offset = offsetIn(windows[i])) {
      hint = i;
      return place(i, *offset);
    }
  return std::nullopt;
}

} // namespace coil::cuda
