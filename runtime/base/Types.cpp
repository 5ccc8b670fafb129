//===- Types.cpp - Element types, operators and collectives ---------------===//

#include "runtime/base/Types.h"

#include <array>

namespace coil {

namespace {
struct TypeFacts {
  std::string_view name;
  size_t size;
};
constexpr std::array<TypeFacts, numDataTypes> typeFacts{{{"i8", 1},
                                                         {"u8", 1},
                                                         {"i32", 4},
                                                         {"u32", 4},
                                                         {"i64", 8},
                                                         {"u64", 8},
                                                         {"f16", 2},
                                                         {"f32", 4},
                                                         {"f64", 8},
                                                         {"bf16", 2},
                                                         {"f8e4m3", 1},
                                                         {"f8e5m2", 1}}};
constexpr std::array<std::string_view, numReduceOps> opNames{"sum", "prod", "max",
                                                             "min", "avg",  "premulsum"};
constexpr std::array<std::string_view, numCollectives> collectiveNames{
    "allreduce", "allgather", "reduce_scatter", "broadcast", "reduce", "gather",
    "scatter",   "alltoall",  "sendrecv",       "barrier",   "custom"};

template <typename Enum, typename Names, typename NameOf>
std::optional<Enum> parse(const Names &names, std::string_view name, NameOf nameOf) {
  for (size_t i = 0; i < names.size(); ++i)
    if (nameOf(names[i]) == name)
      return static_cast<Enum>(i);
  return std::nullopt;
}
constexpr auto identity = [](std::string_view name) { return name; };
} // namespace

size_t sizeOf(DataType type) { return typeFacts[static_cast<size_t>(type)].size; }
std::string_view nameOf(DataType type) { return typeFacts[static_cast<size_t>(type)].name; }
std::string_view nameOf(ReduceOp op) { return opNames[static_cast<size_t>(op)]; }
std::string_view nameOf(Collective collective) {
  return collectiveNames[static_cast<size_t>(collective)];
}

std::optional<DataType> parseDataType(std::string_view name) {
  return parse<DataType>(typeFacts, name, [](const TypeFacts &facts) { return facts.name; });
}
std::optional<ReduceOp> parseReduceOp(std::string_view name) {
  return parse<ReduceOp>(opNames, name, identity);
}
std::optional<Collective> parseCollective(std::string_view name) {
  return parse<Collective>(collectiveNames, name, identity);
}

bool combines(Collective collective) {
  return collective == Collective::AllReduce || collective == Collective::ReduceScatter ||
         collective == Collective::Reduce || collective == Collective::Barrier ||
         collective == Collective::Custom;
}

bool hasRoot(Collective collective) {
  return collective == Collective::Broadcast || collective == Collective::Reduce ||
         collective == Collective::Gather || collective == Collective::Scatter;
}

SegmentCounts segmentCounts(Collective collective, int64_t ranks) {
  switch (collective) {
  case Collective::AllGather:
  case Collective::Gather:
    return {1, ranks};
  case Collective::ReduceScatter:
  case Collective::Scatter:
    return {ranks, 1};
  case Collective::AllToAll:
    return {ranks, ranks};
  default:
    return {1, 1};
  }
}

SegmentCounts segmentCounts(Collective collective, int64_t ranks, bool isRoot) {
  SegmentCounts counts = segmentCounts(collective, ranks);
  if (isRoot)
    return counts;
  switch (collective) {
  case Collective::Broadcast:
  case Collective::Scatter:
    return {0, counts.output};
  case Collective::Reduce:
  case Collective::Gather:
    return {counts.input, 0};
  default:
    return counts;
  }
}

} // namespace coil
