//===- ExpandApply.cpp - Applications of algorithms in instances ----------===//
//
// The callee is expanded and proved for the group by itself. Its statements then
// become the caller's: ranks are replaced by the group's members, and a chunk by
// the caller's chunks that the view says.
//
//===----------------------------------------------------------------------===//

#include "compiler/semantics/CollectiveVerifier.h"
#include "compiler/semantics/Collectives.h"
#include "compiler/semantics/Expander.h"

#include <algorithm>
#include <fmt/format.h>
#include <mlir/IR/Diagnostics.h>
#include <numeric>
#include <set>

using namespace mlir;

namespace coil {

namespace {

constexpr int maxApplications = 32;
constexpr int64_t maxListLength = int64_t(1) << 22;

} // namespace

/// Chunks of one buffer, in the callee's order.
struct Expander::View {
  InstanceBuffer buffer = InstanceBuffer::Data;
  /// Of each chunk of the program, the first chunk of the instance.
  std::vector<int64_t> chunks;
};

LogicalResult Expander::run(ir::ItemOp op) {
  int64_t begin = valueOf(op.getBegin()), end;
  if (op.getEnd())
    end = valueOf(op.getEnd());
  else if (llvm::AddOverflow(begin, int64_t(1), end))
    return op.emitError() << begin << " is out of range";
  if (end < begin)
    return op.emitError() << "the run ends at " << end << ", before its begin " << begin;
  int64_t count;
  if (llvm::SubOverflow(end, begin, count) || count > maxListLength - listLength)
    return op.emitError() << "the list has more than " << maxListLength << " numbers";
  listLength += count;
  items.emplace_back(begin, end);
  return success();
}

FailureOr<std::vector<int32_t>> Expander::groupOf(ir::ApplyOp op) {
  items.clear();
  listLength = 0;
  if (failed(runBlock(op.getGroup().front())))
    return failure();
  std::vector<int32_t> group;
  std::vector<bool> isMember(static_cast<size_t>(instance.ranks));
  for (auto [begin, end] : items)
    for (int64_t rank = begin; rank < end; ++rank) {
      if (rank < 0 || rank >= instance.ranks)
        return op.emitError() << "the group has rank " << rank << ", but there are "
                              << instance.ranks << " ranks";
      if (isMember[static_cast<size_t>(rank)])
        return op.emitError() << "the group has rank " << rank << " twice";
      isMember[static_cast<size_t>(rank)] = true;
      group.push_back(static_cast<int32_t>(rank));
    }
  if (group.empty())
    return op.emitError() << "the group has no rank; expected at least one";
  return group;
}

FailureOr<Expander::View> Expander::viewOf(ir::ApplyOp op, llvm::StringRef buffer, Region &region) {
  items.clear();
  listLength = 0;
  if (failed(runBlock(region.front())))
    return failure();
  View view;
  for (auto [begin, end] : items)
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      FailureOr<BufferRun> run = resolve(op, buffer, chunk, 1);
      if (failed(run))
        return failure();
      if (chunk < 0)
        return op.emitError() << buffer << "[" << chunk << "] is out of range";
      view.buffer = run->buffer;
      view.chunks.push_back(run->begin);
    }
  std::vector<int64_t> sorted = view.chunks;
  llvm::sort(sorted);
  if (auto twice = std::ranges::adjacent_find(sorted); twice != sorted.end())
    return op.emitError() << "the view has a chunk of " << buffer << " twice";
  if (view.chunks.empty())
    return op.emitError() << "the view of " << buffer << " has no chunk; expected at least one";
  return view;
}

/// The nodes that the group lies on, if its members fill runs of equal length
/// with a node each; otherwise the group counts as one node.
static int64_t nodesOf(const std::vector<int32_t> &group, int64_t ranksPerNode) {
  std::set<int64_t> nodes;
  for (int32_t rank : group)
    nodes.insert(rank / ranksPerNode);
  size_t count = nodes.size(), length = group.size() / count;
  if (group.size() % count != 0)
    return 1;
  for (size_t i = 0; i < group.size(); ++i)
    if (group[i] / ranksPerNode != group[i / length * length] / ranksPerNode)
      return 1;
  return static_cast<int64_t>(count);
}

FailureOr<const Instance *> Expander::instantiate(ir::ApplyOp op,
                                                  const std::vector<int32_t> &group) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<ir::AlgorithmOp>(op, op.getCalleeAttr());
  InstanceRequest inner;
  inner.ranks = static_cast<int64_t>(group.size());
  inner.nodes = nodesOf(group, request.ranks / request.nodes);
  if (op.getRoot()) {
    inner.root = valueOf(op.getRoot());
    if (inner.root < 0 || inner.root >= inner.ranks)
      return op.emitError() << "the root is " << inner.root << "; expected one of the group's "
                            << inner.ranks << " ranks, counted from 0";
  }
  for (auto [name, argument] :
       llvm::zip_equal(op.getNames().getAsValueRange<StringAttr>(), op.getArguments()))
    inner.parameters[name.str()] = valueOf(argument);

  Expansion::Key key{callee, inner.ranks, inner.root, inner.nodes, inner.parameters};
  if (auto known = shared.applied.find(key); known != shared.applied.end())
    return known->second.get();
  if (shared.depth == maxApplications)
    return op.emitError() << "applications nest deeper than " << maxApplications;
  std::string over = fmt::format("over {} rank{}", inner.ranks, inner.ranks == 1 ? "" : "s");
  ScopedDiagnosticHandler handler(op.getContext(), [&](Diagnostic &diagnostic) {
    diagnostic.attachNote(op.getLoc()) << "applied here " << over;
    return failure(); // others show it
  });
  ++shared.depth;
  FailureOr<Instance> expanded = Expander(callee, inner, shared).run();
  --shared.depth;
  if (failed(expanded))
    return failure();
  LocationIndex location = shared.locations.add(callee.getLoc());
  CollectiveProof proof = verifyCollective(*expanded, location);
  emitFindings(proof.findings, shared.locations,
               fmt::format("in '{}' {}", callee.getSymName().str(), over));
  if (!proof.isProved())
    return failure();
  auto &kept = shared.applied[key];
  kept = std::make_unique<Instance>(*std::move(expanded));
  return kept.get();
}

FailureOr<int64_t> Expander::scratchFor(ir::ApplyOp op, const std::vector<int32_t> &group,
                                        const std::vector<ScratchBuffer> &buffers) {
  std::vector<std::pair<std::string, int64_t>> key;
  int64_t total = 0;
  for (const ScratchBuffer &buffer : buffers) {
    key.emplace_back(buffer.name, buffer.count);
    total += buffer.count;
  }
  std::vector<SharedScratch> &blocks = sharedScratch[key];
  auto isFree = [&](const SharedScratch &block) {
    return llvm::none_of(group, [&](int32_t rank) { return block.usedBy[size_t(rank)]; });
  };
  auto block = llvm::find_if(blocks, isFree);
  if (block == blocks.end()) {
    int64_t first = instance.scratchChunks();
    if (total > INT32_MAX - first)
      return op.emitError() << "the scratch of applications has more than " << INT32_MAX
                            << " chunks";
    for (const ScratchBuffer &buffer : buffers)
      instance.scratch.push_back({buffer.name, instance.scratchChunks(), buffer.count});
    blocks.push_back({first, std::vector<bool>(size_t(instance.ranks))});
    block = std::prev(blocks.end());
  }
  for (int32_t rank : group)
    block->usedBy[size_t(rank)] = true;
  return block->first;
}

//===----------------------------------------------------------------------===//
// The callee's statements
//===----------------------------------------------------------------------===//

/// One application with its numbers known.
struct Expander::Splice {
  const Instance &inner;
  CollectiveShape shape;
  const std::vector<int32_t> &group;
  View input;
  /// None: the callee works in place on `input`, its data.
  std::optional<View> output;
  /// The caller's chunks that a chunk of the callee is.
  int64_t run = 1;
  /// The callee's scratch, and behind it its data where it is neither its input
  /// nor its output.
  int64_t scratch = 0, dataScratch = 0;
  /// What was written of the callee's data, a rank after the other.
  std::vector<bool> written;
  /// For each rank, the data chunk that an input chunk is in place, or -1.
  std::vector<int64_t> inputToData;

  Splice(const Instance &inner, const std::vector<int32_t> &group)
      : inner(inner),
        shape{inner.collective, inner.ranks, inner.root, inner.chunks, inner.contract},
        group(group), written(size_t(inner.ranks * shape.dataChunks())),
        inputToData(size_t(inner.ranks * shape.inputChunks()), -1) {
    for (int64_t rank = 0; rank < inner.ranks; ++rank)
      for (int64_t i = 0; i < shape.dataChunks(); ++i)
        if (std::optional<int64_t> input = shape.dataToInput(rank, i))
          inputToData[size_t(rank * shape.inputChunks() + *input)] = i;
  }

  /// The cell of `written` that a place of input, output or data is in place.
  std::optional<size_t> dataCell(const Place &place) const {
    int64_t index = place.index;
    if (place.buffer == InstanceBuffer::Input)
      index = inputToData[size_t(place.rank * shape.inputChunks() + index)];
    else if (place.buffer == InstanceBuffer::Output)
      index = shape.outputToData(place.rank, index);
    if (place.buffer == InstanceBuffer::Scratch || index < 0)
      return std::nullopt;
    return size_t(place.rank * shape.dataChunks() + index);
  }

  /// The caller's chunk `part` of the callee's chunk `index` in a view.
  Place in(const View &view, int32_t rank, int64_t index, int64_t part, int64_t parts) const {
    int64_t position = index * run + part;
    return {view.buffer, group[size_t(rank)],
            view.chunks[size_t(position / parts)] + position % parts};
  }

  /// Where the callee's place lies; `reads` where its value is read before the
  /// statement's own effect.
  Place map(const Place &place, bool reads, int64_t part, int64_t parts) const {
    int32_t rank = place.rank;
    if (place.buffer == InstanceBuffer::Scratch)
      return {InstanceBuffer::Scratch, group[size_t(rank)], scratch + place.index * run + part};
    if (!output)
      return in(input, rank, int64_t(*dataCell(place)) % shape.dataChunks(), part, parts);
    if (place.buffer == InstanceBuffer::Input)
      return in(input, rank, place.index, part, parts);
    if (place.buffer == InstanceBuffer::Output)
      return in(*output, rank, place.index, part, parts);
    if (reads && !written[*dataCell(place)])
      if (std::optional<int64_t> begun = shape.dataToInput(rank, place.index))
        return in(input, rank, *begun, part, parts);
    if (std::optional<int64_t> ended = shape.dataToOutput(rank, place.index))
      return in(*output, rank, *ended, part, parts);
    return {InstanceBuffer::Scratch, group[size_t(rank)], dataScratch + place.index * run + part};
  }
};

LogicalResult Expander::run(ir::ApplyOp op) {
  FailureOr<std::vector<int32_t>> group = groupOf(op);
  if (failed(group))
    return failure();
  FailureOr<View> view = viewOf(op, op.getView(), op.getViewItems());
  if (failed(view))
    return failure();
  FailureOr<const Instance *> callee = instantiate(op, *group);
  if (failed(callee))
    return failure();
  const Instance &inner = **callee;
  Splice splice(inner, *group);
  splice.input = *std::move(view);
  const CollectiveShape &shape = splice.shape;

  // How many parts each chunk must have for the callee's chunks to be whole.
  int64_t viewed = int64_t(splice.input.chunks.size());
  int64_t needed = op.getTarget() ? shape.inputChunks() : shape.dataChunks();
  if (op.getTarget()) {
    FailureOr<View> target = viewOf(op, *op.getTarget(), op.getTargetItems());
    if (failed(target))
      return failure();
    int64_t written = int64_t(target->chunks.size());
    SegmentCounts segments = shape.segments();
    if (viewed * segments.output != written * segments.input)
      return op.emitError() << "the input has " << viewed << " chunks for " << segments.input
                            << " segment" << (segments.input == 1 ? "" : "s") << ", the output "
                            << written << " for " << segments.output
                            << "; expected segments of one length";
    if (splice.input.buffer == target->buffer) {
      std::vector<int64_t> both = splice.input.chunks;
      both.insert(both.end(), target->chunks.begin(), target->chunks.end());
      llvm::sort(both);
      if (std::ranges::adjacent_find(both) != both.end())
        return op.emitError() << "input and output overlap; expected one view for both, or two "
                                 "that are disjoint";
    }
    splice.output = *std::move(target);
  } else if (!shape.hasData()) {
    return op.emitError() << nameOf(inner.collective)
                          << " does not work in place: expected an input and an output, as in "
                             "'on data[0] -> got[0]'";
  }
  if (isMeasuring) {
    int64_t wanted = needed / std::gcd(needed, viewed);
    if (wanted <= maxParts)
      measuredParts = std::lcm(measuredParts, wanted);
    return wanted > maxParts || measuredParts > maxParts ? tooManyParts(op) : success();
  }
  splice.run = viewed * parts / needed;

  // Scratch.
  std::string name = op.getCallee().str();
  std::vector<ScratchBuffer> buffers;
  for (const ScratchBuffer &buffer : inner.scratch)
    buffers.push_back({name + "." + buffer.name, 0, buffer.count * splice.run});
  if (splice.output && shape.hasData())
    buffers.push_back({name + ".data", 0, shape.dataChunks() * splice.run});
  if (!buffers.empty()) {
    FailureOr<int64_t> first = scratchFor(op, *group, buffers);
    if (failed(first))
      return failure();
    splice.scratch = *first;
    splice.dataScratch = *first + inner.scratchChunks() * splice.run;
  }

  llvm::DenseMap<LocationIndex, LocationIndex> callSites;
  auto callSite = [&](LocationIndex location) {
    auto [site, isNew] = callSites.try_emplace(location);
    if (isNew)
      site->second =
          shared.locations.add(CallSiteLoc::get(shared.locations[location], op.getLoc()));
    return site->second;
  };
  uint32_t firstExchange = exchanges;
  for (size_t i = 0; i < inner.statements.size();) {
    size_t end = i + 1;
    uint32_t block = inner.statements[i].exchange;
    while (block && end < inner.statements.size() && inner.statements[end].exchange == block)
      ++end;
    for (size_t each = i; each < end; ++each) {
      const Statement &statement = inner.statements[each];
      if (failed(reserve(op, splice.run)))
        return failure();
      if (!splice.output)
        for (const Place &source : inner.sourcesOf(statement)) {
          if (source.buffer != InstanceBuffer::Input)
            continue;
          std::optional<size_t> cell = splice.dataCell(source);
          if (!cell || splice.written[*cell])
            return emitError(shared.locations[callSite(statement.location)])
                   << "reads " << inner.describe(source)
                   << ", which in place was overwritten or is not there; expected an application "
                      "to an input and an output, as in 'on data[0] -> got[0]'";
        }
      // A value that so far is the input alone is combined into its own place.
      bool accumulates = statement.kind == StatementKind::Reduce;
      bool isMoved = accumulates && splice.output &&
                     splice.map(statement.destination, true, 0, parts) !=
                         splice.map(statement.destination, false, 0, parts);
      for (int64_t part = 0; part < splice.run; ++part) {
        Statement copy = statement;
        copy.destination = splice.map(statement.destination, false, part, parts);
        copy.location = callSite(statement.location);
        copy.exchange = block ? firstExchange + block : 0;
        copy.worker = workerOf(part);
        copy.firstSource = uint32_t(instance.sources.size());
        if (isMoved) {
          copy.kind = StatementKind::Combine;
          instance.sources.push_back(splice.map(statement.destination, true, part, parts));
        }
        for (const Place &source : inner.sourcesOf(statement))
          instance.sources.push_back(splice.map(source, true, part, parts));
        copy.sourceCount = uint32_t(instance.sources.size() - copy.firstSource);
        instance.statements.push_back(copy);
      }
      exchanges = std::max(exchanges, firstExchange + block);
    }
    for (size_t each = i; each < end; ++each)
      if (auto cell = splice.dataCell(inner.statements[each].destination))
        splice.written[*cell] = true;
    i = end;
  }
  if (!splice.output)
    return success();

  // What the callee never writes ends as it began.
  LocationIndex location = shared.locations.add(op.getLoc());
  for (int32_t rank = 0; rank < inner.ranks; ++rank)
    for (int64_t chunk = 0; chunk < shape.outputChunks(); ++chunk) {
      Place output{InstanceBuffer::Output, rank, chunk};
      if (!shape.promise(rank, chunk) || !shape.hasData() ||
          splice.written[*splice.dataCell(output)])
        continue;
      std::optional<int64_t> begun = shape.dataToInput(rank, shape.outputToData(rank, chunk));
      if (!begun)
        continue;
      if (failed(reserve(op, splice.run)))
        return failure();
      for (int64_t part = 0; part < splice.run; ++part) {
        Statement copy;
        copy.kind = StatementKind::Copy;
        copy.destination = splice.map(output, false, part, parts);
        copy.firstSource = uint32_t(instance.sources.size());
        copy.sourceCount = 1;
        copy.location = location;
        copy.worker = workerOf(part);
        instance.sources.push_back(splice.in(splice.input, rank, *begun, part, parts));
        instance.statements.push_back(copy);
      }
    }
  return success();
}

} // namespace coil
