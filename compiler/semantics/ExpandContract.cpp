//===- ExpandContract.cpp - Contracts of algorithms in instances ----------===//

#include "compiler/semantics/Expander.h"

#include <algorithm>

using namespace mlir;

namespace coil {

LogicalResult Expander::run(ir::SegmentsOp op) {
  int64_t input = valueOf(op.getInput()), output = valueOf(op.getOutput());
  for (int64_t count : {input, output})
    if (count < 1 || count > maxContractSegments)
      return op.emitError() << "expected 1 to " << maxContractSegments << " segments of the "
                            << (count == input ? "input" : "output") << ", found " << count;
  segments = {input, output};
  return success();
}

template <typename Op> FailureOr<PlaceRun> Expander::segmentsOf(Op op, InstanceBuffer buffer) {
  bool isInput = buffer == InstanceBuffer::Input;
  const char *name = isInput ? "input" : "output";
  int64_t size = isInput ? segments.input : segments.output;
  if (size == 0)
    return op.emitError() << "expected the number of segments before";
  int64_t begin = valueOf(op.getBegin());
  if (begin < 0 || begin >= size)
    return op.emitError() << name << "[" << begin << "] is out of range: the buffer has " << size
                          << " segment" << (size == 1 ? "" : "s");
  int64_t end = op.getEnd() ? valueOf(op.getEnd()) : begin + 1;
  if (end < begin || end > size)
    return op.emitError() << "the run of segments ends at " << end << "; expected " << begin
                          << " to " << size;
  int64_t rank = valueOf(op.getRank());
  if (rank < 0 || rank >= instance.ranks)
    return op.emitError() << "rank " << rank << " is out of range: expected 0 to "
                          << instance.ranks - 1
                          << ", as a contract does not go around the ranks of itself";
  return PlaceRun{buffer, static_cast<int32_t>(rank), begin, end - begin};
}

LogicalResult Expander::run(ir::SourceOp op) {
  FailureOr<PlaceRun> source = segmentsOf(op, InstanceBuffer::Input);
  if (failed(source))
    return failure();
  sourceRuns.push_back(*source);
  return success();
}

LogicalResult Expander::run(ir::EnsuresOp op) {
  FailureOr<PlaceRun> place = segmentsOf(op, InstanceBuffer::Output);
  if (failed(place))
    return failure();
  sourceRuns.clear();
  if (failed(runBlock(op.getSources().front())))
    return failure();
  if (sourceRuns.empty())
    return op.emitError() << "promises the sum of nothing; expected at least one source";
  for (const PlaceRun &source : sourceRuns)
    if (source.count != place->count)
      return op.emitError() << "promises " << source.count << " segment"
                            << (source.count == 1 ? "" : "s") << " of input for " << place->count
                            << " of output";
  if (failed(reserve(op, place->count * static_cast<int64_t>(sourceRuns.size()))))
    return failure();
  for (int64_t i = 0; i < place->count; ++i) {
    std::vector<OwnContract::Source> sources;
    for (const PlaceRun &source : sourceRuns)
      sources.push_back(
          {static_cast<uint32_t>(source.rank), static_cast<uint32_t>(source.begin + i)});
    std::ranges::sort(sources);
    if (auto twice = std::ranges::adjacent_find(sources); twice != sources.end())
      return op.emitError() << "names input[" << twice->segment << "] of rank " << twice->rank
                            << " twice in one sum";
    auto segment = static_cast<uint32_t>(place->begin + i);
    Promised promised{std::move(sources), op};
    auto [known, isNew] =
        promises.try_emplace({static_cast<uint32_t>(place->rank), segment}, std::move(promised));
    if (!isNew) {
      // try_emplace has moved nothing.
      if (known->second.sources == promised.sources)
        continue;
      InFlightDiagnostic diagnostic = op.emitError()
                                      << "promises something else of output[" << segment
                                      << "] on rank " << place->rank << " than before";
      diagnostic.attachNote(known->second.by.getLoc()) << "the first promise is here";
      return diagnostic;
    }
    promisedSources += known->second.sources.size();
    if (promisedSources > maxContractSources)
      return op.emitError() << "the contract has more than " << maxContractSources << " sources";
  }
  return success();
}

std::shared_ptr<const OwnContract> Expander::contractOf() const {
  auto contract = std::make_shared<OwnContract>();
  contract->inputSegments = static_cast<uint32_t>(segments.input);
  contract->outputSegments = static_cast<uint32_t>(segments.output);
  for (const auto &[place, promised] : promises) {
    contract->promises.push_back({place.first, place.second,
                                  static_cast<uint32_t>(contract->sources.size()),
                                  static_cast<uint32_t>(promised.sources.size())});
    contract->sources.insert(contract->sources.end(), promised.sources.begin(),
                             promised.sources.end());
  }
  return contract;
}

} // namespace coil
