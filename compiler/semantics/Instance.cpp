//===- Instance.cpp - An algorithm's moves for a number of ranks ----------===//

#include "compiler/semantics/Instance.h"

#include <fmt/format.h>

namespace coil {

std::string Instance::describe(const Place &place) const {
  auto text = [&](std::string_view buffer, int64_t index) {
    if (parts == 1)
      return fmt::format("{}[{}] on rank {}", buffer, index, place.rank);
    return fmt::format("part {} of {} of {}[{}] on rank {}", index % parts, parts, buffer,
                       index / parts, place.rank);
  };
  switch (place.buffer) {
  case InstanceBuffer::Input:
    return text("input", place.index);
  case InstanceBuffer::Output:
    return text("output", place.index);
  case InstanceBuffer::Data:
    return text("data", place.index);
  case InstanceBuffer::Scratch:
    for (const ScratchBuffer &buffer : scratch)
      if (place.index < buffer.first + buffer.count)
        return text(buffer.name, place.index - buffer.first);
    break;
  }
  return fmt::format("scratch chunk {} on rank {}", place.index, place.rank);
}

} // namespace coil
