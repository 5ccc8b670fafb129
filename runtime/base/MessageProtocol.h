//===- MessageProtocol.h - How messages lie in slots -------------------*- C++ -*-===//

#ifndef COIL_RUNTIME_BASE_MESSAGEPROTOCOL_H
#define COIL_RUNTIME_BASE_MESSAGEPROTOCOL_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace coil {

/// How a message of a staged channel lies in a slot of a GPU's FIFO, which
/// runtime/kernels/device/Launch.h describes. CPUs have one way.
enum class MessageProtocol : uint8_t { Simple, Ll, Ll128 };
inline constexpr uint32_t numMessageProtocols = 3;

/// "simple", "ll" and "ll128".
const char *nameOf(MessageProtocol protocol);
std::optional<MessageProtocol> parseMessageProtocol(std::string_view name);

} // namespace coil

#endif // COIL_RUNTIME_BASE_MESSAGEPROTOCOL_H
