//===- Instance.cpp - An algorithm's moves for a number of ranks ----------===//

#include "compiler/semantics/Instance.h"

#include <fmt/format.h>

namespace coil {

std::string Instance::describe(const Place &place) const {
  switch (place.buffer) {
  case InstanceBuffer::Input:
    return fmt::format("input[{}] on rank {}", place.index, place.rank);
  case InstanceBuffer::Output:
    return fmt::format("output[{}] on rank {}", place.index, place.rank);
  case InstanceBuffer::Data:
    return fmt::format("data[{}] on rank {}", place.index, place.rank);
  case InstanceBuffer::Scratch:
    for (const ScratchBuffer &buffer : scratch)
      if (place.index < buffer.first + buffer.count)
        return fmt::format("{}[{}] on rank {}", buffer.name, place.index - buffer.first,
                           place.rank);
    break;
  }
  return fmt::format("scratch chunk {} on rank {}", place.index, place.rank);
}

} // namespace coil
