//===- Plan.cpp - A plan in memory ----------------------------------------===//

#include "runtime/plan/Plan.h"

namespace coil {

const char *nameOf(Transport transport) {
  switch (transport) {
  case Transport::P2P:
    return "p2p";
  case Transport::Staged:
    return "staged";
  }
  return "unknown";
}

const char *nameOf(OperandKind kind) {
  switch (kind) {
  case OperandKind::Input:
    return "input";
  case OperandKind::Output:
    return "output";
  case OperandKind::Scratch:
    return "scratch";
  case OperandKind::Slot:
    return "slot";
  }
  return "unknown";
}

const char *nameOf(OpKind kind) {
  switch (kind) {
  case OpKind::Copy:
    return "copy";
  case OpKind::Reduce:
    return "reduce";
  case OpKind::Put:
    return "put";
  case OpKind::Get:
    return "get";
  case OpKind::GetReduce:
    return "get_reduce";
  case OpKind::Push:
    return "push";
  case OpKind::Pop:
    return "pop";
  case OpKind::PopReduce:
    return "pop_reduce";
  case OpKind::Signal:
    return "signal";
  case OpKind::Wait:
    return "wait";
  case OpKind::Meet:
    return "meet";
  case OpKind::Barrier:
    return "barrier";
  }
  return "unknown";
}

const PlanVariant *Plan::find(uint32_t root, bool inPlace, Transport transport) const {
  for (const PlanVariant &variant : variants)
    if (variant.root == root && variant.inPlace == inPlace && variant.transport == transport)
      return &variant;
  return nullptr;
}

SegmentCounts Plan::segments() const {
  if (collective == Collective::Custom)
    return {contract.inputSegments, contract.outputSegments};
  return segmentCounts(collective, ranks);
}

SegmentCounts Plan::segments(bool isRoot) const {
  return collective == Collective::Custom ? segments() : segmentCounts(collective, ranks, isRoot);
}

} // namespace coil
