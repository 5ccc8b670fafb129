//===- CallRecord.cpp - What a rank says when it enters a call ------------===//

#include "runtime/channel/CallRecord.h"

#include <fmt/format.h>

namespace coil {

std::string describe(const CallArguments &arguments) {
  switch (arguments.kind) {
  case CallKind::LoadPlan:
    return "coilCommLoadPlan";
  case CallKind::Register:
    return "coilCommRegister";
  case CallKind::Deregister:
    return "coilCommDeregister";
  default:
    break;
  }
  auto collective = static_cast<Collective>(arguments.kind);
  std::string text =
      fmt::format("{} of {} {}", nameOf(collective), arguments.count, nameOf(arguments.type));
  if (combines(collective))
    text += fmt::format(" ({})", nameOf(arguments.op));
  if (hasRoot(collective))
    text += fmt::format(" from root {}", arguments.root);
  if (arguments.inPlace)
    text += ", in place";
  return text;
}

CallArguments EntryRecord::arguments() const {
  uint64_t facts = get(Facts);
  CallArguments arguments;
  arguments.kind = static_cast<CallKind>(facts & 0xff);
  arguments.type = static_cast<DataType>(facts >> 8 & 0xff);
  arguments.op = static_cast<ReduceOp>(facts >> 16 & 0xff);
  arguments.inPlace = (facts >> 24 & 0xff) != 0;
  arguments.root = static_cast<uint32_t>(facts >> 32);
  arguments.count = get(Count);
  arguments.planDigest = get(PlanDigest);
  return arguments;
}

} // namespace coil
