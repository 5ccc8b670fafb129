//===- MessageProtocol.cpp - How messages lie in slots ---------------------------===//

#include "runtime/base/MessageProtocol.h"

#include <array>

namespace coil {

namespace {
constexpr std::array<const char *, numMessageProtocols> names{"simple", "ll", "ll128"};
} // namespace

const char *nameOf(MessageProtocol protocol) { return names[static_cast<size_t>(protocol)]; }

std::optional<MessageProtocol> parseMessageProtocol(std::string_view name) {
  for (size_t i = 0; i < names.size(); ++i)
    if (names[i] == name)
      return static_cast<MessageProtocol>(i);
  return std::nullopt;
}

} // namespace coil
