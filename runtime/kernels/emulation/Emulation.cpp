//===- Emulation.cpp - Running kernels on an emulated machine -------------===//

#include "runtime/kernels/emulation/Emulation.h"
#include "runtime/kernels/emulation/Block.h"

#include <fmt/format.h>
#include <system_error>
#include <thread>

namespace coil::emulation {

namespace {

/// What is wrong with a launch's shape; empty if nothing.
std::string shapeError(const KernelLaunch &launch) {
  if (launch.blocks == 0)
    return "expected at least 1 block, found 0";
  if (launch.threads == 0 || launch.threads > 1024 || launch.threads % warpThreads != 0)
    return fmt::format("expected a block of 32 to 1024 threads, a multiple of 32, found {}",
                       launch.threads);
  if (!launch.body)
    return "expected a kernel, found none";
  return {};
}

std::chrono::steady_clock::time_point deadlineAfter(double seconds) {
  using Clock = std::chrono::steady_clock;
  if (seconds <= 0)
    return Clock::time_point::max();
  return Clock::now() + std::chrono::duration_cast<Clock::duration>(
                            std::chrono::duration<double>(std::min(seconds, 1e6)));
}

} // namespace

void setTracking(bool isOn) { tracking = isOn; }
bool isTracking() { return tracking; }

std::vector<Problem> run(std::vector<KernelLaunch> launches, double timeLimitSeconds) {
  for (const KernelLaunch &launch : launches)
    if (std::string error = shapeError(launch); !error.empty())
      return {{ProblemKind::Misuse, error}};

  Problems problems;
  auto deadline = deadlineAfter(timeLimitSeconds);
  std::vector<LaunchFacts> facts;
  std::vector<u32> blockCounts;
  for (const KernelLaunch &launch : launches) {
    facts.push_back({&launch, &problems, {}, deadline});
    blockCounts.push_back(launch.blocks);
  }
  bool isTracked = tracking;
  if (isTracked) {
    std::vector<BlockNumbers> numbers = beginLaunches(blockCounts);
    for (std::size_t i = 0; i < facts.size(); ++i)
      facts[i].numbers = numbers[i];
  }

  std::vector<std::thread> blocks;
  try {
    for (const LaunchFacts &launch : facts)
      for (u32 index = 0; index < launch.launch->blocks; ++index)
        blocks.emplace_back([&launch, index] { Block(launch, index).run(); });
  } catch (const std::system_error &error) {
    problems.reportAndStop(ProblemKind::NoMemory,
                           fmt::format("cannot start a thread for block {} of the run: {}",
                                       blocks.size(), error.what()));
  }
  for (std::thread &block : blocks)
    block.join();
  if (isTracked)
    for (const LaunchFacts &launch : facts)
      endLaunch(launch.numbers);
  return problems.take();
}

} // namespace coil::emulation
