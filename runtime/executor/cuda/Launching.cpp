//===- Launching.cpp - From ranks' calls to a kernel's launch -------------===//

#include "runtime/executor/cuda/Launching.h"

#include <algorithm>
#include <chrono>
#include <map>

namespace coil::cuda {

Status launch(const DeviceContext &device, std::span<const LaunchPart> parts,
              DriverStream *stream) {
  const LaunchPart &first = parts.front();
  const LoadedKernel &kernel = *first.kernel;
  device::Launch launch{};
  launch.count = first.facts.arguments.count;
  launch.tileElements = first.facts.tileElements;
  launch.tiles = first.tiles;
  launch.timeoutNanoseconds = first.timeoutNanoseconds;
  launch.rankCount = static_cast<uint32_t>(parts.size());
  uint64_t blocks = 0;
  for (size_t i = 0; i < parts.size(); ++i) {
    launch.ranks[i] = parts[i].call;
    launch.ranks[i].firstBlock = static_cast<uint32_t>(blocks);
    blocks += uint64_t{parts[i].call.workerCount} * parts[i].call.instances;
  }
  // Blocks wait for each other: all must run at a time.
  if (blocks > kernel.residentBlocks)
    return Status::error(
        StatusCode::Unsupported,
        "{} holds {} blocks of this kernel at a time ({} threads, {} registers a thread, {} bytes "
        "of shared memory), and {} must run together ({} ranks on the device, {} instances); lower "
        "the number of threads, of instances or of ranks on the device",
        device.describe(), kernel.residentBlocks, kernel.threads, kernel.registers,
        kernel.sharedBytes, blocks, parts.size(), first.call.instances);
  ContextGuard guard(device);
  if (!guard.status().isOk())
    return Status(guard.status().code(), guard.status().message());
  void *parameters[] = {&launch};
  auto grid = static_cast<unsigned>(blocks);
  if (blocks > 1)
    return COIL_CUDA(device.driver(), cuLaunchCooperativeKernel, kernel.function, grid, 1, 1,
                     kernel.threads, 1, 1, kernel.sharedBytes, stream, parameters);
  return COIL_CUDA(device.driver(), cuLaunchKernel, kernel.function, grid, 1, 1, kernel.threads, 1,
                   1, kernel.sharedBytes, stream, parameters, nullptr);
}

//===----------------------------------------------------------------------===//
// Ranks that share a device
//===----------------------------------------------------------------------===//

Result<std::shared_ptr<SharedLaunch>> SharedLaunch::find(uint64_t communicatorId,
                                                         std::shared_ptr<DeviceContext> device,
                                                         const std::vector<uint32_t> &ranks) {
  static std::mutex mutex;
  static std::map<std::pair<uint64_t, const DeviceContext *>, std::weak_ptr<SharedLaunch>> known;
  std::lock_guard lock(mutex);
  std::erase_if(known, [](const auto &entry) { return entry.second.expired(); });
  std::weak_ptr<SharedLaunch> &entry = known[{communicatorId, device.get()}];
  if (std::shared_ptr<SharedLaunch> found = entry.lock())
    return found;
  std::shared_ptr<SharedLaunch> made(new SharedLaunch(device, ranks));
  for (size_t i = 0; i < ranks.size(); ++i) {
    COIL_ASSIGN_OR_RETURN(Event event, Event::create(device));
    made->before.push_back(std::move(event));
  }
  COIL_ASSIGN_OR_RETURN(made->after, Event::create(device));
  entry = made;
  return made;
}

std::string SharedLaunch::describeMissing() const {
  std::string text;
  for (size_t i = 0; i < ranks.size(); ++i)
    if (!ready[i])
      text += fmt::format("{}{}", text.empty() ? "" : ", ", ranks[i]);
  return text;
}

Status SharedLaunch::join(const Group &group, LaunchPart part,
                          const std::function<Status()> &interrupted) {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(mutex);
  auto position =
      static_cast<size_t>(std::find(ranks.begin(), ranks.end(), part.rank) - ranks.begin());
  uint64_t mine = generation;
  parts[position] = std::move(part);
  ready[position] = true;
  if (++arrived == ranks.size()) {
    Status status = launchAll();
    lastCode = status.code();
    lastMessage = status.message();
    arrived = 0;
    ready.assign(ranks.size(), false);
    for (LaunchPart &each : parts)
      each.kernel.reset();
    ++generation;
    changed.notify_all();
    return status;
  }
  Clock::time_point start = Clock::now();
  while (generation == mine) {
    changed.wait_for(lock, std::chrono::milliseconds(20));
    if (generation != mine)
      break;
    Status status = interrupted();
    auto waited = std::chrono::duration<double, std::milli>(Clock::now() - start).count();
    if (status.isOk() && group.timeoutMs != 0 && waited > static_cast<double>(group.timeoutMs))
      status = Status::error(StatusCode::Timeout,
                             "rank {} waited {:.1f} s for ranks that share its device to enqueue "
                             "the same call; those that did not: {}",
                             group.rank, waited / 1000, describeMissing());
    if (!status.isOk()) {
      // The communicator has failed; nobody launches for this rank any more.
      ready[position] = false;
      --arrived;
      return status;
    }
  }
  return lastCode == StatusCode::Ok ? Status::ok() : Status(lastCode, lastMessage);
}

Status SharedLaunch::launchAll() {
  for (const LaunchPart &part : parts)
    if (!(part.facts == parts.front().facts))
      return disagreement(parts.front().rank, parts.front().facts, part.rank, part.facts);
  bool sameStream = std::all_of(parts.begin(), parts.end(), [&](const LaunchPart &part) {
    return part.stream == parts.front().stream;
  });
  if (sameStream)
    return launch(*device, parts, parts.front().stream);
  if (std::any_of(parts.begin(), parts.end(),
                  [](const LaunchPart &part) { return part.isCaptured; }))
    return Status::error(StatusCode::Unsupported,
                         "the streams of ranks that share a device cannot be captured, because "
                         "their calls are one launch; use one stream for all of them");
  return launchInOrder();
}

/// The launch comes after what is in all streams, and before what comes later.
Status SharedLaunch::launchInOrder() {
  const Driver &driver = device->driver();
  DriverStream *stream = parts.front().stream;
  ContextGuard guard(*device);
  if (!guard.status().isOk())
    return Status(guard.status().code(), guard.status().message());
  for (size_t i = 1; i < parts.size(); ++i) {
    COIL_RETURN_IF_ERROR(COIL_CUDA(driver, cuEventRecord, before[i].get(), parts[i].stream));
    COIL_RETURN_IF_ERROR(COIL_CUDA(driver, cuStreamWaitEvent, stream, before[i].get(), 0));
  }
  COIL_RETURN_IF_ERROR(launch(*device, parts, stream));
  COIL_RETURN_IF_ERROR(COIL_CUDA(driver, cuEventRecord, after.get(), stream));
  for (size_t i = 1; i < parts.size(); ++i)
    COIL_RETURN_IF_ERROR(COIL_CUDA(driver, cuStreamWaitEvent, parts[i].stream, after.get(), 0));
  return Status::ok();
}

} // namespace coil::cuda
