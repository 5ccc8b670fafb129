//===- Job.cpp - Everything that a run will do ----------------------------===//

#include "tools/coil-run/Job.h"

#include "runtime/nvrtc/CubinBundle.h"
#include "tools/coil-run/Sizes.h"

#include <algorithm>
#include <sched.h>

namespace coil::run {

namespace {

constexpr size_t mostRows = 1000000;

/// The roots that the plan has variants for, ascending.
std::vector<int> rootsOf(const Plan &plan) {
  std::vector<int> roots;
  for (const PlanVariant &variant : plan.variants)
    roots.push_back(static_cast<int>(variant.root));
  std::sort(roots.begin(), roots.end());
  roots.erase(std::unique(roots.begin(), roots.end()), roots.end());
  return roots;
}

Result<std::vector<int>> chooseRoots(const Options &options, const Plan &plan) {
  if (!hasRoot(plan.collective)) {
    if (options.root || options.allRoots)
      return Status::error(StatusCode::InvalidArgument, "--root: {} has no root",
                           nameOf(plan.collective));
    return std::vector<int>{0};
  }
  std::vector<int> roots = rootsOf(plan);
  if (options.allRoots)
    return roots;
  if (!options.root)
    return std::vector<int>{roots.front()};
  if (std::find(roots.begin(), roots.end(), *options.root) == roots.end())
    return Status::error(StatusCode::InvalidArgument,
                         "--root: expected a root that the plan was compiled for, found {}",
                         *options.root);
  return std::vector<int>{*options.root};
}

/// True if calls of the collective may be in place at all.
bool hasInPlace(Collective collective) {
  return collective != Collective::AllToAll && collective != Collective::SendRecv &&
         collective != Collective::Barrier && collective != Collective::Custom;
}

/// An empty plan for a placement is left out, unless the user asked for it. With a
/// root the same variant runs either way.
bool hasPlacement(const Plan &plan, Placement placement) {
  return hasRoot(plan.collective) ||
         std::any_of(plan.variants.begin(), plan.variants.end(), [&](const PlanVariant &variant) {
           return variant.inPlace == (placement == Placement::InPlace);
         });
}

/// About a quarter of a GiB in all, but enough calls to average over.
uint64_t iterationsFor(const Options &options, uint64_t bytes) {
  if (options.iterations > 0)
    return options.iterations;
  return std::clamp<uint64_t>((uint64_t{256} << 20) / std::max<uint64_t>(bytes, 1),
                              fewestIterations, 2000);
}

uint64_t warmupFor(const Options &options, uint64_t iterations) {
  return options.warmup.value_or(std::clamp<uint64_t>(iterations / 10, 1, 50));
}

std::vector<int> chooseCores(const Options &options, int ranks) {
  cpu_set_t allowed;
  std::vector<int> cores;
  if (!options.bind || sched_getaffinity(0, sizeof(allowed), &allowed) != 0)
    return {};
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &allowed))
      cores.push_back(core);
  if (cores.size() < static_cast<size_t>(ranks))
    return {};
  cores.resize(static_cast<size_t>(ranks));
  return cores;
}

} // namespace

/// The bytes of the plan's kernels that the options name, or none.
static Result<std::vector<uint8_t>> readCubins(const Options &options, const Plan &plan) {
  if (options.cubins.empty())
    return std::vector<uint8_t>();
  if (options.target == Target::Cpu)
    return Status::error(StatusCode::InvalidArgument,
                         "--cubins: expected --target cuda or cuda-emulated, found cpu");
  COIL_ASSIGN_OR_RETURN(nvrtc::CubinBundle bundle, nvrtc::readCubinBundleFile(options.cubins));
  if (bundle.planDigest != plan.digest)
    return Status::error(StatusCode::InvalidArgument,
                         "--cubins: {} is of another plan: expected digest {:016x}, found {:016x}",
                         options.cubins, plan.digest, bundle.planDigest);
  return nvrtc::writeCubinBundle(bundle);
}

Result<Job> makeJob(Options options, Plan plan, std::vector<uint8_t> planBytes) {
  Collective collective = plan.collective;
  if (options.placeChosen && options.inPlace && !hasInPlace(collective))
    return Status::error(StatusCode::InvalidArgument, "--in-place: {} has no in-place form",
                         nameOf(collective));
  if (options.ranks && static_cast<uint32_t>(*options.ranks) != plan.ranks)
    return Status::error(StatusCode::InvalidArgument, "--ranks: the plan is for {} ranks, found {}",
                         plan.ranks, *options.ranks);
  if (plan.ranks > static_cast<uint32_t>(mostRanks))
    return Status::error(StatusCode::InvalidArgument,
                         "expected a plan for at most {} ranks, "
                         "found one for {}",
                         mostRanks, plan.ranks);
  if (plan.variants.empty())
    return Status::error(StatusCode::InvalidPlan, "the plan has no variant to run");
  if (!options.ops.empty() && !combines(collective))
    return Status::error(StatusCode::InvalidArgument, "--op: {} combines nothing",
                         nameOf(collective));
  // One row, since a call takes no count, no type and no operator.
  if (collective == Collective::Barrier) {
    options.types = {DataType::U8};
    options.ops = {ReduceOp::Max};
    options.sizes = {0};
    options.memory = {options.memory.front()};
  }
  // All are all that there are.
  if (collective == Collective::Custom && options.ops.size() == numReduceOps)
    std::erase_if(options.ops, [](ReduceOp op) { return op >= ReduceOp::Avg; });
  if (collective == Collective::Custom)
    for (ReduceOp op : options.ops)
      if (op >= ReduceOp::Avg)
        return Status::error(StatusCode::InvalidArgument,
                             "--op: a contract of its own has sum, prod, max and min, found {}",
                             nameOf(op));
  if (options.ops.empty())
    options.ops = {ReduceOp::Sum};
  COIL_ASSIGN_OR_RETURN(std::vector<int> roots, chooseRoots(options, plan));

  if (options.target == Target::Cpu && options.ranksPerGpu != 1)
    return Status::error(StatusCode::InvalidArgument,
                         "--ranks-per-gpu: expected --target cuda or cuda-emulated, found cpu");
  COIL_ASSIGN_OR_RETURN(std::vector<uint8_t> cubinBytes, readCubins(options, plan));
  size_t rows = options.memory.size() * options.types.size() * options.ops.size() * roots.size() *
                options.sizes.size();
  if (rows > mostRows)
    return Status::error(StatusCode::InvalidArgument, "expected at most {} rows, found {}",
                         mostRows, rows);

  Job job;
  job.ranks = static_cast<int>(plan.ranks);
  for (MemoryKind memory : options.memory)
    for (DataType type : options.types)
      for (ReduceOp op : options.ops)
        for (int root : roots)
          for (uint64_t size : options.sizes) {
            uint64_t count =
                options.sizesAreCounts ? size : countForBytes(plan.segments(), type, size);
            uint64_t bytes = bytesForCount(plan.segments(), type, count);
            uint64_t iterations = iterationsFor(options, bytes);
            job.rows.push_back(
                {memory, type, op, root, count, bytes, iterations, warmupFor(options, iterations)});
          }
  for (Placement placement : bothPlacements) {
    bool wanted = placement == Placement::InPlace ? options.inPlace : options.outOfPlace;
    job.runs[static_cast<size_t>(placement)] =
        wanted && (options.placeChosen || hasPlacement(plan, placement));
  }
  job.ranksPerProcess = options.threads ? job.ranks : std::min(options.ranksPerGpu, job.ranks);
  job.cores = chooseCores(options, job.ranks);
  job.options = std::move(options);
  job.plan = std::move(plan);
  job.planBytes = std::move(planBytes);
  job.cubinBytes = std::move(cubinBytes);
  return job;
}

} // namespace coil::run
